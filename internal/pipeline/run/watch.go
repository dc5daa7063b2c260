package run

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/ferrus-go/ferrus/internal/pipeline"
)

// A watcher waits until something may have changed in a run. The cause of a wake-up does not
// matter.
type watcher struct {
	f      *Folder
	files  []string          // files whose changes count
	events *fsnotify.Watcher // nil if the system has no watch left
	freed  map[string]<-chan struct{}
}

// often is the interval of passes without a notification: some file systems send none.
const often = time.Second

// watch starts a watcher of these files of the run. The caller closes it.
func (f *Folder) watch(files []string) *watcher {
	w := &watcher{f: f, files: files, freed: map[string]<-chan struct{}{}}
	if events, err := fsnotify.NewWatcher(); err == nil {
		w.events = events
		_ = events.Add(f.Dir)
	}
	return w
}

// signs returns the files by which others announce that there is something to do. Files that a tick
// writes are not among them, because it would wake itself without end.
func (f *Folder) signs() []string {
	files := []string{intentFile, deliveryFile, questionsFile, pipeline.DialogueFile}
	for _, p := range f.Workflow.Phases {
		for _, k := range p.Workers {
			files = append(files, k.File())
		}
	}
	return files
}

// Close stops the watcher. It does not wait until the kernel has removed the watch, which takes
// some ten milliseconds.
func (w *watcher) Close() {
	if w.events != nil {
		go w.events.Close()
	}
}

// wait returns when a file of the run has changed, a worker has ended, until has come, or a second
// has passed.
func (w *watcher) wait(ctx context.Context, workers []string, until time.Time) {
	left := make(chan struct{}, 1)
	stop := make(chan struct{})
	defer close(stop)
	for _, role := range workers {
		if w.freed[role] == nil {
			w.freed[role] = w.f.Slot(role).Freed()
		}
		go func(freed <-chan struct{}) {
			select {
			case <-freed:
				select {
				case left <- struct{}{}:
				default:
				}
			case <-stop:
			}
		}(w.freed[role])
	}
	var events <-chan fsnotify.Event
	var errs <-chan error // the next event is delivered only after these are read
	if w.events != nil {
		events, errs = w.events.Events, w.events.Errors
	}
	patience := often
	if d := time.Until(until); !until.IsZero() && d < patience {
		patience = max(d, time.Millisecond)
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for heard := false; !heard; {
		select {
		case e := <-events:
			heard = slices.Contains(w.files, filepath.Base(e.Name))
		case <-errs:
			heard = true
		case <-left:
			heard = true
		case <-timer.C:
			heard = true
		case <-ctx.Done():
			heard = true
		}
	}
	for role, freed := range w.freed {
		select {
		case <-freed:
			delete(w.freed, role)
		default:
		}
	}
}
