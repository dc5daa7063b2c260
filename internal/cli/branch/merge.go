package branch

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/conductor/schedule"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/status/act"
	"github.com/ferrus-go/ferrus/internal/worktree"
)

// MergeCommand is ferrus merge.
func MergeCommand(a *cli.App) *cobra.Command {
	var resolve bool
	cmd := &cobra.Command{
		Use:   "merge NAME [--resolve]",
		Short: "Merge the approved work of a branch into the project",
		Long: `Merges the approved files of the branch into the files of the project, including
your uncommitted changes. The checks run on the merged result first. If there is
a conflict or a check fails, nothing is changed. ferrus commits nothing and does
not touch your index, stash or branches. With --resolve the executor of the
branch gets the conflict as a review.`,
		Example: `  ferrus merge fix-login
  ferrus merge fix-login --resolve`,
		Annotations: cli.Reference(`This is git's three-way merge, from the files with which the task of the branch
started. The checks run in the work tree of the branch. The merge is refused
while the project has another task of its own. If that task is the one that was
branched, it becomes Complete too. Files that the branch has added and that
.gitignore names are left out.

With --resolve the executor gets the changes of the project in its files, and a
review that describes the conflict. Its work must be checked, reviewed and
merged again. Files in which a mark of the conflict is left are neither
submitted nor merged. Run the same command again to finish a merge that was
interrupted. If a file is edited while ferrus moves it, the edited version is
saved under refs/ferrus. ferrus prints the command that shows it.`, `merged tree empty written[] removed[] left[] ignored[]
edited[{path ref show file}] gate{status seconds}. An error also has
conflicts[{path kind}] or failures[]. With --resolve: task_id state seq epoch.`),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cli.UsageError("ferrus merge NAME; ferrus branches shows them", "no branch is named")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.ProjectSession(cmd.Context(), "merge")
			if err != nil {
				return err
			}
			defer s.Engine().Close()
			return mergeBranch(a, cmd.Context(), s, args[0], resolve)
		},
	}
	cmd.Flags().BoolVar(&resolve, "resolve", false, "send a conflict back to the executor")
	a.SubmissionFlag(cmd)
	a.ResumeFlag(cmd)
	return cmd
}

func mergeBranch(a *cli.App, ctx context.Context, s *engine.Session, name string, resolve bool) error {
	from, err := branchSession(a, s, name)
	if err != nil {
		return cli.CannotDo("merge "+name, "", err)
	}
	defer from.Engine().Close()
	if err := a.WithTrust(s.Engine(), s.Engine().Known); err != nil {
		return cli.CannotDo("merge "+name, "", err)
	}
	ctx, end := a.Working(ctx, "merging "+name)
	defer end()
	got, err := branch.Merge(ctx, s, from, func() error { return schedule.EndAll(ctx, s.Engine()) })
	end()
	var clash *branch.ConflictError
	switch {
	case errors.As(err, &clash) && resolve:
		return startResolving(a, ctx, s, from, clash)
	case errors.As(err, &clash):
		return clashed(a, name, clash)
	case err != nil:
		return cli.CannotDo("merge "+name, "", err)
	}
	if a.JSON {
		return a.PrintJSON(mergeJSON(name, got))
	}
	if got.Empty {
		a.Say("notice: empty: the work on %s changed no file\n", name)
	}
	a.Say("merged %s: %s, %s%s\n", name, format.Count(len(got.Files.Written), "file written", "files written"),
		format.Count(len(got.Files.Removed), "removed", "removed"), gateWords(got))
	for _, path := range got.Files.Left {
		a.Say("  not changed: %s\n", path)
	}
	for _, path := range got.Ignored {
		a.Say("  ignored by the project, and left out: %s\n", path)
	}
	a.ShowEdits(got.Files.Edited)
	a.ShowSteps([]status.Step{{Command: "git diff", Why: "shows the uncommitted changes"}, {Command: "ferrus branch --remove " + name, Why: "deletes the branch"}})
	return nil
}

// branchSession opens a branch of the project for an act of a person. The caller closes the engine.
func branchSession(a *cli.App, s *engine.Session, name string) (*engine.Session, error) {
	on, err := s.Engine().Place().On(name)
	if err != nil {
		return nil, err
	}
	e, err := a.OpenAt(on)
	if err != nil {
		return nil, err
	}
	return a.Deciding(e), nil
}

func gateWords(got branch.Merged) string {
	if got.Checks == nil {
		return "; the project had not changed, so the checks did not run again"
	}
	return "; the checks passed on the merged result, in " + format.Duration(got.Checks.Duration)
}

func mergeJSON(name string, got branch.Merged) map[string]any {
	m := map[string]any{"merged": name, "tree": got.Tree, "written": listed(got.Files.Written), "removed": listed(got.Files.Removed), "left": listed(got.Files.Left)}
	if got.Empty {
		m["empty"] = true
	}
	if len(got.Ignored) > 0 {
		m["ignored"] = got.Ignored
	}
	if len(got.Files.Edited) > 0 {
		m["edited"] = got.Files.Edited
	}
	if got.Checks != nil {
		m["gate"] = map[string]any{"status": got.Checks.Status, "seconds": got.Checks.Duration.Seconds()}
	}
	return m
}

// listed is a list that is never null.
func listed(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// clashed says what does not fit.
func clashed(a *cli.App, name string, c *branch.ConflictError) error {
	f := cli.Explain(cli.CannotDo("merge "+name, "", c))
	if !a.JSON {
		return f
	}
	text, err := format.JSON(struct {
		*cli.Failure
		Conflicts []worktree.Conflict `json:"conflicts,omitempty"`
		Failures  []checks.Command    `json:"failures,omitempty"`
	}{f, c.Conflicts, c.Failures}, "")
	if err == nil {
		_, err = a.Err.Write(text)
	}
	if err != nil {
		return err
	}
	return cli.ExitWith(f.Exit)
}

// startResolving gives the work back to its executor.
func startResolving(a *cli.App, ctx context.Context, s, from *engine.Session, c *branch.ConflictError) error {
	done, err := branch.Resolve(ctx, s, from, c)
	name := from.Engine().Place().Branch
	if err != nil {
		return cli.CannotDo("give "+name+" back", "", err)
	}
	t := done.Task
	if a.JSON {
		if err := a.PrintJSON(act.Facts(t)); err != nil {
			return err
		}
	} else {
		a.Say("%s\n%s is %s again, with the project's changes in its files\n", format.Line(c.Message), name, t.State)
	}
	r, err := status.Read(from.Engine())
	if err != nil {
		return err
	}
	if did, err := a.Continue(ctx, r); did || err != nil || a.JSON {
		return err
	}
	a.ShowSteps([]status.Step{{Command: "ferrus resume --branch " + name, Why: "starts the agents that fix and review it"}, {Command: "ferrus merge " + name, Why: "merges it afterwards"}})
	return nil
}

// relative is a path as it is seen from where the command was called, where that is shorter.
func relative(a *cli.App, path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(here, path); err == nil && len(rel) < len(path) {
		return rel
	}
	return path
}
