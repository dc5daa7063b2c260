package handover

import (
	"context"
	"fmt"
	"sync"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// Work returns the tree of the work of a task: that of its submission, or of the files as they are now where it has none that
// counts. It starts nothing, and does not read all files then: skipped are the others, as in worktree.Tree.Inspect.
func Work(ctx context.Context, tree *worktree.Tree, t state.Task) (id string, skipped []worktree.Skipped, err error) {
	if t.Submitted() {
		return t.Submission.Tree, nil, nil
	}
	return tree.Inspect(ctx, t.Newest())
}

// Inspect returns the tree of the work of a task as it is for a command that only shows, and says, a line for each reason, which
// files were not read: see worktree.Tree.Inspect. branch is that of the task. The error is a *refusal.RefusedError.
func Inspect(ctx context.Context, tree *worktree.Tree, t state.Task, branch string) (id string, skipped []string, err error) {
	id, files, err := tree.Inspect(ctx, t.Newest())
	if err != nil {
		return "", nil, refusal.Git(err)
	}
	return id, worktree.SkippedText(files, Full(branch)), nil
}

// Full is the command that reads what Work has skipped in the task of a branch, "" for the project's own.
func Full(branch string) string {
	if branch == "" {
		return "ferrus diff --full"
	}
	return "ferrus diff --full --branch " + branch
}

// Unseen says, a line each, what the patch of the task's work up to the tree of files to does not show although it may matter:
// what git's marks hide, repositories in the work tree, files that are too large or that the Inspect which returned to has skipped,
// files that were touched while the newest check ran, and that HEAD has moved; first, that it is empty, and that it has hidden
// characters, which a reader sees as marks. open opens the work tree, and is called only where that is asked; to is "" where nothing
// was submitted. branch is that of the task. Without filters it starts no program that git's configuration names.
func Unseen(ctx context.Context, open func() (*worktree.Tree, error), t state.Task, to string, skipped []worktree.Skipped, branch string, filters bool) []string {
	var lines []string
	var head *Head
	hidden := ""
	if to != "" && t.BaseTree != "" {
		tree, err := open()
		if err == nil {
			err = git.Together(func() (err error) {
				lines, err = tree.Unseen(ctx, t.BaseTree, to, filters)
				return err
			}, func() (err error) {
				hidden, err = HiddenIn(ctx, tree, t.BaseTree, to)
				return err
			})
		}
		if err == nil && t.Underway() {
			head = HeadOf(ctx, tree, t, to)
		}
		if err != nil {
			lines = []string{"not known: " + format.OneLine(err.Error(), MaxLine)}
		}
		for i, l := range lines {
			lines[i] = format.OneLine(l, MaxLine)
		}
		lines = append(lines, worktree.SkippedText(skipped, Full(branch))...)
	}
	for i, l := range lines {
		lines[i] = "unseen: " + l
	}
	if hidden != "" {
		lines = append([]string{hidden}, lines...)
	}
	if to != "" && to == t.BaseTree && len(skipped) == 0 {
		lines = append([]string{"empty: no file differs from those that the task began with"}, lines...)
	}
	if t.Check.Touched != "" {
		lines = append(lines, "touched: these files were written or replaced while the check ran, and are as before now: "+t.Check.Touched)
	}
	if head != nil {
		lines = append(lines, HeadNotice+head.String())
	}
	return lines
}

// HeadNotice begins the notice that HEAD has moved.
const HeadNotice = "head: "

// A Memory remembers what Uncommitted found. The zero value has found nothing; it may be used by several goroutines.
type Memory struct {
	mu    sync.Mutex
	open  bool
	known string // of which task, HEAD and index
}

// Uncommitted reports whether approved work lies in the work tree and is not in the commit that is checked out there. It asks
// git, unless the task, HEAD and the index are those of the last answer.
func (m *Memory) Uncommitted(ctx context.Context, tree *worktree.Tree, t state.Task) (bool, error) {
	known := fmt.Sprint(t.Seq, " ", tree.HeadAndIndex(ctx))
	m.mu.Lock()
	open, same := m.open, m.known == known
	m.mu.Unlock()
	if same {
		return open, nil
	}
	open, err := tree.Uncommitted(ctx, t.BaseTree, t.Submission.Tree)
	if err != nil {
		return false, err
	}
	m.mu.Lock()
	m.known, m.open = known, open
	m.mu.Unlock()
	return open, nil
}
