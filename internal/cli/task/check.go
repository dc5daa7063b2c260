package task

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/platform/format"
)

// CheckCommand is ferrus check.
func CheckCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Run the checks and show their results",
		Long: `Runs the commands of ferrus.toml as it is now, in the work tree of the task, and
shows the result of each. It does not change the task and uses no retry: only a
check of the executor counts. The exit code is 0 if all checks pass.`,
		Example: `  ferrus check
  ferrus check --branch fix-login --json`,
		Annotations: cli.Reference("", `status error duration_ns commands[{command exit_code signal timed_out
duration_ns tail}] log.`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runCheck(a, cmd.Context()) },
	}
}

func runCheck(a *cli.App, ctx context.Context) error {
	e, err := a.Open(ctx)
	if err != nil {
		return err
	}
	defer e.Close()
	if err := a.WithTrust(e, e.Trusted); err != nil {
		return err
	}
	log := e.Place().Path("logs", "check-by-hand.log")
	if conf, err := e.Config(); err == nil && a.ErrTTY && !a.JSON {
		cli.Fprintf(a.Err, "running %s; the log is %s\n", format.Count(len(conf.Checks.Commands), "command", "commands"), log)
	}
	ctx, end := a.Working(ctx, "running the checks")
	defer end()
	res, gate, err := e.Trial(ctx)
	end()
	if err != nil {
		return err
	}
	if a.JSON {
		err = a.PrintJSON(struct {
			checks.Result
			Log string `json:"log"`
		}{res, log})
	} else {
		showTrial(a, res, gate.Checks.Commands, log)
	}
	if err == nil && res.Status != checks.Passed {
		err = cli.ExitWith(cli.ExitFailure)
	}
	return err
}

func showTrial(a *cli.App, res checks.Result, commands []string, log string) {
	for _, c := range res.Commands {
		mark := a.Paint(cli.Green, "ok  ")
		if !c.Passed() {
			mark = a.Paint(cli.Red, "FAIL")
		}
		a.Say("%s  %s\n", mark, cli.Outcome(c))
		if c.Tail != "" {
			a.Say("%s\n", format.Frame(c.Tail, "      "))
		}
	}
	switch res.Status {
	case checks.Passed:
		if len(commands) == 0 {
			a.Say("passed: with commands = [] everything passes\n")
			return
		}
		a.Say("passed in %.1f s\n", res.Duration.Seconds())
	case checks.Failed:
		a.Say("%s: %d of %d checks; the whole log is %s\n", a.Paint(cli.Red, "failed"), len(res.Failures()), len(res.Commands), log)
	default:
		a.Say("%s: %s\n", a.Paint(cli.Red, "the checks could not run"), format.IndentRest(res.Err))
	}
}
