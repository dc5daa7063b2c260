package pipeline

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/cli/log"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

func pipelineLogsCommand(a *cli.App) *cobra.Command {
	var follow, raw bool
	cmd := &cobra.Command{
		Use:   "logs [RUN] [ROLE] [-f] [--raw]",
		Short: "Show the output of a worker",
		Long: `Shows what a worker said, which tools it called and what failed. ROLE is a
worker (its newest attempt) or an attempt, such as researcher-a-2. Without ROLE
it is the newest worker of the run. If no run is active, it is the newest
archived run. With --raw it prints the bytes as they are.`,
		Example: `  ferrus pipeline logs
  ferrus pipeline logs researcher-a -f
  ferrus pipeline logs research-180141 researcher-a-2 --raw`,
		Annotations: cli.Reference("", `without ROLE: the attempts of the run, [{run duty agent started ended exit usage
...}]. duty is the role.`),
		Args:              cobra.MaximumNArgs(2),
		ValidArgsFunction: completeRuns(a, finished),
		RunE: func(cmd *cobra.Command, args []string) error {
			return pipelineLogs(a, cmd.Context(), args, follow, raw)
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "follow the output")
	cmd.Flags().BoolVar(&raw, "raw", false, "print the bytes as they are")
	return cmd
}

func pipelineLogs(a *cli.App, ctx context.Context, args []string, follow, raw bool) error {
	at, _, err := Runs(a, ctx)
	if err != nil {
		return err
	}
	f, role, err := logsOf(a, at, args)
	if err != nil {
		return err
	}
	list, err := attempts(f)
	if err != nil {
		return err
	}
	if a.JSON && role == "" {
		return a.PrintJSON(list)
	}
	r, ok := log.ChooseRun(list, role)
	if !ok {
		what := f.Name() + " has started no worker " + role
		if role == "" {
			what = f.Name() + " has started no worker yet"
		}
		return cli.Refuse(refusal.WrongState, what, refusal.Say("ferrus pipeline status %s shows its workers, ferrus pipeline logs --json their attempts", f.Name()))
	}
	show := log.TextWriter(a, true)
	if !raw {
		a.Say("%s  %s, started %s\n", a.Paint(cli.Bold, r.Name), r.Agent, format.Clock(r.Started))
		show = log.EventWriter(a, agents.ReaderOf(r.Agent))
	}
	// Not r.Log: the folder may have been moved since.
	return log.Follow(a, ctx, f.Path("logs", filepath.Base(r.Log)), show, func() bool {
		list, err := attempts(f)
		again, ok := log.ChooseRun(list, r.Name)
		return !follow || err != nil || !ok || again.Over()
	})
}

// logsOf finds out whether one word is a run or a worker.
func logsOf(a *cli.App, at run.Place, args []string) (f *run.Folder, role string, err error) {
	if len(args) == 2 {
		f, err = newestRun(a, at, args[0])
		return f, args[1], err
	}
	if len(args) == 1 {
		if f, err = at.Open(args[0]); err == nil {
			return f, "", nil
		}
		role = args[0]
	}
	f, err = newestRun(a, at, "")
	return f, role, err
}

// attempts are all attempts of a run's workers, in the order of their start.
func attempts(f *run.Folder) ([]process.Run, error) {
	all := []process.Run{}
	for _, role := range roles(f.Workflow) {
		list, err := f.Runs(role)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	slices.SortStableFunc(all, func(a, b process.Run) int { return a.Started.Compare(b.Started) })
	return all, nil
}
