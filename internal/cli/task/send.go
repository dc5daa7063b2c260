package task

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
)

// SendCommand is ferrus send.
func SendCommand(a *cli.App) *cobra.Command {
	var from cli.Source
	var steering bool
	cmd := &cobra.Command{
		Use:   "send [--steer] TEXT | -f FILE",
		Short: "Take a finished task up again, or say something to whoever works",
		Long: `Takes a Complete or Failed task up again, with the text as its review: it is ferrus reopen in one word.

With --steer it speaks into a task that is under way, which changes nothing else. Whoever holds the work reads it with the
next call of a tool, and so does a supervisor that reviews or answers; whoever comes later reads it with the task. It holds
until the task ends, and is at most 4 KiB.` + cli.VerdictJSON,
		RunE: func(cmd *cobra.Command, words []string) error {
			if !cli.TextGiven(cmd, words) {
				return cli.UsageError(`ferrus send "what is missing", or ferrus send --steer "what whoever works must know"`, "nothing is said")
			}
			return runSend(a, cmd.Context(), steering, from, words)
		},
	}
	cmd.Flags().BoolVar(&steering, "steer", false, "say it to whoever works, now")
	from.FileFlag(cmd)
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
		return a.PrintVerdict(t)
	case steering:
		a.Say("%s\n", readers(t, e.Verdict(done.Snapshot).Dead))
	default:
		reopen.Told(a, done)
		return a.ShowNext(e)
	}
	return nil
}

// unsent says what to do instead where the task is not one to send to.
func unsent(e *engine.Engine, steering bool) string {
	now, err := e.View()
	switch {
	case err == nil && !steering && now.Task.Underway():
		return `it is under way: ferrus send --steer "..." says it to whoever works`
	case err == nil && steering && now.Task.State.Over():
		return `leave --steer out: ferrus send "..." takes the task up again`
	}
	return status.Sentence(e)
}

// readers says who reads a word to whoever works, and when.
func readers(t state.Task, dead bool) string {
	who := "whoever takes the work next reads it with the task"
	if t.ClaimedBy != "" && !dead {
		who = t.ClaimedBy + " reads it with the next call of a tool"
	}
	turn := map[state.State]string{state.Reviewing: "reviews " + t.Submission.ID}
	if !t.Consultation.Answered {
		turn[state.Consultation] = "answers " + t.Consultation.ID
	}
	if does := turn[t.State]; does != "" {
		who = fmt.Sprintf("the supervisor that %s reads it with the next call of a tool; %s", does, who)
	}
	return who
}
