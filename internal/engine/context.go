package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/worktree"
)

// A AsOf is the machine as it is, or as it was right after an earlier event.
type AsOf struct {
	store.Snapshot
	Past bool // what only the present knows is not known: who lives, what lies in the work tree, what ferrus.toml says
}

// Moment returns the machine as it was right after an event, by its number, of whatever task; as it is for 0 and for the
// newest one. The error is a *refusal.RefusedError of code InvalidInput that says which there are.
func (e *Engine) Moment(seq uint64) (AsOf, error) {
	now, err := e.View()
	if err != nil {
		return AsOf{}, err
	}
	if seq == 0 || seq == now.Task.Seq {
		return AsOf{Snapshot: e.present(now)}, nil
	}
	l, err := e.store.LineOf(seq)
	if err != nil {
		return AsOf{}, err
	}
	if l != nil {
		return AsOf{Snapshot: e.here(After(l)), Past: true}, nil
	}
	return AsOf{}, &refusal.RefusedError{Code: refusal.InvalidInput, Message: fmt.Sprintf("there is no event %d; the newest is %d", seq, now.Task.Seq),
		Remedy: "ferrus log{branch} lists them", Person: true}
}

// After returns the machine right after an event.
func After(l *store.Line) store.Snapshot {
	return store.Snapshot{Task: l.State, Top: l, Journal: store.Position{Bytes: l.End, Last: l.Off, H: l.H}}
}

// Work returns the work with its packet as an executor is given it at a moment: as its holder where somebody holds it,
// else as one that claims it. It is nil where nobody can be given any. Nothing is claimed.
func (e *Engine) Work(ctx context.Context, m AsOf) (*Claimed, error) {
	v, open := lease.Verdict{}, false
	if was := m.Task.ClaimedBy; was == "" || !m.Past {
		v, open = e.claimable(m.Snapshot)
	}
	got := &Claimed{}
	switch {
	case open:
		next, err := state.Step(m.Task, state.Claim, state.Executor, state.Limits{})
		if err != nil {
			return nil, refusal.From(err)
		}
		if !v.Sure {
			got.Stale = m.Task.ClaimedBy
		}
		m.Task, m.Lease = next, store.Lease{}
	case m.Task.ClaimedBy == "" || v.Dead:
		return nil, nil
	}
	got.Snapshot = m.Snapshot
	var err error
	got.Packet, err = e.packet(ctx, m)
	return got, err
}

// diffAt is the change from the task's base to the work tree as it is, or as the newest check of then found it, and the
// tree of that.
func (e *Engine) diffAt(ctx context.Context, m AsOf) (text, tree string, err error) {
	c, base := m.Task.Check, m.Task.BaseTree
	switch {
	case !m.Past:
		var skipped []string
		if e.opts.Look {
			tree, skipped, err = e.Inspect(ctx, m.Snapshot)
		} else {
			tree, err = e.fingerprint(ctx, m.Snapshot)
		}
		if err == nil && (tree == "" || tree != base) {
			text, err = e.diffstat(ctx, m.Snapshot, tree)
		}
		text += strings.Join(skipped, "\n")
	case base == "": // no git
		text, err = e.diffstat(ctx, m.Snapshot, "")
	case c.Tree == "":
		text = "not known: no check had looked at the work tree by then"
	default:
		tree = c.Tree
		text, err = e.diffstat(ctx, m.Snapshot, tree)
		text = "as check " + c.ID + " found it:\n" + text
	}
	return text, tree, err
}

// Inspect returns the tree of the work as it is for a command that only shows, and the files that were not read; see
// handover.Inspect.
func (e *Engine) Inspect(ctx context.Context, snap store.Snapshot) (id string, skipped []string, err error) {
	tree, err := e.Tree(ctx, snap)
	if err != nil {
		return "", nil, err
	}
	return handover.Inspect(ctx, tree, snap.Task, e.place.Branch)
}

// ReviewOf returns the submission of a snapshot as its reviewer is shown it. The error is a *refusal.RefusedError where there is none
// to be reviewed by a role.
func (e *Engine) ReviewOf(ctx context.Context, now store.Snapshot, by state.Role) (Review, error) {
	if _, err := state.Step(now.Task, state.Approve, by, state.Limits{}); err != nil {
		return Review{}, refusal.From(err)
	}
	if err := e.place.HasFiles(now.Files); err != nil {
		return Review{}, err
	}
	var r Review
	var err error
	for doc, text := range map[state.Doc]*string{state.TaskDoc: &r.Task, state.SubmissionDoc: &r.Submission, state.ReviewDoc: &r.Last} {
		if *text, err = store.Text(e.store, now, doc); err != nil {
			return Review{}, err
		}
	}
	if ref, ok := now.Task.Docs[state.ReviewDoc]; ok {
		l, err := e.store.LineAt(ref.Off)
		if err != nil {
			return Review{}, err
		}
		r.LastBy = l.Actor.Agent
		if l.Actor.Tree != "" {
			r.LastBy += " (" + l.Actor.Tree + ")"
		}
	}
	if r.Decisions, err = handover.Decisions(e.store, now.Task); err != nil {
		return Review{}, err
	}
	if handover.FitDecisions(&r.Decisions, maxReviewed) {
		r.Cut = []handover.Cut{{What: "decisions", URI: "ferrus://decisions"}}
	}
	sub := now.Task.Submission
	r.Notices = e.aboutWork(ctx, now)
	if sub.Patch != "" {
		if r.Patch, r.PatchExact, err = handover.Patch(ctx, func() (*worktree.Tree, error) { return e.Tree(ctx, now) }, e.place, now.Task, r.Notices); err != nil {
			return Review{}, err
		}
	}
	r.Diffstat, err = e.diffstat(ctx, now, sub.Tree)
	return r, err
}

// packet gathers the packet of the task at a moment.
func (e *Engine) packet(ctx context.Context, m AsOf) (handover.Packet, error) {
	var p handover.Packet
	snap := m.Snapshot
	var err error
	load := func(into *string, doc state.Doc) {
		if err == nil {
			*into, err = store.Text(e.store, snap, doc)
		}
	}
	load(&p.Task, state.TaskDoc)
	load(&p.Review, state.ReviewDoc)
	if err == nil {
		var whole handover.Packet
		whole, err = handover.Remembered(e.store, e.place.Dir(), snap, string(state.Executor))
		p.LastCheck, p.Decisions, p.Messages, p.Consultations, p.Progress = whole.LastCheck, whole.Decisions, whole.Messages, whole.Consultations, whole.Progress
	}
	if err == nil {
		var trouble error
		if p.Diffstat, p.Tree, trouble = e.diffAt(ctx, m); trouble != nil {
			p.Diffstat = "not known: " + trouble.Error() // an agent needs the work to fix that
		}
	}
	p.Fit(handover.Max)
	return p, err
}

// Remembered is handover.Remembered for the machine of the engine.
func (e *Engine) Remembered(snap store.Snapshot, to string) (handover.Packet, error) {
	return handover.Remembered(e.store, e.place.Dir(), snap, to)
}

// Answered returns the newest answer of the supervisor, the zero Consultation when there is none.
func (e *Engine) Answered(snap store.Snapshot) (handover.Consultation, error) {
	list := snap.Task.Consulted
	if len(list) == 0 {
		return handover.Consultation{}, nil
	}
	return handover.ReadConsultation(e.store, list[len(list)-1])
}

// LastCheckOf returns how the newest check ended, nil when there was none or it is still running.
func (e *Engine) LastCheckOf(snap store.Snapshot) (*handover.LastCheck, error) {
	return handover.ReadLastCheck(e.store, e.place.Dir(), e.present(snap))
}
