package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/checks"
)

func checkCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Run the checks and say how they went; moves nothing",
		Long: `Runs the commands of ferrus.toml as it is now, in the task's work tree, and shows how each went. It spends no retry
and moves nothing: only an executor's check counts. Exit code 0 when all are green.

With --json: status error duration_ns commands[{command exit_code signal timed_out duration_ns tail}] log.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.check(cmd.Context()) },
	}
}

func (a *app) check(ctx context.Context) error {
	e, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer e.Close()
	if err := a.agreed(e, e.Trusted); err != nil {
		return err
	}
	log := e.Store().Path("logs", "check-by-hand.log")
	if conf, err := e.Config(); err == nil && a.errTTY && !a.json {
		say(a.err, "running %s; the log is %s\n", count(len(conf.Checks.Commands), "command", "commands"), log)
	}
	res, gate, err := e.Trial(ctx)
	if err != nil {
		return err
	}
	if a.json {
		err = a.print(struct {
			checks.Result
			Log string `json:"log"`
		}{res, log})
	} else {
		a.showTrial(res, gate.Checks.Commands, log)
	}
	if err == nil && res.Status != checks.Passed {
		err = unwell(exitFailure)
	}
	return err
}

func (a *app) showTrial(res checks.Result, commands []string, log string) {
	for _, c := range res.Commands {
		mark := a.paint(green, "ok  ")
		if !c.Passed() {
			mark = a.paint(red, "red ")
		}
		a.say("%s  %s\n", mark, outcome(c))
		if c.Tail != "" {
			a.say("%s\n", framed(c.Tail, "      "))
		}
	}
	switch res.Status {
	case checks.Passed:
		if len(commands) == 0 {
			a.say("green: commands = [] is the choice that everything passes\n")
			return
		}
		a.say("green in %.1f s\n", res.Duration.Seconds())
	case checks.Failed:
		a.say("%s: %d of %d failed; the whole log is %s\n", a.paint(red, "red"), len(res.Failures()), len(res.Commands), log)
	default:
		a.say("%s: %s\n", a.paint(red, "the checks could not run"), indentedRest(res.Err))
	}
}

// indentedRest is a text whose further lines are indented below the first.
func indentedRest(text string) string {
	first, rest, more := strings.Cut(text, "\n")
	if !more {
		return first
	}
	return fmt.Sprintf("%s\n%s", first, indented(rest, "  "))
}
