package task

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/conductor/schedule"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/delegate"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree/restore"
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
			return runRollback(a, cmd.Context(), to, reason, files)
		},
	}
	cmd.Flags().StringVarP(&reason, "reason", "m", "", "`TEXT` for the agents that continue")
	cmd.Flags().BoolVar(&files, "files", false, "also restore the files of the work")
	a.TaskFlag(cmd)
	return cmd
}

func runRollback(a *cli.App, ctx context.Context, to uint64, reason string, files bool) error {
	if files {
		var moved restore.Change
		return a.Decide(ctx, rollbackFiles(a, to, &moved), reason, func() map[string]any {
			if len(moved.Edited) == 0 {
				return nil
			}
			return map[string]any{"edited": moved.Edited}
		})
	}
	v := cli.Decision{Verb: "rollback", What: fmt.Sprintf("roll the task back to %d", to),
		Act: func(ctx context.Context, s *engine.Session, text string) (engine.Done, error) {
			got, err := delegate.Rollback(ctx, s, to, text, false, func() error { return schedule.EndAll(ctx, s.Engine()) })
			return got.Done, err
		},
		Report: func(a *cli.App, done engine.Done) {
			a.Say("%s is %s again, as it was at %d; the files of the work are unchanged\n", done.Task.TaskID, done.Task.State, to)
		},
	}
	return a.Decide(ctx, v, reason)
}

// rollbackFiles is the verdict that takes the files back, too. moved is what it did to them.
func rollbackFiles(a *cli.App, to uint64, moved *restore.Change) cli.Decision {
	return cli.Decision{Verb: "rollback", What: fmt.Sprintf("roll the task and its files back to %d", to),
		Act: func(ctx context.Context, s *engine.Session, text string) (engine.Done, error) {
			ctx, end := a.Working(ctx, "restoring the files")
			defer end()
			got, err := delegate.Rollback(ctx, s, to, text, true, func() error { return schedule.EndAll(ctx, s.Engine()) })
			*moved = got.Files
			return got.Done, err
		},
		Report: func(a *cli.App, done engine.Done) {
			a.Say("%s is %s again, as it was at %d: %s, %s\n", done.Task.TaskID, done.Task.State, to,
				format.Count(len(moved.Written), "file written", "files written"), format.Count(len(moved.Removed), "removed", "removed"))
			for _, path := range moved.Left {
				a.Say("  not changed: %s\n", path)
			}
			a.ShowEdits(moved.Edited)
		},
	}
}
