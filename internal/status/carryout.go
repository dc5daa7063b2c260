package status

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// A Request is a decision of a person. Its session names the task and the submission that it is about: see [engine.Subject].
type Request struct {
	Kind
	ID   string // of the question that is answered, "" for the one that is open; or the name of the need that is dropped, "" for all of them
	Text string // the answer, the message, the note or the reason
	Seq  uint64 // the entry to which a rollback returns, or after which a branch begins; 0 for the newest
	Item string // the run of a pipeline, or the task that waits in the queue; a new one without a name gets that of its first line

	Asked branch.Queueing // of a task for the queue: what it needs

	// Of a kind about a branch of the project, whose session is that of the project, and of the kind that makes branches:
	Branch string
	On     engine.Subject // what the person was shown of the branch
	Keep   bool           // the other attempts stay
	Force  bool           // a branch is removed whatever its work is
	Copies int            // so many attempts are made, each with a number after the name of the branch; 0 for the branch itself
	Fork   branch.Fork    // on what new branches are based, and their variants; the rest of it is not used
}

// A Kind is how an act is carried out. The zero Kind is none.
type Kind struct {
	Name      string // of an act; Followup is one of the command line alone
	Verb      string // of the command line
	Doing     string // what takes its time, to stand before "for 14 s"; "" for nothing
	Document  bool   // its text is one that agents read, of any length; any other text is a line of the log
	Rest      string // what it may leave undone, to stand after "cannot"
	Continues bool   // it gives the task work to do: the run that has ended continues
	Project   bool   // its session is that of the project, and the request names a branch, a run or a task that waits

	// Agreed is what an engine says of the agreement to what the project's files name, of a kind that runs it; nil for any other.
	Agreed func(*engine.Engine) error

	cannot string
	do     func(context.Context, *engine.Session, Request) (ActResult, error)
}

// An ActResult is what became of a decision.
type ActResult struct {
	engine.Done
	Lines  []string       // for a person
	Facts  map[string]any // for a program
	Next   []Step         // what helps next, of a kind about a branch
	Report *Report        // of the branch that has work to do again; nil for any other, or where it cannot be read
	Left   error          // why the rest was not done: the other attempts stay, or more branches were to be made
}

// Names of kinds that are no act.
const (
	Followup = "followup" // a message that reopens a task
)

// ActNamed returns the kind of an act, the zero Kind for one that is not among these.
func ActNamed(name string) Kind { return kinds[name] }

var kinds = func() map[string]Kind {
	named := map[string]Kind{}
	for _, k := range []Kind{
		{Name: "accept", Verb: "config accept", cannot: "accept the configuration", Continues: true, do: accept},
		{Name: "allow-today", Verb: "usage --allow-today", cannot: "lift the limits of the day", Project: true, do: allowToday},
		{Name: "answer", Document: true, Continues: true, do: answer},
		{Name: AnswerRun, Verb: "answer", cannot: "answer", Document: true, Project: true, do: answerRun},
		{Name: "approve", do: approve},
		{Name: "branch", cannot: "make the branch", Rest: "make the others", Doing: "{fetching}making {branches}", Document: true, Agreed: (*engine.Engine).Trusted, do: makeBranches},
		{Name: "dequeue", Verb: "queue", cannot: "remove the task from the queue", Project: true, do: dequeue},
		{Name: "drop-need", Verb: "queue", cannot: "take the task without what it needs", Project: true, do: dropNeed},
		{Name: "finish", cannot: "finish moving the files", do: finish},
		{Name: "merge", cannot: "merge {branch}", Doing: "merging {branch}", Project: true, Agreed: (*engine.Engine).Known, do: onBranch(merge)},
		{Name: "resolve", Verb: "merge", cannot: "merge {branch}", Doing: "merging {branch}", Project: true, Agreed: (*engine.Engine).Known, Continues: true, do: onBranch(resolve)},
		{Name: "select", cannot: "take {branch}", Rest: "remove the others", Doing: "merging {branch}", Project: true, Agreed: (*engine.Engine).Known, do: onBranch(selected)},
		{Name: "remove", Verb: "branch --remove", cannot: "remove {branch}", Doing: "removing {branch}", Project: true, do: remove},
		{Name: "queue", cannot: "queue the task", Document: true, Project: true, do: enqueue},
		{Name: "reject", Document: true, Continues: true, do: reject},
		{Name: "release", do: release},
		{Name: "reopen", Document: true, Continues: true, do: reopen},
		{Name: "requeue", Verb: "queue", cannot: "replace the text of the task", Document: true, Project: true, do: requeue},
		{Name: "reset", do: reset},
		{Name: "rollback", cannot: "roll the task back to {seq}", do: rollback},
		{Name: "rollback-files", Verb: "rollback", cannot: "roll the task and its files back to {seq}", Doing: "restoring the files", do: rollbackFiles},
		{Name: "send", cannot: "send it", Document: true, do: steer},
		{Name: "stop", Doing: "ending the agents", do: stop},
		{Name: Followup, Verb: "send", cannot: "send it", Document: true, Continues: true, do: reopen},
	} {
		k.Verb = cmp.Or(k.Verb, k.Name)
		k.cannot = cmp.Or(k.cannot, k.Verb)
		named[k.Name] = k
	}
	return named
}()

// Cannot says what could not be done, to stand after "cannot".
func (r Request) Cannot() string { return r.filled(r.cannot) }

// AtWork says what takes its time, to stand before "for 14 s"; "" for nothing.
func (r Request) AtWork() string { return r.filled(r.Doing) }

func (r Request) filled(text string) string {
	fetching := ""
	if r.Fork.Fetch {
		fetching = "fetching " + r.Fork.Base + ", "
	}
	return strings.NewReplacer("{seq}", strconv.FormatUint(r.Seq, 10), "{branch}", r.Branch, "{fetching}", fetching,
		"{branches}", format.Count(max(1, r.copies()), "branch", "branches")).Replace(text)
}

// CarryOut carries out a request in the session of a person.
func CarryOut(ctx context.Context, s *engine.Session, r Request) (ActResult, error) {
	got, err := r.do(ctx, s, r)
	if got.Facts == nil {
		got.Facts = TaskFacts(got.Task)
	}
	return got, err
}

// TaskFacts are the facts of a task after a decision, for a program.
func TaskFacts(t state.Task) map[string]any {
	return map[string]any{"task_id": t.TaskID, "state": t.State, "seq": t.Seq, "epoch": t.Epoch}
}

// Instead says what a person can do on the task, on which a request was refused; "" for one about a branch.
func Instead(e *engine.Engine, r Request) string {
	if r.Project {
		return ""
	}
	now, err := e.View()
	switch on := e.Place().Branch; {
	case err == nil && r.Name == Followup && now.Task.Underway():
		return refusal.OnBranch(on, `the task is not finished: ferrus send{branch} --steer "..." messages the running agent`)
	case err == nil && r.Name == "send" && now.Task.State.Over():
		return refusal.OnBranch(on, `omit --steer: ferrus send{branch} "..." reopens the task`)
	}
	return Sentence(e)
}
