package engine

import (
	"context"

	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/worktree"
)

// Facts returns what the notices of the status are made of.
func (st Status) Facts() Facts {
	return Facts{Task: st.Task, Differs: st.Differs, Broken: st.Broken, Environ: st.Environ}
}

// Notices returns [All] of the status.
func (st Status) Notices() []string { return All(st.Facts()) }

// Notices returns, a line each, everything that the reviewer of a submission gets beside its patch: the notices of its
// status, and those about the work. A notice that belongs to neither list is not shown with a review. While there is one, ferrus
// approves nothing by itself, by a rule or by a score.
func (e *Engine) Notices(ctx context.Context, now store.Snapshot) []string {
	st, err := e.StatusOf(now)
	if err != nil {
		return []string{"not known: " + format.OneLine(err.Error(), handover.MaxLine)}
	}
	return append(st.Notices(), e.aboutWork(ctx, now)...)
}

// aboutWork returns the notices about the submitted work itself: parts of it that delegates did not do, and what its patch
// does not show.
func (e *Engine) aboutWork(ctx context.Context, now store.Snapshot) []string {
	return append(Failed(now.Task), e.Unseen(ctx, now, now.Task.Submission.Tree, nil)...)
}

// Unseen says, a line each, what the patch of the task's work up to a tree does not show although it may matter; see
// handover.Unseen. It runs git's filters in a server, and never in an engine that only looks.
func (e *Engine) Unseen(ctx context.Context, snap store.Snapshot, to string, skipped []worktree.Skipped) []string {
	return handover.Unseen(ctx, func() (*worktree.Tree, error) { return e.Tree(ctx, snap) }, snap.Task, to, skipped, e.place.Branch, !e.opts.Look)
}
