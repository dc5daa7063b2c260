package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
)

// ResumeFlag lets a command that gives a task work to do continue its run, as Continue does.
func (a *App) ResumeFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.Resume, "resume", false, "then continue the task if its run has ended")
}

// Continue continues a task to which a person has just said what it waited for, if agents of a run have worked on it and no run
// does: where --resume says so, or the person at the terminal. A terminal sees the run; a screen or a page starts it as a
// process of its own. It reports whether it did. The answer holds whatever becomes of the run, and the lock of the conductor
// decides between several.
func (a *App) Continue(ctx context.Context, e *engine.Engine) (bool, error) {
	if !a.Resume && !a.MayAsk() {
		return false, nil
	}
	place, ok, err := a.resumable(e.Place())
	if err != nil || !ok {
		return false, err
	}
	if !a.Resume {
		Fprintf(a.Err, "Continue now? [Y/n] ")
		if !a.Agrees(true) {
			return false, nil
		}
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
	inner.Shown, inner.Resume, inner.at = Shown{}, false, nil
	if code := a.Run(&inner, ctx, append(args, "resume")); code != ExitOK && code != ExitBusy { // another run was quicker
		return true, ExitWith(code)
	}
	return true, nil
}

// resumable finds the task that a run must continue so that the one at place goes on: that one, or the one of which it is a part.
func (a *App) resumable(place project.Place) (project.Place, bool, error) {
	for {
		e, err := a.OpenToReadAt(place)
		if err != nil {
			return place, false, err
		}
		r, err := status.Read(e)
		now, viewErr := e.View()
		e.Close()
		if err != nil || viewErr != nil {
			return place, false, err
		}
		if parent := now.Task.Parent; parent != (state.Parent{}) {
			place = project.At(place.Root, parent.Branch)
			continue
		}
		return place, r.Resumable(), nil
	}
}

// continueDetached starts a run for a screen or a page, which shows what is said of it.
func (a *App) continueDetached(ctx context.Context, args []string) error {
	out, err := a.startDetached(ctx, args)
	switch {
	case err != nil:
		a.Say("  the task was not continued: %v\n  ferrus resume continues it\n", err)
	case out.Exit == ExitBusy:
		a.Say("  a run works on it\n")
	case out.Failed():
		a.Say("  the task was not continued:\n%s\n", out.Text)
	default:
		a.Say("  continued: %s\n", out.Text)
	}
	return nil
}
