package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/pipeline"
)

func pipelineValidateCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "validate [FILE]",
		Short: "Say whether workflows.json is sound, and where it is not",
		Long: `Reads a workflows.json, that of the project when no other is named; - is stdin. Each fault is named with its place, as a
JSON pointer and a line, and with what helps; exit code 2.

With --json: [{pointer line problem remedy}], empty when it is sound.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.validate(cmd.Context(), strings.Join(args, ""))
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

func (a *app) validate(ctx context.Context, file string) error {
	var text []byte
	var err error
	if file == "" {
		text, file, err = a.workflowsText(ctx)
	} else {
		var named string
		named, err = a.read(file)
		text = []byte(named)
	}
	if err != nil {
		return err
	}
	if file == "-" {
		file = "stdin"
	}
	all, err := pipeline.Parse(text)
	var faults pipeline.Faults
	switch {
	case a.json && errors.As(err, &faults):
		if err := a.print(faultLines(faults)); err != nil {
			return err
		}
		return unwell(exitUsage)
	case err != nil:
		return unsound(file, err)
	case a.json:
		return a.print([]faultLine{})
	}
	phases, workers := 0, 0
	for _, w := range all {
		phases += len(w.Phases)
		workers += len(roles(w))
	}
	a.say("%s is sound: %s, %s, %s\n", file, count(len(all), "pipeline", "pipelines"), count(phases, "phase", "phases"),
		count(workers, "worker", "workers"))
	return nil
}

func faultLines(faults pipeline.Faults) []faultLine {
	var list []faultLine
	for _, f := range faults {
		list = append(list, faultLine(f))
	}
	return list
}
