package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/kit"
)

func TestAnApprovalBindsToTheTreeThatWasSubmitted(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	sup, _ := p.Reviewing()
	p.Write("code.txt", "one\nand a little more\n")
	same := enginetest.Unchanged(t, sup)
	for _, who := range []*engine.Session{sup, p.Human()} {
		enginetest.Refused(t, enginetest.Second(who.Approve(t.Context(), "", "")), refusal.TreeChanged, "s1", "code.txt", "reject")
	}
	same()
	p.Write("code.txt", "one\n")
	done := enginetest.Must(sup.Approve(t.Context(), "Good.", ""))(t)
	if done.Task.State != state.Complete || done.Task.ClaimedBy != "" || done.Top.Note != "Good." {
		t.Errorf("%s, held by %q, note %q", done.Task.State, done.Task.ClaimedBy, done.Top.Note)
	}
}

func TestADecisionBindsToTheSubmissionThatWasShown(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	first, ex := p.Begun()
	enginetest.Submitted(t, ex)
	enginetest.Refused(t, enginetest.Second(first.Approve(t.Context(), "", "")), refusal.StaleReview, "has not been shown submission s1", "review_pending")
	enginetest.Refused(t, enginetest.Second(first.Reject(t.Context(), "No.", "")), refusal.StaleReview)
	enginetest.Must2(first.Review(t.Context()))(t)

	// While the first reviewer reads, a second one rejects and the work comes again.
	other := p.Supervisor()
	enginetest.Must2(other.Review(t.Context()))(t)
	enginetest.Must(other.Reject(t.Context(), "Fix it.", ""))(t)
	if got := enginetest.Claim(t, ex); got.Packet.Review != "Fix it." {
		t.Errorf("the executor gets %q", got.Packet.Review)
	}
	enginetest.Submitted(t, ex)
	same := enginetest.Unchanged(t, first)
	enginetest.Refused(t, enginetest.Second(first.Approve(t.Context(), "", "")), refusal.StaleReview, "s2")
	enginetest.Refused(t, enginetest.Second(first.Reject(t.Context(), "No.", "")), refusal.StaleReview)
	enginetest.Refused(t, enginetest.Second(first.Approve(t.Context(), "", "s1")), refusal.StaleReview, "s1 is not the present one, s2 is")
	same()
	r, _ := enginetest.Must2(first.Review(t.Context()))(t)
	if r.Last != "Fix it." {
		t.Errorf("the rejection before: %q", r.Last)
	}
	enginetest.Must(first.Approve(t.Context(), "", ""))(t)
}

// F24: a reviewer's death costs nothing.
func TestAReviewOutlivesItsReviewer(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	sup, _ := p.Reviewing()
	sup.Engine().Close()
	next := p.Supervisor()
	if snap := enginetest.Must(next.AwaitReview(t.Context(), kit.Patience))(t); snap.Task.State != state.Reviewing {
		t.Fatalf("the task is %s", snap.Task.State)
	}
	r, _ := enginetest.Must2(next.Review(t.Context()))(t)
	if r.Task != "Build it." || !strings.Contains(r.Submission, "Built it.") {
		t.Errorf("shown %+v", r)
	}
	enginetest.Must(next.Approve(t.Context(), "", ""))(t)
}

// S1-12, S1-13.
func TestTheLastRejectionFailsTheTask(t *testing.T) {
	enginetest.InFiles(t, "it reads REVIEW.md")
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true")+"[limits]\nmax_review_cycles = 2\n")
	sup, ex := p.Begun()
	for n, want := range []state.State{state.Addressing, state.Failed} {
		if n > 0 {
			enginetest.Claim(t, ex)
		}
		enginetest.Submitted(t, ex)
		enginetest.Must2(sup.Review(t.Context()))(t)
		done := enginetest.Must(sup.Reject(t.Context(), "No.", ""))(t)
		if done.Task.State != want || done.Task.ReviewCycles != n+1 || done.Task.ClaimedBy != "" || p.Read(".ferrus/REVIEW.md") != "No." {
			t.Fatalf("rejection %d: %s, %d cycles", n+1, done.Task.State, done.Task.ReviewCycles)
		}
	}
	snap := enginetest.View(t, sup)
	if !strings.Contains(snap.Task.FailureReason, "max_review_cycles is 2") {
		t.Errorf("failure reason %q", snap.Task.FailureReason)
	}
	// S1-14: nothing moves it but a person.
	enginetest.Refused(t, enginetest.Second(sup.CreateTask(t.Context(), "Another.", "")), refusal.WrongState)
	unclaimed(t, p.Executor("qwen"))
	enginetest.Refused(t, enginetest.Second(sup.Reset(t.Context(), "")), refusal.ForbiddenRole)
	enginetest.Refused(t, enginetest.Second(ex.Reopen(t.Context(), "Again.")), refusal.ForbiddenRole)
}

func TestRolesAreKeptWhateverTheDoor(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	sup, ex := p.Reviewing()
	same := enginetest.Unchanged(t, sup)
	ctx := t.Context()
	for name, err := range map[string]error{
		"an executor approves":       enginetest.Second(ex.Approve(ctx, "", "s1")),
		"an executor rejects":        enginetest.Second(ex.Reject(ctx, "No.", "s1")),
		"an executor creates a task": enginetest.Second(ex.CreateTask(ctx, "Mine.", "")),
		"a supervisor submits":       enginetest.Second(sup.Submit(ctx, enginetest.Work, enginetest.Brief)),
		"a supervisor checks":        enginetest.Second(sup.Check(ctx, enginetest.Brief)),
		"a supervisor releases":      enginetest.Second(sup.Release(ctx, "")),
		"an executor resets":         enginetest.Second(ex.Reset(ctx, "")),
	} {
		if refusal.CodeOf(err) != refusal.ForbiddenRole {
			t.Errorf("%s: %v", name, err)
		}
	}
	same()
	enginetest.Must(sup.AskHuman(ctx, "May it?", nil))(t)
	enginetest.Refused(t, enginetest.Second(sup.Answer(ctx, "", "Yes.")), refusal.ForbiddenRole)
	enginetest.Refused(t, enginetest.Second(ex.Answer(ctx, "q1", "Yes.")), refusal.ForbiddenRole)
}

// TestWhatEndedIsArchived whole: its documents, and its part of the journal.
func TestWhatEndedIsArchived(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(p *enginetest.Machine) string{
		"approved": func(p *enginetest.Machine) string {
			sup, _ := p.Reviewing()
			return enginetest.Must(sup.Approve(p.T.Context(), "", ""))(p.T).Task.TaskID
		},
		"failed": func(p *enginetest.Machine) string {
			sup, _ := p.Reviewing()
			return enginetest.Must(sup.Reject(p.T.Context(), "No.", ""))(p.T).Task.TaskID
		},
		"reset": func(p *enginetest.Machine) string {
			sup, _ := p.Reviewing()
			id := enginetest.View(p.T, sup).Task.TaskID
			enginetest.Must(p.Human().Reset(p.T.Context(), ""))(p.T)
			return id
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := enginetest.Repository(t, enginetest.Gate("true")+"[limits]\nmax_review_cycles = 1\n")
			id := end(p)
			dir := filepath.Join(p.Dir, ".ferrus", "archive", id)
			if got := p.Read(filepath.Join(dir, "TASK.md")); got != "Build it." {
				t.Errorf("TASK.md is %q", got)
			}
			if got := p.Read(filepath.Join(dir, "SUBMISSION.md")); !strings.Contains(got, "Built it.") {
				t.Errorf("SUBMISSION.md is %q", got)
			}
			if lines := strings.Count(p.Read(filepath.Join(dir, "journal.jsonl")), "\n"); lines < 5 {
				t.Errorf("%d lines of journal", lines)
			}
		})
	}
}

// TestAResetArchivesTheTaskAsItEnded, and not as it was a moment before.
func TestAResetArchivesTheTaskAsItEnded(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	_, ex := p.Begun()
	id := enginetest.View(t, ex).Task.TaskID
	h := p.Human()
	enginetest.View(t, h)
	enginetest.Must(ex.Progress(t.Context(), "The very last thing."))(t)
	enginetest.Must(h.Reset(t.Context(), "Enough."))(t)
	if got := p.Read(".ferrus/archive/" + id + "/journal.jsonl"); !strings.Contains(got, "The very last thing.") {
		t.Errorf("archived:\n%s", got)
	}
}

// S1-15.
func TestAResetFencesTheHolderAndClearsTheTask(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("test ! -e red"))
	_, ex := p.Begun()
	p.Write("red", "")
	enginetest.Check(t, ex, state.CheckRed)
	enginetest.Must(ex.AskHuman(t.Context(), "May I?", nil))(t)
	h := p.Human()
	done := enginetest.Must(h.Reset(t.Context(), ""))(t)
	if n := done.Task; n.State != state.Idle || n.TaskID != "" || n.CheckRetries != 0 || n.Epoch != 2 || len(n.Paused) != 0 || len(n.Docs) != 0 {
		t.Errorf("after the reset: %+v", n)
	}
	for _, doc := range state.Docs() {
		if p.Exists(".ferrus/" + string(doc)) {
			t.Errorf("%s is still there", doc)
		}
	}
	enginetest.Refused(t, enginetest.Second(ex.Progress(t.Context(), "Mine.")), refusal.LeaseLost, "a person reset the task at ", "do not edit further")
	enginetest.Must(p.Supervisor().CreateTask(t.Context(), "Another.", ""))(t)
	enginetest.Refused(t, enginetest.Second(ex.Check(t.Context(), enginetest.Brief)), refusal.LeaseLost)
	if got := enginetest.Claim(t, ex); got.Task.Epoch != 3 || got.Packet.Review != "" || len(got.Packet.Decisions) != 0 || got.Packet.LastCheck != nil {
		t.Errorf("epoch %d, packet %+v", got.Task.Epoch, got.Packet)
	}
}

func TestAPersonReopensWhatEnded(t *testing.T) {
	t.Parallel()
	for _, end := range []state.State{state.Complete, state.Failed} {
		t.Run(string(end), func(t *testing.T) {
			p := enginetest.Repository(t, enginetest.Gate("true")+"[limits]\nmax_review_cycles = 1\n")
			sup, ex := p.Reviewing()
			if end == state.Complete {
				enginetest.Must(sup.Approve(t.Context(), "", ""))(t)
			} else {
				enginetest.Must(sup.Reject(t.Context(), "No.", ""))(t)
			}
			done := enginetest.Must(p.Human().Reopen(t.Context(), "One thing more."))(t)
			if n := done.Task; n.State != state.Addressing || n.ReviewCycles != 0 || n.CheckRetries != 0 || n.FailureReason != "" {
				t.Errorf("reopened: %s, %d cycles, %q", n.State, n.ReviewCycles, n.FailureReason)
			}
			if got := enginetest.Claim(t, ex); got.Packet.Review != "One thing more." || got.Packet.Task != "Build it." {
				t.Errorf("packet %+v", got.Packet)
			}
			enginetest.Submitted(t, ex)
			enginetest.Must2(sup.Review(t.Context()))(t)
			if done := enginetest.Must(sup.Approve(t.Context(), "", ""))(t); done.Task.Submission.ID != "s2" {
				t.Errorf("approved %s", done.Task.Submission.ID)
			}
			if _, err := os.Stat(p.Path(".ferrus/archive/" + done.Task.TaskID)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestAPersonsActsWithoutATerminalAreShown: on an unsandboxed machine an agent may run a person's commands.
func TestAPersonsActsWithoutATerminalAreShown(t *testing.T) {
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("true"))
	_, ex := p.Begun()
	enginetest.Must(ex.AskHuman(t.Context(), "May I?", nil))(t)
	forger := p.Engine().Session(engine.Caller{Role: state.Human, Agent: "human"})
	enginetest.Must(forger.Answer(t.Context(), "", "Yes."))(t)
	if notices := strings.Join(enginetest.Must(ex.Engine().Status())(t).Notices(), "\n"); !strings.Contains(notices, "done without a terminal, in a person's name: answer (1)") {
		t.Errorf("notices %q", notices)
	}
}

// TestADecisionIsAboutWhatWasShown: a session that names its task or submission changes no other one, whatever has come since.
func TestADecisionIsAboutWhatWasShown(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	p.Reviewing()
	ctx, h := t.Context(), p.Human()
	task := enginetest.View(t, h).Task.TaskID
	for _, on := range []engine.Subject{{Task: "t-20200101-000000"}, {Task: task, Submission: "s2"}} {
		h := p.Human()
		h.On = on
		same := enginetest.Unchanged(t, h)
		for name, err := range map[string]error{
			"approve": enginetest.Second(h.Approve(ctx, "", "")), "reject": enginetest.Second(h.Reject(ctx, "No.", "")), "send": enginetest.Second(h.Steer(ctx, "Go on.")),
			"release": enginetest.Second(h.Release(ctx, "")), "reset": enginetest.Second(h.Reset(ctx, "")), "reopen": enginetest.Second(h.Reopen(ctx, "More.")),
			"rollback": enginetest.Second(h.Rollback(ctx, 2, "why")), "with files": enginetest.Second(h.RollbackFiles(ctx, 2, "why", nil)),
		} {
			if refusal.CodeOf(err) != refusal.WrongState || !strings.Contains(err.Error(), "is not the present one, which is ") {
				t.Errorf("%s of %+v: %v", name, on, err)
			}
		}
		same()
	}
	h.On = engine.Subject{Task: task, Submission: "s1"}
	enginetest.Must(h.Approve(ctx, "", ""))(t)
	enginetest.Must(h.Reopen(ctx, "More."))(t)
}
