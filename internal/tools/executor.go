package tools

import (
	"context"
	"fmt"
	"strings"

	"github.com/ferrus-go/ferrus/internal/agents/confine"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/checkrun"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

func waitForTask(ctx context.Context, c *call) error {
	c.finishMove(ctx)
	var got *engine.Claimed
	var snap store.Snapshot
	err := branch.WithFiles(ctx, c.s, func() (err error) {
		got, snap, err = c.s.AwaitTask(ctx, c.wait(), c.opts.Headless)
		return err
	})
	if err != nil {
		return err
	}
	c.snap = &snap
	if got == nil {
		c.nothing(snap)
		if c.s.Replaced(snap.Task) {
			c.res.Message = "no work for you: " + ruledText(snap.Task)
		}
		return nil
	}
	c.claimed(got)
	if err := c.delegates(ctx); err != nil {
		return err
	}
	c.res.Claim = c.s.Claim()
	if c.opts.Remote {
		c.res.Message += " Name this claim in every later call."
	}
	return nil
}

// claimed adds the work that an executor has claimed to the result.
func (c *call) claimed(got *engine.Claimed) {
	t := got.Task
	c.snap, c.packet = &got.Snapshot, &got.Packet
	if last := got.Packet.LastCheck; last != nil {
		last.Log = c.shared(last.Log)
	}
	c.res.Status, c.res.Repeated = "claimed", got.Repeated
	c.res.TaskID, c.res.Title, c.res.Epoch, c.res.ClaimedBy, c.res.Worktree = t.TaskID, t.Title, t.Epoch, t.ClaimedBy, t.Worktree
	if until := got.Lease.Until; !until.IsZero() {
		c.res.LeaseUntil = &until
	}
	c.res.Message = claimedMessage(t)
	if got.Stale != "" {
		c.res.Notices = append(c.res.Notices, "stale_process: "+got.Stale+
			" had claimed this task and may still be editing the work tree; run git status before you rely on it")
	}
}

// shared returns the path of a log as the executor can read it: in a sandbox it has copies.
func (c *call) shared(log string) string {
	if c.s == nil { // a preview
		return log
	}
	path, err := confine.Of(c.s.Engine().Place().Path()).Share(log)
	if err != nil {
		c.opts.Log.Warn("a log was not copied for the executor", "error", err)
		return log
	}
	return path
}

// claimedMessage tells the executor in which state the task is.
func claimedMessage(t state.Task) string {
	where := "You have claimed the task: do what it says in " + t.Worktree + ", then check."
	switch t.State {
	case state.Addressing:
		where = "You have claimed the task. Fix what the review or the last check says in " + t.Worktree + ", then check."
	case state.Checking:
		where = "You have claimed the task, and its checks passed. Look the work over, then submit."
	case state.Consultation:
		where = "You have claimed the task; it waits for the answer to a consultation."
	case state.AwaitingHuman:
		where = "You have claimed the task; it waits for a person's answer."
	}
	return where
}

// nothing answers a wait that ended without work.
func (c *call) nothing(snap store.Snapshot) {
	ends := map[state.State]string{state.Complete: "complete", state.Failed: "failed", state.Idle: "idle"}
	c.res.Status = "timeout"
	if c.opts.Headless && ends[snap.Task.State] != "" {
		c.res.Status = ends[snap.Task.State]
	}
	c.res.Message = "no work for you yet: " + waitingText(snap.Task)
	if c.nameless() {
		c.res.Message += ". That is your own name: if you claimed it, call again with the claim that wait_for_task gave you"
	}
}

// waitingText says what the task waits for. For a failed task it says why it failed and how a
// person continues it.
func waitingText(t state.Task) string {
	w := state.WaitingFor(t)
	switch {
	case t.State == state.Idle:
		return "there is no task"
	case t.State == state.Failed:
		return "the task is Failed: " + t.FailureReason + "; " + refusal.OnBranch(t.Branch, failedRemedy)
	case w.For == "nobody":
		return "the task is " + string(t.State)
	case t.ClaimedBy != "" && w.For == "executor":
		return fmt.Sprintf("the task is %s and claimed by %s", t.State, t.ClaimedBy)
	}
	return fmt.Sprintf("the task is %s and waits for the %s", t.State, w.For)
}

func check(ctx context.Context, c *call) error {
	out, err := c.s.Check(ctx, c.wait())
	if err != nil {
		return err
	}
	c.checked(out)
	return nil
}

// checked adds the outcome of a check to the result.
func (c *call) checked(out engine.Checked) {
	c.snap = &out.Snapshot
	t := out.Task
	c.res.Status, c.res.CheckID, c.res.Tree = string(out.Status), out.ID, t.Check.Tree
	c.res.Failures, c.res.Changed = out.Failures, out.Changed
	c.res.RetriesUsed = &t.CheckRetries
	if gate, err := c.s.Engine().Gate(out.Snapshot); err == nil {
		c.res.RetriesMax = gate.Limits.MaxCheckRetries
		if gate.Checks.Commands != nil && len(gate.Checks.Commands) == 0 {
			c.res.Notices = append(c.res.Notices, "no checks are configured (commands = []): this gate proves nothing")
		}
	}
	if t.Check.Log != "" {
		c.res.Log = c.shared(c.s.Engine().Place().Path(t.Check.Log))
	}
	c.res.Message = checkedMessage(out, c.res.RetriesMax)
}

func checkedMessage(out engine.Checked, limit int) string {
	t := out.Task
	switch {
	case out.Status == state.CheckRunning:
		return "The checks are running. Call again to wait for them; edit nothing meanwhile."
	case out.Asked:
		return "This keeps happening, so ferrus has asked a person. Wait for the answer."
	case out.Rule != "":
		return checkedResult(out, limit) + " " + ruledText(t)
	case t.State == state.Failed:
		return "The checks failed; " + waitingText(t) + "."
	}
	return checkedResult(out, limit)
}

// remedy is that of files which the checks write.
func remedy(out engine.Checked) string {
	if text := checkrun.WrittenDuring(out.Task.Check).Remedy(out.Task.Branch, checkrun.TheChecks, checkrun.IgnoreFile); text != "" {
		return "\n" + text
	}
	return ""
}

// checkedResult describes a verdict, and what to do about it.
func checkedResult(out engine.Checked, limit int) string {
	t := out.Task
	switch out.Status {
	case state.CheckGreen:
		return "The checks passed for this tree. Submit it."
	case state.CheckRed:
		text := fmt.Sprintf("The checks failed: %d of %d failed checks used.", t.CheckRetries, limit)
		if out.Rule == "" {
			text += " Fix the errors, then check again."
		}
		return text
	case state.CheckMoved:
		if out.Clean {
			return "The checks changed files that they check, so the result does not count: " + strings.Join(out.Changed, ", ") +
				". Make the checks leave these files unchanged, then check again." + remedy(out)
		}
		return "The work tree changed while the checks ran, so the result does not count: " + strings.Join(out.Changed, ", ") +
			". Check again; if the same files change once more, ferrus asks a person." + remedy(out)
	}
	return "The checks could not run; your work is neither passed nor failed: " + out.Err
}

func submit(ctx context.Context, c *call) error {
	out, err := c.s.Submit(ctx, engine.Submitting{Summary: c.Text["summary"], Verification: c.Text["verification"],
		Limitations: c.Text["limitations"], NoChange: c.Text["no_change"]}, c.wait())
	if err != nil {
		return err
	}
	if !out.Accepted {
		c.checked(out.Gate)
		return nil
	}
	c.left(out.Done)
	c.res.Status, c.res.SubmissionID, c.res.Tree = "submitted", out.Task.Submission.ID, out.Task.Submission.Tree
	c.res.Message = "Submitted for review as " + out.Task.Submission.ID + ". Edit nothing more unless it comes back."
	if out.Rule != "" {
		c.res.Message += " " + ruledText(out.Task)
	}
	return nil
}

func consult(ctx context.Context, c *call) error {
	done, err := c.s.Consult(ctx, engine.Consulting{Problem: c.Text["problem"], Tried: c.Text["tried"],
		Question: c.Text["question"], Options: c.List["options"]})
	if err != nil {
		return err
	}
	c.left(done)
	c.res.ConsultationID = done.Task.Consultation.ID
	c.res.Message = "The supervisor has been asked. Wait for the answer."
	return nil
}

func waitForConsult(ctx context.Context, c *call) error {
	done, ok, err := c.s.AwaitResponse(ctx, c.wait())
	if err != nil {
		return err
	}
	c.left(done)
	if !ok {
		c.res.Status, c.res.Message = "timeout", "no answer yet: "+waitingText(done.Task)
		return nil
	}
	answer, err := c.s.Engine().Answered(done.Snapshot)
	if err != nil {
		return err
	}
	c.res.Status, c.res.ConsultationID, c.res.Response = "answered", answer.ID, answer.Response
	c.res.Message = "The supervisor has answered. Continue the work."
	return nil
}

func progress(ctx context.Context, c *call) error {
	if to := c.Text["to"]; to != "" {
		return c.tell(ctx, to, c.Text["note"])
	}
	done, err := c.s.Progress(ctx, c.Text["note"])
	if err != nil {
		return err
	}
	c.left(done)
	c.res.Message = "Saved for the next executor."
	return nil
}

func heartbeat(ctx context.Context, c *call) error {
	snap, err := c.s.Heartbeat(ctx)
	if err != nil {
		return err
	}
	until := snap.Lease.Until
	c.snap, c.res.LeaseUntil, c.res.ClaimedBy, c.res.Epoch = &snap, &until, snap.Task.ClaimedBy, snap.Task.Epoch
	c.res.Message = "The lease is renewed."
	return nil
}
