package status

import (
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
)

// A Fork is a branch where it leaves the history of the task that it comes from.
type Fork struct {
	Name string     // of the branch
	Task state.Task // as it is in the branch now
	at   string     // the hash of the line after which it goes on by itself
}

// Forks are the branches of a project by the hashes of the lines after which they go on by themselves. One that cannot be
// read, or has another task by now, is none: the history is whole without it.
func Forks(e *engine.Engine) map[string][]Fork {
	names, err := project.Branches(e.Place().Root)
	if err != nil {
		return nil
	}
	at := map[string][]Fork{}
	for _, name := range names {
		if name == e.Place().Branch {
			continue
		}
		if f, ok := forkOf(e, name); ok {
			at[f.at] = append(at[f.at], f)
		}
	}
	return at
}

func forkOf(e *engine.Engine, name string) (Fork, bool) {
	b, err := branch.Open(e, name)
	if err != nil {
		return Fork{}, false
	}
	defer b.Close()
	now, err := b.View()
	if err != nil || now.Task.TaskID == "" {
		return Fork{}, false
	}
	for l, err := range b.Store().HistoryFrom(now.Task.Docs[state.TaskDoc].Off) {
		if err != nil {
			break
		}
		if l.Event == state.Branch && l.State.Branch == name {
			return Fork{name, now.Task, l.Prev}, true
		}
	}
	return Fork{}, false
}

// share marks what a branch has in common with where it comes from: all before its own first event.
func share(list []Event, branch string) {
	own := false
	for i := len(list) - 1; i >= 0; i-- {
		list[i].Shared = own
		own = own || branch != "" && list[i].Event == state.Branch && list[i].State.Branch == branch
	}
}
