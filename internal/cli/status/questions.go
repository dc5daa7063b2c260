package status

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/status"
)

// QuestionsCommand is ferrus questions.
func QuestionsCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "questions",
		Short: "List the open questions to you, and how to answer each",
		Long: `Lists what waits for your answer in the whole project, the oldest first: the
questions of agents and of ferrus, of all branches, those of workers of
pipelines, and the runs that wait for your word. Other tasks go on meanwhile.
What else needs you, such as work to review, is in "ferrus status --all".`,
		Example: `  ferrus questions
  ferrus questions --json`,
		Annotations: cli.Reference(`An executor can ask its supervisor, and a delegate asks its executor. A question
to a supervisor is listed only if no run starts one. A worker of a
pipeline can ask if "asks" is true for it in workflows.json.`, "questions[{id kind branch run title since text output options[] command}]."),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return questions(a, cmd.Context()) },
	}
}

func questions(a *cli.App, ctx context.Context) error {
	place, err := a.Place(ctx)
	if err != nil {
		return err
	}
	v, err := status.ReadOverview(ctx, place.Root, status.Options{Open: a.OpenToReadAt})
	if err != nil {
		return err
	}
	a.WarnForeign(v.Foreign)
	list := v.Questions()
	if a.JSON {
		return a.PrintJSON(map[string]any{"questions": list})
	}
	if len(list) == 0 {
		a.Say("no question is open\n")
	}
	for _, n := range list {
		asked := "since " + format.Age(n.Since)
		if n.By != "" {
			asked = n.By + " asks, " + asked
		}
		a.Say("%-14s %s  (%s)\n", a.Name(cmp.Or(n.Branch, n.Run, "project"), 14), n.Text, asked)
		a.ShowOutput(n.Output, "               ")
		for _, option := range n.Options {
			a.Say("%14s %s\n", "", format.Line(option))
		}
		a.Say("%14s →  %s\n", "", a.Paint(cli.Bold, n.Command))
	}
	return nil
}
