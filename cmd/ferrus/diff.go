package main

import (
	"bytes"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/engine"
)

func diffCommand(a *app) *cobra.Command {
	var stat bool
	cmd := &cobra.Command{
		Use:   "diff [--stat]",
		Short: "What the task has changed in the work tree",
		Long: `Shows the work tree as it is now against what it was when the task was made, untracked files included, whatever was
committed in between. Into a file or a pipe it is what git apply takes, byte for byte.

With --json: task_id base tree stat.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.diff(cmd.Context(), stat)
		},
	}
	cmd.Flags().BoolVar(&stat, "stat", false, "only which files, and how much")
	return cmd
}

func (a *app) diff(ctx context.Context, stat bool) error {
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
	base := now.Task.BaseTree
	id, err := tree.Fingerprint(ctx)
	if err != nil {
		return err
	}
	if a.json || stat {
		text, err := tree.Diffstat(ctx, base, id)
		if err != nil {
			return err
		}
		if a.json {
			return a.print(map[string]any{"task_id": now.Task.TaskID, "base": base, "tree": id, "stat": text})
		}
		a.say("%s", text)
		return nil
	}
	if !a.outTTY {
		return tree.Patch(ctx, base, id, a.out)
	}
	show := &patchScreen{a: a}
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

// A patchScreen shows a patch on a terminal: clean, line by line, in colour.
type patchScreen struct {
	a    *app
	rest bytes.Buffer // of a line that has not ended
}

func (p *patchScreen) Write(data []byte) (int, error) {
	p.rest.Write(data)
	for {
		i := bytes.IndexByte(p.rest.Bytes(), '\n')
		if i < 0 {
			return len(data), nil
		}
		p.show(string(p.rest.Next(i + 1)[:i]))
	}
}

func (p *patchScreen) flush() {
	if p.rest.Len() > 0 {
		p.show(p.rest.String())
	}
}

func (p *patchScreen) show(text string) {
	colour := ""
	for _, c := range patchColours {
		if strings.HasPrefix(text, c.prefix) {
			colour = c.colour
			break
		}
	}
	p.a.say("%s\n", p.a.paint(colour, text))
}
