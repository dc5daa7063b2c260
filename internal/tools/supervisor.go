package tools

import (
	"context"
	"fmt"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

func createTask(ctx context.Context, c *call) error {
	done, err := c.s.CreateTask(ctx, c.Text["description"], c.Text["title"])
	if err != nil {
		return err
	}
	c.left(done)
	c.res.TaskID, c.res.Title = done.Task.TaskID, done.Task.Title
	c.res.Message = "The task waits for an executor. Wait until you are needed."
	return nil
}

func waitForReview(ctx context.Context, c *call) error {
	snap, err := c.s.AwaitReview(ctx, c.wait())
	if err != nil {
		return err
	}
	if snap.Task.State == state.Reviewing {
		c.res.Status = "submission"
		return c.submission(ctx)
	}
	return c.needed(c.s.Engine(), snap)
}

// needed adds to the result what a supervisor waits for, unless that is a submission.
func (c *call) needed(e *engine.Engine, snap store.Snapshot) (err error) {
	c.snap = &snap
	t := snap.Task
	switch t.State {
	case state.Consultation:
		if !t.Consultation.Answered {
			c.res.Status, c.res.ConsultationID = "consultation", t.Consultation.ID
			c.res.Message = "The executor asks for your decision, and waits."
			c.res.Consultation, err = store.Text(e.Store(), snap, state.ConsultRequestDoc)
			return err
		}
	case state.Complete:
		c.res.Status, c.res.Message = "complete", "The task is complete."
		return nil
	case state.Failed:
		c.res.Status, c.res.Message = "failed", waitingText(t)+"."
		return nil
	case state.Idle:
		c.res.Status, c.res.Message = "idle", "There is no task."
		return nil
	}
	c.res.Status, c.res.Message = "timeout", "nothing for you yet: "+waitingText(t)
	return nil
}

func reviewPending(ctx context.Context, c *call) error { return c.submission(ctx) }

// submission adds the work to be reviewed.
func (c *call) submission(ctx context.Context) error {
	var r engine.Review
	var snap store.Snapshot
	err := branch.WithFiles(ctx, c.s, func() (err error) {
		r, snap, err = c.s.Review(ctx)
		return err
	})
	if err != nil {
		return err
	}
	c.reviewed(c.s.Engine(), r, snap)
	return nil
}

// reviewed adds a submission to the result.
func (c *call) reviewed(e *engine.Engine, r engine.Review, snap store.Snapshot) {
	c.snap = &snap
	t := snap.Task
	c.res.SubmissionID, c.res.Submission, c.res.Task, c.res.Review = t.Submission.ID, r.Submission, r.Task, r.Last
	c.res.Decisions, c.res.Cut, c.res.ReviewBy = r.Decisions, r.Cut, r.LastBy
	c.res.Diffstat, c.res.Patch, c.res.Tree, c.res.Check = r.Diffstat, r.Patch, t.Submission.Tree, t.Check.ID+" passed"
	c.res.PatchExact = r.PatchExact
	c.res.Worktree, c.res.ReviewCyclesUsed = t.Worktree, &t.ReviewCycles
	c.res.Notices = append(c.res.Notices, r.Notices...)
	if gate, err := e.Gate(snap); err == nil {
		c.res.ReviewCyclesMax = gate.Limits.MaxReviewCycles
		if len(gate.Checks.Commands) == 0 {
			c.res.Check = "none configured"
		}
	}
	first := ""
	if t.Submission.Empty() {
		first = t.Submission.ID + " changes no file: the executor says that the task needs no change. Verify that. "
	}
	c.res.Message = first + fmt.Sprintf("Review %s: read the patch against the task, then approve, or reject with notes. Rejections: %d of %d.",
		t.Submission.ID, t.ReviewCycles, c.res.ReviewCyclesMax)
}

func approve(ctx context.Context, c *call) error {
	done, err := c.s.Approve(ctx, c.Text["note"], c.Text["submission"])
	if err != nil {
		return err
	}
	c.left(done)
	c.res.SubmissionID, c.res.Message = done.Task.Submission.ID, "Approved. The task is complete."
	return nil
}

func reject(ctx context.Context, c *call) error {
	done, err := c.s.Reject(ctx, c.Text["notes"], c.Text["submission"])
	if err != nil {
		return err
	}
	c.left(done)
	c.res.SubmissionID, c.res.ReviewCyclesUsed = done.Task.Submission.ID, &done.Task.ReviewCycles
	c.res.Message = "Rejected. The executor corrects the work."
	if done.Task.State == state.Failed {
		c.res.Message = "Rejected; " + waitingText(done.Task) + "."
	}
	return nil
}

func respondConsult(ctx context.Context, c *call) error {
	done, err := c.s.Respond(ctx, c.Text["response"], c.Text["consultation"])
	if err != nil {
		return err
	}
	c.left(done)
	c.res.ConsultationID, c.res.Message = done.Task.Consultation.ID, "Answered. The executor continues."
	return nil
}
