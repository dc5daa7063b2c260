// Package simulate has ferrus simulate: it plays events on a task in memory, and writes nothing.
package simulate

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
)

// Command is ferrus simulate.
func Command(a *cli.App) *cobra.Command {
	var from string
	cmd := &cobra.Command{
		Use:   "simulate [--from STATE] [ROLE:]EVENT...",
		Short: "What would happen to the task, by the table, with nothing touched",
		Long: `Plays events on the present task and shows where each leads, what it spends and who is waited for then, by the table that
ferrus itself goes by (the page state-machine.md has it) and the limits that are pinned to the task. Nothing is written.

An event is written with who raises it, as executor:submit, supervisor:reject, human:answer, engine:check_failed; the role
may be left out where only one can. The executor is the one that holds the work, once it has claimed it. With --from it is
no task of yours but a fresh one in that state, and somebody holds it where somebody can.

Only the table is asked: what it cannot know, such as a tree that has changed or a submission that was not shown, may
still refuse an act. A rollback is not played; ferrus context --at shows where it leads.

Exit code 3 when an event is refused. With --json: task_id from steps[{event role from to check_retries{used max}
reviews{used max} waiting epoch failure_reason refused allowed[]}].`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.UsageError("ferrus simulate engine:check_failed executor:consult", "name the events")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runSimulate(a, cmd.Context(), from, args) },
	}
	cmd.Flags().StringVar(&from, "from", "", "begin in `STATE` with a fresh task")
	return cmd
}

// A played is an event of a simulation with what became of it.
type played struct {
	Event         state.Event   `json:"event"`
	Role          state.Role    `json:"role"`
	From          state.State   `json:"from"`
	To            state.State   `json:"to"`
	CheckRetries  status.Budget `json:"check_retries"`
	Reviews       status.Budget `json:"reviews"`
	Waiting       string        `json:"waiting"`
	Epoch         uint64        `json:"epoch"`
	FailureReason string        `json:"failure_reason,omitempty"`
	Refused       string        `json:"refused,omitempty"`
	Allowed       []state.Event `json:"allowed,omitempty"` // of a refused one: what the role may do there
}

func runSimulate(a *cli.App, ctx context.Context, from string, words []string) error {
	moves, err := movesOf(words)
	if err != nil {
		return err
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
		if t, err = freshTask(from); err != nil {
			return err
		}
	}
	lim := state.Limits{CheckRetries: gate.Limits.MaxCheckRetries, ReviewCycles: gate.Limits.MaxReviewCycles}
	list, err := play(t, moves, lim)
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
		return cli.Refuse(engine.WrongState, last.Refused, allowedWords(last))
	}
	return nil
}

func allowedWords(p played) string {
	if len(p.Allowed) == 0 {
		return "allowed now: nothing"
	}
	var words []string
	for _, ev := range p.Allowed {
		words = append(words, string(ev))
	}
	return "allowed now: " + strings.Join(words, ", ")
}

func showPlayed(a *cli.App, list []played) {
	for i, p := range list {
		if p.Refused != "" {
			a.Say("%3d  %-10s %-16s %s\n", i+1, p.Role, p.Event, a.Paint(cli.Red, "refused"))
			return
		}
		moved := string(p.To)
		if p.From != p.To {
			moved = fmt.Sprintf("%s → %s", p.From, p.To)
		}
		a.Say("%3d  %s %-16s %s  %d red of %d, %d of %d reviews   %s\n", i+1, a.Paint(cli.RoleColour[p.Role], fmt.Sprintf("%-10s", p.Role)), p.Event,
			a.Paint(cli.StateColour[p.To], fmt.Sprintf("%-28s", moved)), p.CheckRetries.Used, p.CheckRetries.Max, p.Reviews.Used, p.Reviews.Max, waits(p.Waiting))
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
