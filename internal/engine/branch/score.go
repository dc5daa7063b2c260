package branch

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/checkrun"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A score is the number that the last line of the command [branches] score is, run as a check on the tree that a task has checked or
// submitted. Of several attempts at a task the best one is found by it. The command is the one that was frozen with the task. What it
// prints is not proven by anything: the code that it runs is the work itself, and that can print a number, too.

// Take runs the score command on the work of the session's task and enters the number. The error is a *refusal.RefusedError
// where there is no command, no checked work, no number, or where the work changes meanwhile.
func Take(ctx context.Context, s *engine.Session) (engine.Done, error) {
	e := s.Engine()
	if err := e.Known(); err != nil {
		return engine.Done{}, err
	}
	now, err := e.View()
	if err != nil {
		return engine.Done{}, err
	}
	gate, err := e.Gate(now)
	if err != nil {
		return engine.Done{}, err
	}
	if strings.TrimSpace(gate.Score) == "" {
		return engine.Done{}, &refusal.RefusedError{Code: refusal.InvalidInput, Message: "no score command is frozen with the task", Person: true,
			Remedy: refusal.Say("set [branches] score in ferrus.toml, then %s", refusal.OnBranch(e.Place().Branch, "ferrus config accept{branch}"))}
	}
	tree, err := s.Scorable(now)
	if err != nil {
		return engine.Done{}, err
	}
	log := fmt.Sprintf("logs/%s-score%d.log", now.Task.TaskID, now.Task.Seq)
	res, err := run(ctx, e, now, gate, tree, log)
	if err != nil {
		return engine.Done{}, err
	}
	value, err := read(res, e.Place().Path(log), e.Place().Branch)
	if err != nil {
		return engine.Done{}, err
	}
	return s.EnterScore(ctx, state.Score{Value: value, Tree: tree, Gate: now.Task.Pin.SHA256, Log: log})
}

// run runs the command on the tree where the checks of the task run.
func run(ctx context.Context, e *engine.Engine, now store.Snapshot, gate config.Gate, tree, log string) (checks.Result, error) {
	r := e.Runner()
	if err := r.Await(ctx); err != nil {
		return checks.Result{}, err
	}
	same := func(when string) error {
		if gate.Checks.Clean() {
			return nil // it is scored where nobody else works
		}
		work, err := e.Tree(ctx, now)
		if err != nil {
			return err
		}
		is, err := work.Fingerprint(ctx)
		if err != nil {
			return refusal.Git(err)
		}
		if is != tree {
			var remedy refusal.Own = "put the files back, or have the work checked again, then score it again"
			if wrote, err := checkrun.WrittenSince(ctx, work, tree, is, nil); err == nil {
				remedy = refusal.Say("%s", strings.TrimSpace(wrote.Remedy(e.Place().Branch, "the checks or the score command", checkrun.IgnoreFile)+"\n"+remedy.String()))
			}
			return &refusal.RefusedError{Code: refusal.TreeChanged, Person: true, Remedy: remedy,
				Message: "the work tree " + when + ": " + format.OneLine(strings.Join(e.Changed(ctx, now, tree, is), " "), 600)}
		}
		return nil
	}
	if err := same("is not the one that was checked"); err != nil {
		return checks.Result{}, err
	}
	on := checkrun.Target{Task: now.Task.TaskID, Tree: tree, Base: now.Task.SetUpOn()}
	spec, err := r.Spec(now, gate, log, on)
	if err != nil {
		return checks.Result{}, err
	}
	on.Env, spec.Commands, spec.TailAll = spec.Environ, []string{gate.Score}, true
	at, err := r.Prepare(ctx, now, gate, on)
	if err != nil {
		return checks.Result{}, checkrun.Trouble(err)
	}
	defer at.Release()
	res, err := r.Run(ctx, at.On(spec))
	if err != nil {
		return checks.Result{}, err
	}
	return at.Result(res), same("changed while the score was taken")
}

// read returns the number that the command printed last. log is the path of what it printed.
func read(res checks.Result, log, branch string) (float64, error) {
	refused := func(format string, args ...any) error {
		return &refusal.RefusedError{Code: refusal.InvalidInput, Message: "the score command " + fmt.Sprintf(format, args...), Person: true,
			Remedy: refusal.Say("the last line of its output has to be a number such as 0.75: see %s, correct [branches] score in ferrus.toml, then %s", log, refusal.OnBranch(branch, "ferrus config accept{branch}"))}
	}
	if res.Status == checks.Failed {
		return 0, refused("did not exit with 0: %s", checkrun.Failures(res.Failures()))
	}
	if res.Status != checks.Passed {
		return 0, refused("could not run: %s", res.Err)
	}
	lines := strings.Split(strings.TrimSpace(res.Commands[0].Tail), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	value, err := strconv.ParseFloat(last, 64)
	switch {
	case last == "":
		return 0, refused("printed nothing")
	case math.IsNaN(value) || math.IsInf(value, 0):
		return 0, refused("printed %q last, which is not a finite number", format.Clip(last, 60))
	case err != nil:
		return 0, refused("printed %q last, which is not a number", format.Clip(last, 60))
	}
	return value, nil
}
