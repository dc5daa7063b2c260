package engine

import (
	"context"
	"errors"

	"github.com/ferrus-go/ferrus/internal/config/rules"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A rule is due when the newest event matches it and no line of a rule follows. The next act evaluates it first, in
// any process: so nothing is lost when a process ends between the event and its rule.

// FollowRules takes the step that a rule wants after the newest event, if one is due. The conductor calls it, and every act
// and every wait of a session does so by itself. It returns the machine after that.
func (e *Engine) FollowRules(ctx context.Context) (store.Snapshot, error) {
	for {
		now, err := e.View()
		if err != nil || !e.unsettled(now) {
			return now, err
		}
		after, err := e.followRule(ctx, now)
		if refusal.CodeOf(err) == refusal.WrongState {
			continue // somebody else has acted meanwhile
		}
		return after, err
	}
}

// followRule evaluates the rules on a snapshot.
func (e *Engine) followRule(ctx context.Context, now store.Snapshot) (store.Snapshot, error) {
	on := e.trigger(now)
	r, ok := e.ruleAfter(ctx, now, on)
	if !ok {
		e.settled.Store(now.Task.Seq)
		return now, nil
	}
	done, err := Done{}, error(nil)
	act, wrong := e.actOf(r, now, on)
	if wrong == nil {
		done, err = e.Session(Caller{Role: state.Engine, Agent: itself}).commit(ctx, act)
	}
	if code := refusal.CodeOf(err); wrong != nil || code == refusal.InvalidInput || code == refusal.TooLarge {
		e.log.Error("a rule cannot be followed", "rule", r.String(), "error", errors.Join(wrong, err)) // it must not block every act
		e.settled.Store(now.Task.Seq)
		return now, nil
	}
	if err == nil {
		e.archiveEnded(done.Snapshot)
	}
	return done.Snapshot, err
}

// ruleAfter returns the first rule that matches after the event of a line.
func (e *Engine) ruleAfter(ctx context.Context, now store.Snapshot, on *store.Line) (rules.Rule, bool) {
	gate, err := e.Gate(now)
	if err != nil || on == nil {
		return rules.Rule{}, false
	}
	list, f := gate.AllRules(), rules.Of(on.Event, now.Task)
	if f.Executor = gate.HQ.Executor.Agent; gate.HQ.Executor.Model != "" {
		f.Executor += ":" + gate.HQ.Executor.Model
	}
	if rules.NeedsFiles(list, on.Event) {
		f.Paths, f.Approved = e.submitted(ctx, now)
	}
	r, ok := rules.First(list, f)
	if !ok {
		return r, false
	}
	// Where the task has failed, or files are being moved, no rule has a say.
	_, err = state.Step(now.Task, r.Event(), state.Engine, state.Limits{})
	return r, err == nil
}

// submitted returns every path that the submission changes, nil where that is not known, and whether it may be approved
// without a review: checked by the gate in force, still what the work tree is, nothing that a reviewer would be told besides
// the patch (see Notices), and nobody else to decide about it, as about a delegate.
func (e *Engine) submitted(ctx context.Context, now store.Snapshot) ([]string, bool) {
	sub := now.Task.Submission
	if now.Task.State != state.Reviewing || sub.Tree == "" || sub.Base == "" {
		return nil, false
	}
	tree, err := e.Tree(ctx, now)
	if err != nil {
		e.log.Warn("changed files not known to rules", "error", err)
		return nil, false
	}
	paths, err := tree.ChangedPaths(ctx, sub.Base, sub.Tree)
	if err != nil {
		e.log.Warn("changed files not known to rules", "error", err)
		return nil, false
	}
	id, err := tree.Fingerprint(ctx)
	if err != nil || !approvable(now.Task, id) {
		return paths, false
	}
	return paths, len(e.Notices(ctx, now)) == 0
}

// approvable reports whether the work tree, which is tree now, is the submitted one, and its checks passed by the gate in force.
func approvable(t state.Task, tree string) bool {
	return passed(t) && t.Check.Tree == t.Submission.Tree && !overtaken(t.Submission, tree)
}

// unsettled reports whether a rule may be due that this process has not evaluated.
func (e *Engine) unsettled(now store.Snapshot) bool {
	if now.Top == nil || e.settled.Load() == now.Task.Seq {
		return false
	}
	on := e.trigger(now)
	if on == nil {
		return false
	}
	gate, err := e.Gate(now)
	return err == nil && rules.Follow(gate.AllRules(), on.Event)
}

// trigger returns the line that a rule may follow: the newest, besides those of a control file that was put back. No rule
// follows what a rule does, for no action raises an event that rules follow.
func (e *Engine) trigger(now store.Snapshot) *store.Line {
	l := now.Top
	for l != nil && (l.Event == state.Violation || l.Event == state.Repair) {
		var err error
		if l, err = e.store.LineOf(l.Seq - 1); err != nil {
			e.log.Warn("the newest event is not known to rules", "error", err)
			return nil
		}
	}
	return l
}
