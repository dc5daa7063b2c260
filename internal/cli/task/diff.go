package task

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/worktree"
)

// DiffCommand is ferrus diff.
func DiffCommand(a *cli.App) *cobra.Command {
	var stat, full bool
	cmd := &cobra.Command{
		Use:   "diff [SEQ[..SEQ]] [--stat] [--full]",
		Short: "Show what the task changed in the work tree",
		Long: `Shows the work tree as a diff against the start of the task. Untracked files are
included, and commits in between do not matter. With SEQ, the number of an entry
in "ferrus log", the diff is against the files at that entry. With SEQ..SEQ it
is between two entries. Written to a file or a pipe, "git apply" accepts it. On
a terminal each hidden character is shown as a mark such as <U+202E>. Files of
git filters and of more than 32 MiB are read only with --full.`,
		Example: `  ferrus diff
  ferrus diff --stat
  ferrus diff 12..20
  ferrus diff --full
  ferrus diff > work.patch`,
		Annotations: cli.Reference(`ferrus saves the files at every claim, check, submission, review and answer.
Other entries have the files that were saved last. Changes that the patch does
not show, such as newly ignored files and files that were not read, are listed
on stderr. Without --full nothing is started: git's filters (git-lfs) do not
run. Also listed are commits that were made since the task was created, by you
or by an agent: the patch has them, and --stat lists their files again below.`, `task_id base tree stat notices[] head{from to was branch how switched
commits files[]}; for entries also from and to.`),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			between, err := stretchOf(strings.Join(args, ""))
			if err != nil {
				return err
			}
			return showDiff(a, cmd.Context(), between, stat, full)
		},
	}
	cmd.Flags().BoolVar(&stat, "stat", false, "list the changed files with line counts")
	cmd.Flags().BoolVar(&full, "full", false, "run git's filters and read large files")
	return cmd
}

// A stretch is between two entries of the task; 0 is its beginning, and the work tree as it is now.
type stretch struct{ from, to uint64 }

// stretchOf reads SEQ or SEQ..SEQ, or nothing.
func stretchOf(text string) (s stretch, err error) {
	if text == "" {
		return s, nil
	}
	from, to, both := strings.Cut(text, "..")
	if s.from, err = entryNumber(from); err == nil && both {
		s.to, err = entryNumber(to)
	}
	return s, err
}

func entryNumber(text string) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n == 0 {
		return 0, cli.UsageError("ferrus diff{branch} 12, or 12..20; ferrus log{branch} has the numbers", "%q is not the number of an entry", text)
	}
	return n, nil
}

func showDiff(a *cli.App, ctx context.Context, between stretch, stat, full bool) error {
	e, now, err := a.OpenView(ctx)
	if err != nil {
		return err
	}
	defer e.Close()
	if now.Task.TaskID == "" {
		return cli.Refuse(refusal.WrongState, "nothing to show: there is no task", "git diff shows the work tree against its commit")
	}
	tree, err := e.Tree(ctx, now)
	if err != nil {
		return err
	}
	if !tree.Git() {
		return cli.Refuse(refusal.WrongState, tree.Top()+" is not in a git repository, so there is no diff",
			"run git init before the next task")
	}
	base, id := now.Task.BaseTree, ""
	var skipped []worktree.Skipped
	if between.from != 0 {
		base, err = filesAt(ctx, e, now, between.from)
	}
	switch {
	case err != nil:
	case between.to != 0:
		id, err = filesAt(ctx, e, now, between.to)
	case full:
		id, err = tree.Fingerprint(ctx)
	default:
		id, skipped, err = tree.Inspect(ctx, now.Task.Newest())
	}
	if err != nil {
		return err
	}
	if a.JSON || stat {
		text, err := tree.Diffstat(ctx, base, id)
		if err != nil {
			return err
		}
		if a.JSON {
			facts := map[string]any{"task_id": now.Task.TaskID, "base": base, "tree": id, "stat": text}
			if between == (stretch{}) {
				facts["notices"] = e.Unseen(ctx, now, id, skipped)
				if head, err := status.ReadHead(ctx, e, id); err == nil && head != nil {
					facts["head"] = head
				}
			}
			return a.PrintJSON(between.facts(facts))
		}
		a.Say("%s", text)
		if between == (stretch{}) {
			sayCommitted(a, ctx, e, id)
		}
	} else if err := patch(a, ctx, tree, base, id); err != nil {
		return err
	}
	if between == (stretch{}) {
		for _, n := range e.Unseen(ctx, now, id, skipped) { // beside the patch, which is for git apply
			fmt.Fprintf(a.Err, "notice: %s\n", format.Line(n))
		}
	}
	return nil
}

// sayCommitted lists which of the files differ in commits that were made since the task was created.
func sayCommitted(a *cli.App, ctx context.Context, e *engine.Engine, id string) {
	head, err := status.ReadHead(ctx, e, id)
	if err != nil || head == nil || len(head.Files) == 0 {
		return
	}
	a.Say("\nof these, between the commits %s:\n", head.Range())
	for _, name := range head.Files {
		a.Say(" %s\n", name)
	}
}

// filesAt is the tree of the files at an entry of the task, which may be the present one.
func filesAt(ctx context.Context, e *engine.Engine, now store.Snapshot, seq uint64) (string, error) {
	if seq != now.Task.Seq {
		if _, err := e.Entry(now, seq); err != nil {
			return "", err
		}
	}
	id, err := e.Files(ctx, now, seq)
	if err == nil && id == "" {
		err = cli.Refuse(refusal.WrongState, fmt.Sprintf("no files were saved at entry %d or before", seq),
			"ferrus diff{branch} without a number shows the changes since the start of the task")
	}
	return id, err
}

// facts adds the numbers that were named.
func (s stretch) facts(of map[string]any) map[string]any {
	for name, n := range map[string]uint64{"from": s.from, "to": s.to} {
		if n != 0 {
			of[name] = n
		}
	}
	return of
}

// patch shows what leads from one tree to another: to a program as git has it, to a person with marks for hidden characters, below a
// notice about them.
func patch(a *cli.App, ctx context.Context, tree *worktree.Tree, base, id string) error {
	if !a.OutTTY {
		return tree.Patch(ctx, base, id, a.Out)
	}
	hidden, err := handover.HiddenIn(ctx, tree, base, id)
	if err != nil {
		return err
	}
	if hidden != "" {
		a.Say("%s\n\n", a.Paint(cli.Yellow, hidden))
	}
	show := &cli.LineWriter{Show: func(text string) { patchLine(a, text) }}
	if err := tree.Patch(ctx, base, id, show); err != nil {
		return err
	}
	show.Flush()
	if id == base {
		a.Say("no changes\n")
	}
	return nil
}

// patchColours are the colours of a patch's lines by what they begin with, the first that fits.
var patchColours = []struct{ prefix, colour string }{
	{"diff --git", cli.Bold}, {"+++", cli.Bold}, {"---", cli.Bold}, {"@@", cli.Cyan}, {"+", cli.Green}, {"-", cli.Red},
}

// patchLine shows a line of a patch, marked, in colour.
func patchLine(a *cli.App, text string) {
	colour := ""
	for _, c := range patchColours {
		if strings.HasPrefix(text, c.prefix) {
			colour = c.colour
			break
		}
	}
	a.Say("%s\n", a.Paint(colour, text))
}
