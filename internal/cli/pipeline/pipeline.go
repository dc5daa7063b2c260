// Package pipeline has ferrus pipeline and its subcommands.
package pipeline

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// pipelineVerbs are the commands about pipelines, in the order of the help. No pipeline can have the name of one.
var pipelineVerbs = []func(*cli.App) *cobra.Command{
	pipelineRunCommand, pipelineStartCommand, pipelineStatusCommand, pipelineExplainCommand, pipelineResumeCommand, pipelineRetryCommand, pipelineDeliverCommand,
	pipelineCancelCommand, pipelineRerunCommand, pipelineRunsCommand, pipelineLogsCommand, pipelinePromptCommand, pipelineListCommand, pipelineValidateCommand, pipelineTableCommand,
}

// Command is ferrus pipeline.
func Command(a *cli.App) *cobra.Command {
	var how launching
	cmd := &cobra.Command{
		Use:   "pipeline NAME TOPIC...",
		Short: "Run several agents on a topic, in phases",
		Long: `Runs a pipeline of workflows.json, which is in the project's folder or in
.ferrus. "ferrus pipeline NAME TOPIC" is short for "ferrus pipeline run NAME
TOPIC". Each worker is an agent, or a command, that reads files, writes one file
and exits. RUN is the name of a run, such as research-180141, or its folder. By
default it is the run that is active.`,
		Example: `  ferrus pipeline list
  ferrus pipeline research "caching in HTTP clients"
  ferrus pipeline status`,
		Annotations: cli.Reference(`A table decides what is done next: "ferrus pipeline table" prints it. The page
[pipelines](pipelines.md) describes pipelines in full.`, ""),
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, words []string) error {
			if len(words) == 0 || words[0] == "help" {
				return cmd.Help()
			}
			if near := cmd.SuggestionsFor(words[0]); len(words) == 1 && len(near) > 0 {
				return cli.UsageError(refusal.Say("did you mean %s? A pipeline needs a topic: ferrus pipeline NAME TOPIC", strings.Join(near, " or ")),
					"there is no pipeline command %q", words[0])
			}
			return launchRun(a, cmd.Context(), how, words)
		},
	}
	how.flags(cmd)
	cmd.SuggestionsMinimumDistance = 2
	for _, c := range pipelineVerbs {
		cmd.AddCommand(c(a))
	}
	return cmd
}

// Runs returns where the runs of the project are, and its configuration.
func Runs(a *cli.App, ctx context.Context) (run.Place, config.Config, error) {
	place, err := a.Place(ctx)
	if err != nil {
		return run.Place{}, config.Config{}, err
	}
	conf, err := config.LoadFor(filepath.Join(place.Root, config.FileName))
	if err != nil {
		return run.Place{}, conf, cli.ConfigError(err)
	}
	return run.At(place.Root, conf.Pipelines), conf, nil
}

// openRun opens a run; "" is the active one.
func openRun(a *cli.App, at run.Place, name string) (*run.Folder, error) {
	names, err := at.Names()
	if err != nil {
		return nil, err
	}
	switch {
	case name != "":
	case len(names) == 0:
		return nil, cli.Refuse(refusal.WrongState, "no pipeline is active", `ferrus pipeline NAME "topic" starts one; ferrus pipeline list shows the names`)
	case len(names) > 1:
		return nil, cli.UsageError(refusal.Say("name one of %s", strings.Join(names, ", ")), "%d pipelines are active", len(names))
	default:
		name = names[0]
	}
	return status.OpenRun(at, name)
}

// newestRun opens a run for reading; "" is the active one, or else the newest archived one.
func newestRun(a *cli.App, at run.Place, name string) (*run.Folder, error) {
	names, err := at.Names()
	if err != nil {
		return nil, err
	}
	if name == "" && len(names) == 0 {
		if over, err := at.Archived(); err == nil && len(over) > 0 {
			name = over[len(over)-1]
		}
	}
	return openRun(a, at, name)
}
