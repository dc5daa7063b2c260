package store

import (
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// A Watcher sends a notification when the machine may have changed. A notification has no content:
// arm the watcher, read the state, then wait. Notifications may be merged, but a change after Watch
// always leads to one.
type Watcher struct {
	C       <-chan struct{} // at most one notification is pending
	watcher *fsnotify.Watcher
	done    chan struct{}
}

// tick is the interval of notifications without a change: file notifications fail on network file
// systems, and have limits elsewhere.
const tick = time.Second

// Watch starts a watcher. The caller closes it.
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
				// Every change ends with a new STATE.json. Earlier writes are part of the change,
				// and would only send the waiter to the lock.
				if filepath.Base(e.Name) != stateFile || e.Op == fsnotify.Rename { // the old one was renamed away
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

// Close stops the watcher. It does not wait until the kernel has removed the watch, which takes
// some ten milliseconds.
func (b *Watcher) Close() {
	close(b.done)
	if b.watcher != nil {
		go b.watcher.Close()
	}
}
