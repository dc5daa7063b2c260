package status

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/queue"
)

// A QueuedTask is a task that waits in the queue.
type QueuedTask struct {
	Name    string   `json:"name"` // of the branch that it will have
	Title   string   `json:"title"`
	Needs   []string `json:"needs,omitempty"`   // the names of tasks that must be done before
	Waits   string   `json:"waits,omitempty"`   // for what, in words; "" where it can be taken
	Blocked bool     `json:"blocked,omitempty"` // that comes about only if a person does something

	text     string // "" where it is longer than what is read of it
	item     queue.Item
	standing branch.Standing
}

// wholeText is the length from which a text of the queue may have been cut, in bytes: less than what is read, which its head is a part of.
const wholeText = 2000

// Queue returns the tasks that wait below a .ferrus folder, in their order. It leaves out what is no valid task: ferrus queue names them. What they wait for
// is left out where e, an engine of the project, is nil, and where ferrus.toml cannot be read.
func Queue(home string, e *engine.Engine) []QueuedTask {
	items, _ := queue.Peek(home)
	return QueueOf(items, e)
}

// QueueOf is Queue for a list that was read before.
func QueueOf(items []queue.Item, e *engine.Engine) []QueuedTask {
	tasks := make([]QueuedTask, len(items))
	var known *branch.Tasks
	if e != nil {
		known, _ = branch.LookAt(e, items, nil) // who takes tasks reports it
	}
	for i, it := range items {
		t := QueuedTask{Name: it.Name, Title: it.Title(), Needs: it.NeedNames(), item: it}
		if len(it.Text) < wholeText {
			t.text = it.Text
		}
		if known != nil {
			t.standing = known.Standing(it)
			t.Waits, t.Blocked = t.standing.Waits, t.standing.Blocked
		}
		tasks[i] = t
	}
	return tasks
}

// Steps are what ends that a task is blocked, the most likely first; none for one that is not.
func (t QueuedTask) Steps() []Step {
	if !t.Blocked {
		return nil
	}
	var list []Step
	if on := t.standing.Reopen; on != "" {
		list = append(list, Step{`ferrus reopen --branch ` + on + ` -m "..."`, "continues " + on})
	}
	if on := t.standing.Merge; on != "" {
		list = append(list, Step{"ferrus merge " + on, "brings the work of " + on + " into the project, so that " + t.Name + " begins with it"})
	}
	return append(list, Step{"ferrus " + strings.Join(t.dropping(), " "), "takes " + t.Name + " without " + t.blocking()}, Step{"ferrus queue --remove " + t.Name, "removes it"})
}

// blocking is the need that blocks the task, in words.
func (t QueuedTask) blocking() string { return cmp.Or(t.standing.Need, "what it needs") }

// dropping are the arguments of the command by which the task no longer needs what blocks it.
func (t QueuedTask) dropping() []string {
	args := []string{"queue", "--replace", t.Name}
	rest := slices.DeleteFunc(slices.Clone(t.Needs), func(name string) bool { return name == t.standing.Need || t.standing.Need == "" })
	if len(rest) == 0 {
		return append(args, "--no-needs")
	}
	return append(args, "--needs", strings.Join(rest, ","))
}

// blocked is what a task in the queue needs that waits for a person.
func (t QueuedTask) blocked() (Need, bool) {
	if !t.Blocked {
		return Need{}, false
	}
	return Need{ID: "blocked:" + t.Name + ":" + t.standing.Need, Kind: NeedBlocked, Queued: t.Name, Title: t.Title, Since: t.item.Added,
		Text: "In the queue " + t.Name + " is blocked: " + format.Line(t.Waits) + ".", Command: t.Steps()[0].Command}, true
}

// A Graph says which tasks need which: those in the queue, and those that they name.
type Graph struct {
	Tasks []GraphTask `json:"tasks"` // what a task needs stands before it, unless the needs form a circle
}

// A GraphTask is a task of a graph.
type GraphTask struct {
	QueuedTask
	Queued bool `json:"queued"` // it is in the queue
	Level  int  `json:"-"`      // 0 for one that needs none, else one more than the highest of what it needs
}

// GraphOf returns the graph of the tasks in a queue; without needs it has no arrows.
func GraphOf(list []QueuedTask) (g Graph) {
	queued := map[string]QueuedTask{}
	for _, t := range list {
		queued[t.Name] = t
	}
	at := map[string]int{} // the levels of those that were added, -1 while what they need is
	var add func(name string) int
	add = func(name string) int {
		if level, known := at[name]; known {
			return level
		}
		t, waits := queued[name]
		if t.Name, at[name] = name, -1; !waits {
			t.Title = ""
		}
		level := 0
		for _, need := range t.Needs {
			level = max(level, add(need)+1)
		}
		at[name] = level
		g.Tasks = append(g.Tasks, GraphTask{t, waits, level})
		return level
	}
	for _, t := range list {
		add(t.Name)
	}
	return g
}

// Text draws the graph: a task below what it needs, one step to the right of the last of that.
func (g Graph) Text() string {
	widest := 0
	for _, t := range g.Tasks {
		widest = max(widest, 3*t.Level+len(t.Name))
	}
	text := ""
	for _, t := range g.Tasks {
		name := strings.Repeat("   ", t.Level)
		if t.Level > 0 {
			name = strings.Repeat("   ", t.Level-1) + "└─ "
		}
		line := format.Pad(name+t.Name, widest)
		switch {
		case len(t.Needs) > 0:
			line += "  needs " + strings.Join(t.Needs, ", ")
		case !t.Queued:
			line += "  not in the queue"
		}
		if t.Blocked {
			line += "  blocked"
		}
		text += strings.TrimRight(line, " ") + "\n"
	}
	return text
}

// Arrows reports whether a task of the graph needs another one.
func (g Graph) Arrows() bool {
	return slices.ContainsFunc(g.Tasks, func(t GraphTask) bool { return len(t.Needs) > 0 })
}

// QueueAt is Queue for the queue of the project of e.
func QueueAt(e *engine.Engine) []QueuedTask { return Queue(project.At(e.Place().Root, "").Dir(), e) }
