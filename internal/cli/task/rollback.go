package task

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// RollbackCommand is ferrus rollback.
func RollbackCommand(a *cli.App) *cobra.Command {
	var reason string
	var files bool
	cmd := &cobra.Command{
		Use:   "rollback SEQ --reason TEXT [--files]",
		Short: "Return the task to an earlier entry of its log",
		Long: `Restores the task as it was at entry SEQ of "ferrus log": its state, counters,
questions and documents. With --files it also restores the files of the work.
Nothing is lost: the abandoned entries stay in the log, and you can return to
them. The agent that claimed the task loses its claim and reads the reason.`,
		Example: `  ferrus rollback 12 --reason "the first approach was better"
  ferrus rollback 12 --files --reason "start again from the first check"`,
		Annotations: cli.Reference(`ferrus saves the files at every claim, check, submission, review and answer,
under refs/ferrus in your repository. Agents that ferrus started are ended.
Questions that were answered later are asked again. Your index, stash and
branches are not touched, nor files that git ignores. Run the same command again
to finish a rollback that was interrupted. If a file is edited while ferrus
moves it, the edited version is saved under refs/ferrus. ferrus prints the
command that shows it.`, "task_id state seq epoch edited[{path ref show file}]."),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cli.UsageError(`ferrus rollback{branch} 12 --reason "..."; ferrus log{branch} has the numbers`, "no entry is named")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			to, err := strconv.ParseUint(args[0], 10, 64)
			if err != nil {
				return cli.UsageError("ferrus log{branch} has the numbers", "%q is not the number of an entry", args[0])
			}
			if reason == "" {
				return cli.UsageError(refusal.Say(`ferrus rollback{branch} %s --reason "..."`, args[0]), "the reason is missing")
			}
			r := status.Request{Kind: status.ActNamed("rollback"), Seq: to}
			if files {
				r.Kind = status.ActNamed("rollback-files")
			}
			return a.Decide(cmd.Context(), r, cli.Source{Message: reason})
		},
	}
	cmd.Flags().StringVarP(&reason, "reason", "m", "", "`TEXT` for the agents that continue")
	cmd.Flags().BoolVar(&files, "files", false, "also restore the files of the work")
	a.TaskFlag(cmd)
	return cmd
}
