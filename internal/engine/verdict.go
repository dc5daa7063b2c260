package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine/checkrun"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project/gc"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// couldNotRun begins the note of a check that ended because its commands could not be run.
const couldNotRun = "the gate could not run: "

// settle commits the outcome of a run, if the run is still the task's own. A rule may follow, such as a question to a person
// when the same trouble keeps coming back.
func (j *job) settle(ctx context.Context, began store.Snapshot, res checks.Result) (Checked, error) {
	e := j.session.e
	out := Checked{ID: began.Task.Check.ID, Failures: res.Failures(), Err: res.Err, Clean: j.at.Clean != nil}
	after := ""
	switch {
	case j.at.Clean != nil && len(j.moved) == 0:
		after = began.Task.Check.Tree // it was judged where nobody else works
	case j.at.Clean == nil && res.Status == checks.Passed:
		var err error
		if after, err = j.look(ctx, began); err != nil {
			return out, err
		}
	}
	out.Status = outcome(res.Status, began.Task.Check.Tree, after)
	if out.Status == state.CheckGreen && j.at.Clean == nil {
		out.touched = format.OneLine(strings.Join(j.before.Touched(j.after), " "), handover.MaxLine)
	}
	switch {
	case out.Status == state.CheckMoved && j.at.Clean != nil:
		out.Changed = j.moved
	case out.Status == state.CheckMoved:
		out.Changed = e.Changed(ctx, began, began.Task.Check.Tree, after)
	}
	if tree, err := e.Tree(ctx, began); err == nil && out.Status == state.CheckMoved {
		if out.wrote, err = checkrun.WrittenSince(ctx, tree, began.Task.Check.Tree, after, j.moved); err != nil {
			e.log.Warn("which lines ignore the files that changed is not known", "error", err)
		}
	}
	done, err := j.session.commit(ctx, out.act(j, began, res))
	if refusal.CodeOf(err) == refusal.WrongState {
		// The task has left the states in which checks end: say what happened to it, not what the table lacks.
		now, lost := e.View()
		return out, j.session.explain(j.stale(now, lost))
	}
	if err != nil {
		return out, err
	}
	out.Snapshot, out.Rule = done.Snapshot, done.Rule
	out.Asked = done.Rule != "" && out.Task.State == state.AwaitingHuman
	e.archiveEnded(out.Snapshot)
	return out, nil
}

// outcome is what a run of the gate says of the work. A passed result counts only for the tree that it began with.
func outcome(run checks.Status, before, after string) state.CheckStatus {
	switch {
	case run == checks.Failed:
		return state.CheckRed
	case run != checks.Passed:
		return state.CheckGateError
	case after != before:
		return state.CheckMoved
	}
	return state.CheckGreen
}

// act is the event that fits the outcome.
func (out Checked) act(j *job, began store.Snapshot, res checks.Result) transition {
	events := map[state.CheckStatus]state.Event{state.CheckGreen: state.CheckPassed, state.CheckRed: state.CheckFailed,
		state.CheckMoved: state.CheckVoid, state.CheckGateError: state.CheckVoid}
	a := transition{event: events[out.Status], as: state.Engine, note: out.note(res),
		check: func(now store.Snapshot) error {
			if current(now, began) {
				return nil
			}
			return j.stale(now, nil)
		},
		apply: func(_ store.Snapshot, next *state.Task) {
			c := &next.Check
			c.Status, next.Unpublished = out.Status, j.unpublished
			out.wrote.Count(c)
			switch out.Status {
			case state.CheckGreen:
				c.Errors, c.Same, c.Sum, c.Touched = 0, 0, "", out.touched
			case state.CheckRed:
				sum := checkrun.Digest(out.Failures)
				if sum != c.Sum {
					c.Same = 0
				}
				c.Errors, c.Same, c.Sum = 0, c.Same+1, sum
			case state.CheckGateError:
				c.Errors++
			}
			if next.State == state.Failed {
				next.FailureReason += "; last: " + out.note(res)
			}
		},
	}
	switch out.Status {
	case state.CheckRed, state.CheckGateError:
		if len(out.Failures) > 0 {
			text, _ := json.Marshal(out.Failures)
			a.docs = map[state.Doc]string{handover.CheckDoc: string(text)}
			break
		}
		fallthrough
	case state.CheckGreen:
		a.drop = []state.Doc{handover.CheckDoc}
	}
	return a
}

// note is the outcome in one line of the log.
func (out Checked) note(res checks.Result) string {
	text := checkrun.Failures(out.Failures)
	switch out.Status {
	case state.CheckGreen:
		text = fmt.Sprintf("%s passed in %.1f s", format.Count(len(res.Commands), "command", "commands"), res.Duration.Seconds())
	case state.CheckMoved:
		text = "the work tree changed while the checks ran: " + strings.Join(out.Changed, ", ")
		if out.Clean {
			text = "the checks changed files that they judge: " + strings.Join(out.Changed, ", ")
		}
	case state.CheckGateError:
		text = couldNotRun + out.Err
	}
	return format.OneLine(out.ID+"  "+text, 400)
}

// Changed lists the paths that differ between two trees of files; of very many, the first, and how many more. What cannot be
// told is logged, and nil.
func (e *Engine) Changed(ctx context.Context, snap store.Snapshot, from, to string) []string {
	tree, err := e.Tree(ctx, snap)
	if err != nil {
		return nil
	}
	paths, err := tree.Changed(ctx, from, to)
	if err != nil {
		e.log.Warn("changed paths not told", "error", err)
	}
	return paths
}

// TrySandbox is [checkrun.Runner.Try] for the task as it is.
func (e *Engine) TrySandbox(ctx context.Context, gate config.Gate, before func(sandbox string)) (question checkrun.Question, err error) {
	snap, err := e.View()
	if err != nil {
		return question, err
	}
	return e.runner.Try(ctx, snap, gate, before)
}

// Trial runs the checks of ferrus.toml as it is now for a person, and moves nothing.
func (e *Engine) Trial(ctx context.Context) (checks.Result, config.Gate, error) {
	snap, err := e.View()
	if err != nil {
		return checks.Result{}, config.Gate{}, err
	}
	conf, err := e.Config()
	if err != nil {
		return checks.Result{}, config.Gate{}, &refusal.RefusedError{Code: refusal.InvalidInput, Message: err.Error(), Remedy: "fix ferrus.toml"}
	}
	if err := e.trusted(conf); err != nil {
		return checks.Result{}, config.Gate{}, err
	}
	gate := conf.Gate()
	if err := e.runner.CanRun(ctx, gate); err != nil {
		return checks.Result{}, gate, err
	}
	on := checkrun.Target{Task: gc.ByHand, Base: snap.Task.SetUpOn()}
	at, err := e.runner.Prepare(ctx, snap, gate, on)
	if err != nil {
		return checks.Result{}, gate, checkrun.Trouble(err)
	}
	defer at.Release()
	spec, err := e.runner.Spec(snap, gate, "logs/check-by-hand.log", on)
	if err != nil {
		return checks.Result{}, gate, err
	}
	spec.Environ = nil // in the person's own environment: only an executor's check counts
	res, err := e.runner.ByHand(ctx, gate, at, spec)
	return res, gate, err
}
