package cli

import (
	"context"
	"maps"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// A Decision is a person's word on a task, to be said in a sentence.
type Decision struct {
	Verb   string // of the command line
	What   string // to stand after "cannot"
	Act    func(ctx context.Context, s *engine.Session, text string) (engine.Done, error)
	Report func(a *App, done engine.Done)

	Continues bool // it gives the task work to do: see App.Continue
}

// Decide carries a verdict out and shows what became of it, in --json with what more says.
func (a *App) Decide(ctx context.Context, v Decision, text string, more ...func() map[string]any) error {
	s, err := a.OpenAsPerson(ctx, v.Verb)
	if err != nil {
		return err
	}
	e := s.Engine()
	defer e.Close()
	done, err := v.Act(ctx, s, text)
	if err != nil {
		return CannotDo(v.What, status.Sentence(e), err)
	}
	if a.JSON {
		facts := verdictFacts(done.Task)
		for _, f := range more {
			maps.Copy(facts, f())
		}
		if err := a.PrintJSON(facts); err != nil {
			return err
		}
	} else {
		v.Report(a, done)
	}
	return a.ContinueOrShow(ctx, e, v.Continues)
}

// ContinueOrShow is Continue after a decision that gives work to do, and otherwise ShowNext. With --json it shows nothing.
func (a *App) ContinueOrShow(ctx context.Context, e *engine.Engine, continues bool) error {
	if continues {
		if did, err := a.Continue(ctx, e); did || err != nil {
			return err
		}
	}
	if a.JSON {
		return nil
	}
	return a.ShowNext(e)
}

// ShowNext shows what a person can do about the task as it is now.
func (a *App) ShowNext(e *engine.Engine) error {
	r, err := status.Read(e)
	if err == nil {
		a.ShowSteps(r.Next)
	}
	return err
}

// RequireText is the text of a command that must be given one.
func (a *App) RequireText(cmd *cobra.Command, from Source, remedy refusal.Own) (string, error) {
	if !TextGiven(cmd, nil) {
		return "", UsageError(remedy, "ferrus %s needs a message", cmd.Name())
	}
	return a.Text(from, nil)
}

// PrintVerdict prints a task as JSON after a decision of a person; VerdictJSON lists the fields.
func (a *App) PrintVerdict(t state.Task) error {
	return a.PrintJSON(verdictFacts(t))
}

func verdictFacts(t state.Task) map[string]any {
	return map[string]any{"task_id": t.TaskID, "state": t.State, "seq": t.Seq, "epoch": t.Epoch}
}

// VerdictJSON lists the fields that a Decision prints with --json.
const VerdictJSON = "task_id state seq epoch."
