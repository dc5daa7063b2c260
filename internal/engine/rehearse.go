package engine

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine/checkrun"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/gc"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/checkout"
)

// A Rehearsal is what the set-up and the checks of ferrus.toml did in a fresh copy of the work tree.
type Rehearsal struct {
	Passed  bool           `json:"passed"`
	SetUp   *checks.Result `json:"setup,omitempty"`  // of a set-up that failed; no check has run then
	Checks  checks.Result  `json:"checks,omitzero"`  // with the last lines of each command that failed
	Wrote   []string       `json:"wrote,omitempty"`  // by the checks: lines of a .gitignore for what they wrote into the tree
	Made    []string       `json:"made,omitempty"`   // likewise by the set-up, which counts as work of a task on a branch
	Edited  []string       `json:"edited,omitempty"` // files of the tree that the checks changed
	Sandbox bool           `json:"sandbox"`          // the checks ran in one
	Network bool           `json:"network"`          // with a network
	Log     string         `json:"log"`
}

// rehearsed names the checkout of a rehearsal, in place of a task.
const rehearsed = "rehearsal"

// rehearsalTail is how many last lines a command that failed has.
const rehearsalTail = 10

// Rehearse runs the set-up and the checks of ferrus.toml as it is now in a fresh checkout of the files as they are, and records the
// result with the project. sandboxed says that an executor gets a sandbox: the checks have one then, unless their own key decides. No
// task moves. The error is a refusal where nothing could be tried; what a person has not agreed to does not run.
func (e *Engine) Rehearse(ctx context.Context, sandboxed bool) (Rehearsal, error) {
	snap, err := e.View()
	if err != nil {
		return Rehearsal{}, err
	}
	conf, err := e.Config()
	if err != nil {
		return Rehearsal{}, refusal.Config(err)
	}
	if err := e.trusted(conf); err != nil {
		return Rehearsal{}, err
	}
	gate := conf.Gate()
	gate.Checks.Where, gate.Setup, gate.Limits.MaxFeedbackLines = config.InClean, conf.Branches.Setup, rehearsalTail
	if gate.Checks.Sandbox == config.AutoSandbox && !sandboxed {
		gate.Checks.Sandbox = config.NoSandbox
	}
	if err := e.runner.CanRun(ctx, gate); err != nil {
		return Rehearsal{}, err
	}
	tree, err := worktree.Open(ctx, e.place.Work, e.place.Path("git"), worktree.Options{Root: e.place.Root, Ignore: gate.Checks.Ignore})
	if err != nil {
		return Rehearsal{}, refusal.Git(err)
	}
	is, err := tree.Fingerprint(ctx)
	if err != nil {
		return Rehearsal{}, refusal.Git(err)
	}
	dir, err := gc.CheckoutsDir(e.place.Root)
	if err != nil {
		return Rehearsal{}, checkrun.Trouble(err)
	}
	dir = filepath.Join(dir, gc.CheckoutName(e.place.Branch, rehearsed))
	if err := checkout.Remove(dir); err != nil {
		return Rehearsal{}, checkrun.Trouble(err)
	}
	defer func() { _ = checkout.Remove(dir) }() // what is left is removed by the next one, or by ferrus gc
	r := Rehearsal{Sandbox: gate.Checks.Sandboxed(), Network: gate.Checks.Network || !gate.Checks.Sandboxed(), Log: e.place.Path("logs", "rehearsal.log")}
	on := checkrun.Target{Task: rehearsed, Tree: is, Trial: true}
	spec, err := e.runner.Spec(snap, gate, "logs/rehearsal.log", on)
	if err != nil {
		return r, err
	}
	on.Env = spec.Environ
	at, err := e.runner.Prepare(ctx, snap, gate, on)
	if failed := (*checkrun.SetUpError)(nil); errors.As(err, &failed) {
		r.SetUp, r.Log = &failed.Result, failed.Log
		return r, e.rehearsed(conf, r)
	}
	if err != nil {
		return r, checkrun.Trouble(err)
	}
	defer at.Release()
	made, err := at.Clean.Beside(ctx, tree)
	if err != nil {
		return r, refusal.Git(err)
	}
	if r.Checks, err = e.runner.Run(ctx, at.On(spec)); err != nil {
		return r, err
	}
	wrote := func() (lines, names []string, err error) {
		if names, err = at.Clean.Beside(ctx, tree); err != nil {
			return nil, nil, err
		}
		names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(made, name) })
		lines, _, err = tree.IgnoreLines(ctx, is, names)
		return lines, names, err
	}
	var names []string
	if r.Made, _, err = tree.IgnoreLines(ctx, is, made); err == nil {
		r.Wrote, names, err = wrote()
	}
	if err == nil {
		r.Edited, err = at.Changed()
	}
	if err != nil {
		return r, refusal.Git(err)
	}
	r.Passed = r.Checks.Status == checks.Passed && len(r.Edited) == 0 && (len(names) == 0 || conf.Checks.Clean())
	if !r.Passed && r.Checks.Status == checks.Passed && len(r.Wrote) > 0 { // a second run tells which names are others each time
		if _, err := e.runner.Run(ctx, at.On(spec)); err != nil {
			return r, err
		}
		again, _, err := wrote()
		if err != nil {
			return r, refusal.Git(err)
		}
		r.Wrote = checkrun.Alike(r.Wrote, again)
	}
	return r, e.rehearsed(conf, r, at.Clean.Made()...)
}

// rehearsed records a rehearsal, with what its set-up made.
func (e *Engine) rehearsed(conf config.Config, r Rehearsal, made ...string) error {
	record := project.Rehearsal{Config: conf.Rehearsed(), Passed: r.Passed, Made: made, At: e.Now()}
	switch {
	case r.SetUp != nil:
		record.Failed = project.SetUpFailed
	case !r.Passed && r.Checks.Status == checks.Passed:
		record.Failed = project.ChecksWrote
	}
	return e.place.Rehearsed(record)
}

// Unrehearsed says why no agent is to be started with a gate: its set-up or its checks failed in the newest rehearsal, or were never
// tried. It is "" where nothing is known against them: the newest rehearsal passed, there was none, a person has said so, or the task
// has a submission that passed the same checks.
func (e *Engine) Unrehearsed(snap store.Snapshot, gate config.Gate) string {
	newest := project.At(e.place.Root, "").Rehearsal()
	if !newest.NotPassed() || len(gate.Checks.Commands) == 0 {
		return ""
	}
	conf, err := e.Config()
	if err != nil || !sameChecks(gate, conf.Gate()) {
		return ""
	}
	why := newest.Against(conf.Rehearsed())
	if why == "" || snap.Task.Submission.Tree == "" {
		return why
	}
	if frozen, err := e.Gate(snap); err == nil && sameChecks(frozen, gate) {
		return ""
	}
	return why
}

func sameChecks(a, b config.Gate) bool {
	return bytes.Equal(config.Gate{Checks: a.Checks}.Encode(), config.Gate{Checks: b.Checks}.Encode())
}

// AllowUnrehearsed records that a person allows agents to start with ferrus.toml as it is, whatever the rehearsal said.
func (e *Engine) AllowUnrehearsed() error {
	conf, err := e.Config()
	if err != nil {
		return refusal.Config(err)
	}
	of := project.At(e.place.Root, "")
	r := of.Rehearsal()
	r.Config, r.Accepted = conf.Rehearsed(), true
	return of.Rehearsed(r)
}
