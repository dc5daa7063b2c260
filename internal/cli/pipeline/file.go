package pipeline

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

func pipelineListCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the pipelines of workflows.json",
		Long:  "Lists the pipelines with their descriptions, phases and workers.",
		Example: `  ferrus pipeline list
  ferrus pipeline list --json`,
		Annotations: cli.Reference("", "[{name description spawn phases workers[]}]."),
		Args:        cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, _, err := a.Workflows(cmd.Context())
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(summaries(all))
			}
			a.Say("%s", listed(all))
			return nil
		},
	}
}

// listed is one line for each pipeline: name, description, phases, workers.
func listed(all workflow.Workflows) string {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, w := range all {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", w.Name, strings.Join(strings.Fields(w.Description), " "),
			format.Count(len(w.Phases), "phase", "phases"), format.Count(len(roles(w)), "worker", "workers"))
	}
	table.Flush()
	return b.String()
}

func pipelineTableCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "table",
		Short: "Print the decision tables",
		Long: `Prints the decision table of runs and that of dialogues. ferrus does what the
first rule that applies says, and repeats this until the rule is to wait.`,
		Example: `  ferrus pipeline table
  ferrus pipeline table --json`,
		Annotations: cli.Reference("", "table dialogues."),
		Args:        cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.JSON {
				return a.PrintJSON(map[string]string{"table": pipeline.Markdown(), "dialogues": pipeline.DialogueMarkdown()})
			}
			a.Say("%s\nDialogues:\n\n%s", pipeline.Markdown(), pipeline.DialogueMarkdown())
			return nil
		},
	}
}

// A summary is a pipeline in a list.
type summary struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Spawn       workflow.Spawn `json:"spawn"`
	Phases      int            `json:"phases"`
	Workers     []string       `json:"workers"`
}

func summaries(all workflow.Workflows) []summary {
	list := []summary{}
	for _, w := range all {
		s := summary{w.Name, w.Description, workflow.SpawnPhase, len(w.Phases), roles(w)}
		if w.All() {
			s.Spawn = workflow.SpawnAll
		}
		list = append(list, s)
	}
	return list
}

// roles are the workers of a pipeline, in their order.
func roles(w workflow.Workflow) []string {
	var names []string
	for _, p := range w.Phases {
		for _, k := range p.Workers {
			names = append(names, k.Role)
		}
	}
	return names
}

// findWorkflow finds the pipeline of a name.
func findWorkflow(a *cli.App, ctx context.Context, name string) (workflow.Workflow, string, error) {
	all, path, err := a.Workflows(ctx)
	if err != nil {
		return workflow.Workflow{}, "", err
	}
	w, ok := all.Find(name)
	if ok {
		return w, path, nil
	}
	var names []string
	for _, w := range all {
		names = append(names, w.Name)
	}
	remedy := refusal.Say("it has %s", strings.Join(names, ", "))
	if near := format.Word(name, names); near != "" {
		remedy = refusal.Say("did you mean %s? %s", near, remedy)
	}
	return w, "", cli.Refuse(refusal.InvalidInput, fmt.Sprintf("%s has no pipeline %q", path, name), remedy)
}
