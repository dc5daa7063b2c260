package branch

import (
	"context"
	"errors"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine/checkrun"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// judgeClean runs the gate on a tree in the checkout of the branch's task. The branch's work tree is not touched.
func (m *merging) judgeClean(ctx context.Context, gate config.Gate, tree string) (checks.Result, error) {
	// The branch's store has not got it.
	if err := m.into.SaveRef(ctx, m.mark(), tree); err != nil {
		return checks.Result{}, refusal.Git(err)
	}
	res, err := m.from.Engine().Runner().JudgeClean(ctx, m.was, gate, tree, "logs/"+m.was.Task.TaskID+"-merge.log")
	return res, errors.Join(err, m.forget(context.WithoutCancel(ctx)))
}

// judge runs the gate on a merged tree in the work tree of the branch, and puts that back. whole also has what the rules of the tree
// ignore. A clean gate has its own checkout.
func (m *merging) judge(ctx context.Context, whole, tree string) (res checks.Result, err error) {
	gate, err := m.from.Engine().Gate(m.was)
	if err != nil {
		return res, err
	}
	if gate.Checks.Clean() {
		return m.judgeClean(ctx, gate, tree)
	}
	if err := m.writeTree(ctx, whole); err != nil {
		return res, err
	}
	triedTree, _, err := m.triedTree(ctx)
	if err != nil {
		return res, errors.Join(err, m.back(context.WithoutCancel(ctx), whole))
	}
	defer func() {
		ctx := context.WithoutCancel(ctx)
		id, wrong := m.work.Fingerprint(ctx)
		if wrong == nil && id != triedTree {
			_, wrong = m.from.Engine().Keep(ctx, m.was) // somebody may have worked on them
		}
		if wrong == nil && err == nil && id != triedTree {
			err = m.written(ctx, triedTree, id)
		}
		if wrong == nil {
			wrong = m.back(ctx, id)
		}
		err = errors.Join(err, wrong)
	}()
	if err := m.from.Engine().Runner().Await(ctx); err != nil {
		return res, err
	}
	on := checkrun.Target{Task: m.was.Task.TaskID}
	spec, err := m.from.Engine().Runner().Spec(m.was, gate, "logs/"+m.was.Task.TaskID+"-merge.log", on)
	if err != nil {
		return res, err
	}
	at, err := m.from.Engine().Runner().Prepare(ctx, m.was, gate, on)
	if err != nil {
		return res, checkrun.Trouble(err)
	}
	defer at.Release()
	return m.from.Engine().Runner().Run(ctx, at.On(spec))
}

// writeTree puts a tree into the branch's work tree, having it kept and so marked.
func (m *merging) writeTree(ctx context.Context, tree string) error {
	if err := m.into.SaveRef(ctx, m.mark(), tree); err != nil {
		return refusal.Git(err)
	}
	if err := m.moveBranch(ctx, m.theirs, tree); err != nil {
		id, wrong := m.work.Fingerprint(ctx)
		if wrong == nil {
			wrong = m.back(ctx, id)
		}
		return errors.Join(refusal.Git(err), wrong)
	}
	return nil
}
