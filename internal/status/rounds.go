package status

import (
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A Round is a submission of a task, with what was decided about it.
type Round struct {
	ID   string // of the submission
	By   string
	At   time.Time
	Tree string // what was submitted, "" without git
	Base string // what it is compared with

	Verdict   state.Event // Approve, Reject or Reopen; "" while there is none
	VerdictBy string
	VerdictAt time.Time
	Text      string // what a rejection says
}

// Words are the verdict for people, "" while there is none.
func (r Round) Words() string {
	return map[state.Event]string{state.Approve: "approved", state.Reject: "rejected", state.Reopen: "sent back after it was complete"}[r.Verdict]
}

// newestRounds is how many entries of the log are searched for rounds.
const newestRounds = 500

// ReadRounds reads the submissions of the present task, the oldest first, from the newest entries of its log. Those that a rollback has
// undone are left out.
func ReadRounds(e *engine.Engine) ([]Round, error) {
	now, err := e.View()
	if err != nil || now.Task.TaskID == "" {
		return nil, err
	}
	var lines []*store.Line
	for l, err := range e.Store().Newest(newestRounds) {
		if err != nil {
			return nil, err
		}
		if l.State.TaskID == now.Task.TaskID {
			lines = append(lines, l)
		}
	}
	var list []Round
	undone := store.Abandoned(lines)
	for i, l := range lines {
		switch {
		case undone[i]:
		case l.Event == state.Submit:
			sub := l.State.Submission
			list = append(list, Round{ID: sub.ID, By: l.Actor.Agent, At: l.At, Tree: sub.Tree, Base: l.State.BaseTree})
		case len(list) > 0 && (l.Event == state.Approve || l.Event == state.Reject || l.Event == state.Reopen):
			r := &list[len(list)-1]
			r.Verdict, r.VerdictBy, r.VerdictAt, r.Text = l.Event, l.Actor.Agent, l.At, l.Docs[state.ReviewDoc]
		}
	}
	return list, nil
}
