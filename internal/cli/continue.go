package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/status"
)

// ResumeFlag lets a command that gives a task work to do continue its run, as Continue does.
func (a *App) ResumeFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.Resume, "resume", false, "then continue the task if its run has ended")
}

// AgreesToContinue reports whether what a decision gave work to is to continue: with --resume, or if the person at the terminal agrees.
func (a *App) AgreesToContinue() bool {
	if a.Resume {
		return true
	}
	if !a.MayAsk() {
		return false
	}
	Fprintf(a.Err, "Continue now? [Y/n] ")
	return a.Agrees(true)
}

// Continue continues a task after a decision of a person that gives it work, if agents of a run have worked on it and none does now.
// It does so with --resume, or if the person at the terminal agrees. At a terminal the run is part of this command; a screen or a page
// starts it as a process of its own. Continue reports whether it did. The decision holds whatever happens to the run. If several
// commands continue at the same time, the lock of the conductor lets one of them run.
func (a *App) Continue(ctx context.Context, e *engine.Engine) (bool, error) {
	if !a.Resume && !a.MayAsk() {
		return false, nil
	}
	place, ok, err := a.resumable(e.Place())
	if err != nil || !ok {
		return false, err
	}
	if !a.AgreesToContinue() {
		return false, nil
	}
	args := []string{"--root", place.Root}
	if place.Branch != "" {
		args = append(args, "--branch", place.Branch)
	}
	if a.Via != "" {
		return true, a.continueDetached(ctx, append(args, "resume", "--headless"))
	}
	if a.JSON {
		args = append(args, "--json")
	}
	inner := *a // the same streams
	inner.Shown, inner.Resume, inner.at = engine.Subject{}, false, nil
	if code := a.Run(&inner, ctx, append(args, "resume")); code != ExitOK && code != ExitBusy { // another run was quicker
		return true, ExitWith(code)
	}
	return true, nil
}

// resumable finds the task that a run must continue: the one at place or, if that is an open delegate, the one that has delegated it.
// It reports whether a run may continue the task.
func (a *App) resumable(place project.Place) (project.Place, bool, error) {
	e, err := a.OpenToReadAt(place)
	if err != nil {
		return place, false, err
	}
	defer e.Close()
	now, err := e.View()
	if err != nil {
		return place, false, err
	}
	if e.Delegated(now) {
		return a.resumable(project.At(place.Root, now.Task.Parent.Branch))
	}
	r, err := status.Read(e)
	if err != nil {
		return place, false, err
	}
	return place, r.Resumable(), nil
}

// continueDetached starts a run for a screen or a page, which shows the result.
func (a *App) continueDetached(ctx context.Context, args []string) error {
	out, err := a.startDetached(ctx, args)
	switch {
	case err != nil:
		a.Say("  the task was not continued: %v\n  ferrus resume continues it\n", err)
	case out.Exit == ExitBusy:
		a.Say("  a run works on it\n")
	case out.Failed():
		a.Say("  the task was not continued:\n%s\n", out.Why())
	default:
		a.Say("  continued: %s\n", out.Text)
	}
	return nil
}
