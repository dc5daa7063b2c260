package file

import (
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/ferrus-go/ferrus/internal/store"
)

// tick is the interval of notifications without a change: file notifications fail on network file
// systems, and have limits elsewhere.
const tick = time.Second

// Watch starts a watcher. The caller closes it.
func (s *Store) Watch() *store.Watcher { return s.watch(tick) }

func (s *Store) watch(tick time.Duration) *store.Watcher {
	ring := make(chan struct{}, 1)
	done := make(chan struct{})
	var events <-chan fsnotify.Event
	var errs <-chan error
	w, err := fsnotify.NewWatcher()
	if err == nil && w.Add(s.dir) == nil {
		events, errs = w.Events, w.Errors
	}
	go func() {
		every := time.NewTicker(tick)
		defer every.Stop()
		for {
			select {
			case <-done:
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
	return store.NewWatcher(ring, func() {
		close(done)
		if w != nil {
			go w.Close() // it waits until the kernel has removed the watch, which takes some ten milliseconds
		}
	})
}
