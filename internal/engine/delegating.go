package engine

import (
	"context"
	"fmt"
	"strconv"

	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// DelegateDoc is the key in a line's documents of what the line says to a delegate: its task, a review
// or an answer. No file is generated from it.
const DelegateDoc state.Doc = "DELEGATE.md"

// StartDelegate enters a new delegate of the task into the journal: the branch of d, its files and its
// agent, and on what it is to work. The branch is made afterwards, by the next process that finds the line.
func (s *Session) StartDelegate(ctx context.Context, d state.Delegate, text string) (Done, error) {
	if err := handover.CheckText("task", text, store.MaxDoc); err != nil {
		return Done{}, err
	}
	return s.commit(ctx, starting(d, text, s.e.mayDelegate))
}

// starting is the beginning of a delegate.
func starting(d state.Delegate, text string, check func(store.Snapshot) error) transition {
	return transition{event: state.DelegateStarted, docs: map[state.Doc]string{DelegateDoc: text}, note: handover.TitleOf(text), arg: d.Variant.String(), check: check,
		apply: func(now store.Snapshot, next *state.Task) {
			next.Issued.Delegates++
			d.ID, d.Off = "d"+strconv.Itoa(next.Issued.Delegates), now.Journal.Bytes
			next.SetDelegate(d)
		}}
}

// mayDelegate refuses one delegate more than limits.max_delegates, and any of a delegate.
func (e *Engine) mayDelegate(now store.Snapshot) error {
	gate, err := e.Gate(now)
	if err != nil {
		return err
	}
	most := gate.Limits.MaxDelegates
	switch {
	case now.Task.IsDelegate():
		return &refusal.RefusedError{Code: refusal.WrongState, Message: "this task is a delegate itself, and a delegate cannot delegate", Remedy: "do the work yourself"}
	case now.Task.Issued.Delegates >= most:
		return &refusal.RefusedError{Code: refusal.WrongState, Message: fmt.Sprintf("the task has had %s, which is all that limits.max_delegates allows",
			format.Count(now.Task.Issued.Delegates, "delegate", "delegates")),
			Remedy: "do the rest of the work yourself"}
	}
	return nil
}

// DecideDelegate enters what the executor decided about a submission or a consultation of its delegate.
// It is applied to the delegate afterwards, by the next process that finds the line.
func (s *Session) DecideDelegate(ctx context.Context, id, on string, what state.Ruling, text string) (Done, error) {
	if what != state.RuledApprove {
		if err := handover.CheckText("the text", text, store.MaxDoc); err != nil {
			return Done{}, err
		}
	}
	return s.commit(ctx, ruling(id, on, what, text))
}

// ruling is a decision about a delegate.
func ruling(id, on string, what state.Ruling, text string) transition {
	a := transition{event: state.DelegateDecided, note: fmt.Sprintf("%s %s %s", id, what, on), arg: text, check: openDelegate(id),
		apply: func(now store.Snapshot, next *state.Task) {
			d, _ := next.Delegate(id)
			d.Decided = state.Verdict{On: on, What: what, Off: now.Journal.Bytes}
			next.SetDelegate(d)
		}}
	if text != "" {
		a.docs = map[state.Doc]string{DelegateDoc: text}
	}
	return a
}

// refuseWhileDelegating refuses to submit work of which a part is still open.
func (s *Session) refuseWhileDelegating(now store.Snapshot) error {
	open := now.Task.OpenDelegates()
	if len(open) == 0 || !s.Holds(now.Task) {
		return nil
	}
	return &refusal.RefusedError{Code: refusal.DelegatesRunning, Message: fmt.Sprintf("delegate %s is open", open[0].ID), Remedy: "call delegate to wait for it, and decide about its work"}
}

// openDelegate refuses what is about a delegate that has ended, or never was.
func openDelegate(id string) func(store.Snapshot) error {
	return func(now store.Snapshot) error {
		d, known := now.Task.Delegate(id)
		switch {
		case !known:
			return &refusal.RefusedError{Code: refusal.InvalidInput, Message: "the task has no delegate " + id, Remedy: "call delegate without an id to see them"}
		case !d.Open():
			return &refusal.RefusedError{Code: refusal.WrongState, Message: fmt.Sprintf("delegate %s has ended: %s", id, d.Ended), Remedy: "continue the work without it"}
		}
		return nil
	}
}

// BeginDelegateMerge enters that the files of a delegate are being moved into the work tree.
func (s *Session) BeginDelegateMerge(ctx context.Context, id string, goal state.FileMove) (Done, error) {
	return s.commit(ctx, fetching(id, goal))
}

func fetching(id string, goal state.FileMove) transition {
	goal.Of = id
	return transition{event: state.DelegateMergeStarted, note: id, arg: goal.Tree,
		check: func(now store.Snapshot) error {
			if err := openDelegate(id)(now); err != nil {
				return err
			}
			if d, _ := now.Task.Delegate(id); d.Decided.What != state.RuledApprove || d.Merged != "" {
				return &refusal.RefusedError{Code: refusal.WrongState, Message: "the work of " + id + " is not approved, or merged already", Remedy: "call delegate with its id"}
			}
			return nil
		},
		apply: func(_ store.Snapshot, next *state.Task) { next.Returning = goal }}
}

// EndDelegateMerge enters that the files are there, which are tree. as is Holder for the executor, or
// Engine.
func (s *Session) EndDelegateMerge(ctx context.Context, goal state.FileMove, tree string) (Done, error) {
	return s.commit(ctx, s.fetched(goal, tree))
}

func (s *Session) fetched(goal state.FileMove, tree string) transition {
	return transition{event: state.DelegateMerged, as: s.engines(), note: goal.Of, arg: tree,
		check: func(now store.Snapshot) error {
			if now.Task.Returning != goal || goal.Of == "" {
				return &refusal.RefusedError{Code: refusal.WrongState, Message: "the merge of " + goal.Of + " has ended", Remedy: "call delegate to see how"}
			}
			return nil
		},
		apply: func(_ store.Snapshot, next *state.Task) {
			d, _ := next.Delegate(goal.Of)
			d.Merged = tree
			next.SetDelegate(d)
		}}
}

// EndDelegate enters how a delegate has ended, and why. A delegate ends once: the error for another end
// is a *refusal.RefusedError of code WrongState.
func (e *Engine) EndDelegate(ctx context.Context, id string, how state.DelegateEnd, why string) (Done, error) {
	return e.Itself().commit(ctx, endingDelegate(id, how, why))
}

func endingDelegate(id string, how state.DelegateEnd, why string) transition {
	return transition{event: state.DelegateDone, as: state.Engine, note: format.OneLine(fmt.Sprintf("%s %s: %s", id, how, why), handover.MaxLine), check: openDelegate(id),
		apply: func(_ store.Snapshot, next *state.Task) {
			d, _ := next.Delegate(id)
			d.Ended = how
			next.SetDelegate(d)
		}}
}

// Itself returns a session of ferrus itself, which raises what the facts demand.
func (e *Engine) Itself() *Session { return e.Session(Caller{Role: state.Engine, Agent: itself}) }

// engines is the role of a session of ferrus itself, "" for any other.
func (s *Session) engines() state.Role {
	if s.Role == state.Engine {
		return state.Engine
	}
	return ""
}

// branchesSeen returns the newest line of each open delegate's branch. It takes no lock: a line of the
// journal says what was known when it was written.
func (e *Engine) branchesSeen() map[string]uint64 {
	last, ok := e.store.Last()
	if !ok {
		return nil
	}
	seen := map[string]uint64{}
	for _, d := range last.Task.OpenDelegates() {
		s, err := project.At(e.place.Root, d.Branch).Open(project.StoreOptions{ReadOnly: true, Log: e.log})
		if err != nil {
			continue
		}
		if snap, err := s.View(); err == nil && snap.Task.Parent.ID == d.ID && snap.Task.Parent.Branch == e.place.Branch {
			seen[d.Branch] = snap.Task.Seq
		}
		s.Close()
	}
	return seen
}

// note lays over the open delegates what is known of their branches.
func noteBranches(next *state.Task, seen map[string]uint64) {
	for i := range next.Delegates {
		if d := &next.Delegates[i]; d.Open() && seen[d.Branch] > d.Seq {
			d.Seq = seen[d.Branch]
		}
	}
}
