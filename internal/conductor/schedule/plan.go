package schedule

import (
	"maps"
	"slices"

	"github.com/ferrus-go/ferrus/internal/state"
)

// noPlace is why an agent is not started.
const noPlace = "all places are taken"

// facts are those at the start of a step on which more than one task depends.
type facts struct {
	own      state.Task            // that of the project
	tasks    map[string]state.Task // those of the branches
	busy     map[string]bool       // branches on which an agent works
	starts   map[string]bool       // branches whose decision is to start an agent
	parallel int                   // how many branches may be busy
	merges   bool                  // approved work is to be merged
	refused  map[string]refused    // merges that did not fit
}

// A refused is a merge that was refused, from this entry of the branch into that one of the project.
type refused struct {
	Branch  uint64 `json:"branch"`
	Project uint64 `json:"project"`
	Why     string `json:"why"`
	clash   bool   // its executor can be given both sides
}

// A plan is what the tasks of a project share out in a step.
type plan struct {
	merge    string            // the branch that is merged; "" for none
	unmerged map[string]string // why approved work is not merged
	waits    map[string]bool   // branches without a place
	free     int               // places for the queue
}

// arrange shares out the places and the merge, in the order of names.
func arrange(f facts) plan {
	names := slices.Sorted(maps.Keys(f.tasks))
	p := plan{unmerged: map[string]string{}, waits: map[string]bool{}, free: f.parallel}
	p.merge = f.merge(names, p.unmerged)
	for _, name := range names {
		if f.busy[name] {
			p.free--
		}
	}
	for _, name := range names {
		switch {
		case !f.starts[name] || f.busy[name] || name == p.merge:
		case p.free > 0:
			p.free--
		default:
			p.waits[name] = true
		}
	}
	p.free = max(0, p.free)
	if p.merge != "" {
		p.free = 0 // a new branch begins with the files of the project, which the merge changes
	}
	return p
}

// merge returns the branch that is merged: the one whose merge was interrupted, else the first with
// approved work that fits as far as is known.
func (f facts) merge(names []string, unmerged map[string]string) string {
	if cut := f.own.Returning.From; cut != "" && f.own.Returning.Of == "" {
		return cut
	}
	if !f.merges || f.own.Returning != (state.FileMove{}) {
		return ""
	}
	for _, name := range names {
		t := f.tasks[name]
		if t.State != state.Complete || t.Merged != "" || part(t) {
			continue
		}
		why := Unchosen(names, name, t, func(other string) (state.Task, error) { return f.tasks[other], nil })
		if why == "" && f.own.Underway() && f.own.TaskID != t.TaskID {
			why = "the project's own task has not ended"
		}
		if r, ok := f.refused[name]; ok && why == "" && r.Branch == t.Seq && r.Project == f.own.Seq {
			why = r.Why
		}
		if why == "" {
			return name
		}
		unmerged[name] = why
	}
	return ""
}
