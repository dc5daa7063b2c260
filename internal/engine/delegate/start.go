package delegate

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/worktree/snapshots"
)

// Start gives a part of the work that the session holds to another agent: that of the name, which ferrus.toml must have as
// executor or supervisor, "" for the executor. It begins with the files of the work tree as they are. It waits at most wait for
// the branch to be made; the making goes on after that.
func Start(ctx context.Context, s *engine.Session, task, agent string, wait time.Duration) (engine.Done, Child, error) {
	e := s.Engine()
	now, err := e.View()
	if err == nil {
		err = s.MayDelegate(now)
	}
	if err == nil {
		err = e.Trusted() // the setup command of a branch runs
	}
	if err != nil {
		return engine.Done{}, Child{}, err
	}
	d := state.Delegate{Branch: branchName(now.Task.Issued.Delegates + 1)}
	if d.Variant, err = variant(e, now, agent); err != nil {
		return engine.Done{}, Child{}, err
	}
	if d.Base, err = keepBase(ctx, e, now, d.Branch); err != nil {
		return engine.Done{}, Child{}, err
	}
	done, err := s.StartDelegate(ctx, d, task)
	if err != nil {
		return done, Child{}, err
	}
	if _, err := settleFor(ctx, s, wait); err != nil {
		return done, Child{}, err
	}
	d = done.Task.Delegates[len(done.Task.Delegates)-1]
	return latest(e, done, d.ID)
}

// branchName is a name that no other branch has: ids are counted anew in every task.
func branchName(n int) string {
	var tail [4]byte
	rand.Read(tail[:]) // never fails
	return "d" + strconv.Itoa(n) + "-" + hex.EncodeToString(tail[:])
}

// variant is the agent of a delegate. It is one that a person has named for this task.
func variant(e *engine.Engine, now store.Snapshot, agent string) (state.Variant, error) {
	gate, err := e.Gate(now)
	if err != nil {
		return state.Variant{}, err
	}
	switch agent {
	case "", gate.HQ.Executor.Agent:
		return state.Variant{}, nil
	case gate.HQ.Supervisor.Agent:
		return state.Variant{Agent: agent, Model: gate.HQ.Supervisor.Model}, nil
	}
	names := []string{gate.HQ.Executor.Agent, gate.HQ.Supervisor.Agent}
	slices.Sort(names)
	return state.Variant{}, &refusal.RefusedError{Code: refusal.InvalidInput, Message: fmt.Sprintf("the agent %.80q is not one of this task's", agent),
		Remedy: refusal.Say("leave agent out, or take one of %s", strings.Join(slices.Compact(names), ", "))}
}

// keepBase makes the files of the work tree, as they are, durable for a branch that is yet to be made.
func keepBase(ctx context.Context, e *engine.Engine, now store.Snapshot, branch string) (string, error) {
	tree, err := e.Tree(ctx, now)
	if err != nil {
		return "", err
	}
	if !tree.Git() {
		return "", &refusal.RefusedError{Code: refusal.WrongState, Message: "a delegate has a work tree of its own, and there is no git repository here", Remedy: "do the work yourself"}
	}
	id, err := tree.Snapshot(ctx)
	if err == nil {
		err = tree.SaveRef(ctx, snapshots.Name(e.Place().Branch, now.Task.TaskID, "base-"+branch), id)
	}
	if err != nil {
		return "", refusal.Git(err)
	}
	return id, nil
}

// Decide enters what the session's executor decided about a delegate, and carries it out. named is the submission or the
// consultation that the caller means, "" for the one it was shown. It waits at most wait: what is carried out goes on, and the
// next call joins it.
func Decide(ctx context.Context, s *engine.Session, id string, what state.Ruling, named, text string, wait time.Duration) (engine.Done, Child, error) {
	e := s.Engine()
	now, err := e.View()
	if err == nil {
		err = s.MayDelegate(now)
	}
	if err != nil {
		return engine.Done{}, Child{}, err
	}
	done, c, err := latest(e, engine.Done{Snapshot: now}, id)
	if err != nil {
		return done, c, err
	}
	needs := map[state.Ruling]Phase{state.RuledApprove: Submitted, state.RuledReject: Submitted, state.RuledAnswer: Asking}[what]
	switch {
	case !c.Open():
		return done, c, &refusal.RefusedError{Code: refusal.WrongState, Message: fmt.Sprintf("delegate %s has ended: %s", id, c.Ended), Remedy: "continue the work without it"}
	case c.Phase != needs:
		return done, c, &refusal.RefusedError{Code: refusal.WrongState, Message: fmt.Sprintf("delegate %s is %s, so there is nothing to %s", id, c.Phase, what),
			Remedy: "call delegate with its id to wait for it"}
	}
	if err := s.VerifyShown(id, named, c.On); err != nil {
		return done, c, err
	}
	if done, err = s.DecideDelegate(ctx, id, c.On, what, text); err != nil {
		return done, c, err
	}
	if _, err := settleFor(ctx, s, wait); err != nil {
		return done, c, err
	}
	return latest(e, done, id)
}

// settleFor settles the delegates, and waits for that at most wait. It reports whether it is done.
func settleFor(ctx context.Context, s *engine.Session, wait time.Duration) (bool, error) {
	ended := make(chan error, 1)
	go func() { ended <- Settle(s.Engine().Context(), s.Engine(), s) }()
	over := time.NewTimer(wait)
	defer over.Stop()
	select {
	case err := <-ended:
		return true, err
	case <-over.C:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// latest looks at the machine and at one of its delegates as they are now.
func latest(e *engine.Engine, done engine.Done, id string) (engine.Done, Child, error) {
	now, err := e.View()
	if err != nil {
		return done, Child{}, err
	}
	done.Snapshot = now
	d, known := now.Task.Delegate(id)
	if !known {
		return done, Child{}, &refusal.RefusedError{Code: refusal.InvalidInput, Message: fmt.Sprintf("the task has no delegate %.40q", id), Remedy: "call delegate without an id to see them"}
	}
	if !d.Open() {
		return done, Child{Delegate: d}, nil
	}
	c, err := Look(e, d)
	return done, c, err
}

// Wait waits until a delegate needs a decision or has ended, at most wait: that of the id, or any for "". It returns all of them,
// and the one that is meant: nil where that is none.
func Wait(ctx context.Context, s *engine.Session, id string, wait time.Duration) (list []Child, due *Child, err error) {
	until := time.Now().Add(wait)
	watch := s.Engine().Store().Watch() // it also rings every second, when a delegate may have changed
	defer watch.Close()
	over := time.NewTimer(wait)
	defer over.Stop()
	for open := -1; ; {
		now, err := s.Engine().View()
		if err == nil {
			err = s.MayDelegate(now)
		}
		if err != nil {
			return nil, nil, err
		}
		if _, err := settleFor(ctx, s, time.Until(until)); err != nil {
			return nil, nil, err
		}
		if list, err = Children(ctx, s.Engine()); err == nil {
			due, err = meant(list, id)
		}
		n := len(slices.DeleteFunc(slices.Clone(list), func(c Child) bool { return !c.Open() }))
		if err != nil || due != nil || id == "" && (n == 0 || open >= 0 && n < open) {
			return list, due, err
		}
		open = n
		select {
		case <-watch.C:
		case <-over.C:
			return list, nil, nil
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

// meant is the child that a caller waits for, if the wait is over: with an id that one, else the first that is due.
func meant(list []Child, id string) (*Child, error) {
	for i := range list {
		c := &list[i]
		if id == "" && c.Open() && c.Due() || id == c.ID && (!c.Open() || c.Due()) {
			return c, nil
		}
	}
	if id != "" && !slices.ContainsFunc(list, func(c Child) bool { return c.ID == id }) {
		return nil, &refusal.RefusedError{Code: refusal.InvalidInput, Message: fmt.Sprintf("the task has no delegate %.40q", id), Remedy: "call delegate without an id to see them"}
	}
	return nil, nil
}
