package status

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// An Event is one event of the journal, with facts from the lines before it.
type Event struct {
	*store.Line
	Before   time.Time // zero for the first
	from     string    // the session that had the claim
	rejected string    // how many of how many, for what spends a budget
	Left     bool      // a rollback undid it
	Shared   bool      // it is older than the branch
}

// History returns the newest events, all for 0, up to the first invalid one. It verifies only what it
// reads.
func History(e *engine.Engine, newest int) (list []Event, damage error) {
	defer func() { share(list, e.Place().Branch) }()
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

// spent describes how much of its budget an event has used.
func spent(l *store.Line, checks, reviews int) string {
	switch l.Event {
	case state.CheckFailed:
		return fmt.Sprintf("%d of %d", l.State.CheckRetries, checks)
	case state.Reject:
		return fmt.Sprintf("%d of %d", l.State.ReviewCycles, reviews)
	}
	return ""
}

// NoteText returns the note of an event, with facts that the move does not show.
func (p Event) NoteText() string {
	note := format.Line(p.Note)
	switch p.Event {
	case state.Claim:
		return fmt.Sprintf("epoch %d%s", p.Epoch, because(p.from, note))
	case state.CreateTask, state.Answer, state.RespondConsult, state.Approve, state.Reopen, state.Select, state.MergeBegun, state.AskHuman, state.Consult:
		note = Quoted(note)
	case state.DelegateStarted:
		if n := len(p.State.Delegates); n > 0 {
			note = p.State.Delegates[n-1].ID + "  " + Quoted(note)
		}
	case state.Merge:
		if p.State.Branch == "" {
			note = Quoted(note)
		}
	case state.Tell:
		note = fmt.Sprintf("to %s  %s", recipient(p.State), Quoted(format.Clip(note, handover.MaxLine)))
	case state.Steer:
		note = Quoted(format.Clip(note, handover.MaxLine))
	case state.Reject:
		note = p.State.Submission.ID + "  " + Quoted(note)
	case state.Submit:
		note = p.State.Submission.ID
	case state.CheckStarted:
		note = p.State.Check.ID
	case state.RollbackBegun, state.Rollback:
		note = fmt.Sprintf("to %d, epoch %d  %s", p.Back, p.Epoch, Quoted(note))
	case state.Fallback:
		if n := len(p.State.StandIns); n > 0 {
			note = format.Line(conductor.StandInText(p.State.StandIns[n-1]))
		}
	case state.Reassign:
		note = fmt.Sprintf("to %s, epoch %d", note, p.Epoch)
	case state.Release, state.Reset:
		note = strings.TrimSpace(fmt.Sprintf("epoch %d  %s", p.Epoch, Quoted(note)))
	}
	if why := p.unpublished(); why != "" {
		note += "   (" + why + ")"
	}
	if id := p.ID(); id != "" {
		note = strings.TrimSpace(id + "  " + note)
	}
	if p.rejected != "" {
		note += "   " + p.rejected
	}
	if how := p.Actor.How(); how != "" {
		note = strings.TrimSpace(note + "   (" + how + ")")
	}
	if p.Rule != "" {
		note += "   (rule: " + format.Line(p.Rule) + ")"
	}
	return strings.TrimSpace(note + format.FromTree(format.Line(p.Actor.Tree)))
}

// recipient returns to whom the newest message of a task was sent.
func recipient(t state.Task) string {
	if n := len(t.Messages); n > 0 {
		return t.Messages[n-1].To
	}
	return "nobody"
}

// ID returns the id of the event's subject, if the note does not name it.
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

// Quoted returns a text in quotation marks, on one line.
func Quoted(text string) string {
	if text == "" {
		return ""
	}
	return `"` + text + `"`
}

// unpublished says why the files that the event is about did not get to the git remote; "" where they did, or it is about none.
func (p Event) unpublished() string {
	switch p.Event {
	case state.CreateTask, state.CheckPassed, state.CheckFailed, state.CheckVoid:
		return format.Line(p.State.Unpublished)
	}
	return ""
}

// LineJSON returns an event without its documents and the state.
func (p Event) LineJSON() map[string]any {
	l := map[string]any{"seq": p.Seq, "at": p.At, "actor": p.Actor, "event": p.Event, "from": p.From, "to": p.To, "epoch": p.Epoch, "note": p.Note}
	if p.Back != 0 {
		l["back"] = p.Back
	}
	if p.Rule != "" {
		l["rule"] = p.Rule
	}
	if why := p.unpublished(); why != "" {
		l["unpublished"] = why
	}
	return l
}
