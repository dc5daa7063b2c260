package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/state"
)

func TestAnApprovalBindsToTheTreeThatWasSubmitted(t *testing.T) {
	t.Parallel()
	p := repository(t, gate("true"))
	sup, _ := p.reviewing()
	p.write("code.txt", "one\nand a little more\n")
	same := unchanged(t, sup)
	for _, who := range []*Session{sup, p.human()} {
		refused(t, second(who.Approve(t.Context(), "", "")), refusal.TreeChanged, "s1", "code.txt", "reject")
	}
	same()
	p.write("code.txt", "one\n")
	done := must(sup.Approve(t.Context(), "Good.", ""))(t)
	if done.Task.State != state.Complete || done.Task.ClaimedBy != "" || done.Top.Note != "Good." {
		t.Errorf("%s, held by %q, note %q", done.Task.State, done.Task.ClaimedBy, done.Top.Note)
	}
}

func TestADecisionBindsToTheSubmissionThatWasShown(t *testing.T) {
	t.Parallel()
	p := repository(t, gate("true"))
	first, ex := p.begun()
	submitted(t, ex)
	refused(t, second(first.Approve(t.Context(), "", "")), refusal.StaleReview, "has not been shown submission s1", "review_pending")
	refused(t, second(first.Reject(t.Context(), "No.", "")), refusal.StaleReview)
	must2(first.Review(t.Context()))(t)

	// While the first reviewer reads, a second one rejects and the work comes again.
	other := p.supervisor()
	must2(other.Review(t.Context()))(t)
	must(other.Reject(t.Context(), "Mend it.", ""))(t)
	if got := claim(t, ex); got.Packet.Review != "Mend it." {
		t.Errorf("the executor is told %q", got.Packet.Review)
	}
	submitted(t, ex)
	same := unchanged(t, first)
	refused(t, second(first.Approve(t.Context(), "", "")), refusal.StaleReview, "s2")
	refused(t, second(first.Reject(t.Context(), "No.", "")), refusal.StaleReview)
	refused(t, second(first.Approve(t.Context(), "", "s1")), refusal.StaleReview, "s1 is not the present one, s2 is")
	same()
	r, _ := must2(first.Review(t.Context()))(t)
	if r.Last != "Mend it." {
		t.Errorf("the rejection before: %q", r.Last)
	}
	must(first.Approve(t.Context(), "", ""))(t)
}

// F24: a reviewer's death costs nothing.
func TestAReviewOutlivesItsReviewer(t *testing.T) {
	t.Parallel()
	p := repository(t, gate("true"))
	sup, _ := p.reviewing()
	sup.e.Close()
	next := p.supervisor()
	if snap := must(next.AwaitReview(t.Context(), patience))(t); snap.Task.State != state.Reviewing {
		t.Fatalf("the task is %s", snap.Task.State)
	}
	r, _ := must2(next.Review(t.Context()))(t)
	if r.Task != "Build it." || !strings.Contains(r.Submission, "Built it.") {
		t.Errorf("shown %+v", r)
	}
	must(next.Approve(t.Context(), "", ""))(t)
}

// S1-12, S1-13.
func TestTheLastRejectionFailsTheTask(t *testing.T) {
	t.Parallel()
	p := repository(t, gate("true")+"[limits]\nmax_review_cycles = 2\n")
	sup, ex := p.begun()
	for n, want := range []state.State{state.Addressing, state.Failed} {
		if n > 0 {
			claim(t, ex)
		}
		submitted(t, ex)
		must2(sup.Review(t.Context()))(t)
		done := must(sup.Reject(t.Context(), "No.", ""))(t)
		if done.Task.State != want || done.Task.ReviewCycles != n+1 || done.Task.ClaimedBy != "" || p.read(".ferrus/REVIEW.md") != "No." {
			t.Fatalf("rejection %d: %s, %d cycles", n+1, done.Task.State, done.Task.ReviewCycles)
		}
	}
	snap := view(t, sup)
	if !strings.Contains(snap.Task.FailureReason, "max_review_cycles is 2") {
		t.Errorf("failure reason %q", snap.Task.FailureReason)
	}
	// S1-14: nothing moves it but a person.
	refused(t, second(sup.CreateTask(t.Context(), "Another.", "")), refusal.WrongState)
	unclaimed(t, p.executor("qwen"))
	refused(t, second(sup.Reset(t.Context(), "")), refusal.ForbiddenRole)
	refused(t, second(ex.Reopen(t.Context(), "Again.")), refusal.ForbiddenRole)
}

func TestRolesAreKeptWhateverTheDoor(t *testing.T) {
	t.Parallel()
	p := repository(t, gate("true"))
	sup, ex := p.reviewing()
	same := unchanged(t, sup)
	ctx := t.Context()
	for name, err := range map[string]error{
		"an executor approves":       second(ex.Approve(ctx, "", "s1")),
		"an executor rejects":        second(ex.Reject(ctx, "No.", "s1")),
		"an executor creates a task": second(ex.CreateTask(ctx, "Mine.", "")),
		"a supervisor submits":       second(sup.Submit(ctx, work, brief)),
		"a supervisor checks":        second(sup.Check(ctx, brief)),
		"a supervisor releases":      second(sup.Release(ctx, "")),
		"an executor resets":         second(ex.Reset(ctx, "")),
	} {
		if refusal.CodeOf(err) != refusal.ForbiddenRole {
			t.Errorf("%s: %v", name, err)
		}
	}
	same()
	must(sup.AskHuman(ctx, "May it?", nil))(t)
	refused(t, second(sup.Answer(ctx, "", "Yes.")), refusal.ForbiddenRole)
	refused(t, second(ex.Answer(ctx, "q1", "Yes.")), refusal.ForbiddenRole)
}

// TestWhatEndedIsArchived whole: its documents, and its part of the journal.
func TestWhatEndedIsArchived(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(p *machine) string{
		"approved": func(p *machine) string {
			sup, _ := p.reviewing()
			return must(sup.Approve(p.t.Context(), "", ""))(p.t).Task.TaskID
		},
		"failed": func(p *machine) string {
			sup, _ := p.reviewing()
			return must(sup.Reject(p.t.Context(), "No.", ""))(p.t).Task.TaskID
		},
		"reset": func(p *machine) string {
			sup, _ := p.reviewing()
			id := view(p.t, sup).Task.TaskID
			must(p.human().Reset(p.t.Context(), ""))(p.t)
			return id
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := repository(t, gate("true")+"[limits]\nmax_review_cycles = 1\n")
			id := end(p)
			dir := filepath.Join(p.dir, ".ferrus", "archive", id)
			if got := p.read(filepath.Join(dir, "TASK.md")); got != "Build it." {
				t.Errorf("TASK.md is %q", got)
			}
			if got := p.read(filepath.Join(dir, "SUBMISSION.md")); !strings.Contains(got, "Built it.") {
				t.Errorf("SUBMISSION.md is %q", got)
			}
			if lines := strings.Count(p.read(filepath.Join(dir, "journal.jsonl")), "\n"); lines < 5 {
				t.Errorf("%d lines of journal", lines)
			}
		})
	}
}

// TestAResetArchivesTheTaskAsItEnded, and not as it was a moment before.
func TestAResetArchivesTheTaskAsItEnded(t *testing.T) {
	t.Parallel()
	p := repository(t, gate("true"))
	_, ex := p.begun()
	id := view(t, ex).Task.TaskID
	h := p.human()
	view(t, h)
	must(ex.Progress(t.Context(), "The very last thing."))(t)
	must(h.Reset(t.Context(), "Enough."))(t)
	if got := p.read(".ferrus/archive/" + id + "/journal.jsonl"); !strings.Contains(got, "The very last thing.") {
		t.Errorf("archived:\n%s", got)
	}
}

// S1-15.
func TestAResetFencesTheHolderAndClearsTheTask(t *testing.T) {
	t.Parallel()
	p := repository(t, gate("test ! -e red"))
	_, ex := p.begun()
	p.write("red", "")
	check(t, ex, state.CheckRed)
	must(ex.AskHuman(t.Context(), "May I?", nil))(t)
	h := p.human()
	done := must(h.Reset(t.Context(), ""))(t)
	if n := done.Task; n.State != state.Idle || n.TaskID != "" || n.CheckRetries != 0 || n.Epoch != 2 || len(n.Paused) != 0 || len(n.Docs) != 0 {
		t.Errorf("after the reset: %+v", n)
	}
	for _, doc := range state.Docs() {
		if p.exists(".ferrus/" + string(doc)) {
			t.Errorf("%s is still there", doc)
		}
	}
	refused(t, second(ex.Progress(t.Context(), "Mine.")), refusal.LeaseLost, "a person reset the task at ", "do not edit further")
	must(p.supervisor().CreateTask(t.Context(), "Another.", ""))(t)
	refused(t, second(ex.Check(t.Context(), brief)), refusal.LeaseLost)
	if got := claim(t, ex); got.Task.Epoch != 3 || got.Packet.Review != "" || len(got.Packet.Decisions) != 0 || got.Packet.LastCheck != nil {
		t.Errorf("epoch %d, packet %+v", got.Task.Epoch, got.Packet)
	}
}

func TestAPersonReopensWhatEnded(t *testing.T) {
	t.Parallel()
	for _, end := range []state.State{state.Complete, state.Failed} {
		t.Run(string(end), func(t *testing.T) {
			p := repository(t, gate("true")+"[limits]\nmax_review_cycles = 1\n")
			sup, ex := p.reviewing()
			if end == state.Complete {
				must(sup.Approve(t.Context(), "", ""))(t)
			} else {
				must(sup.Reject(t.Context(), "No.", ""))(t)
			}
			done := must(p.human().Reopen(t.Context(), "One thing more."))(t)
			if n := done.Task; n.State != state.Addressing || n.ReviewCycles != 0 || n.CheckRetries != 0 || n.FailureReason != "" {
				t.Errorf("reopened: %s, %d cycles, %q", n.State, n.ReviewCycles, n.FailureReason)
			}
			if got := claim(t, ex); got.Packet.Review != "One thing more." || got.Packet.Task != "Build it." {
				t.Errorf("packet %+v", got.Packet)
			}
			submitted(t, ex)
			must2(sup.Review(t.Context()))(t)
			if done := must(sup.Approve(t.Context(), "", ""))(t); done.Task.Submission.ID != "s2" {
				t.Errorf("approved %s", done.Task.Submission.ID)
			}
			if _, err := os.Stat(p.path(".ferrus/archive/" + done.Task.TaskID)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestAPersonsActsWithoutATerminalAreShown: on an unsandboxed machine an agent may run a person's commands.
func TestAPersonsActsWithoutATerminalAreShown(t *testing.T) {
	t.Parallel()
	p := plain(t, gate("true"))
	_, ex := p.begun()
	must(ex.AskHuman(t.Context(), "May I?", nil))(t)
	forger := p.engine().Session(Caller{Role: state.Human, Agent: "human"})
	must(forger.Answer(t.Context(), "", "Yes."))(t)
	if notices := strings.Join(must(ex.e.Status())(t).Notices(), "\n"); !strings.Contains(notices, "without a terminal: ") || !strings.Contains(notices, "answer") {
		t.Errorf("notices %q", notices)
	}
}
