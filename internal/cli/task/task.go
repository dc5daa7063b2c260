// Package task has the commands about one task: create and queue it, answer, message, check, approve, reject, reopen, reset,
// roll back, and show what agents are given of it.
package task

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// TaskCommand is ferrus task.
func TaskCommand(a *cli.App) *cobra.Command {
	var base branch.Fork
	var how queueing
	var asked func() bool
	cmd := &cobra.Command{
		Use:   "task TEXT | -f FILE [--branch NAME [--needs TASKS]]",
		Short: "Create a task for agents that you start yourself",
		Long: `Creates a task from TEXT, from FILE, or from stdin with "-f -". Diffs start from
the present work tree. The checks of ferrus.toml are frozen when the task is
created. An executor that waits gets the task at once. If --branch names a
branch that does not exist, the branch is created, with --base at that commit,
branch or remote branch. With --fetch git fetches the remote branch first. With
--needs the task waits in the queue until others are done.`,
		Example: `  ferrus task "add a --verbose flag to the server"
  ferrus task -f task.md --branch verbose
  git log -1 --format=%B | ferrus task -f -`,
		Annotations: cli.Reference("", "task_id title state seq epoch commands."),
		RunE: func(cmd *cobra.Command, words []string) error {
			if !cli.TextGiven(cmd, words) {
				return cli.UsageError(`ferrus task{branch} "what is to be done", or ferrus task{branch} -f FILE`, "there is no text")
			}
			if cmd.Flags().Changed("base") && (a.Branch == "" || base.Base == "") || base.Fetch && base.Base == "" {
				return cli.UsageError(`ferrus task --branch NAME --base REF "what is to be done"`, "--base names the commit of a new branch, and --fetch gets it")
			}
			if asked() {
				return queueTask(a, cmd.Context(), how, base, words)
			}
			if err := ensureBranch(a, cmd.Context(), base); err != nil {
				return err
			}
			return createTask(a, cmd.Context(), how.from, words)
		},
	}
	how.from.FileFlag(cmd)
	cmd.Flags().StringVar(&base.Base, "base", "", "create the branch at the commit, branch or remote branch `REF`")
	cmd.Flags().BoolVar(&base.Fetch, "fetch", false, "with --base: fetch the remote branch first")
	asked = how.needs(cmd, false)
	return cmd
}

// queueTask adds a task for a new branch to the queue.
func queueTask(a *cli.App, ctx context.Context, how queueing, base branch.Fork, words []string) error {
	how.name, a.Branch = a.Branch, ""
	place, err := a.Place(ctx)
	switch {
	case err != nil:
		return err
	case how.name == "" || base.Base != "":
		return cli.UsageError(`ferrus task --branch NAME --needs TASKS "what is to be done"`, "a task that waits for others gets a new branch, which begins with their work")
	case project.At(place.Root, how.name).Initialised():
		return cli.Refuse(refusal.InvalidInput, "there is a branch "+how.name+" already, and a task that waits for others gets a new one", "take another name")
	}
	return a.Decide(ctx, status.Request{Kind: status.ActNamed("queue"), Item: how.name, Asked: how.asked}, how.from, words...)
}

// ensureBranch makes the branch that the command line names, if there is none of that name, at the base of fork.
func ensureBranch(a *cli.App, ctx context.Context, fork branch.Fork) error {
	if a.Branch == "" {
		return nil
	}
	if _, err := a.Place(ctx); refusal.CodeOf(err) != refusal.UnknownBranch {
		if err == nil && fork.Base != "" {
			return cli.Refuse(refusal.InvalidInput, "there is a branch "+a.Branch+" already, and --base is for a new one", "leave --base out, or take another name")
		}
		return nil // the command finds out itself
	}
	on := a.Branch
	a.Branch = ""
	s, err := a.OpenAsPerson(ctx, "task")
	a.Branch = on
	if err != nil {
		return err
	}
	defer s.Engine().Close()
	if err := a.WithTrust(s.Engine(), s.Engine().Trusted); err != nil {
		return cli.CannotDo("make the branch", "", err)
	}
	fork.Names, fork.Own = []string{on}, true
	what := "making the branch"
	if fork.Fetch {
		what = "fetching " + fork.Base + ", " + what
	}
	ctx, end := a.Working(ctx, what)
	defer end()
	_, err = branch.Create(ctx, s, fork)
	return cli.CannotDo("make the branch", "", err)
}

func createTask(a *cli.App, ctx context.Context, from cli.Source, words []string) error {
	s, text, err := a.PersonText(ctx, "task", "create the task", from, words)
	if err != nil {
		return err
	}
	e := s.Engine()
	defer e.Close()
	if err := a.WithTrust(e, e.Trusted); err != nil {
		return cli.CannotDo("create the task", "", err)
	}
	done, err := s.CreateTask(ctx, text, "")
	if err != nil {
		return cli.CannotDo("create the task", status.Sentence(e), err)
	}
	t := done.Task
	gate, err := e.Gate(done.Snapshot)
	if err != nil {
		return err
	}
	commands := gate.Checks.Commands
	if a.JSON {
		return a.PrintJSON(map[string]any{"task_id": t.TaskID, "title": t.Title, "state": t.State, "seq": t.Seq, "epoch": t.Epoch,
			"commands": commands})
	}
	a.Say("%s  %s\n", t.TaskID, format.Line(t.Title))
	switch {
	case commands == nil:
		a.ShowRow("checks", a.Paint(cli.Yellow, "none are named, and without checks nothing can be submitted:"))
		a.Say("%s\n", format.Indent(cli.SuggestChecks(e.Place().Root)+"\nthen: "+refusal.OnBranch(e.Place().Branch, "ferrus config accept{branch}"), "              "))
	case len(commands) == 0:
		a.ShowRow("checks", "every check passes (commands = [])")
	}
	for _, c := range commands {
		a.ShowRow("check", format.Line(c))
	}
	a.Say("\n  An executor that waits gets it now.\n")
	return a.ShowNext(e)
}
