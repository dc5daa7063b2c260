package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/worktree/restore"
)

// Rollback returns the task to an earlier entry of its own, named by its number, with the documents that it had there.
// The files of the work stay as they are. The agent that held the work is fenced, and what was answered since is asked again.
// What is left behind stays in the journal, and can be returned to as well.
func (s *Session) Rollback(ctx context.Context, to uint64, reason string) (Done, error) {
	_, was, err := s.looked(to, reason)
	if err != nil {
		return Done{}, err
	}
	return s.commit(ctx, s.recalling(was, reason))
}

// looked is the machine as it is, and the entry to which it is to return.
func (s *Session) looked(to uint64, reason string) (now store.Snapshot, was *store.Line, err error) {
	if err = handover.CheckText("the reason", reason, maxNote); err != nil {
		return now, nil, err
	}
	if now, err = s.e.View(); err != nil {
		return now, nil, err
	}
	was, err = s.e.Entry(now, to)
	return now, was, err
}

// A Rolled is what became of a rollback with files.
type Rolled struct {
	Done
	Files restore.Change
}

// RollbackFiles is Rollback, and restores the files of the work of that entry too. It saves the present files before
// anything is moved, and nobody can act meanwhile: who held the work is fenced, and ended by fenced, nil for nobody. A call
// that was cut off is finished by the same one. A file that a person edits while it is moved is saved, and is among
// Files.Edited, or named in the error.
func (s *Session) RollbackFiles(ctx context.Context, to uint64, reason string, fenced func() error) (Rolled, error) {
	return s.rollback(ctx, to, reason, true, fenced)
}

// RollbackFenced is Rollback for a task of which fenced has something to take back, too: nobody can act meanwhile. The files
// stay as they are. A call that was cut off is finished by the same one.
func (s *Session) RollbackFenced(ctx context.Context, to uint64, reason string, fenced func() error) (Rolled, error) {
	return s.rollback(ctx, to, reason, false, fenced)
}

func (s *Session) rollback(ctx context.Context, to uint64, reason string, files bool, fenced func() error) (Rolled, error) {
	now, was, err := s.looked(to, reason)
	if err != nil {
		return Rolled{}, err
	}
	goal := state.FileMove{To: to}
	if files || now.Task.Returning.To == to {
		if goal, err = s.goal(ctx, now, to); err != nil {
			return Rolled{}, err
		}
	}
	begun, again := Done{Snapshot: now}, now.Task.Returning == goal
	if !again {
		if begun, err = s.commit(ctx, s.returning(was, goal, reason)); err != nil {
			return Rolled{Done: begun}, err
		}
	}
	if fenced != nil {
		if err := fenced(); err != nil {
			return Rolled{Done: begun}, err
		}
	}
	var moved restore.Change
	if goal.Tree != "" {
		moved, err = s.e.move(ctx, begun.Snapshot, goal.Tree)
	}
	if stopped := (*restore.StoppedError)(nil); errors.As(err, &stopped) {
		err = &refusal.RefusedError{Code: refusal.TreeChanged, Message: stopped.Error(), Remedy: refusal.Say("%s finishes the rollback", refusal.Finishing(begun.Task)), Person: true}
	}
	if blocked := (*restore.BlockedError)(nil); errors.As(err, &blocked) && !again {
		// Nothing was moved, so nothing need be finished.
		if before, err := s.e.Entry(begun.Snapshot, now.Task.Seq); err == nil {
			_, _ = s.commit(ctx, s.recalling(before, "not rolled back: "+format.OneLine(blocked.Error(), handover.MaxLine)))
		}
		err = &refusal.RefusedError{Code: refusal.TreeChanged, Message: blocked.Error(), Remedy: "nothing was moved; try again then", Person: true}
	}
	if err != nil {
		return Rolled{begun, moved}, restore.WithEdits(err, moved.Edited)
	}
	done, err := s.commit(ctx, s.recalling(was, reason))
	return Rolled{done, moved}, err
}

// goal is where a rollback with files leads.
func (s *Session) goal(ctx context.Context, now store.Snapshot, to uint64) (state.FileMove, error) {
	if now.Task.Returning.To == to {
		return now.Task.Returning, nil
	}
	id, err := s.e.Files(ctx, now, to)
	if err == nil && id == "" {
		err = &refusal.RefusedError{Code: refusal.InvalidInput, Message: fmt.Sprintf("no files were kept at entry %d or before", to),
			Remedy: "roll back without --files; the files stay as they are then", Person: true}
	}
	return state.FileMove{To: to, Tree: id}, err
}

// returning is the act that fences everybody while the files are moved.
func (s *Session) returning(was *store.Line, goal state.FileMove, reason string) transition {
	return transition{event: state.RollbackBegun, note: reason, back: was.Seq, apply: func(_ store.Snapshot, next *state.Task) { next.Returning = goal }}
}

// move makes the files of the work those of a tree, having kept them as they are.
func (e *Engine) move(ctx context.Context, snap store.Snapshot, to string) (restore.Change, error) {
	from, err := e.Keep(ctx, snap)
	if err != nil {
		return restore.Change{}, err
	}
	tree, err := e.Tree(ctx, snap)
	if err != nil {
		return restore.Change{}, err
	}
	return restore.In(tree).Restore(ctx, from, to, e.EditsName(snap))
}

// recalling is the act that enters an earlier entry.
func (s *Session) recalling(was *store.Line, reason string) transition {
	return transition{event: state.Rollback, note: reason, back: was.Seq,
		check: func(now store.Snapshot) error {
			if now.Task.TaskID != was.State.TaskID {
				return noEntry(now, was.Seq)
			}
			return nil
		},
		apply: func(now store.Snapshot, next *state.Task) {
			frozen, ok := next.Docs[store.EnvironDoc]
			*next = next.Recall(was.State)
			// It stays as the newest ferrus config accept has it, as the gate does.
			if delete(next.Docs, store.EnvironDoc); ok {
				if next.Docs == nil {
					next.Docs = map[state.Doc]state.Ref{}
				}
				next.Docs[store.EnvironDoc] = frozen
			}
			next.Since = s.e.stamp()
			// The agent that continues from here learns why; one that was started before has no part in it.
			next.Decisions = state.Remember(next.Decisions, state.Record{ID: fmt.Sprint(handover.RollbackPrefix, was.Seq), Off: now.Journal.Bytes})
		}}
}

// Entry returns an entry of the present task, by its number. The error is a *refusal.RefusedError that says which there are.
func (e *Engine) Entry(now store.Snapshot, seq uint64) (*store.Line, error) {
	if now.Task.TaskID == "" {
		return nil, &refusal.RefusedError{Code: refusal.WrongState, Message: "there is no task, and so nothing to return to",
			Remedy: "ferrus status --all shows the tasks before, which are archived", Person: true}
	}
	for l, err := range e.store.HistoryFrom(now.Task.Docs[state.TaskDoc].Off) {
		if err != nil {
			return nil, err
		}
		if l.Seq == seq && seq < now.Task.Seq && l.State.TaskID == now.Task.TaskID {
			return l, nil
		}
	}
	return nil, noEntry(now, seq)
}

func noEntry(now store.Snapshot, seq uint64) error {
	return &refusal.RefusedError{Code: refusal.InvalidInput, Message: fmt.Sprintf("the task has no entry %d before the present one, which is %d", seq, now.Task.Seq),
		Remedy: "ferrus log{branch} shows its entries", Person: true}
}
