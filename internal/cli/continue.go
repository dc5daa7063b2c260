package cli

import (
	"context"
	"fmt"

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
func (a *App) Continue(ctx context.Context, r *status.Report) (bool, error) {
	if !a.Resume && !a.MayAsk() {
		return false, nil
	}
	if a.Via != "" {
		lines := a.continued(ctx, r)
		for _, line := range lines {
			a.Say("%s\n", line)
		}
		return len(lines) > 0, nil
	}
	place, ok, err := a.resumable(r)
	if err != nil || !ok || !a.AgreesToContinue() {
		return false, err
	}
	args := resuming(place)
	if a.JSON {
		args = append(args, "--json")
	}
	inner := *a // the same streams
	inner.Shown, inner.Resume, inner.at = engine.Subject{}, false, nil
	if code := a.Run(&inner, ctx, args); code != ExitOK && code != ExitBusy { // another run was quicker
		return true, ExitWith(code)
	}
	return true, nil
}

// resuming are the arguments of the command that continues a task.
func resuming(place project.Place) []string {
	args := []string{"--root", place.Root}
	if place.Branch != "" {
		args = append(args, "--branch", place.Branch)
	}
	return append(args, "resume")
}

// resumable finds the task that a run must continue: that of the report or, if that is an open delegate, the one that has delegated it.
// It reports whether a run may continue the task.
func (a *App) resumable(r *status.Report) (project.Place, bool, error) {
	branch, delegated := r.Delegator()
	if !delegated {
		return project.At(r.Root, r.Branch), r.Resumable(), nil
	}
	place := project.At(r.Root, branch)
	e, err := a.OpenToReadAt(place)
	if err != nil {
		return place, false, err
	}
	defer e.Close()
	if r, err = status.Read(e); err != nil {
		return place, false, err
	}
	return a.resumable(r)
}

// continued is Continue for a screen or a page: it starts the run and says what became of that, nothing where none is to continue.
func (a *App) continued(ctx context.Context, r *status.Report) []string {
	place, ok, err := a.resumable(r)
	if err == nil && (!ok || !a.Resume) {
		return nil
	}
	var out status.Outcome
	if err == nil {
		out, err = a.startDetached(ctx, append(resuming(place), "--headless"))
	}
	switch {
	case err != nil:
		return []string{fmt.Sprintf("  the task was not continued: %v", err), a.Commands("  ferrus resume{branch} continues it")}
	case out.Exit == ExitBusy:
		return []string{"  a run works on it"}
	case out.Failed():
		return []string{"  the task was not continued:", out.Why()}
	}
	return []string{"  continued: " + out.Text}
}
