package run

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/ferrus-go/ferrus/internal/pipeline"
)

// A watcher waits until something may have happened in a run. What wakes it is not believed.
type watcher struct {
	f      *Folder
	files  []string          // whose changes count
	events *fsnotify.Watcher // nil where the system has none left
	freed  map[string]<-chan struct{}
}

// often is how soon to look again without any sign: there are file systems that give none.
const often = time.Second

// watch arms a watcher of these files of the run. The caller closes it.
func (f *Folder) watch(files []string) *watcher {
	w := &watcher{f: f, files: files, freed: map[string]<-chan struct{}{}}
	if events, err := fsnotify.NewWatcher(); err == nil {
		w.events = events
		_ = events.Add(f.Dir)
	}
	return w
}

// signs are the files by which others say that there is something to do: what is written in a tick itself is none of
// them, or it would wake itself for ever.
func (f *Folder) signs() []string {
	files := []string{intentFile, deliveryFile, pipeline.DialogueFile}
	for _, p := range f.Workflow.Phases {
		for _, k := range p.Workers {
			files = append(files, k.File())
		}
	}
	return files
}

// Close ends the watching. It does not wait until the watch is gone: the kernel takes some ten milliseconds for that.
func (w *watcher) Close() {
	if w.events != nil {
		go w.events.Close()
	}
}

// wait returns when a file of the run has changed, one of the workers has ended, it is until, or a second has passed.
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
	var errs <-chan error // nobody hears of the next event before these are read
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
