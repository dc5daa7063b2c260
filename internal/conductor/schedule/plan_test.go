//go:build unix

package schedule

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ferrus-go/ferrus/internal/state"
)

// TestPlacesAndTheMergeAreSharedByName: for all facts at most so many branches are busy as there are places, nobody waits
// while a place is free or somebody later by name has taken one, and at most one branch is merged, one that may be.
func TestPlacesAndTheMergeAreSharedByName(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for range 10 { // which is not much with -short
		rapid.Check(t, func(rt *rapid.T) { shared(rt, seen) })
	}
	for _, what := range []string{"waits", "merges"} {
		if seen[what] == 0 {
			t.Errorf("never seen: %s", what)
		}
	}
}

// shared draws facts and looks at how they are shared out.
func shared(rt *rapid.T, seen map[string]int) {
	flag := rapid.Bool()
	f := facts{tasks: map[string]state.Task{}, busy: map[string]bool{}, starts: map[string]bool{}, refused: map[string]refused{},
		parallel: rapid.IntRange(1, 4).Draw(rt, "places"), merges: flag.Draw(rt, "merges")}
	f.own = state.Task{Seq: 7, State: rapid.SampledFrom([]state.State{state.Idle, state.Executing, state.Complete}).Draw(rt, "own")}
	if f.own.State != state.Idle {
		f.own.TaskID = rapid.SampledFrom([]string{"t1", "t2"}).Draw(rt, "task")
	}
	for i := range rapid.IntRange(0, 6).Draw(rt, "branches") {
		name := rapid.SampledFrom([]string{fmt.Sprintf("n%d", i), fmt.Sprintf("try.%d", i)}).Draw(rt, "name")
		st := rapid.SampledFrom([]state.State{state.Executing, state.Complete, state.Complete, state.Failed}).Draw(rt, "state")
		f.tasks[name] = state.Task{TaskID: rapid.SampledFrom([]string{"t1", "t3"}).Draw(rt, "task"), State: st, Seq: 5, Selected: flag.Draw(rt, "selected")}
		f.busy[name] = flag.Draw(rt, "busy")
		f.starts[name] = st == state.Executing && flag.Draw(rt, "starts")
		if flag.Draw(rt, "refused") {
			f.refused[name] = refused{Branch: 5, Project: uint64(rapid.IntRange(6, 7).Draw(rt, "since")), Why: "it does not fit"}
		}
	}
	p := arrange(f)
	busy, free := 0, p.free
	names := slices.Sorted(maps.Keys(f.tasks))
	for i, name := range names {
		works := f.busy[name] || f.starts[name] && !p.waits[name]
		if works {
			busy++
		}
		if p.waits[name] {
			seen["waits"]++
			if !f.starts[name] || f.busy[name] || free > 0 {
				rt.Fatalf("%s waits: %+v", name, p)
			}
			for _, later := range names[i:] {
				if f.starts[later] && !f.busy[later] && !p.waits[later] {
					rt.Fatalf("%s has the place of %s", later, name)
				}
			}
		}
	}
	already := 0
	for _, name := range names {
		already += map[bool]int{true: 1}[f.busy[name]]
	}
	if busy > max(f.parallel, already) || busy+p.free > max(f.parallel, already) {
		rt.Fatalf("%d of %d places are taken, %d are free", busy, f.parallel, p.free)
	}
	if p.merge == "" {
		return
	}
	seen["merges"]++
	m := f.tasks[p.merge]
	r, not := f.refused[p.merge]
	switch {
	case !f.merges, m.State != state.Complete, f.own.Underway() && f.own.TaskID != m.TaskID, not && r.Project == f.own.Seq, p.free > 0:
		rt.Fatalf("%s is merged: %+v", p.merge, f)
	}
	for _, name := range names {
		if name < p.merge && f.tasks[name].State == state.Complete && p.unmerged[name] == "" {
			rt.Fatalf("%s is merged before %s", p.merge, name)
		}
	}
}

// TestACutMergeIsFinishedFirst, whichever process began it and whatever ferrus.toml says.
func TestACutMergeIsFinishedFirst(t *testing.T) {
	t.Parallel()
	f := facts{own: state.Task{Returning: state.FileMove{From: "b", Tree: "x"}}, parallel: 1, tasks: map[string]state.Task{
		"a": {State: state.Complete}, "b": {State: state.Complete}}}
	if p := arrange(f); p.merge != "b" {
		t.Errorf("%+v", p)
	}
	f.own.Returning.Of = "d1"
	if p := arrange(f); p.merge != "" {
		t.Errorf("a delegate moves in: %+v", p)
	}
	f.own.Returning = state.FileMove{To: 3, Tree: "x"}
	f.merges = true
	if p := arrange(f); p.merge != "" {
		t.Errorf("amid a rollback: %+v", p)
	}
}
