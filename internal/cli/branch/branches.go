package branch

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
)

// branchesJSON are the fields of a list of branches.
const branchesJSON = `branches[{branch task_id title state since holder check why green checks
score score_void agent rejected size{files added deleted} seconds selected
merged edited elsewhere error}].`

// BranchesCommand is ferrus branches.
func BranchesCommand(a *cli.App) *cobra.Command {
	var take bool
	cmd := &cobra.Command{
		Use:   "branches [--score]",
		Short: "Compare the branches",
		Long: `Shows every branch: the state of its task, the result of its last check, the
size of its changes, its score, and how long it took. With --score it first
scores the checked work that has no score.`,
		Example: `  ferrus branches
  ferrus branches --score
  ferrus branches --json`,
		Annotations: cli.Reference(`The score comes from [branches] score of ferrus.toml: a shell command that runs
like a check on the files that passed the checks. The last line that it prints
is the score, a number; higher is better. The command is frozen with the task.
A score counts for the scored files only: after a change it is void, and "-"
stands in its place. Submitted work keeps its score; if its files are edited
after that, a line below it says so. The code that is judged can print the
number itself, so review what you take.`, branchesJSON),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := attempts(a, cmd.Context(), "")
			if err == nil && take {
				list, err = scored(a, cmd.Context(), "branches --score", list)
			}
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(map[string]any{"branches": list})
			}
			if len(list) == 0 {
				a.Say("there are no branches\n")
				a.ShowSteps([]status.Step{{Command: "ferrus branch NAME", Why: "creates one"}})
				return nil
			}
			ShowAttempts(a, list)
			return nil
		},
	}
	cmd.Flags().BoolVar(&take, "score", false, "score the checked work that has no score")
	return cmd
}

// attempts looks at the branches of the project: at all, or at those that are attempts at the same as one.
func attempts(a *cli.App, ctx context.Context, like string) ([]branch.Attempt, error) {
	place, err := a.Place(ctx)
	if err != nil {
		return nil, err
	}
	names, err := project.Branches(place.Root)
	if err != nil {
		return nil, err
	}
	e, err := a.OpenToReadAt(project.At(place.Root, ""))
	if err != nil {
		return nil, err
	}
	defer e.Close()
	a.WarnForeign(e.Foreign())
	if like != "" {
		names = branch.Group(names, like)
	}
	return branch.Attempts(ctx, e, names), nil
}

// ShowAttempts prints branches as a table, and below each why its checks did not pass. Scores have a column where there are
// any.
func ShowAttempts(a *cli.App, list []branch.Attempt) {
	scores := slices.ContainsFunc(list, func(t branch.Attempt) bool { return t.Score != nil || t.Void })
	column := func(text string) string {
		if !scores {
			return ""
		}
		return fmt.Sprintf(" %9s", text)
	}
	var names []string
	for _, t := range list {
		names = append(names, t.Branch)
	}
	name := a.Names(14, names)
	a.Say("%s\n", a.Paint(cli.Dim, fmt.Sprintf("%s %-*s %-12s %-22s%s %8s  %s", name("branch"), cli.StateWidth, "state", "checks", "change", column("score"), "time", "task")))
	for _, t := range list {
		if t.Error != "" {
			a.Say("%s cannot be read: %s\n", name(t.Branch), format.Line(t.Error))
			continue
		}
		a.Say("%s %s %s %-22s%s %8s  %s\n", name(t.Branch), a.PaintState(t.State, cli.StateWidth), gate(a, t),
			change(t), column(t.Number()), format.Duration(t.Took), format.Clip(format.Line(t.Title), 40)+mark(t))
		if !t.Green && t.Why != "" {
			a.Say("%s %s\n", name(""), a.Paint(cli.Dim, format.Clip(format.Line(t.Why), 100)))
		}
		if t.Edited {
			a.Say("%s %s\n", name(""), a.Paint(cli.Yellow, "edited since it was submitted: checks, change and score are of the submission"))
		}
		for _, line := range t.Skipped {
			a.Say("%s %s\n", name(""), a.Paint(cli.Yellow, format.Line(line)))
		}
	}
}

// gate says whether the checks passed on the files of the branch.
func gate(a *cli.App, t branch.Attempt) cli.Styled {
	switch {
	case t.Green:
		return a.Paint(cli.Green, format.Pad("passed", 12))
	case t.Check == "":
		return a.Paint(cli.Dim, format.Pad("not run", 12))
	case t.State == state.Checking:
		return a.Paint(cli.Yellow, format.Pad("outdated", 12))
	}
	return a.Paint(cli.Yellow, format.Pad("not passed", 12))
}

func change(t branch.Attempt) string {
	if t.Elsewhere {
		return "on another computer"
	}
	return fmt.Sprintf("%s +%d -%d", format.Count(t.Size.Files, "file", "files"), t.Size.Added, t.Size.Deleted)
}

func mark(t branch.Attempt) string {
	text := ""
	if t.Agent != "" {
		text = "  by " + t.Agent
	}
	switch {
	case t.Merged:
		text += "  (merged)"
	case t.Selected:
		text += "  (selected)"
	}
	return text
}
