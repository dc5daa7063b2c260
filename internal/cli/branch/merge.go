package branch

import (
	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/status"
)

// MergeCommand is ferrus merge.
func MergeCommand(a *cli.App) *cobra.Command {
	var resolve, commits bool
	var how committing
	cmd := &cobra.Command{
		Use:   "merge NAME [--resolve | --commit]",
		Short: "Merge the approved work of a branch into the project",
		Long: `Merges the approved files of the branch into the files of the project, including
your uncommitted changes. The checks run on the merged result first. If there is
a conflict or a check fails, nothing is changed. Your index, stash and branches
are not touched, and nothing is committed, except with --commit: then what the
merge brought is committed, as by "ferrus commit". With --resolve the executor
of the branch gets the conflict as a review.`,
		Example: `  ferrus merge fix-login
  ferrus merge fix-login --commit
  ferrus merge fix-login --resolve`,
		Annotations: cli.Reference(`This is git's three-way merge, from the files with which the task of the branch
started. The checks run in the work tree of the branch. The merge is refused
while the project has another task of its own. If that task is the one that was
branched, it becomes Complete too. Files that the branch has added and that
.gitignore names are left out. You can go on editing while the checks run. An
edit of a file that the merge changes is merged, and the checks run again. Other
edits stay, and the checks have not seen them.

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
			switch {
			case resolve && commits, how.earlier && !commits:
				return cli.UsageError("omit one of them; --with-earlier is for --commit", "these flags do not go together")
			case commits:
				return mergeAndCommit(a, cmd.Context(), args[0], how)
			}
			kind := status.ActNamed("merge")
			if resolve {
				kind = status.ActNamed("resolve")
			}
			return a.Decide(cmd.Context(), status.Request{Kind: kind, Branch: args[0]}, cli.Source{})
		},
	}
	cmd.Flags().BoolVar(&resolve, "resolve", false, "send a conflict back to the executor")
	cmd.Flags().BoolVar(&commits, "commit", false, "commit what the merge brought, with your git hooks and signing")
	cmd.Flags().BoolVar(&how.earlier, "with-earlier", false, "with --commit: "+withEarlier)
	a.SubmissionFlag(cmd)
	a.ResumeFlag(cmd)
	return cmd
}
