// Package history reads the journal of a project as a list of events, each with what it cost. The
// command line and the evidence of a task print that list; internal/store reads and verifies the
// lines themselves.
package history

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A Event is an event with what its line in the log needs of the one before.
type Event struct {
	*store.Line
	Before   time.Time // zero for the first
	from     string    // who held the work
	rejected string    // how many of how many, for what spends a budget
	Left     bool      // a rollback has left it behind
	Shared   bool      // it is of before the branch was made
}

// Read reads the newest events, all for 0, up to the first one that is not valid. What it does not read it does not check.
func Read(e *engine.Engine, newest int) ([]Event, error) {
	var list []Event
	var before time.Time
	var from string
	lines := e.Store().History()
	if newest > 0 {
		lines = e.Store().Newest(newest + 1) // one more, for what the first of them says about the one before
	}
	for l, err := range lines {
		if err != nil {
			return list, err
		}
		p := Event{Line: l, Before: before, from: from}
		if l.Event == state.CheckFailed || l.Event == state.Reject {
			if gate, err := e.Gate(store.Snapshot{Task: l.State, Top: l}); err == nil {
				p.rejected = spent(l, gate.Limits.MaxCheckRetries, gate.Limits.MaxReviewCycles)
			}
		}
		list = append(list, p)
		if newest > 0 && len(list) > newest {
			list = list[1:]
		}
		before, from = l.At, l.State.ClaimedBy
	}
	shown := make([]*store.Line, len(list))
	for i, p := range list {
		shown[i] = p.Line
	}
	for i, left := range store.Abandoned(shown) {
		list[i].Left = left
	}
	return list, nil
}

// spent says how much of its budget an event has used up.
func spent(l *store.Line, checks, reviews int) string {
	switch l.Event {
	case state.CheckFailed:
		return fmt.Sprintf("%d of %d", l.State.CheckRetries, checks)
	case state.Reject:
		return fmt.Sprintf("%d of %d", l.State.ReviewCycles, reviews)
	}
	return ""
}

// NoteText is what there is to say about an event beside its move.
func (p Event) NoteText() string {
	note := format.Line(p.Note)
	switch p.Event {
	case state.Claim:
		return fmt.Sprintf("epoch %d%s", p.Epoch, because(p.from, note))
	case state.CreateTask, state.Answer, state.RespondConsult, state.Approve, state.Reopen, state.Select, state.MergeBegun, state.AskHuman, state.Consult:
		note = Quoted(note)
	case state.Merge:
		if p.State.Branch == "" {
			note = Quoted(note)
		}
	case state.Steer:
		note = Quoted(format.Clip(note, engine.MaxLine))
	case state.Reject:
		note = p.State.Submission.ID + "  " + Quoted(note)
	case state.Submit:
		note = p.State.Submission.ID
	case state.CheckStarted:
		note = p.State.Check.ID
	case state.RollbackBegun, state.Rollback:
		note = fmt.Sprintf("to %d, epoch %d  %s", p.Back, p.Epoch, Quoted(note))
	case state.Release, state.Reset:
		note = strings.TrimSpace(fmt.Sprintf("epoch %d  %s", p.Epoch, Quoted(note)))
	}
	if id := p.ID(); id != "" {
		note = strings.TrimSpace(id + "  " + note)
	}
	if p.rejected != "" {
		note += "   " + p.rejected
	}
	if p.Actor.Role == state.Human && !p.Actor.TTY {
		note = strings.TrimSpace(note + "   (without a terminal)")
	}
	return strings.TrimSpace(note + format.FromTree(format.Line(p.Actor.Tree)))
}

// ID is what the event was about, where its note does not say it.
func (p Event) ID() string {
	t := p.State
	switch p.Event {
	case state.AskHuman:
		return t.Top().ID
	case state.Consult, state.RespondConsult:
		return t.Consultation.ID
	case state.Answer:
		if n := len(t.Decisions); n > 0 {
			return t.Decisions[n-1].ID
		}
	}
	return ""
}

func because(from, why string) string {
	switch {
	case from != "":
		return ", taken from " + from + ": " + cmp.Or(why, "it was gone")
	case why != "":
		return ", " + why
	}
	return ""
}

// Quoted puts a text into quotation marks, on one line.
func Quoted(text string) string {
	if text == "" {
		return ""
	}
	return `"` + text + `"`
}

// LineJSON is an event without its documents and the state.
func (p Event) LineJSON() map[string]any {
	l := map[string]any{"seq": p.Seq, "at": p.At, "actor": p.Actor, "event": p.Event, "from": p.From, "to": p.To, "epoch": p.Epoch, "note": p.Note}
	if p.Back != 0 {
		l["back"] = p.Back
	}
	return l
}
