package task

import (
	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	pipelinecmd "github.com/ferrus-go/ferrus/internal/cli/pipeline"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/status"
)

// questionID is what a question or a consultation is called.
var questionID = safetext.Lazily(`^[qc][0-9]+$`)

// AnswerCommand is ferrus answer.
func AnswerCommand(a *cli.App) *cobra.Command {
	var from cli.Source
	var name string
	cmd := &cobra.Command{
		Use:   "answer [--run RUN] [ID] TEXT | [ID] -f FILE",
		Short: "Answer the open question or consultation",
		Long: `Answers the question that the task waits for. A number selects that option.
During a consultation you answer in place of the supervisor. With an ID, such as
q2, only that question is answered. If the question has ended the run, ferrus
asks whether to continue; without a terminal it continues only with --resume.
With --run it answers a worker of a pipeline's run. See "ferrus questions".`,
		Example: `  ferrus answer 1
  ferrus answer 1 --resume
  ferrus answer "use the standard library"
  ferrus answer q2 -f answer.md
  ferrus answer --run research-180141 q1 "the European market only"`,
		Annotations: cli.Reference("", "id answer state seq epoch; with --run: run id answer."),
		RunE: func(cmd *cobra.Command, words []string) error {
			id := ""
			if len(words) > 0 && questionID().MatchString(words[0]) {
				id, words = words[0], words[1:]
			}
			if !cli.TextGiven(cmd, words) {
				return cli.UsageError(`ferrus answer{branch} 2, ferrus answer{branch} "only if ...", or ferrus answer{branch} -f FILE`, "there is no answer")
			}
			if name != "" {
				return pipelinecmd.Answer(a, cmd.Context(), name, id, from, words)
			}
			return a.Decide(cmd.Context(), status.Request{Kind: status.ActNamed("answer"), ID: id}, from, words...)
		},
	}
	from.FileFlag(cmd)
	cmd.Flags().StringVar(&name, "run", "", "answer a worker of this `RUN` of a pipeline")
	a.ResumeFlag(cmd)
	return cmd
}
