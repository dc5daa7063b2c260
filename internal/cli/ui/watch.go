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
	signs  map[string]string // that the database gave last
}

const (
	// settle is how long a change may go on before it is reported: an act changes several files.
	settle = 30 * time.Millisecond
	// atLeast is how often a change is reported without any: file notifications fail on network file systems, and the end of a
	// process changes no file.
	atLeast = time.Minute
)

// Changed returns when a machine, the queue or the list of branches may have changed since it was called, or in a database since it returned
// last. One goroutine calls it at a time. What it watches in the database ends with the process.
func (w *watcher) Changed(ctx context.Context) error {
	if w.shared == nil {
		w.shared, _ = project.At(w.root, "").Changes(ctx) // what cannot be watched is looked at each minute
	}
	if w.changed(ctx) {
		return nil
	}
	var events <-chan fsnotify.Event
	if n, err := fsnotify.NewWatcher(); err == nil {
		defer func() { go n.Close() }() // the kernel takes some ten milliseconds
		for _, dir := range w.folders() {
			_ = n.Add(dir)
		}
		events = n.Events
	}
	rest := time.NewTimer(atLeast)
	defer rest.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-rest.C:
			return nil
		case <-w.shared.C():
			if w.changed(ctx) {
				return nil
			}
		case e := <-events:
			if w.matters(e) {
				events = nil
				rest.Reset(settle)
			}
		}
	}
}

// changed reports whether the database has something new since the last call.
func (w *watcher) changed(ctx context.Context) bool {
	if w.shared == nil {
		return false
	}
	now, err := w.shared.Signs(ctx)
	if err != nil {
		return false
	}
	was := w.signs
	w.signs = now
	return was != nil && !maps.Equal(was, now)
}

// folders are those in which files change.
func (w *watcher) folders() []string {
	own := project.At(w.root, "").Dir()
	dirs := []string{own, filepath.Join(own, "branches"), filepath.Join(own, "queue"), filepath.Join(own, "runs")}
	names, _ := project.Branches(w.root)
	for _, name := range names {
		dirs = append(dirs, project.At(w.root, name).Dir())
	}
	return dirs
}

// matters tells a change from what reading leaves behind. Every change of a machine ends with a new STATE.json.
func (w *watcher) matters(e fsnotify.Event) bool {
	if e.Op&^fsnotify.Chmod == 0 {
		return false
	}
	if filepath.Base(e.Name) == "STATE.json" {
		return true
	}
	dir := filepath.Base(filepath.Dir(e.Name))
	return dir == "branches" || dir == "queue"
}
