// Package branch has the commands that make, list, select, merge and remove branches, and gc.
package branch

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/status"
)

// A branching is how branches are asked for.
type branching struct {
	at            uint64
	copies        int
	task          string
	base          string
	variants      []string
	file          cli.Source
	remove, force bool
	fetch         bool
}

// BranchCommand is ferrus branch.
func BranchCommand(a *cli.App) *cobra.Command {
	var how branching
	cmd := &cobra.Command{
		Use:   "branch NAME [--at SEQ | --base REF] [-n N] [--variant AGENT]",
		Short: "Create a branch for another attempt or another task",
		Long: `Creates a branch: its own task, log, agents and checks, in its own work tree
.ferrus/worktrees/NAME on the git branch ferrus/NAME. It starts with the present
task and files, or with --at those of that entry of "ferrus log". With --base it
starts at a commit, branch or remote branch, which --fetch fetches first. --task
gives it a new task. -n 3 creates the attempts NAME.1, NAME.2 and NAME.3; each
--variant is one, by that agent. --remove deletes a branch.`,
		Example: `  ferrus branch try-cache
  ferrus branch attempt -n 3
  ferrus branch docs --task "update the docs"
  ferrus branch fix --base origin/v1 --fetch --task "fix the leak in v1"
  ferrus branch fast --task "be fast" --variant codex --variant qwen-code
  ferrus branch --fetch try-cache
  ferrus branch --remove try-cache`,
		Annotations: cli.Reference(`With --task the branch starts with the files from which the present task
started. If there is no task, it starts with the present files. The task that
you branch from is not changed.

With --base REMOTE/BRANCH --fetch, git fetches that branch first, with your own
configuration and credentials. No hook and no program that the repository names
runs. Without --fetch the branch starts at what was fetched last. A branch
without a task gets one with "ferrus task --branch NAME TEXT". A merge brings
what the task changed since REF into the project, not what REF has.

Every command has --branch NAME, and detects the branch in its work tree.
"ferrus branches" compares branches, "ferrus run --parallel" runs them, "ferrus
select" takes one of several attempts, and "ferrus merge" merges approved work
into the project. Of the files that git ignores, a new work tree has those that
.worktreeinclude names and you agreed to with "ferrus trust". ferrus runs
[branches] setup of ferrus.toml there first.

With --variant codex --variant claude-code:opus, the executor of NAME.1 is codex
and that of NAME.2 is claude-code with the model opus. The agent is frozen on
the branch: no agent and no edit of ferrus.toml changes it. A single --variant
makes the branch NAME. The reviewer stays the configured one.

With --fetch alone, the project is in a database and its work trees travel: see
docs/machines.md. It makes the work tree of the branch on this computer, or
replaces the files there by the newest that were published: those that were
submitted, or those of the newest check. The files that were there are saved in
git under refs/ferrus.

With --remove, the work tree and the git branch are deleted. The log stays in
.ferrus/archive/branches, and the files stay in git under refs/ferrus.`, `branches[{branch work task_id state agent}], or removed kept, or
fetched work commit tree new saved edited[].`),
		RunE: func(cmd *cobra.Command, names []string) error {
			switch {
			case len(names) != 1:
				return cli.UsageError("ferrus branch NAME; ferrus branches lists the branches", "the branch has no name")
			case how.base != "" && how.at != 0:
				return cli.UsageError("omit one of them", "--at starts at an entry of the log, and --base at a commit")
			case cmd.Flags().Changed("base") && (how.base == "" || how.remove):
				return cli.UsageError("ferrus branch NAME --base REF", "--base names the commit of a new branch")
			case how.remove && (how.at != 0 || how.copies != 0 || how.task != "" || how.variants != nil):
				return cli.UsageError("omit the other flags", "--remove allows only --force")
			case how.fetch && how.base == "" && (how.remove || how.at != 0 || how.copies != 0 || how.task != "" || how.variants != nil || cmd.Flags().Changed("file")):
				return cli.UsageError("omit the other flags", "--fetch allows no other flag than --base")
			case how.fetch && how.base == "":
				return fetchBranch(a, cmd.Context(), names[0])
			case how.force && !how.remove:
				return cli.UsageError("leave it out", "--force is for --remove")
			case how.remove:
				return a.Decide(cmd.Context(), status.Request{Kind: status.ActNamed("remove"), Branch: names[0], Force: how.force}, cli.Source{})
			case how.copies > 0 && how.variants != nil:
				return cli.UsageError("repeat --variant for each attempt", "-n does not go with --variant")
			}
			return makeBranches(a, cmd.Context(), names[0], how)
		},
	}
	flags := cmd.Flags()
	flags.Uint64Var(&how.at, "at", 0, "start at entry `SEQ` of ferrus log")
	flags.StringVar(&how.base, "base", "", "start at the commit, branch or remote branch `REF`, without the present task")
	flags.IntVarP(&how.copies, "copies", "n", 0, "create `N` attempts: NAME.1, NAME.2 ...")
	flags.StringArrayVar(&how.variants, "variant", nil, "create an attempt by `AGENT[:MODEL]`; repeat it for others")
	flags.StringVar(&how.task, "task", "", "create a task from `TEXT` on the branch")
	how.file.FileFlag(cmd)
	flags.BoolVar(&how.fetch, "fetch", false, "with --base: fetch the remote branch first; alone: fetch the files of the branch from another computer")
	flags.BoolVar(&how.remove, "remove", false, "delete the branch")
	flags.BoolVar(&how.force, "force", false, "with --remove: also if the task is unfinished or not merged")
	return cmd
}

// makeBranches makes the branches of a name.
func makeBranches(a *cli.App, ctx context.Context, name string, how branching) error {
	variants, err := cli.Variants(how.variants)
	if err != nil {
		return err
	}
	var words []string
	if how.task != "" {
		words = []string{how.task}
	}
	return a.Decide(ctx, status.Request{Kind: status.ActNamed("branch"), Branch: name, Seq: how.at, Copies: how.copies,
		Fork: branch.Fork{Base: how.base, Fetch: how.fetch, Variants: variants}}, how.file, words...)
}
