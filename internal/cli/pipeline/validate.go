package pipeline

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/jsonx"
)

func pipelineValidateCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "validate [FILE]",
		Short: "Validate workflows.json",
		Long: `Reads FILE, or stdin for "-", or the workflows.json of the project. Each error
is shown with its position, as a JSON pointer and a line, and with what to do.
The exit code is 2 if there are errors.`,
		Example: `  ferrus pipeline validate
  ferrus pipeline validate draft.json`,
		Annotations: cli.Reference("", "[{pointer line problem remedy}], empty if the file is valid."),
		Args:        cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return validateFile(a, cmd.Context(), strings.Join(args, ""))
		},
	}
}

// A faultLine is a fault of a workflows.json, for a program.
type faultLine struct {
	Pointer string `json:"pointer"`
	Line    int    `json:"line"`
	Problem string `json:"problem"`
	Remedy  string `json:"remedy"`
}

func validateFile(a *cli.App, ctx context.Context, file string) error {
	var text []byte
	var err error
	if file == "" {
		text, file, err = a.WorkflowsText(ctx)
	} else {
		var named string
		named, err = a.ReadText(file)
		text = []byte(named)
	}
	if err != nil {
		return err
	}
	if file == "-" {
		file = "stdin"
	}
	all, err := workflow.Parse(text)
	var faults jsonx.Faults
	switch {
	case a.JSON && errors.As(err, &faults):
		if err := a.PrintJSON(faultLines(faults)); err != nil {
			return err
		}
		return cli.ExitWith(cli.ExitUsage)
	case err != nil:
		return cli.WorkflowsError(file, err)
	case a.JSON:
		return a.PrintJSON([]faultLine{})
	}
	phases, workers := 0, 0
	for _, w := range all {
		phases += len(w.Phases)
		workers += len(roles(w))
	}
	a.Say("%s is valid: %s, %s, %s\n", file, format.Count(len(all), "pipeline", "pipelines"), format.Count(phases, "phase", "phases"),
		format.Count(workers, "worker", "workers"))
	return nil
}

func faultLines(faults jsonx.Faults) []faultLine {
	var list []faultLine
	for _, f := range faults {
		list = append(list, faultLine(f))
	}
	return list
}
