package task

import (
	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
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
			r := status.Request{Kind: status.ActNamed(status.Followup)}
			if steering {
				r.Kind = status.ActNamed("send")
			}
			return a.Decide(cmd.Context(), r, from, words...)
		},
	}
	cmd.Flags().BoolVar(&steering, "steer", false, "message the running agent")
	from.FileFlag(cmd)
	a.TaskFlag(cmd)
	a.ResumeFlag(cmd)
	return cmd
}
