//go:build unix

package schedule

import (
	"reflect"
	"slices"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/project/queue"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
)

// A phase is how far the task of a branch is.
type phase int

const (
	ready phase = iota // somebody has to be started
	working
	approved
	rejected // by the project as it is: the merge was refused
	merged
	failed
)

// A world is a project with two attempts at a task, the branch of another task, a delegate, and tasks in the queue: x needs the attempts, y needs x, and
// z needs nothing and has the last priority.
type world struct {
	at       [4]phase
	queue    [3]bool // that was not taken yet
	selected [2]bool // of the attempts
	own      bool    // the project has an unfinished task of its own
	merging  int     // the branch that is being merged, counted from 1
	cut      bool    // whoever merged it has died
	unwanted bool    // nobody waits for the delegate
}

var (
	worldNames = [4]string{"a.1", "a.2", "b", "d"}
	queueNames = [3]string{"x", "y", "z"}
)

// tasks are what plan gets to know about the queue of a world.
func (w world) tasks(f facts, merges bool) (list []queue.Item, tasks *branch.Tasks) {
	needs := [3]queue.Head{{Needs: []queue.Need{{Name: "a", IDs: []string{"a.1", "a.2"}}}}, {Needs: []queue.Need{{Name: "x"}}}, {Priority: 9}}
	for i, name := range queueNames {
		if w.queue[i] {
			list = append(list, queue.Item{Name: name, Head: needs[i]})
		}
	}
	tasks = branch.NewTasks(list)
	tasks.Merges = merges
	for _, b := range f.branches {
		tasks.Names, tasks.Present[b.name] = append(tasks.Names, b.name), b.task
	}
	if !w.queue[0] { // it was taken, and its conductor has not ended
		tasks.Names, tasks.Present["x"] = append(tasks.Names, "x"), state.Task{TaskID: "x", State: state.Executing}
	}
	return list, tasks
}

// met reports whether the attempts have come to what x needs.
func (w world) met(merges bool) bool {
	for i, at := range w.at[:2] {
		other := w.at[1-i]
		chosen := w.selected[i] || other == failed
		if at == merged || !merges && (at == approved || at == rejected) && chosen {
			return true
		}
	}
	return false
}

// A setting is what does not change in a world.
type setting struct {
	parallel     int
	merges, once bool
}

// facts are what plan gets to know about a world.
func (w world) facts(s setting) facts {
	f := facts{parallel: s.parallel, queue: true, merges: s.merges, once: s.once, own: state.Task{Seq: 9}}
	if w.own {
		f.own.TaskID, f.own.State = "own", state.Executing
	}
	if w.merging > 0 {
		f.own.Returning.From, f.merging = worldNames[w.merging-1], !w.cut
	}
	for i, at := range w.at {
		b := fact{name: worldNames[i], starts: at == ready, works: at == working, conducted: at == working}
		b.task = state.Task{TaskID: b.name, Seq: 5, State: state.Complete, Selected: i < 2 && w.selected[i]}
		switch at {
		case ready, working:
			b.task.State = state.Executing
		case rejected:
			b.refused = refused{Branch: 5, Project: 9, Why: "it does not fit"}
		case merged:
			b.task.Merged = "m"
		case failed:
			b.task.State = state.Failed
		}
		if i == 3 {
			b.task.Parent, b.unwanted = state.Parent{Branch: "b", ID: "d1"}, w.unwanted
			b.starts = b.starts && !w.unwanted
		}
		f.branches = append(f.branches, b)
	}
	f.waiting, f.tasks = w.tasks(f, s.merges)
	return f
}

// after is the world when decisions were carried out.
func (w world) after(list []decision) world {
	for _, d := range list {
		i := slices.Index(worldNames[:], d.name)
		switch d.do {
		case start:
			w.at[i] = working
		case take: // the others stay, as if other computers were about to take them
			w.queue[0] = w.queue[0] && d.items[0].Name != "x"
		case end:
			w.at[i] = failed
		case merge:
			w.merging, w.cut = i+1, false
		}
	}
	return w
}

// events are the worlds that others make of one: agents, people, and the end of processes.
func (w world) events() (list []world) {
	add := func(change func(*world)) {
		next := w
		change(&next)
		list = append(list, next)
	}
	for i, at := range w.at {
		if at == working {
			for _, to := range []phase{ready, approved, failed} {
				add(func(n *world) { n.at[i] = to })
			}
		}
		if at == rejected {
			add(func(n *world) { n.at[i] = approved }) // its work changes
		}
		if i < 2 && at == approved && !w.selected[i] {
			add(func(n *world) { n.selected[i] = true })
		}
	}
	if w.own {
		add(func(n *world) { n.own = false })
	}
	if !w.unwanted {
		add(func(n *world) { n.unwanted = true })
	}
	if i := w.merging - 1; i >= 0 && !w.cut {
		add(func(n *world) { n.cut = true })
		add(func(n *world) { n.at[i], n.merging = rejected, 0 })
		add(func(n *world) {
			n.at[i], n.merging = merged, 0
			for j, at := range n.at {
				if at == rejected {
					n.at[j] = approved // the project has changed
				}
			}
		})
	}
	return list
}

// TestPlacesAndTheMergeAreSharedByName walks through all worlds that can come of those in which nothing was done yet. In each,
// a plan starts nobody twice and not more than there are places, in the order of names. It takes no task of the queue before what it needs is done, and
// each that it can while a place is free; the others say what they wait for. It merges one branch at most, on which
// nobody works, while nothing else moves files of the project. What is neither worked on nor merged waits, and can come out of that.
func TestPlacesAndTheMergeAreSharedByName(t *testing.T) {
	t.Parallel()
	for i := range 12 {
		if kit.Every(5, i) {
			walk(t, setting{1 + i/4, i%4 < 2, i%2 == 0})
		}
	}
}

// walk checks each world and that each wait in it has an end.
func walk(t *testing.T, s setting) {
	t.Helper()
	todo := []world{{queue: [3]bool{true, true, true}}, {own: true}}
	plans, before := map[world][]decision{}, map[world][]world{}
	for len(todo) > 0 {
		w := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if _, known := plans[w]; known {
			continue
		}
		f := w.facts(s)
		list := plan(f)
		if !reflect.DeepEqual(list, plan(w.facts(s))) || !reflect.DeepEqual(f, w.facts(s)) {
			t.Fatalf("%+v: another plan the second time", w)
		}
		if plans[w] = list; !sound(s, f, w, list) {
			t.Fatalf("%+v, %+v: %+v", s, w, list)
		}
		for _, next := range append(w.events(), w.after(list)) {
			before[next] = append(before[next], w)
			todo = append(todo, next)
		}
	}
	for _, name := range append(worldNames[:], "x") {
		waits := func(w world) bool {
			return slices.ContainsFunc(plans[w], func(d decision) bool { return (d.do == wait || d.do == hold) && d.name == name && !d.blocked })
		}
		ends := map[world]bool{}
		var back func(w world)
		back = func(w world) {
			if !ends[w] {
				ends[w] = true
				for _, b := range before[w] {
					back(b)
				}
			}
		}
		for w := range plans {
			if !waits(w) {
				back(w)
			}
		}
		for w := range plans {
			if !ends[w] {
				t.Fatalf("%+v, %+v: %s waits for ever: %+v", s, w, name, plans[w])
			}
		}
	}
}

// sound reports whether decisions about a world are allowed.
func sound(s setting, f facts, w world, list []decision) bool {
	of, taken := map[string]decision{}, 0
	waits := map[string]string{}
	for i, d := range list {
		switch {
		case d.do == take:
			taken = d.places
			for _, it := range d.items {
				waits[it.Name] = "is taken"
			}
			continue
		case d.do == record && d.name == "y" && !w.queue[0]:
			continue
		case d.do == wait && d.item != nil:
			waits[d.name] = d.why
			continue
		}
		if was, twice := of[d.name]; twice && (was.do != nothing || d.do == start || i == 0) {
			return false
		}
		of[d.name] = d
	}
	works, free, moves, waited := 0, s.parallel, 0, false
	for i, at := range w.at[:3] {
		if at == working {
			works++
		}
		switch d := of[worldNames[i]]; {
		case d.do == start && (at != ready || waited):
			return false
		case d.do == start:
			free--
		case d.do == wait && (at != ready || d.why != noPlace), d.do == hold && (at == ready || d.why == ""):
			return false
		case d.do == wait:
			waited = true
		case at == ready:
			return false // nobody knows about it
		case d.do == merge:
			moves++
			if at != approved && !(w.cut && w.merging == i+1) || w.merging > 0 && !w.cut || !s.merges && w.merging == 0 || s.once && w.merging == 0 && w.own || taken > 0 && s.once {
				return false
			}
		case s.merges && w.merging == 0 && (at == approved || at == rejected) && d.do != hold && moves == 0:
			return false // nobody knows about it
		case d.do == hold && at == rejected && moves > 0:
			return false
		}
	}
	d := of["d"]
	child := nothing
	switch {
	case w.at[3] == working && w.unwanted:
		child = end
	case w.at[3] == ready && !w.unwanted:
		child = start // without a place
	}
	if d.do != child || moves > 1 {
		return false
	}
	free -= works
	taking := free > 0 && !(s.once && moves > 0)
	for i, name := range queueNames {
		ready := i == 2 || i == 0 && w.met(s.merges)
		switch why := waits[name]; {
		case !w.queue[i] || !taking:
			if why != "" {
				return false
			}
		case ready && why != "is taken", !ready && (why == "" || why == "is taken"):
			return false
		}
	}
	return free >= 0 && (!waited || free == 0) && (taken == free || !taking || waits["x"] != "is taken" && waits["z"] != "is taken")
}

// TestACutMergeIsFinishedFirst, whichever process began it and whatever ferrus.toml says.
func TestACutMergeIsFinishedFirst(t *testing.T) {
	t.Parallel()
	f := facts{own: state.Task{Returning: state.FileMove{From: "b", Tree: "x"}}, parallel: 1, once: true,
		branches: []fact{{name: "a", task: state.Task{State: state.Complete}}, {name: "b", task: state.Task{State: state.Complete}}}}
	merges := func() string {
		for _, d := range plan(f) {
			if d.do == merge {
				return d.name
			}
		}
		return ""
	}
	if got := merges(); got != "b" {
		t.Errorf("merged: %q", got)
	}
	f.own.Returning.Of = "d1"
	if got := merges(); got != "" {
		t.Errorf("a delegate moves in: %q", got)
	}
	f.own.Returning = state.FileMove{To: 3, Tree: "x"}
	f.merges = true
	if got := merges(); got != "" {
		t.Errorf("during a rollback: %q", got)
	}
}
