package store

import (
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// A Watcher rings when the machine may have changed. It is a doorbell and no message: arm it, read, wait; what woke the
// waiter is never believed, so rings may be lost to each other but never to a waiter.
type Watcher struct {
	C       <-chan struct{} // one ring may be pending
	watcher *fsnotify.Watcher
	done    chan struct{}
}

// tick is how often the bell rings by itself: notifications fail on network file systems, and have limits elsewhere.
const tick = time.Second

// Watch arms a bell. The caller closes it.
func (s *Store) Watch() *Watcher {
	ring := make(chan struct{}, 1)
	b := &Watcher{C: ring, done: make(chan struct{})}
	var events <-chan fsnotify.Event
	var errs <-chan error
	if w, err := fsnotify.NewWatcher(); err == nil {
		if w.Add(s.dir) == nil {
			events, errs = w.Events, w.Errors
		}
		b.watcher = w
	}
	go func() {
		every := time.NewTicker(tick)
		defer every.Stop()
		for {
			select {
			case <-b.done:
				return
			case e := <-events:
				// Every change ends with a new STATE.json. What comes before it is part of the change, and would only send
				// the waiter to the lock.
				if filepath.Base(e.Name) != stateFile || e.Op == fsnotify.Rename { // the old one that went away
					continue
				}
			case <-errs:
			case <-every.C:
			}
			select {
			case ring <- struct{}{}:
			default:
			}
		}
	}()
	return b
}

// Close silences the bell. It does not wait until the watch is gone: the kernel takes some ten milliseconds for that.
func (b *Watcher) Close() {
	close(b.done)
	if b.watcher != nil {
		go b.watcher.Close()
	}
}
