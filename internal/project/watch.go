package project

import (
	"context"
	"maps"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/ferrus-go/ferrus/internal/store/live"
)

// A Watcher tells which parts of a project have changed; of one in a database also what other computers change.
type Watcher struct {
	root   string
	shared *Changes          // nil until it is known to be in a database
	kept   map[string]string // the signs that the database gave last
	signs  map[string]string // of the project when changed last looked
}

// NewWatcher returns a watcher that tells what changes from now on. What it watches in a database ends with the process.
func NewWatcher(root string) *Watcher { return &Watcher{root: root, signs: Signs(root, nil)} }

const (
	// settle is how long a change may go on before it is reported: an act changes several files.
	settle = 30 * time.Millisecond
	// atLeast is how often the project is looked at without any notification: those of files fail on network file systems, and a
	// process that is killed changes no file.
	atLeast = time.Minute
)

// Changed returns the parts, by their names in Signs, that have changed since it returned last, or since the watcher was made. It
// waits for a change, but at most a minute: then there may be none. Of a project in a database the first call returns all parts. The
// error is that of ctx. One goroutine calls it at a time.
func (w *Watcher) Changed(ctx context.Context) ([]string, error) {
	w.connect(ctx)
	n, err := fsnotify.NewWatcher()
	if err != nil {
		n = new(fsnotify.Watcher) // which tells nothing
	} else {
		defer func() { go n.Close() }() // the kernel takes some ten milliseconds
	}
	rest := time.After(atLeast)
	for {
		if err == nil { // before the signs are compared: a folder may be new, with something in it
			for _, dir := range w.folders() {
				_ = n.Add(dir)
			}
		}
		if parts := w.changed(); parts != nil {
			return parts, nil
		}
		var settled <-chan time.Time
		for again := false; !again; {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-rest:
				return w.changed(), nil
			case <-w.shared.C():
				w.connect(ctx)
				again = true
			case <-settled:
				again = true
			case e := <-n.Events:
				if settled == nil && e.Op&^fsnotify.Chmod != 0 {
					settled = time.After(settle)
				}
			case <-n.Errors: // there were more events than the system holds
				settled = time.After(settle)
			}
		}
	}
}

// connect watches the database of the project, if it is in one, and asks it for its signs. What cannot be watched is looked at each
// minute.
func (w *Watcher) connect(ctx context.Context) {
	if w.shared == nil {
		w.shared, _ = At(w.root, "").Changes(ctx)
	}
	if w.shared != nil {
		if now, err := w.shared.Signs(ctx); err == nil {
			w.kept = now
		}
	}
}

// changed returns the parts whose signs are others than at the last call, nil for none. Files that reading leaves behind change none.
func (w *Watcher) changed() (parts []string) {
	was := w.signs
	w.signs = Signs(w.root, w.kept)
	all := maps.Clone(was)
	maps.Copy(all, w.signs)
	for of := range all { // a part that is missing has no sign
		if was[of] != w.signs[of] {
			parts = append(parts, of)
		}
	}
	return parts
}

// folders are those in which the files lie that signs are of. One that is made later is noticed in the folder above it.
func (w *Watcher) folders() []string {
	own := At(w.root, "").Dir()
	branches, runs := filepath.Join(own, "branches"), filepath.Join(own, "pipeline-tmp")
	dirs := []string{branches, filepath.Join(own, "queue"), runs}
	for _, name := range names(runs) {
		dirs = append(dirs, filepath.Join(runs, name))
	}
	machines := []string{own}
	for _, name := range names(branches) {
		machines = append(machines, filepath.Join(branches, name))
	}
	for _, dir := range machines {
		dirs = append(dirs, dir, filepath.Join(dir, "runs"), filepath.Join(dir, live.Dir))
	}
	return dirs
}
