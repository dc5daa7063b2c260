package status

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// SimulateCommand is ferrus simulate.
func SimulateCommand(a *cli.App) *cobra.Command {
	var from string
	var changed []string
	cmd := &cobra.Command{
		Use:   "simulate [--from STATE] [--changed FILE] [ROLE:]EVENT...",
		Short: "Play events on the task without changing it",
		Long: `Applies events to a copy of the task and shows where each one leads. It uses the
same table as ferrus itself, with the limits that were frozen with the task. A
new task (--from) has those of ferrus.toml. Write an event as ROLE:EVENT, such
as executor:submit. You can omit the role if only one role can raise the event.
After each event it shows the rule that ferrus follows, if any. The exit code is
3 if an event is refused.`,
		Example: `  ferrus simulate submit reject submit approve
  ferrus simulate --from Checking --changed docs/guide.md submit
  ferrus simulate --from Executing engine:check_failed executor:consult`,
		Annotations: cli.Reference(`Other events are supervisor:reject, human:answer and engine:check_failed. The
page [state machine](state-machine.md) has the table. The executor is the one
that claimed the task. With --from, an executor has claimed the task in each
state that allows it.

The simulation knows only the table. A real event may be refused for another
reason, such as changed files or a submission that was not shown. A rollback is
not simulated; "ferrus context --at" shows where it leads.

The rules are those that were frozen with the task, or those of ferrus.toml when
there is no task or with --from. All failed checks count as the same failure. A
rule with paths needs the files of the submission: name each with --changed.`, `task_id from steps[{event role from to check_retries{used max} reviews{used max}
waiting epoch failure_reason rule refused allowed[]}]. A step with rule is what
ferrus does by that rule.`),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.UsageError("ferrus simulate{branch} engine:check_failed executor:consult", "name the events")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return runSimulate(a, cmd.Context(), from, changed, args)
		},
	}
	cmd.Flags().StringArrayVar(&changed, "changed", nil, "a submission changes `FILE`; may be repeated")
	cmd.Flags().StringVar(&from, "from", "", "start with a new task in `STATE`")
	return cmd
}

func runSimulate(a *cli.App, ctx context.Context, from string, changed, words []string) error {
	var events []Event
	for _, w := range words {
		ev, err := ParseEvent(w)
		if err != nil {
			return misread(err)
		}
		events = append(events, ev)
	}
	e, now, err := a.OpenView(ctx)
	if err != nil {
		return err
	}
	defer e.Close()
	gate, err := e.Gate(now)
	if err != nil {
		return err
	}
	t := now.Task
	if from != "" {
		in, err := ParseState(from)
		if err != nil {
			return misread(err)
		}
		t = NewTask(in)
		conf, err := e.Config() // what a new task is frozen with
		if err != nil {
			return refusal.Config(err)
		}
		gate = conf.Gate()
	}
	lim := state.Limits{CheckRetries: gate.Limits.MaxCheckRetries, ReviewCycles: gate.Limits.MaxReviewCycles}
	with := Rules{List: gate.AllRules(), Changed: changed, Executor: strings.TrimSuffix(gate.HQ.Executor.Agent+":"+gate.HQ.Executor.Model, ":")}
	list, err := Play(t, events, lim, with)
	if err != nil {
		return err
	}
	last := list[len(list)-1]
	if a.JSON {
		if err := a.PrintJSON(map[string]any{"task_id": t.TaskID, "from": t.State, "steps": list}); err != nil {
			return err
		}
	} else {
		showPlayed(a, list)
	}
	if last.Refused != "" {
		return cli.Refuse(refusal.WrongState, last.Refused, allowedWords(last))
	}
	return nil
}

// misread is the error of a word that is no event or state.
func misread(err error) error {
	var wrong *ParseError
	if !errors.As(err, &wrong) {
		return err
	}
	return cli.UsageError(cmp.Or(refusal.Say("%s", wrong.Hint), "ferrus context{branch} --at SEQ shows the task as it was there"), "%s", wrong.Problem)
}

func allowedWords(p Step) refusal.Own {
	if len(p.Allowed) == 0 {
		return "allowed now: nothing"
	}
	var words []string
	for _, ev := range p.Allowed {
		words = append(words, string(ev))
	}
	return refusal.Say("allowed now: %s", strings.Join(words, ", "))
}

func showPlayed(a *cli.App, list []Step) {
	for i, p := range list {
		if p.Refused != "" {
			a.Say("%3d  %-10s %-16s %s\n", i+1, p.Role, p.Event, a.Paint(cli.Red, "refused"))
			return
		}
		moved := string(p.To)
		if p.From != p.To {
			moved = fmt.Sprintf("%s → %s", p.From, p.To)
		}
		a.Say("%3d  %s %-16s %s  %d of %d failed checks, %d of %d reviews   %s\n", i+1, a.Paint(cli.RoleColour[p.Role], fmt.Sprintf("%-10s", p.Role)), p.Event,
			a.Paint(cli.StateColour[p.To], fmt.Sprintf("%-28s", moved)), p.CheckRetries.Used, p.CheckRetries.Max, p.Reviews.Used, p.Reviews.Max, waits(p.Waiting))
		if p.Rule != "" {
			a.Say("%34sby the rule: %s\n", "", p.Rule)
		}
		if p.FailureReason != "" && p.From != p.To {
			a.Say("%34s%s\n", "", a.Paint(cli.Red, p.FailureReason))
		}
	}
}

// waits says who is waited for.
func waits(whom string) string {
	if whom == "nobody" {
		return "waits for nobody"
	}
	return "waits for the " + whom
}
