// Package delegate carries out what an executor decides about its delegates: parts of its task that it gave to other agents,
// each on a branch of its own (package branch).
//
// A decision is a line in the journal of the executor's machine. [Settle] looks at both machines and brings each delegate as
// far as the lines say: it makes the branch, passes on a review or an answer, moves approved work in, and enters how a delegate
// has ended. It never holds the locks of two machines, and what a killed process has left the next one finishes: the same facts
// lead to the same act.
//
// internal/engine enters the lines. internal/conductor/schedule runs the agents of the delegates.
package delegate

import (
	"context"
	"io/fs"
	"os"
	"strings"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A Phase says what a delegate does, or what it waits for.
type Phase string

const (
	Unmade    Phase = "unmade"    // its branch, or its task, is not there yet
	Working   Phase = "working"   // its agent works, or is started
	Submitted Phase = "submitted" // its work waits for approve or reject
	Asking    Phase = "asking"    // its agent waits for an answer
	Stopped   Phase = "stopped"   // it cannot go on without a person, or its task has failed
	Gone      Phase = "gone"      // its branch was removed or reset, or is another's
)

// A Child is a delegate and how its branch is.
type Child struct {
	state.Delegate
	Phase Phase
	On    string // the id of the submission or the consultation that waits for a decision; "" for none
	Why   string // what has stopped it
	Snap  store.Snapshot
}

// Due reports whether the executor has to decide about the child, and has not yet.
func (c Child) Due() bool {
	return (c.Phase == Submitted || c.Phase == Asking) && c.Decided.On != c.On
}

// Look looks at the branch of a delegate of e's task.
func Look(e *engine.Engine, d state.Delegate) (Child, error) {
	c := Child{Delegate: d}
	b, err := Open(e, d)
	switch refusal.CodeOf(err) {
	case "":
	case refusal.UnknownBranch:
		c.Phase, c.Why = Gone, "its branch was removed"
		if !removed(e, d.Branch) {
			c.Phase = Unmade
		}
		return c, nil
	case refusal.WrongState: // its removal was cut off
		c.Phase, c.Why = Gone, "its branch is being removed"
		return c, nil
	}
	if err != nil {
		return c, err
	}
	defer b.Close()
	if c.Snap, err = b.View(); err != nil {
		return c, err
	}
	c.phase(e.Place().Branch, b)
	return c, nil
}

// phase reads the phase from the child's machine, which works for the machine parent.
func (c *Child) phase(parent string, b *engine.Engine) {
	t := c.Snap.Task
	switch {
	case t.Parent.ID != c.ID || t.Parent.Branch != parent:
		c.Phase, c.Why = Gone, "its branch belongs to another task"
	case t.TaskID == "" && t.Seq > 1:
		c.Phase, c.Why = Gone, "its task was reset"
	case t.TaskID == "":
		c.Phase = Unmade
	case t.State == state.Failed:
		c.Phase, c.Why = Stopped, t.FailureReason
	case t.State == state.AwaitingHuman:
		question, _ := store.Text(b.Store(), c.Snap, state.QuestionDoc)
		c.Phase, c.Why = Stopped, "it would have to ask a person: "+question
	case t.State == state.Reviewing:
		c.Phase, c.On = Submitted, t.Submission.ID
	case t.State == state.Consultation && !t.Consultation.Answered:
		c.Phase, c.On = Asking, t.Consultation.ID
	case t.State == state.Complete && c.Merged == "":
		c.Phase, c.Why = Stopped, "a person has completed it"
	default:
		c.Phase = Working
	}
}

// Open opens the machine of a delegate of the task of e. The errors are those of branch.Open.
func Open(e *engine.Engine, d state.Delegate) (*engine.Engine, error) {
	return branch.Open(e, d.Branch)
}

// removed reports whether a branch of that name was removed.
func removed(e *engine.Engine, name string) bool {
	list, _ := fs.Glob(os.DirFS(project.At(e.Place().Root, "").Dir()), project.ArchivedBranches+"/"+name+"@*")
	return len(list) > 0
}

// Children looks at all delegates of e's task, oldest first.
func Children(ctx context.Context, e *engine.Engine) ([]Child, error) {
	now, err := e.View()
	if err != nil {
		return nil, err
	}
	list := make([]Child, 0, len(now.Task.Delegates))
	for _, d := range now.Task.Delegates {
		c := Child{Delegate: d}
		if d.Open() {
			if c, err = Look(e, d); err != nil {
				return nil, err
			}
		}
		list = append(list, c)
	}
	return list, ctx.Err()
}

// clip makes a reason one line.
func clip(why string) string { return strings.Join(strings.Fields(why), " ") }
