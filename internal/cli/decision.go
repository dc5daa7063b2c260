package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// TaskFlag lets a command name the task that it is about.
func (a *App) TaskFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.Shown.Task, "task-id", "", "only if the present task is `ID`")
}

// SubmissionFlag lets a command name the submission that it is about.
func (a *App) SubmissionFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.Shown.Submission, "submission", "", "only if the present submission is `ID`")
}

// Decide carries out a decision on the task that the command means, with its text, and shows what became of it.
func (a *App) Decide(ctx context.Context, r status.Request, from Source, words ...string) error {
	s, err := a.deciding(ctx, &r)
	if err != nil {
		return err
	}
	defer s.Engine().Close()
	got, err := a.decide(ctx, s, r, from, words)
	if err != nil {
		return err
	}
	if a.JSON {
		err = a.PrintJSON(got.Facts)
	}
	for _, line := range got.Lines {
		if !a.JSON {
			a.Say("%s\n", line)
		}
	}
	if err == nil {
		err = got.Left
	}
	if err != nil || r.Name == "reset" {
		return err
	}
	after := got.Report
	if after == nil && !r.Project && got.Next == nil {
		if after, err = status.Read(s.Engine()); err != nil {
			return err
		}
	}
	steers := r.Name == "send" // which is not what a task waits for
	switch {
	case a.JSON:
	case r.Name == "answer":
		a.Say("  the task is %s; %s\n", after.State, after.Sentence())
	case steers && after.Resumable() && !a.Resume:
		a.Say("  no run works on the task; %s continues it\n", after.ResumeCommand())
	}
	if after != nil && (r.Continues || steers && a.Resume) {
		if did, err := a.Continue(ctx, after); did || err != nil {
			return err
		}
	}
	switch {
	case a.JSON || r.Name == "answer" || steers && !a.Resume:
	case got.Next != nil:
		a.ShowSteps(got.Next)
	case !r.Project:
		a.ShowSteps(after.Next)
	}
	return nil
}

// Merge carries out an act on a branch in a person's session of the project, and shows what became of it, but not what helps next: the command
// goes on. As JSON it shows nothing.
func (a *App) Merge(ctx context.Context, s *engine.Session, r status.Request) error {
	got, err := a.decide(ctx, s, r, Source{}, nil)
	for _, line := range got.Lines {
		if !a.JSON && err == nil {
			a.Say("%s\n", line)
		}
	}
	return err
}

// deciding opens the session in which a person decides: that of the task, or of the project for an act on one of its branches.
func (a *App) deciding(ctx context.Context, r *status.Request) (*engine.Session, error) {
	if r.Project {
		r.On = a.Shown
		return a.ProjectSession(ctx, r.Verb)
	}
	return a.OpenAsPerson(ctx, r.Verb)
}

// decide carries out a decision with its text in the session of a person.
func (a *App) decide(ctx context.Context, s *engine.Session, r status.Request, from Source, words []string) (got status.ActResult, err error) {
	if r.Text = from.Message; r.Document {
		if r.Text, err = a.Text(from, words); err != nil {
			return got, CannotDo(r.Cannot(), "", err)
		}
	}
	if r.Agreed != nil {
		if err := a.WithTrust(s.Engine(), func() error { return r.Agreed(s.Engine()) }); err != nil {
			return got, CannotDo(r.Cannot(), "", err)
		}
	}
	if doing := r.AtWork(); doing != "" {
		following, end := a.Working(ctx, doing)
		defer end()
		ctx = following
	}
	got, err = status.CarryOut(ctx, s, r)
	if err != nil {
		return got, CannotDo(r.Cannot(), status.Instead(s.Engine(), r), err)
	}
	if got.Left != nil {
		got.Left = CannotDo(r.Rest, "", got.Left)
	}
	return got, nil
}

// ShowNext shows what a person can do about the task as it is now.
func (a *App) ShowNext(e *engine.Engine) error {
	r, err := status.Read(e)
	if err == nil {
		a.ShowSteps(r.Next)
	}
	return err
}

// RequireText refuses a command that must be given a text, and is given none.
func RequireText(cmd *cobra.Command, remedy refusal.Own) error {
	if TextGiven(cmd, nil) {
		return nil
	}
	return UsageError(remedy, "ferrus %s needs a message", cmd.Name())
}

// VerdictJSON lists the fields that a decision prints with --json.
const VerdictJSON = "task_id state seq epoch."
