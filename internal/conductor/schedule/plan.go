package schedule

import (
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/project/queue"
	"github.com/ferrus-go/ferrus/internal/state"
)

// Words for what a decision does, beside the verbs of the conductor and of pipelines.
const (
	start   = "start"   // work on a branch
	end     = "end"     // the work on a branch
	wait    = "wait"    // for a place
	nothing = "nothing" // is to be done
	take    = "take"    // tasks of the queue
	record  = "record"  // which tasks one of the queue needs
	merge   = "merge"   // a branch into the project
	hold    = "hold"    // approved work back: it is not merged yet
	skip    = "skip"    // somebody else works on it, or it cannot be read
)

// A decision is what is done about a branch, or about a task of the queue. The reason of one that waits or is held back names what ends that.
type decision struct {
	do      string
	name    string // of the branch; "" for the queue
	why     string
	item    *queue.Item  // of the queue, that waits or whose needs are recorded
	blocked bool         // it waits for a person
	items   []queue.Item // that can be taken, the next one first
	places  int          // for how many of them
}

// facts are all that decisions depend on.
type facts struct {
	own      state.Task    // that of the project
	branches []fact        // in the order of names
	parallel int           // on how many branches may be worked
	queue    bool          // tasks of the queue may be taken
	waiting  []queue.Item  // those that were not tried in vain, the next one first
	tasks    *branch.Tasks // that they need
	merges   bool          // approved work is to be merged
	merging  bool          // a merge is being made, by any process

	// once says that the decisions are carried out in any order, each once. What would be refused is not tried then, and no branch
	// is made beside a merge: it begins with the files of the project.
	once bool
}

// A fact is what is known about a branch.
type fact struct {
	name      string
	task      state.Task
	starts    bool // it needs a conductor or an agent
	works     bool // it takes a place: somebody works on it
	conducted bool // by a conductor, which has not ended
	unwanted  bool // it is a delegate that nobody waits for
	refused   refused
}

// A refused is a merge that was refused, from this entry of the branch into that one of the project.
type refused struct {
	Branch  uint64 `json:"branch"`
	Project uint64 `json:"project"`
	Why     string `json:"why"`
	clash   bool   // its executor can be given both sides
	output  string // the end of what the checks printed that failed
}

// Reasons of decisions.
const (
	noPlace   = "all places are taken"
	noParent  = "the task that delegated it does not wait for it"
	ownTask   = "the project's own task has not ended"
	worked    = "it is worked on"
	unstarted = "nothing is to be started"
)

// placing are the rules of who works. For each branch the first that fits decides.
var placing = []struct {
	do   string
	why  string
	fits func(b fact, free int) bool
}{
	{end, noParent, func(b fact, _ int) bool { return b.unwanted && b.works }},
	{nothing, noParent, func(b fact, _ int) bool { return b.unwanted }},
	{nothing, worked, func(b fact, _ int) bool { return b.works || b.conducted }},
	{nothing, unstarted, func(b fact, _ int) bool { return !b.starts }},
	{wait, noPlace, func(b fact, free int) bool { return free <= 0 && !b.task.IsDelegate() }},
	{start, "", func(fact, int) bool { return true }},
}

// plan decides who works, in the order of names, then whether the queue is read, then what is merged. It is a function of its
// argument alone.
func plan(f facts) []decision {
	var list []decision
	merges := f.merge()
	next := len(merges) > 0 && merges[len(merges)-1].do == merge
	free := f.parallel
	for _, b := range f.branches {
		if b.works && !b.task.IsDelegate() {
			free--
		}
	}
	for _, b := range f.branches {
		for _, r := range placing {
			if !r.fits(b, free) {
				continue
			}
			if list = append(list, decision{do: r.do, name: b.name, why: r.why}); r.do == start && !b.task.IsDelegate() {
				free--
			}
			break
		}
	}
	if f.queue && free > 0 && !(f.once && next) {
		list = append(list, f.queued(free)...)
	}
	return append(list, merges...)
}

// queued decides about the tasks of the queue: each waits, or can be taken. Which of those that can are taken depends on who else takes them.
func (f facts) queued(free int) (list []decision) {
	ready := decision{do: take, places: free}
	for i, it := range f.waiting {
		if f.tasks.Unrecorded(it) {
			list = append(list, decision{do: record, name: it.Name, item: &f.waiting[i]})
		}
		if s := f.tasks.Standing(it); s.Waits != "" {
			list = append(list, decision{do: wait, name: it.Name, why: s.Waits, item: &f.waiting[i], blocked: s.Blocked})
		} else {
			ready.items = append(ready.items, it)
		}
	}
	if len(ready.items) > 0 {
		list = append(list, ready)
	}
	return list
}

// unmerged returns why approved work is not merged yet, "" for no reason. names and tasks are those of all branches.
func (f facts) unmerged(b fact, names []string, tasks map[string]state.Task) string {
	view := func(other string) (state.Task, error) { return tasks[other], nil }
	why := branch.Unchosen(names, b.name, b.task, view)
	first := branch.Before(b.task, view)
	switch {
	case why != "":
		return why
	case first != "":
		return "it began with the work of " + first + ", which is not merged"
	case f.once && f.own.Underway() && f.own.TaskID != b.task.TaskID:
		return ownTask
	}
	return b.refusedFor(f.own)
}

// refusedFor returns why the merge of a branch was refused, "" after the branch or the project has changed.
func (b fact) refusedFor(own state.Task) string {
	if b.refused.Branch != b.task.Seq || b.refused.Project != own.Seq {
		return ""
	}
	return b.refused.Why
}

// merge returns the branch that is merged, last, and before it those with approved work that are held back. It is the one whose merge was
// interrupted, until whose end the project can do nothing else; else the first by name that may be, as far as is known.
func (f facts) merge() (list []decision) {
	files := f.own.Returning
	if f.merging || files.Of != "" { // its executor ends the move of a delegate
		return nil
	}
	if files.From != "" {
		for _, b := range f.branches {
			if b.name == files.From && !b.conducted && (f.once || b.refusedFor(f.own) == "") {
				return []decision{{do: merge, name: b.name}}
			}
		}
		return nil
	}
	if !f.merges || f.once && files != (state.FileMove{}) {
		return nil
	}
	var names []string
	tasks := map[string]state.Task{}
	for _, b := range f.branches {
		names, tasks[b.name] = append(names, b.name), b.task
	}
	for _, b := range f.branches {
		if b.conducted || b.task.IsDelegate() || b.task.State != state.Complete || b.task.Merged != "" {
			continue
		}
		why := f.unmerged(b, names, tasks)
		if why == "" {
			return append(list, decision{do: merge, name: b.name})
		}
		list = append(list, decision{do: hold, name: b.name, why: why})
	}
	return list
}
