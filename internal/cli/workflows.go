package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/jsonx"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// WorkflowsText reads the workflows.json of the project, or of the folder where there is no project yet, and says which
// file that is.
func (a *App) WorkflowsText(ctx context.Context) (text []byte, path string, err error) {
	root, err := a.WorkingDir()
	if err != nil {
		return nil, "", err
	}
	if place, err := a.Place(ctx); err == nil {
		root = place.Root
	}
	text, path, err = project.Workflows(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", Refuse(refusal.NotInitialised, "there is no workflows.json in "+root, "ferrus init writes an example into .ferrus")
	}
	if err != nil {
		err = Refuse(refusal.InvalidInput, err.Error(), "make it a regular file that can be read")
	}
	return text, path, err
}

// Workflows are the pipelines of the project.
func (a *App) Workflows(ctx context.Context) (workflow.Workflows, string, error) {
	text, path, err := a.WorkflowsText(ctx)
	if err != nil {
		return nil, "", err
	}
	all, err := workflow.Parse(text)
	return all, path, WorkflowsError(path, err)
}

// WorkflowsError says what is wrong with a workflows.json, nil when nothing is.
func WorkflowsError(path string, err error) error {
	var faults jsonx.Faults
	if !errors.As(err, &faults) {
		return err
	}
	return &Failure{Code: string(refusal.InvalidInput), Message: fmt.Sprintf("%s has %s", path, format.Count(len(faults), "fault", "faults")),
		Remedy: refusal.Say("%s", faults), Exit: ExitUsage}
}
