package status

import (
	"context"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/state"
)

// A Head says how HEAD differs from what it was when the task was created.
type Head = handover.Head

// ReadHead returns how HEAD differs from what it was when the task was created, nil where it does not, nobody knows, the task has ended, or
// its work tree is on another computer. Its files are part of the work up to the tree to, "" for no limit.
func ReadHead(ctx context.Context, e *engine.Engine, to string) (*Head, error) {
	now, err := e.View()
	if err != nil || !now.Task.Underway() || e.Foreign() != nil || e.Place().Here() != nil {
		return nil, err
	}
	tree, err := e.Tree(ctx, now)
	if err != nil {
		return nil, err
	}
	return handover.HeadOf(ctx, tree, now.Task, to), nil
}

// head adds where HEAD is. A reviewer is told with what else a patch does not show.
func (r *Report) head(e *engine.Engine) (err error) {
	to := ""
	if r.State == state.Reviewing {
		to = r.submitted
	}
	r.Head, err = ReadHead(context.Background(), e, to)
	if r.Head != nil && r.State != state.Reviewing {
		r.Notices = append(r.Notices, handover.HeadNotice+r.Head.String())
	}
	return err
}
