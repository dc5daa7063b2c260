package task

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// SendCommand is ferrus send.
func SendCommand(a *cli.App) *cobra.Command {
	var from cli.Source
	var steering bool
	cmd := &cobra.Command{
		Use:   "send [--steer] TEXT | -f FILE",
		Short: "Reopen a finished task, or message the running agent",
		Long: `Reopens a Complete or Failed task with the text as its review, as "ferrus
reopen" does. With --steer it sends a message to the running agents of a task
that is not finished, and changes nothing else.`,
		Example: `  ferrus send "the flag also needs a test"
  ferrus send --steer "do not touch the generated files"`,
		Annotations: cli.Reference(`The agent that claimed the task reads the message with its next tool call. So
does a supervisor that reviews or answers. Later agents read it with the task.
The message is valid until the task ends and has at most 4 KiB.`, cli.VerdictJSON),
		RunE: func(cmd *cobra.Command, words []string) error {
			if !cli.TextGiven(cmd, words) {
				return cli.UsageError(`ferrus send{branch} "what is missing", or ferrus send{branch} --steer "what the agent must know"`, "the message is empty")
			}
			return runSend(a, cmd.Context(), steering, from, words)
		},
	}
	cmd.Flags().BoolVar(&steering, "steer", false, "message the running agent")
	from.FileFlag(cmd)
	a.TaskFlag(cmd)
	a.ResumeFlag(cmd)
	return cmd
}

func runSend(a *cli.App, ctx context.Context, steering bool, from cli.Source, words []string) error {
	s, text, err := a.PersonText(ctx, "send", "send it", from, words)
	if err != nil {
		return err
	}
	e := s.Engine()
	defer e.Close()
	act := s.Reopen
	if steering {
		act = s.Steer
	}
	done, err := act(ctx, text)
	if err != nil {
		return cli.CannotDo("send it", unsent(e, steering), err)
	}
	t := done.Task
	switch {
	case a.JSON:
		if err := a.PrintVerdict(t); err != nil {
			return err
		}
	case steering:
		a.Say("%s\n", readers(t, e.Verdict(done.Snapshot).Dead))
		if r, err := status.Read(e); err == nil && r.Resumable() && !a.Resume {
			a.Say("  %s\n", "no run works on the task; "+r.ResumeCommand()+" continues it")
		}
	default:
		reopen.Report(a, done)
	}
	if steering && !a.Resume { // it is not what a task waits for
		return nil
	}
	return a.ContinueOrShow(ctx, e, true)
}

// unsent says what to do instead where the task is not one to send to.
func unsent(e *engine.Engine, steering bool) string {
	now, err := e.View()
	switch branch := e.Place().Branch; {
	case err == nil && !steering && now.Task.Underway():
		return refusal.OnBranch(branch, `the task is not finished: ferrus send{branch} --steer "..." messages the running agent`)
	case err == nil && steering && now.Task.State.Over():
		return refusal.OnBranch(branch, `omit --steer: ferrus send{branch} "..." reopens the task`)
	}
	return status.Sentence(e)
}

// readers says which agents read a message, and when.
func readers(t state.Task, dead bool) string {
	who := "the next agent reads it with the task"
	if t.ClaimedBy != "" && !dead {
		who = t.ClaimedBy + " reads it with its next tool call"
	}
	turn := map[state.State]string{state.Reviewing: "reviews " + t.Submission.ID}
	if !t.Consultation.Answered {
		turn[state.Consultation] = "answers " + t.Consultation.ID
	}
	if does := turn[t.State]; does != "" {
		who = fmt.Sprintf("the supervisor that %s reads it with its next tool call; %s", does, who)
	}
	return who
}
