package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/rootfs"
)

const workflowsName = "workflows.json"

// maxWorkflows bounds what is read of it, in bytes.
const maxWorkflows = 4 << 20

func pipelineListCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "The pipelines of workflows.json",
		Long:  "Lists the pipelines: name, description, phases, workers.\n\nWith --json: [{name description spawn phases workers[]}].",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, _, err := a.workflows(cmd.Context())
			if err != nil {
				return err
			}
			if a.json {
				return a.print(summaries(all))
			}
			a.say("%s", all.List())
			return nil
		},
	}
}

func pipelineTableCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "table",
		Short: "The tables by which everything is decided",
		Long: `Prints the decision table, and that of dialogues. The first row that fits is done, again and again until that is to wait.

With --json: table dialogues.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return a.print(map[string]string{"table": pipeline.Markdown(), "dialogues": pipeline.DialogueMarkdown()})
			}
			a.say("%s\nDialogues:\n\n%s", pipeline.Markdown(), pipeline.DialogueMarkdown())
			return nil
		},
	}
}

// A summary is a pipeline in a list.
type summary struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Spawn       pipeline.Spawn `json:"spawn"`
	Phases      int            `json:"phases"`
	Workers     []string       `json:"workers"`
}

func summaries(all pipeline.Workflows) []summary {
	list := []summary{}
	for _, w := range all {
		s := summary{w.Name, w.Description, pipeline.SpawnPhase, len(w.Phases), roles(w)}
		if w.All() {
			s.Spawn = pipeline.SpawnAll
		}
		list = append(list, s)
	}
	return list
}

// roles are the workers of a pipeline, in their order.
func roles(w pipeline.Workflow) []string {
	var names []string
	for _, p := range w.Phases {
		for _, k := range p.Workers {
			names = append(names, k.Role)
		}
	}
	return names
}

// workflowsText reads the workflows.json of the project, or of the folder where there is no project yet, and says which
// file that is.
func (a *app) workflowsText(ctx context.Context) (text []byte, path string, err error) {
	root, err := a.where()
	if err != nil {
		return nil, "", err
	}
	if place, err := a.place(ctx); err == nil {
		root = place.Root
	}
	path = filepath.Join(root, workflowsName)
	if text, err = rootfs.ReadFile(path, maxWorkflows); errors.Is(err, fs.ErrNotExist) {
		path = filepath.Join(root, ".ferrus", workflowsName)
		text, err = readOwn(path, maxWorkflows)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", refuse(engine.NotInitialised, "there is no workflows.json in "+root, "ferrus init writes one into .ferrus, to begin with")
	}
	if err != nil {
		err = refuse(engine.InvalidInput, err.Error(), "make it a file of its own that can be read")
	}
	return text, path, err
}

// workflows are the pipelines of the project.
func (a *app) workflows(ctx context.Context) (pipeline.Workflows, string, error) {
	text, path, err := a.workflowsText(ctx)
	if err != nil {
		return nil, "", err
	}
	all, err := pipeline.Parse(text)
	return all, path, unsound(path, err)
}

// workflow finds the pipeline of a name.
func (a *app) workflow(ctx context.Context, name string) (pipeline.Workflow, string, error) {
	all, path, err := a.workflows(ctx)
	if err != nil {
		return pipeline.Workflow{}, "", err
	}
	w, ok := all.Find(name)
	if ok {
		return w, path, nil
	}
	var names []string
	for _, w := range all {
		names = append(names, w.Name)
	}
	remedy := "it has " + strings.Join(names, ", ")
	if near := config.Nearest(name, names); near != "" {
		remedy = "did you mean " + near + "? " + remedy
	}
	return w, "", refuse(engine.InvalidInput, fmt.Sprintf("%s has no pipeline %q", path, name), remedy)
}

// unsound says what is wrong with a workflows.json, nil when nothing is.
func unsound(path string, err error) error {
	var faults pipeline.Faults
	if !errors.As(err, &faults) {
		return err
	}
	return &failure{Code: string(engine.InvalidInput), Message: fmt.Sprintf("%s has %s", path, count(len(faults), "fault", "faults")),
		Remedy: faults.Error(), exit: exitUsage}
}
