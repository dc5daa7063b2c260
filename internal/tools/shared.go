package tools

import (
	"context"
)

func askHuman(ctx context.Context, c *call) error {
	done, err := c.s.AskHuman(ctx, c.Text["question"], c.List["options"])
	if err != nil {
		return err
	}
	c.left(done)
	c.res.QuestionID = done.Task.Top().ID
	c.res.Message = "A person has been asked, and the task pauses."
	return nil
}

func waitForAnswer(ctx context.Context, c *call) error {
	answer, snap, err := c.s.AwaitAnswer(ctx, c.wait())
	if err != nil {
		return err
	}
	c.snap = &snap
	switch {
	case answer != nil:
		c.res.Status, c.res.QuestionID, c.res.Question = "answered", answer.ID, answer.Question
		c.res.Answer, c.res.Response = answer.Answer, answer.Answer
		c.res.Message = "A person has answered. Follow the answer."
	case c.s.Asked(snap.Task) == "":
		c.res.Status, c.res.Message = "idle", "your role has asked no question in this task"
	default:
		c.res.Status, c.res.Message = "timeout", "no answer yet: "+waitingText(snap.Task)
	}
	return nil
}

// tell sends a message to another agent.
func (c *call) tell(ctx context.Context, to, text string) error {
	done, err := c.s.Tell(ctx, to, text)
	if err != nil {
		return err
	}
	c.left(done)
	c.res.Message = "Sent. The " + to + " reads it with its next call."
	return nil
}

func showStatus(ctx context.Context, c *call) error {
	st, err := c.s.Engine().Status()
	if err != nil {
		return err
	}
	t := st.Task
	c.snap, c.status = &st.Snapshot, &st
	c.res.TaskID, c.res.Title, c.res.Seq, c.res.Epoch = t.TaskID, t.Title, t.Seq, t.Epoch
	c.res.CheckRetries, c.res.ReviewCycles, c.res.FailureReason = &t.CheckRetries, &t.ReviewCycles, t.FailureReason
	c.res.RetriesMax, c.res.ReviewCyclesMax = st.Gate.Limits.MaxCheckRetries, st.Gate.Limits.MaxReviewCycles
	c.res.ClaimedBy, c.res.Paused, c.res.Waiting = t.ClaimedBy, t.Paused, &st.Waiting
	if until := st.Lease.Until; !until.IsZero() {
		c.res.LeaseUntil = &until
	}
	c.res.Message = waitingText(t)
	return c.delegates(ctx)
}
