package main

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/worktree"
)

func diffCommand(a *app) *cobra.Command {
	var stat bool
	cmd := &cobra.Command{
		Use:   "diff [SEQ[..SEQ]] [--stat]",
		Short: "What the task has changed in the work tree",
		Long: `Shows the work tree as it is now against what it was when the task was made, untracked files included, whatever was
committed in between. With the number of an entry in ferrus log it is against the files as they were there, with two of
them what changed from one to the other: ferrus diff 12..20. Files are kept with every claim, check, submission, review
and answer, and an entry has those that were kept last. Into a file or a pipe it is what git apply takes, byte for byte.

What the patch does not show, such as files that are newly ignored, is named on stderr.

With --json: task_id base tree stat notices[], of entries from and to.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			between, err := stretchOf(strings.Join(args, ""))
			if err != nil {
				return err
			}
			return a.diff(cmd.Context(), between, stat)
		},
	}
	cmd.Flags().BoolVar(&stat, "stat", false, "only which files, and how much")
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
		return 0, usage("ferrus diff 12, or 12..20; ferrus log has the numbers", "%q is no number of an entry", text)
	}
	return n, nil
}

func (a *app) diff(ctx context.Context, between stretch, stat bool) error {
	e, now, err := a.view(ctx)
	if err != nil {
		return err
	}
	defer e.Close()
	if now.Task.TaskID == "" {
		return refuse(engine.WrongState, "nothing to show: there is no task", "git diff shows the work tree against its commit")
	}
	tree, err := e.Tree(ctx, now)
	if err != nil {
		return err
	}
	if !tree.Git() {
		return refuse(engine.WrongState, tree.Top()+" is in no git repository, so there is no diff",
			"git init, before the next task")
	}
	base, id := now.Task.BaseTree, ""
	if between.from != 0 {
		base, err = filesAt(ctx, e, now, between.from)
	}
	switch {
	case err != nil:
	case between.to != 0:
		id, err = filesAt(ctx, e, now, between.to)
	default:
		id, err = tree.Fingerprint(ctx)
	}
	if err != nil {
		return err
	}
	if a.json || stat {
		text, err := tree.Diffstat(ctx, base, id)
		if err != nil {
			return err
		}
		if a.json {
			facts := map[string]any{"task_id": now.Task.TaskID, "base": base, "tree": id, "stat": text}
			if between == (stretch{}) {
				facts["notices"] = e.Unseen(ctx, now, id)
			}
			return a.print(between.facts(facts))
		}
		a.say("%s", text)
	} else if err := a.patch(ctx, tree, base, id); err != nil {
		return err
	}
	if between == (stretch{}) {
		for _, n := range e.Unseen(ctx, now, id) { // beside the patch, which is for git apply
			fmt.Fprintf(a.err, "notice: %s\n", line(n))
		}
	}
	return nil
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
		err = refuse(engine.WrongState, fmt.Sprintf("no files were kept at entry %d or before", seq),
			"ferrus diff without a number is against the beginning of the task")
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

// patch shows what leads from one tree to another: to a program as git has it.
func (a *app) patch(ctx context.Context, tree *worktree.Tree, base, id string) error {
	if !a.outTTY {
		return tree.Patch(ctx, base, id, a.out)
	}
	show := &lines{show: a.patchLine}
	if err := tree.Patch(ctx, base, id, show); err != nil {
		return err
	}
	show.flush()
	if id == base {
		a.say("no changes\n")
	}
	return nil
}

// patchColours are the colours of a patch's lines by what they begin with, the first that fits.
var patchColours = []struct{ prefix, colour string }{
	{"diff --git", bold}, {"+++", bold}, {"---", bold}, {"@@", cyan}, {"+", green}, {"-", red},
}

// patchLine shows a line of a patch, clean, in colour.
func (a *app) patchLine(text string) {
	colour := ""
	for _, c := range patchColours {
		if strings.HasPrefix(text, c.prefix) {
			colour = c.colour
			break
		}
	}
	a.say("%s\n", a.paint(colour, text))
}

// maxPiece is how much of a line that does not end is shown at once.
const maxPiece = 1 << 20

// lines is a writer that shows what is written to it, line by line.
type lines struct {
	show func(line string)
	rest bytes.Buffer // of a line that has not ended
}

func (p *lines) Write(data []byte) (int, error) {
	p.rest.Write(data)
	for {
		i := bytes.IndexByte(p.rest.Bytes(), '\n')
		if i < 0 {
			if p.rest.Len() > maxPiece {
				p.flush()
			}
			return len(data), nil
		}
		p.show(string(p.rest.Next(i + 1)[:i]))
	}
}

// flush shows what has not ended yet.
func (p *lines) flush() {
	if p.rest.Len() > 0 {
		p.show(p.rest.String())
		p.rest.Reset()
	}
}
