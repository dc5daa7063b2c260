package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
)

const attemptsJSON = `branches[{branch task_id title state since holder check why green checks rejected
size{files added deleted} seconds selected merged error}].`

func branchesCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "branches",
		Short: "The branches, side by side",
		Long: `Shows every branch: how its task stands, what the gate said last, how much it has changed, and how long it took.

With --json: ` + attemptsJSON,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := a.attempts(cmd.Context(), "")
			if err != nil {
				return err
			}
			if a.json {
				return a.print(map[string]any{"branches": list})
			}
			if len(list) == 0 {
				a.say("there are no branches\n")
				a.next([]step{{"ferrus branch NAME", "makes one"}})
				return nil
			}
			a.showAttempts(list)
			return nil
		},
	}
}

// attempts looks at the branches of the project: at all, or at those that are attempts at the same as one.
func (a *app) attempts(ctx context.Context, like string) ([]engine.Attempt, error) {
	place, err := a.place(ctx)
	if err != nil {
		return nil, err
	}
	names, err := engine.Branches(place.Root)
	if err != nil {
		return nil, err
	}
	e, err := a.lookAt(engine.At(place.Root, ""))
	if err != nil {
		return nil, err
	}
	defer e.Close()
	if like != "" {
		names = engine.Group(names, like)
	}
	return e.Attempts(ctx, names), nil
}

// showAttempts prints branches as a table, and below each what the gate said where it is not green.
func (a *app) showAttempts(list []engine.Attempt) {
	a.say("%s\n", a.paint(dim, fmt.Sprintf("%-14s %-13s %-12s %-22s %8s  %s", "branch", "state", "gate", "change", "time", "task")))
	for _, t := range list {
		if t.Error != "" {
			a.say("%-14s cannot be read: %s\n", clip(t.Branch, 14), line(t.Error))
			continue
		}
		a.say("%-14s %s %s %-22s %8s  %s\n", clip(t.Branch, 14), a.paint(stateOr(t.State), padded(string(t.State), 13)), a.gate(t),
			change(t), span(t.Took), clip(line(t.Title), 40)+mark(t))
		if !t.Green && t.Why != "" {
			a.say("%-14s %s\n", "", a.paint(dim, clip(line(t.Why), 100)))
		}
	}
}

// gate is whether the checks were green on what the branch has.
func (a *app) gate(t engine.Attempt) ink {
	switch {
	case t.Green:
		return a.paint(green, padded("green", 12))
	case t.Check == "":
		return a.paint(dim, padded("not run", 12))
	case t.State == state.Checking:
		return a.paint(yellow, padded("outdated", 12))
	}
	return a.paint(yellow, padded("not green", 12))
}

func change(t engine.Attempt) string {
	return fmt.Sprintf("%s +%d -%d", count(t.Size.Files, "file", "files"), t.Size.Added, t.Size.Deleted)
}

func mark(t engine.Attempt) string {
	switch {
	case t.Merged:
		return "  (merged)"
	case t.Selected:
		return "  (selected)"
	}
	return ""
}
