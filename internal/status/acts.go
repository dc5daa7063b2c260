package status

import (
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/state"
)

// Fields that several acts have.
var (
	message = Field{Name: "message", Label: "Message", Kind: TextField, Required: true}
	reason  = Field{Name: "reason", Label: "Reason", Kind: LineField, Required: true}
	note    = Field{Name: "note", Label: "Note (optional)", Kind: LineField}
	task    = Field{Name: "task", Label: "What is to be done", Kind: TextField, Required: true}
	name    = Field{Name: "name", Label: "Name of the branch", Kind: LineField, Required: true}
	seq     = Field{Name: "seq", Label: "Entry of the log", Kind: NumberField, Required: true}
	number  = Field{Name: "number", Label: "How many at a time", Kind: NumberField, Required: true}
)

// An offer is an act that a person has in some situations.
type offer struct {
	when func(r *Report) bool
	act  func(r *Report) Act
}

// offers are all acts about one task, the most likely first. Those about a delegate are its executor's, but for the log.
var offers = []offer{
	{func(r *Report) bool { return r.finish != "" }, func(r *Report) Act {
		a := Act{Name: "finish", Label: "Finish", Args: words(r.finish)}
		if a.Runs = r.fetching; a.Runs {
			a.Args = append(a.Args, "--headless")
		}
		return a
	}},
	{func(r *Report) bool { return r.Question != nil }, func(r *Report) Act {
		return Act{Name: "answer", Label: "Answer", ID: r.Question.ID, Args: []string{"answer", r.Question.ID, "--", "{answer}"},
			Fields: []Field{{Name: "answer", Label: "Answer", Kind: ChoiceField, Options: r.Question.Options, Required: true}}}
	}},
	{func(r *Report) bool { return r.Consultation != nil && !r.Consultation.Answered }, func(r *Report) Act {
		return Act{Name: "answer", Label: "Answer", ID: r.Consultation.ID, Args: []string{"answer", r.Consultation.ID, "--", "{answer}"},
			Fields: []Field{{Name: "answer", Label: "Answer", Kind: TextField, Required: true}}}
	}},
	{reviewing, func(r *Report) Act {
		return Act{Name: "approve", Label: "Approve", Args: []string{"approve", "--submission", r.submission(), "--message={note}"}, Fields: []Field{note}}
	}},
	{reviewing, func(r *Report) Act {
		return Act{Name: "reject", Label: "Reject", Args: []string{"reject", "--submission", r.submission(), "--message={message}"},
			Fields: []Field{{Name: "message", Label: "What is wrong", Kind: TextField, Required: true}}}
	}},
	{(*Report).deserted, func(r *Report) Act {
		return Act{Name: "resume", Label: "Resume", Args: []string{"resume", "--headless"}, Runs: true}
	}},
	{func(r *Report) bool { return r.dayLimit }, func(*Report) Act {
		return Act{Name: "allow-today", Label: "Allow for today", Args: []string{"usage", "--allow-today"}}
	}},
	{(*Report).mergeable, func(r *Report) Act {
		return Act{Name: "merge", Label: "Merge", Args: []string{"merge", r.Branch, "--submission", r.submission()}}
	}},
	{func(r *Report) bool { return r.mergeable() && len(r.conflicts) > 0 }, func(r *Report) Act {
		return Act{Name: "resolve", Label: "Send the conflict back", Args: []string{"merge", r.Branch, "--resolve", "--submission", r.submission()}}
	}},
	{func(r *Report) bool { return r.Branch != "" && (r.mergeable() || reviewing(r)) }, func(r *Report) Act {
		return Act{Name: "select", Label: "Select", Args: []string{"select", r.Branch, "--submission", r.submission(), "--message={note}"}, Fields: []Field{note},
			Loses: "Its work is approved and merged into the project, and the other attempts at the same task are removed. Their logs and files stay saved."}
	}},
	{func(r *Report) bool { return underway(r) && (r.Holder != nil || len(r.Agents) > 0) }, func(r *Report) Act {
		return Act{Name: "send", Label: "Message", Args: []string{"send", "--steer", "--task-id", r.TaskID, "--", "{message}"}, Fields: []Field{message}}
	}},
	{func(r *Report) bool { return r.Conductor != 0 }, func(r *Report) Act {
		return Act{Name: "stop", Label: "Stop", Args: []string{"stop"}, Loses: "The run and its agents end. The task stays as it is, and a later run continues it."}
	}},
	{func(r *Report) bool { return r.Holder != nil && underway(r) }, func(r *Report) Act {
		return Act{Name: "release", Label: "Unassign", Args: []string{"release", "--task-id", r.TaskID, "--message={note}"}, Fields: []Field{note},
			Loses: r.Holder.Agent + " loses its claim. Its files stay in the work tree."}
	}},
	{configChanged, func(r *Report) Act {
		return Act{Name: "accept", Label: "Accept ferrus.toml", Args: []string{"config", "accept"}}
	}},
	{func(r *Report) bool { return r.State.Over() && r.TaskID != "" }, func(r *Report) Act {
		return Act{Name: "reopen", Label: "Reopen", Args: []string{"reopen", "--task-id", r.TaskID, "--message={message}"}, Fields: []Field{message}}
	}},
	{func(r *Report) bool { return r.Branch != "" && r.merged }, func(r *Report) Act {
		return Act{Name: "remove", Label: "Remove the branch", Args: []string{"branch", "--remove", r.Branch}, Loses: "The branch and its work tree are removed. Its log and files stay saved."}
	}},
	{func(r *Report) bool { return underway(r) || r.State == state.Failed }, func(r *Report) Act {
		return Act{Name: "reset", Label: "Abandon", Args: []string{"reset", "--yes", "--task-id", r.TaskID, "--message={note}"}, Fields: []Field{note},
			Loses: "The task is abandoned and archived. Its files stay in the work tree."}
	}},
	{func(r *Report) bool { return r.TaskID != "" }, func(r *Report) Act {
		return Act{Name: "rollback", Label: "Roll back", Args: []string{"rollback", "{seq}", "--task-id", r.TaskID, "--reason={reason}"}, Fields: []Field{seq, reason},
			Loses: "The task returns to that entry, and the agent that claimed it loses its claim. The files stay, and the later entries stay in the log."}
	}},
	{func(r *Report) bool { return r.TaskID != "" }, func(r *Report) Act {
		return Act{Name: "rollback-files", Label: "Roll back with files", Args: []string{"rollback", "{seq}", "--files", "--task-id", r.TaskID, "--reason={reason}"},
			Fields: []Field{seq, reason},
			Loses:  "The task and the files of the work return to that entry. Edits since then are saved and can be shown; the later entries stay in the log."}
	}},
	{func(r *Report) bool { return r.TaskID != "" }, func(r *Report) Act {
		return Act{Name: "branch", Label: "Branch from here", Args: []string{"branch", "{name}", "--at={seq}"}, Fields: []Field{name, seq}}
	}},
}

// ofDelegate are the acts that a person has on a delegate's task: the others are for the executor that delegated.
var ofDelegate = []string{"finish", "allow-today", "reject", "send", "release", "rollback", "rollback-files"}

// continuing are the acts that give a task work to do: its run continues after them, if agents of a run have worked on it.
var continuing = []string{"answer", "reject", "resolve", "reopen"}

// undoable are the acts that change nothing but the task, so that a rollback to the entry before takes them back wholly.
var undoable = []string{"answer", "approve", "reject", "reopen"}

// Undoable reports whether a rollback to the entry before an act takes it back wholly.
func Undoable(name string) bool { return slices.Contains(undoable, name) }

// accepting are the acts that take over what is submitted.
var accepting = []string{"approve", "select"}

// hidden are the notices about hidden characters in what is submitted.
func (r *Report) hidden() (list []string) {
	for _, n := range r.Notices {
		if strings.HasPrefix(n, handover.HiddenTag) {
			list = append(list, n)
		}
	}
	return list
}

func reviewing(r *Report) bool { return r.State == state.Reviewing && r.finish == "" }

func underway(r *Report) bool { return r.TaskID != "" && !r.State.Over() && r.finish == "" }

func configChanged(r *Report) bool {
	return underway(r) && slices.ContainsFunc(r.Notices, func(n string) bool { return strings.HasPrefix(n, "config_changed") })
}

// Acts are what a person can do about the task now, the most likely first, each bound to what the report shows.
func (r *Report) Acts() []Act {
	var list []Act
	for _, o := range offers {
		if !o.when(r) {
			continue
		}
		a := o.act(r)
		if r.part() && !slices.Contains(ofDelegate, a.Name) {
			continue
		}
		if r.finish != "" && a.Name != "finish" {
			continue
		}
		if r.Spent.Runs > 0 && slices.Contains(continuing, a.Name) {
			a.Args = slices.Insert(a.Args, 1, Continues)
		}
		if r.Branch != "" && !slices.Contains(a.Args, r.Branch) {
			a.Args = append([]string{"--branch", r.Branch}, a.Args...)
		}
		if slices.Contains(accepting, a.Name) {
			a.Notices = r.hidden()
		}
		if a.Runs {
			a.Notices = r.unrehearsed
		}
		a.Report, a.On.Task = r, r.TaskID
		if slices.Contains(a.Args, "--submission") {
			a.On.Submission = r.submission()
		}
		list = append(list, a)
	}
	return list
}

// AnswerRun is the kind of request that answers a worker of a run of a pipeline.
const AnswerRun = "answer-run"

// Acts are what a person can do about the task while it waits.
func (q QueuedTask) Acts() []Act {
	task := task
	task.Value = q.text
	var list []Act
	if q.Blocked {
		list = append(list, Act{Name: "drop-need", Label: "Take it without " + q.blocking(), Args: q.dropping(), Item: q.Name, ID: q.standing.Need})
	}
	return append(list,
		Act{Name: "requeue", Label: "Replace its text", Args: []string{"queue", "--replace", q.Name, "--", "{task}"}, Fields: []Field{task}, Item: q.Name},
		Act{Name: "dequeue", Label: "Remove from the queue", Args: []string{"queue", "--remove", q.Name}, Item: q.Name,
			Loses: "The task leaves the queue, and its text is not saved."},
	)
}

// projectActs are those about the project: new tasks, and the run of all that waits.
func projectActs(r *Report) []Act {
	var list []Act
	if r.State == state.Idle || r.State.Over() {
		list = append(list, Act{Name: "run", Label: "New task, now", Args: []string{"run", "--headless", "--", "{task}"}, Fields: []Field{task}, Notices: r.unrehearsed, Runs: true})
	}
	return append(list,
		Act{Name: "task-branch", Label: "New task, on a branch", Args: []string{"branch", "{name}", "--task={task}"}, Fields: []Field{task, name}, As: "branch"},
		Act{Name: "queue", Label: "New task, into the queue", Args: []string{"queue", "--", "{task}"}, Fields: []Field{task}},
		Act{Name: "attempts", Label: "New task, several attempts", Args: []string{"branch", "{name}", "--copies={number}", "--task={task}"},
			Fields: []Field{task, name, {Name: "number", Label: "How many attempts", Kind: NumberField, Required: true}}, As: "branch"},
		Act{Name: "variant", Label: "New task, by another agent", Args: []string{"branch", "{name}", "--variant={agent}", "--task={task}"},
			Fields: []Field{task, name, {Name: "agent", Label: "AGENT or AGENT:MODEL", Kind: LineField, Required: true}}, As: "branch"},
		Act{Name: "run-all", Label: "Run branches and queue", Args: []string{"run", "--parallel={number}", "--headless"}, Fields: []Field{number}, Notices: r.unrehearsed, Runs: true},
	)
}

// runVerbs are the commands about a run of a pipeline that are acts.
var runVerbs = map[string]Act{
	"resume":  {Label: "Resume", Runs: true},
	"retry":   {Label: "Retry", Runs: true},
	"rerun":   {Label: "Run again", Runs: true},
	"deliver": {Label: "Delivery", Runs: true},
	"cancel":  {Label: "Cancel", Runs: true, Loses: "The run and its workers end, and it is archived."},
}

// Acts are what a person can do about the run now: the commands of Next that need no more than a click.
func (l *RunStatus) Acts() []Act {
	var list []Act
	for _, q := range l.Questions {
		a := Act{Name: "answer", Label: "Answer " + q.ID, Args: []string{"answer", "--run", l.Run, q.ID, "--", "{answer}"}, As: AnswerRun, ID: q.ID, Item: l.Run,
			Fields: []Field{{Name: "answer", Label: "Answer to " + q.By, Kind: TextField, Required: true}}}
		if len(q.Options) > 0 {
			a.Fields[0].Kind, a.Fields[0].Options = ChoiceField, q.Options
		}
		list = append(list, a)
	}
	for _, s := range l.Next {
		args := words(s.Command)
		if len(args) < 3 || args[0] != "pipeline" || slices.Contains(args, "ROLE") {
			continue
		}
		a, known := runVerbs[args[1]]
		if !known {
			continue
		}
		a.Name, a.Args = args[1], args
		switch {
		case slices.Contains(args, "--confirm"):
			a.Name, a.Label = "deliver-confirm", "It arrived"
		case slices.Contains(args, "--again"):
			a.Name, a.Label = "deliver-again", "Send again"
		case a.Name == "cancel":
			a.Args = append(a.Args, "--yes") // a screen or a page asks itself
		}
		list = append(list, a)
	}
	return list
}

// words are the arguments of a command that ferrus suggests, without the program's name.
func words(command string) []string { return strings.Fields(strings.TrimPrefix(command, "ferrus ")) }
