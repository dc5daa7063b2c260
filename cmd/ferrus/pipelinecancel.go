package main

import (
	"bufio"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
)

func pipelineCancelCommand(a *app) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "cancel [RUN] [--yes]",
		Short: "End a run and its workers; it is archived",
		Long: `Ends the workers of a run with all that they have started, delivers nothing, and archives the run. It asks first; where stdin
is no terminal, --yes is needed.

With --json the lines of ferrus pipeline run.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.cancelRun(cmd.Context(), strings.Join(args, ""), yes)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func (a *app) cancelRun(ctx context.Context, name string, yes bool) error {
	at, f, err := a.askedOf(ctx, pipeline.Cancel, name)
	if err != nil {
		return err
	}
	if !yes {
		if err := a.confirmCancel(f); err != nil {
			return err
		}
	}
	if err := a.want(f, run.Intent{Verb: pipeline.Cancel}); err != nil {
		return err
	}
	return a.see(ctx, at, f, pipeline.Cancel)
}

// confirmCancel asks the person at the terminal.
func (a *app) confirmCancel(f *run.Folder) error {
	if !a.inTTY {
		return usage("ferrus pipeline cancel "+f.Name()+" --yes", "stdin is no terminal, so nobody can be asked whether %s may be cancelled", f.Name())
	}
	s, err := f.Status()
	if err != nil {
		return err
	}
	say(a.err, "Cancel %s (%s, %s)? Its workers are ended, and nothing is delivered. [y/N] ", f.Name(), clip(line(s.Topic), 60), s.State)
	answer, err := bufio.NewReader(a.in).ReadString('\n')
	if answer = strings.ToLower(strings.TrimSpace(answer)); err == nil && (answer == "y" || answer == "yes") {
		return nil
	}
	return refuse(engine.WrongState, "not cancelled: nothing was changed", "")
}
