package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/store/live"
)

// A Claimed is the work in an executor's hands.
type Claimed struct {
	Done
	Packet handover.Packet
	Stale  string // who may still be editing, when the work was taken from a holder not known to be dead

	fresh bool // claimed by this very call
}

// AwaitTask waits for work and claims it: for at most wait, which ends with a nil Claimed. The holder gets its work
// again. A session that cannot be given work now goes on waiting, unless headless says that nobody would bring any.
func (s *Session) AwaitTask(ctx context.Context, wait time.Duration, headless bool) (*Claimed, store.Snapshot, error) {
	var got *Claimed
	snap, err := s.e.await(ctx, wait, func(now store.Snapshot) (bool, error) {
		var err error
		if got, err = s.tryClaim(ctx, now); got != nil || err != nil {
			return true, err
		}
		return headless && (s.Replaced(now.Task) || !s.e.Claimable(now)), nil
	})
	if err != nil || got == nil {
		return nil, snap, err
	}
	got.Packet, err = s.e.packet(ctx, AsOf{Snapshot: s.e.present(got.Snapshot)})
	if got.fresh {
		s.e.snapshotAfter(state.Claim, got.Snapshot, got.Packet.Tree)
	}
	if got.fresh && live.IsSession(s.ID) && (err != nil || ctx.Err() != nil) {
		s.withdraw()
	}
	if err != nil {
		err = &refusal.RefusedError{Code: refusal.OutcomeUnknown, Message: "the work is claimed, and what belongs to it could not be read: " + err.Error(),
			Remedy: "call wait_for_task again"}
	}
	return got, got.Snapshot, err
}

// withdraw ends the lease of a claim that nobody has been told, because the caller has gone meanwhile or the packet could
// not be read. Its secret is known to nobody but s: without this the work would lie idle for max_silence_secs. It stays
// the session's own as long as nobody else takes it.
func (s *Session) withdraw() {
	_, err := s.e.store.Renew(s.e.ctx, func(now store.Snapshot) (store.Lease, error) {
		if !s.Holds(now.Task) {
			return store.Lease{}, errHeld
		}
		at := s.e.stamp()
		return store.Lease{Term: lease.Grant(s.e.opts.Clock(), 0), Until: at, Heartbeat: at}, nil
	})
	if err != nil && !errors.Is(err, errHeld) && s.e.ctx.Err() == nil {
		s.e.log.Warn("a claim that was lost is not withdrawn", "agent", s.Agent, "error", err)
	}
}

// tryClaim claims the work of now if it may be claimed; nil when it may not.
func (s *Session) tryClaim(ctx context.Context, now store.Snapshot) (*Claimed, error) {
	if s.Holds(now.Task) {
		return &Claimed{Done: Done{Snapshot: now}}, nil
	}
	if now.Task.ClaimedBy != "" && now.Task.Session == s.ID {
		s.hold(now.Task.Epoch) // a claim whose outcome was not known
		s.Touch()
		return &Claimed{Done: Done{Snapshot: now}}, nil
	}
	if _, ok := s.e.claimable(now); !ok {
		return nil, s.e.date(ctx, now)
	}
	if s.Replaced(now.Task) {
		return nil, nil // the work is another's now
	}
	if err := s.announce(); err != nil {
		return nil, err
	}
	var before predecessor
	done, err := s.commit(ctx, s.claiming(now, &before))
	if err != nil {
		// Somebody else was faster, or the state has moved on: go on waiting.
		if code := refusal.CodeOf(err); err == errHeld || code == refusal.WrongState {
			return nil, nil
		}
		return nil, err
	}
	s.hold(done.Task.Epoch)
	got := &Claimed{Done: done, fresh: true}
	if before.name != "" && !before.Sure {
		got.Stale = before.name
	}
	return got, nil
}

// A predecessor is who held the work before a claim, "" when nobody did, and why it may be replaced.
type predecessor struct {
	name string
	lease.Verdict
}

// claiming is the claim of the work that was looked at. Under the lock it is looked at again: before is whom it is taken
// from.
func (s *Session) claiming(now store.Snapshot, before *predecessor) transition {
	return transition{
		event: state.Claim,
		arg:   s.ID,
		note:  s.e.why(now),
		keeps: true, // as the packet finds them
		check: func(now store.Snapshot) error {
			v, ok := s.e.claimable(now)
			if !ok {
				return errHeld
			}
			*before = predecessor{now.Task.ClaimedBy, v}
			return s.e.place.HasFiles(now.Files)
		},
		apply: func(_ store.Snapshot, next *state.Task) {
			next.ClaimedBy, next.Session, next.ClaimedAt = s.Agent, s.ID, s.e.stamp()
		},
	}
}

// date gives a lease whose deadline was lost a new one: the deadline stands in STATE.json alone, which somebody may have
// edited, and a holder that lives but hangs would keep the work for ever.
func (e *Engine) date(ctx context.Context, now store.Snapshot) error {
	if _, err := e.dated(now); err != nil {
		return nil
	}
	if _, err := e.store.Renew(ctx, e.dated); err != errHeld {
		return err
	}
	return nil
}

// dated is the lease of a holder whose deadline was lost; errHeld when it was not.
func (e *Engine) dated(now store.Snapshot) (store.Lease, error) {
	if now.Task.ClaimedBy == "" || now.Lease.Term != (lease.Term{}) {
		return now.Lease, errHeld
	}
	return e.grant(now.Task.Session), nil
}

// hold notes that the session holds the work under the epoch, and keeps it.
func (s *Session) hold(epoch uint64) {
	s.mu.Lock()
	s.epoch = epoch
	s.mu.Unlock()
	if !live.IsSession(s.ID) {
		s.e.keepAlive(s)
	}
}

var errHeld = &refusal.RefusedError{Code: refusal.NotClaimed, Message: "another agent has claimed the task"}

// announce takes the session's liveness lock, once.
func (s *Session) announce() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live != nil || live.IsSession(s.ID) {
		return nil
	}
	live, err := s.e.store.Announce(s.ID)
	if err != nil {
		return err
	}
	s.live = live
	return nil
}

// claimable reports whether an executor may claim the work now, and what is known of its holder.
func (e *Engine) claimable(now store.Snapshot) (lease.Verdict, bool) {
	open := false
	for _, ev := range state.Allowed(now.Task, state.Executor) {
		open = open || ev == state.Claim
	}
	if now.Task.ClaimedBy == "" {
		return lease.Verdict{Dead: true, Sure: true}, open
	}
	v := e.Verdict(now)
	return v, open && v.Dead
}

// Verdict says whether the holder of the work may be replaced, and why.
func (e *Engine) Verdict(now store.Snapshot) lease.Verdict {
	return lease.Dead(now.Lease.Term, e.opts.Clock(), e.probe(now.Task.Session), now.Task.Waits())
}

func (e *Engine) why(now store.Snapshot) string {
	if now.Task.ClaimedBy == "" {
		return ""
	}
	return e.Verdict(now).Why
}

// Claimable reports whether there is work that an executor could be given now.
func (e *Engine) Claimable(now store.Snapshot) bool {
	_, ok := e.claimable(now)
	return ok
}

// Progress remembers a note for an agent that may have to continue from here.
func (s *Session) Progress(ctx context.Context, note string) (Done, error) {
	if err := handover.CheckText("note", note, maxNote); err != nil {
		return Done{}, err
	}
	return s.commit(ctx, transition{event: state.Progress, note: note, check: s.e.spareNotes, apply: func(now store.Snapshot, next *state.Task) {
		next.Issued.Notes++
		next.Progress = state.Remember(next.Progress, state.Record{Off: now.Journal.Bytes})
	}})
}

// spareNotes refuses a progress note where the task has had limits.max_progress_notes: each stays in the journal for good, and
// a successor is shown the newest ones alone.
func (e *Engine) spareNotes(now store.Snapshot) error {
	gate, err := e.Gate(now)
	if err != nil {
		return err
	}
	if now.Task.Issued.Notes < gate.Limits.MaxProgressNotes {
		return nil
	}
	return &refusal.RefusedError{Code: refusal.WrongState, Message: fmt.Sprintf("the task has had %s, which is all that limits.max_progress_notes allows",
		format.Count(now.Task.Issued.Notes, "progress note", "progress notes")), Remedy: refusal.Say("continue without notes: the next agent is shown the newest %d; put the rest into the submission", state.MaxRecords)}
}

// maxNote is the largest progress note in bytes.
const maxNote = 4 << 10
