package run

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	pipelinecmd "github.com/ferrus-go/ferrus/internal/cli/pipeline"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/status"
)

// TickCommand is ferrus tick.
func TickCommand(a *cli.App) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "tick [--dry-run]",
		Short: "Advance running pipelines until nothing is left to do",
		Long: `Starts the queued pipelines that [pipelines] allow names. Then it looks at each
running pipeline, does everything that can be done now, and returns. Use it from
cron or in a loop. It can run beside "ferrus pipeline run" and beside itself.
For each run it prints the rule that applies in the end. With --dry-run it
prints the rule that applies now and changes nothing.`,
		Example: `  ferrus tick
  ferrus tick --dry-run --json`,
		Annotations: cli.Reference("The exit code is 0 even if there is nothing to do, and 1 if an error occurred.", `one object a line: run row do phase roles reason why file missing aside until
person tell, or run error. For a result that goes to stdout: kind (result) run
text.`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runTick(a, cmd.Context(), dry) },
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print what would be done, and do nothing")
	return cmd
}

// A ticked is what a tick has come to.
type ticked struct {
	Run   string `json:"run"`
	Error string `json:"error,omitempty"`
	*status.Decision
}

func runTick(a *cli.App, ctx context.Context, dry bool) error {
	if !dry {
		if err := a.RefuseAgent("tick"); err != nil {
			return err
		}
	}
	at, _, err := pipelinecmd.Runs(a, ctx)
	if err != nil {
		return err
	}
	broken := false
	if !dry {
		if broken, err = startAllowed(a, ctx); err != nil {
			return err
		}
	}
	names, err := at.Names()
	if err != nil {
		return err
	}
	if !dry {
		defer a.Notifies(ctx, at.Root)()
	}
	if len(names) == 0 && !a.JSON {
		a.Say("nothing to do: no pipeline is active\n")
	}
	for _, name := range names {
		act, err := tickOne(a, ctx, at, name, dry)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, run.ErrGone), errors.Is(err, fs.ErrNotExist): // somebody else has archived it, or its launch was cut off
			continue
		case err != nil:
			broken = true
		}
		if err := showTick(a, name, act, err); err != nil {
			return err
		}
	}
	if broken {
		return cli.ExitWith(cli.ExitFailure)
	}
	return nil
}

// startAllowed starts the pipelines that wait and need no person. It reports whether one could not be started.
func startAllowed(a *cli.App, ctx context.Context) (broken bool, err error) {
	trouble, err := pipelinecmd.StartAllowed(a, ctx)
	if err != nil {
		return false, err
	}
	for _, item := range slices.Sorted(maps.Keys(trouble)) {
		if err := showTick(a, item, pipeline.Action{}, trouble[item]); err != nil {
			return true, err
		}
	}
	return len(trouble) > 0, nil
}

func tickOne(a *cli.App, ctx context.Context, at run.Place, name string, dry bool) (pipeline.Action, error) {
	f, err := at.Open(name)
	if err != nil {
		return pipeline.Action{}, err
	}
	if dry {
		v, err := f.View(time.Now())
		return v.Action, err
	}
	if err := status.MadeHere(ctx, at, f); err != nil {
		return pipeline.Action{}, err
	}
	o, err := pipelinecmd.NewProgress(a, f).Options()
	if err != nil {
		return pipeline.Action{}, err
	}
	o.Report = nil // [notify] tells a person
	return f.Tick(ctx, o)
}

func showTick(a *cli.App, name string, act pipeline.Action, err error) error {
	t := ticked{Run: name}
	if err != nil {
		t.Error = cli.Explain(err).Message
	} else {
		d := status.DecisionOf(act)
		t.Decision = &d
	}
	switch {
	case a.JSON:
		return a.PrintJSONLine(t)
	case err != nil:
		cli.Fprintf(a.Err, "ferrus: %s: %s\n", name, t.Error)
	default:
		a.Say("%s  %s: %s\n", name, act.Row, act)
	}
	return nil
}
