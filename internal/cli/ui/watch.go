package ui

import (
	"context"
	"maps"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/ferrus-go/ferrus/internal/project"
)

// A watcher tells when something in a project may have changed. Of a project in a database it tells what other computers change, too.
type watcher struct {
	root   string
	shared *project.Changes  // nil until it is known to be in a database
	kept   map[string]string // the signs that the database gave last
	signs  map[string]string // of the project when changed last looked
}

func newWatcher(root string) *watcher { return &watcher{root: root, signs: project.Signs(root, nil)} }

const (
	// settle is how long a change may go on before it is reported: an act changes several files.
	settle = 30 * time.Millisecond
	// atLeast is how often a change is reported without any: file notifications fail on network file systems, and the end of a
	// process changes no file.
	atLeast = time.Minute
)

// Changed returns when a machine, the queue or the list of branches may have changed since it returned last, or since the watcher was
// made. One goroutine calls it at a time. What it watches in the database ends with the process.
func (w *watcher) Changed(ctx context.Context) error {
	if w.shared == nil {
		w.shared, _ = project.At(w.root, "").Changes(ctx) // what cannot be watched is looked at each minute
	}
	var events <-chan fsnotify.Event
	follow := func() {}
	if n, err := fsnotify.NewWatcher(); err == nil {
		defer func() { go n.Close() }() // the kernel takes some ten milliseconds
		follow = func() {
			for _, dir := range w.folders() {
				_ = n.Add(dir)
			}
		}
		events = n.Events
	}
	follow()
	w.ask(ctx)
	if w.changed() { // before the folders were watched, one of which may be new
		return nil
	}
	rest := time.NewTimer(atLeast)
	defer rest.Stop()
	var settled <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-rest.C:
			w.changed()
			return nil
		case <-w.shared.C():
			w.ask(ctx)
			if w.changed() {
				return nil
			}
		case <-settled:
			settled = nil
			if follow(); w.changed() { // the folders first: one may be new, with something in it
				return nil
			}
		case e := <-events:
			if settled == nil && e.Op&^fsnotify.Chmod != 0 {
				settled = time.After(settle)
			}
		}
	}
}

// ask asks the database for its signs.
func (w *watcher) ask(ctx context.Context) {
	if w.shared == nil {
		return
	}
	if now, err := w.shared.Signs(ctx); err == nil {
		w.kept = now
	}
}

// changed reports whether the signs of the project are others than at the last call. Files that reading leaves behind change none.
func (w *watcher) changed() bool {
	was := w.signs
	w.signs = project.Signs(w.root, w.kept)
	return !maps.Equal(was, w.signs)
}

// folders are those in which files change. One that is made later is noticed in the folder above it.
func (w *watcher) folders() []string {
	own := project.At(w.root, "").Dir()
	dirs := []string{own, filepath.Join(own, "branches"), filepath.Join(own, "queue"), filepath.Join(own, "runs")}
	names, _ := project.Folders(filepath.Join(own, "branches"))
	for _, name := range names {
		dirs = append(dirs, filepath.Join(own, "branches", name))
	}
	return dirs
}
