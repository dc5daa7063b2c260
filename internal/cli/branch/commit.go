package branch

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// A committing is how a commit is asked for.
type committing struct {
	message string
	earlier bool
}

// withEarlier is the help of --with-earlier.
const withEarlier = "also commit files that were changed before the task began"

// CommitCommand is ferrus commit.
func CommitCommand(a *cli.App) *cobra.Command {
	var how committing
	cmd := &cobra.Command{
		Use:   "commit [-m MESSAGE] [--with-earlier]",
		Short: "Commit the approved work with git",
		Long: `Commits exactly the approved files of the project's own task to the branch that
is checked out, with your git hooks and your signing. The message is the title
and the summary of the task. It is refused if the files were changed since. What
you have staged stays staged. If you had uncommitted changes when the task
began, it asks whether they belong to the commit. "ferrus merge NAME --commit"
commits the work of a branch.`,
		Example: `  ferrus commit
  ferrus commit -m "parse dates without a zone"
  ferrus commit --with-earlier`,
		Annotations: cli.Reference(`The hooks are pre-commit, prepare-commit-msg, commit-msg, reference-transaction
and post-commit, and what they print is shown. If a hook changes files, nothing
is committed.

Hooks do not run if the agents could have written them. That is so if the work
changed them or the settings of pre-commit, lefthook or overcommit. It is so,
too, if they or the git configuration of the repository were written since the
task was created. Then ferrus names them, and you commit with git.

The message ends with the trailers Ferrus-Task and Reviewed-by. Tracked files
that [checks] ignore names stay as they are in HEAD. No other command of ferrus
runs git hooks.`, "commit branch files[] earlier[] hooks[]; merge --commit has merged too."),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("message") && strings.TrimSpace(how.message) == "" {
				return cli.UsageError(`ferrus commit -m "..."; without -m it is the title and the summary of the task`, "the message is empty")
			}
			s, err := a.OpenAsPerson(cmd.Context(), "commit")
			if err != nil {
				return err
			}
			defer s.Engine().Close()
			return commit(a, cmd.Context(), s, nil, how)
		},
	}
	cmd.Flags().StringVarP(&how.message, "message", "m", "", "commit with `MESSAGE`")
	cmd.Flags().BoolVar(&how.earlier, "with-earlier", false, withEarlier)
	a.TaskFlag(cmd)
	return cmd
}

// commit commits the work of the project's own task, or that of a branch that is merged.
func commit(a *cli.App, ctx context.Context, s, from *engine.Session, how committing) error {
	c, err := branch.PrepareCommit(ctx, s, from, how.message)
	if err != nil {
		return cli.CannotDo("commit", "", err)
	}
	if err := agreeEarlier(a, c.Earlier, how); err != nil {
		return err
	}
	if len(c.Hooks) > 0 {
		cli.Fprintf(a.Err, "running the git hooks: %s\n", strings.Join(c.Hooks, " "))
	}
	said := &cli.LineWriter{Show: func(line string) { cli.Fprintf(a.Err, "%s%s\n", format.Bar, line) }}
	id, err := c.Make(ctx, said)
	said.Flush()
	if err != nil {
		return cli.CannotDo("commit", "", err)
	}
	if a.JSON {
		facts := map[string]any{"commit": id, "branch": c.On, "files": c.Files, "earlier": append([]string{}, c.Earlier...), "hooks": append([]string{}, c.Hooks...)}
		if from != nil {
			facts["merged"] = from.Engine().Place().Branch
		}
		return a.PrintJSON(facts)
	}
	on := "without a branch"
	if c.On != "" {
		on = "on " + c.On
	}
	a.Say("committed %s %s: %s\n", id[:12], on, format.Count(len(c.Files), "file", "files"))
	a.ShowSteps([]status.Step{{Command: "git show", Why: "shows the commit"}})
	return nil
}

// agreeEarlier asks whether files that were changed before belong to a commit.
func agreeEarlier(a *cli.App, files []string, how committing) error {
	if len(files) == 0 || how.earlier {
		return nil
	}
	list := format.OneLine(strings.Join(files, " "), 600)
	if a.MayAsk() {
		cli.Fprintf(a.Err, "%s changed before the task began, or not by it: %s\nDo they belong to the commit? [y/N] ", fmt.Sprint(format.Count(len(files), "file was", "files were")), list)
		if a.Agrees(false) {
			return nil
		}
	}
	return cli.Refuse(refusal.Conflict, "nothing was committed: files were changed before the task began, or not by it: "+list,
		"--with-earlier commits them too; otherwise choose with git add -p and git commit")
}

// mergeAndCommit merges a branch, unless it is merged, and commits what that brought.
func mergeAndCommit(a *cli.App, ctx context.Context, name string, how committing) error {
	s, err := a.ProjectSession(ctx, "merge")
	if err != nil {
		return err
	}
	defer s.Engine().Close()
	from, err := status.OpenBranch(s, name, a.Shown)
	if err != nil {
		return err
	}
	defer from.Engine().Close()
	now, err := from.Engine().View()
	if err != nil {
		return err
	}
	if now.Task.Merged == "" {
		earlier, err := branch.Uncommitted(ctx, s)
		if err == nil {
			err = agreeEarlier(a, earlier, how)
		}
		if err != nil {
			return cli.CannotDo("merge "+name, "", err)
		}
		how.earlier = true
		if err := a.Merge(ctx, s, status.Request{Kind: status.ActNamed("merge"), Branch: name, On: a.Shown}); err != nil {
			return err
		}
	}
	return commit(a, ctx, s, from, how)
}
