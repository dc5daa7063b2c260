package cli

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/conductor/plan"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// A prospect is a run that is about to start agents.
type prospect struct {
	e        *engine.Engine // of the task; of tasks that get branches, of the project
	gate     config.Gate
	branches bool
}

func (p prospect) root() string { return p.e.Place().Root }

// obstacles are the reasons why no agent could end the work of a run: each row returns its refusal, nil where it finds nothing. All of
// them are found without starting an agent or changing a file.
var obstacles = []struct {
	name string
	find func(prospect, context.Context) error
}{
	{"no checks", prospect.checks},
	{"no commit", prospect.commit},
	{"executor", prospect.executor},
	{"reviewer", prospect.reviewer},
	{"sandbox of the executor", prospect.sandbox},
	{"place of the checks", prospect.place},
	{"rehearsal", prospect.rehearsal},
	{"set-up of the folder", prospect.setUp},
}

// CheckReady refuses a run that could not end well, before an agent is started. The refusal has every obstacle; what
// the same lines mend is said once. e is the engine of the
// task; of tasks that get branches it is the project's, and branches is true.
func CheckReady(ctx context.Context, e *engine.Engine, gate config.Gate, branches bool) error {
	p := prospect{e, gate, branches}
	ctx, end := AskClients(ctx, p.root(), slices.Concat(gate.HQ.Supervisor.List(), gate.HQ.Executor.List())...)
	defer end()
	var found []*refusal.RefusedError
	for _, row := range obstacles {
		err := row.find(p, ctx)
		refused := refusal.Of(err)
		if ctx.Err() != nil || err != nil && refused == nil {
			return errors.Join(ctx.Err(), err)
		}
		if refused != nil && !slices.ContainsFunc(found, func(f *refusal.RefusedError) bool { return f.Remedy == refused.Remedy }) {
			found = append(found, refused)
		}
	}
	return refusal.Together(found)
}

// checks finds that nothing can be submitted.
func (p prospect) checks(context.Context) error {
	if p.gate.Checks.Commands != nil {
		return nil
	}
	return Refuse(refusal.InvalidInput, "no checks are named, and without checks nothing can be submitted", refusal.Say("%s", SuggestChecks(p.root())))
}

// commit finds that no branch can be made, where every task needs one: the project's own is over, and no branch is there.
func (p prospect) commit(ctx context.Context) error {
	if !p.branches {
		return nil
	}
	now, err := p.e.View()
	if err != nil || now.Task.Underway() {
		return err
	}
	if there, err := project.Branches(p.root()); err != nil || len(there) > 0 {
		return err
	}
	r, err := repository.Open(ctx, p.root(), filepath.Join(project.At(p.root(), "").Dir(), "git"), "")
	if err == nil {
		err = r.CanAdd(ctx)
	}
	if err != nil {
		return refusal.Git(err)
	}
	return nil
}

func (p prospect) executor(ctx context.Context) error { return p.agent(ctx, agents.Executor) }

func (p prospect) reviewer(ctx context.Context) error { return p.agent(ctx, agents.Reviewer) }

// agent finds that no agent of a duty's list is named, installed and logged in, and says what the first one lacks.
func (p prospect) agent(ctx context.Context, d agents.Duty) (lacks error) {
	table := "hq." + string(d.Role())
	for i, who := range conductor.Agent(p.gate.HQ, d).List() {
		check := CheckStartable
		if adapter, err := agents.Find(who.Agent); err == nil && d == agents.Executor && plan.LoggedIn(p.gate, p.e.Place(), adapter) {
			check = checkInstalled // its login is not the person's
		}
		err := check(ctx, p.root(), who, table+".agent in ferrus.toml", table)
		if err == nil {
			return nil
		}
		if i == 0 {
			lacks = err
		}
	}
	return lacks
}

// sandbox finds that the sandbox of the executor cannot be made.
func (p prospect) sandbox(ctx context.Context) error {
	return plan.Check(ctx, p.gate, p.e.Place(), p.branches)
}

// place finds that the checks have no sandbox or no checkout to run in.
func (p prospect) place(ctx context.Context) error { return p.e.Runner().CanRun(ctx, p.gate) }

// rehearsal finds that the set-up or the checks have not passed where it is known.
func (p prospect) rehearsal(context.Context) error {
	snap, err := p.e.View()
	if err != nil {
		return err
	}
	why := p.e.Unrehearsed(snap, p.gate)
	if why == "" {
		return nil
	}
	start := refusal.Say(`ferrus run{branch} --%s "what is to be done"`, unrehearsed)
	switch {
	case p.branches:
		start = refusal.Say("ferrus run --parallel 2 --%s", unrehearsed)
	case snap.Task.Underway():
		start = refusal.Say("ferrus resume{branch} --%s", unrehearsed)
	}
	return Refuse(refusal.StoreError, why+", and no agent is paid before a rehearsal passes or you say so",
		refusal.Say("correct the commands ($EDITOR ferrus.toml, then ferrus trust), and try them: ferrus init --rehearse\nif making the checks pass is the task: %s", start))
}

// setUp finds that the task would be done in a folder in which the set-up has never run: only new work trees get it by themselves.
func (p prospect) setUp(context.Context) error {
	conf, err := p.e.Config()
	if err != nil || p.branches || p.e.Place().Branch != "" || conf.Branches.Setup == "" || p.gate.Checks.Clean() {
		return nil
	}
	if now, err := p.e.View(); err != nil || now.Task.Underway() {
		return err
	}
	absent := p.e.Place().Absent(conf.Rehearsed())
	if len(absent) == 0 {
		return nil
	}
	return Refuse(refusal.StoreError, "the set-up has not run in this folder, where the work would be done: "+format.Line(strings.Join(absent, ", "))+" is not there",
		refusal.Say("run it: %s\nor let the work be done on a branch, whose work tree is set up: ferrus branch NAME --task \"...\", then ferrus resume --branch NAME\nor start agents all the same: ferrus run{branch} --%s \"what is to be done\"",
			trust.Visible(conf.Branches.Setup), unrehearsed))
}

// unrehearsed is the flag by which a person starts agents though the rehearsal has not passed.
const unrehearsed = "unrehearsed"

// UnrehearsedFlag gives it to a command that starts agents.
func UnrehearsedFlag(cmd *cobra.Command, allowed *bool) {
	cmd.Flags().BoolVar(allowed, unrehearsed, false, "start agents though the checks have not passed a rehearsal, or the set-up has not run in this folder")
}

// AllowUnrehearsed records that a person allows agents to start though the rehearsal has not passed: by the flag, or at the terminal if
// it may ask. Where nobody allows it CheckReady refuses.
func (a *App) AllowUnrehearsed(e *engine.Engine, allowed, ask bool) error {
	snap, err := e.View()
	if err != nil {
		return err
	}
	conf, err := e.Config()
	if err != nil {
		return refusal.Config(err)
	}
	why := e.Unrehearsed(snap, conf.Gate())
	if why == "" && (!allowed || len(e.Place().Absent(conf.Rehearsed())) == 0) {
		return nil
	}
	if !allowed && ask && a.MayAsk() {
		Fprintf(a.Err, "%s. Agents cost money, and none can correct a wrong command or set-up.\nStart them, because making the checks pass is the task? [y/N] ", strings.ToUpper(why[:1])+why[1:])
		allowed = a.Agrees(false)
	}
	if !allowed {
		return nil
	}
	return e.AllowUnrehearsed()
}

// thenAccept adds to the remedies of a refusal of CheckReady that the task keeps what was frozen with it. now is what ferrus.toml says.
func thenAccept(ctx context.Context, e *engine.Engine, err error, now config.Gate) error {
	var r *refusal.RefusedError
	if !errors.As(err, &r) {
		return err
	}
	all := r.Each()
	accept, last := refusal.OnBranch(e.Place().Branch, "ferrus config accept{branch}"), all[len(all)-1]
	if CheckReady(ctx, e, now, false) == nil {
		for _, each := range all {
			each.Remedy = ""
		}
		last.Remedy = refusal.Say("ferrus.toml is correct now, and the task keeps what was frozen with it; to use the new values: %s", accept)
	} else {
		last.Remedy = refusal.Say("%s\nthen, because the task keeps what was frozen with it: %s", last.Remedy, accept)
	}
	return refusal.Together(all)
}
