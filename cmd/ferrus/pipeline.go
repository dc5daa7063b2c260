package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/jsontime"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
)

// pipelineVerbs are the commands about pipelines, in the order of the help. No pipeline can have the name of one.
var pipelineVerbs = []func(*app) *cobra.Command{
	pipelineRunCommand, pipelineStatusCommand, pipelineExplainCommand, pipelineResumeCommand, pipelineRetryCommand, pipelineDeliverCommand,
	pipelineCancelCommand, pipelineLogsCommand, pipelinePromptCommand, pipelineListCommand, pipelineValidateCommand, pipelineTableCommand,
}

func pipelineCommand(a *app) *cobra.Command {
	var how launching
	cmd := &cobra.Command{
		Use:   "pipeline NAME TOPIC...",
		Short: "Have several agents work on a topic, phase by phase, as workflows.json says",
		Long: `Runs a pipeline of workflows.json, which stands in the project's folder, else in .ferrus: ferrus pipeline NAME TOPIC is
ferrus pipeline run NAME TOPIC. Each worker is an agent that reads files, writes one file and exits; what comes next is
looked up in a table (ferrus pipeline table). The page pipelines.md of the documentation says all about it.

RUN, where a command takes one, is a run as research-180141, or the path of its folder; left out it is the one that is
under way.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, words []string) error {
			if len(words) == 0 || words[0] == "help" {
				return cmd.Help()
			}
			if near := cmd.SuggestionsFor(words[0]); len(words) == 1 && len(near) > 0 {
				return usage("did you mean "+strings.Join(near, " or ")+"? A pipeline needs a topic: ferrus pipeline NAME TOPIC",
					"there is no command %q of pipelines", words[0])
			}
			return a.launch(cmd.Context(), how, words)
		},
	}
	how.flags(cmd)
	cmd.SuggestionsMinimumDistance = 2
	for _, c := range pipelineVerbs {
		cmd.AddCommand(c(a))
	}
	return cmd
}

// runs returns where the runs of the project are, and its configuration.
func (a *app) runs(ctx context.Context) (run.Place, config.Config, error) {
	place, err := a.place(ctx)
	if err != nil {
		return run.Place{}, config.Config{}, err
	}
	conf, err := config.LoadFor(filepath.Join(place.Root, config.FileName))
	if err != nil {
		return run.Place{}, conf, broken(err)
	}
	return run.At(place.Root, conf.Pipelines), conf, nil
}

// folder opens a run: "" is the one that is under way.
func (a *app) folder(at run.Place, name string) (*run.Folder, error) {
	names, err := at.Names()
	if err != nil {
		return nil, err
	}
	switch {
	case name != "":
	case len(names) == 0:
		return nil, refuse(engine.WrongState, "no pipeline is under way", `ferrus pipeline NAME "topic" starts one; ferrus pipeline list shows the names`)
	case len(names) > 1:
		return nil, usage("name one of "+strings.Join(names, ", "), "%d pipelines are under way", len(names))
	default:
		name = names[0]
	}
	f, err := at.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		over, _ := at.Archived()
		slices.Reverse(over) // the newest may be meant
		return nil, refuse(engine.WrongState, fmt.Sprintf("there is no run %q", name), fmt.Sprintf("under way: %s; over: %s",
			cmp.Or(strings.Join(names, ", "), "none"), cmp.Or(strings.Join(over[:min(len(over), 5)], ", "), "none")))
	}
	return f, err
}

// newest opens a run to be looked at: "" is the one that is under way, else the one that was archived last.
func (a *app) newest(at run.Place, name string) (*run.Folder, error) {
	names, err := at.Names()
	if err != nil {
		return nil, err
	}
	if name == "" && len(names) == 0 {
		if over, err := at.Archived(); err == nil && len(over) > 0 {
			name = over[len(over)-1]
		}
	}
	return a.folder(at, name)
}

// archived reports whether a run lies in the archive.
func archived(at run.Place, f *run.Folder) bool { return filepath.Dir(f.Dir) == at.Archive }

// A decision is an action of the decision table, for a program.
type decision struct {
	Row     string          `json:"row"`
	Do      pipeline.Verb   `json:"do"`
	Phase   int             `json:"phase"` // from 0
	Roles   []string        `json:"roles,omitempty"`
	Reason  pipeline.Reason `json:"reason,omitempty"`
	Why     string          `json:"why,omitempty"`
	File    string          `json:"file,omitempty"`
	Missing []string        `json:"missing,omitempty"`
	Aside   []string        `json:"aside,omitempty"`
	Until   string          `json:"until,omitempty"`
	Person  bool            `json:"person,omitempty"` // nobody but a person gets it any further
	Tell    string          `json:"tell,omitempty"`
}

func decided(act pipeline.Action) decision {
	d := decision{Row: act.Row, Do: act.Do, Phase: act.Phase, Roles: act.Roles, Reason: act.Reason, Why: act.Why, File: act.File,
		Missing: act.Missing, Aside: act.Aside, Person: act.Person, Tell: act.Tell}
	if !act.Until.IsZero() {
		d.Until = act.Until.UTC().Format(jsontime.Layout)
	}
	return d
}
