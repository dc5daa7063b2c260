package engine

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/state"
)

// rolled rolls the task back, which must work.
func rolled(t *testing.T, h *Session, to uint64) Done {
	t.Helper()
	return must(h.Rollback(t.Context(), to, "It went astray."))(t)
}

// TestARollbackIsNoReplay: what was answered since is asked again, and the old answer is told to nobody. S2-13.
func TestARollbackIsNoReplay(t *testing.T) {
	t.Parallel()
	p := plain(t, gate("true"))
	_, ex := p.begun()
	h := p.human()
	must(ex.AskHuman(t.Context(), "Red or blue?", nil))(t)
	asked := wantState(t, ex, state.AwaitingHuman)
	must(h.Answer(t.Context(), "q1", "Red."))(t)
	if got, _ := must2(ex.AwaitAnswer(t.Context(), brief))(t); got == nil || got.Answer != "Red." {
		t.Fatalf("told %+v", got)
	}
	check(t, ex, state.CheckGreen)

	done := rolled(t, h, asked.Task.Seq)
	if done.Task.State != state.AwaitingHuman || done.Task.Top().ID != "q1" || p.exists(".ferrus/ANSWER.md") || !p.exists(".ferrus/QUESTION.md") {
		t.Errorf("%+v", done.Task)
	}
	next := p.executor("qwen")
	if got, _ := must2(next.AwaitAnswer(t.Context(), brief))(t); got != nil {
		t.Errorf("told %+v", got)
	}
	must(h.Answer(t.Context(), "q1", "Blue."))(t)
	if got, _ := must2(next.AwaitAnswer(t.Context(), brief))(t); got == nil || got.Answer != "Blue." {
		t.Errorf("told %+v", got)
	}
	var told []string
	for _, d := range claim(t, next).Packet.Decisions {
		told = append(told, d.ID+": "+d.Answer)
	}
	if !slices.Equal(told, []string{"q1: Blue.", fmt.Sprint("rollback-", asked.Task.Seq, ": It went astray.")}) {
		t.Errorf("told %q", told)
	}
}

// TestARollbackFencesWhoHeldTheWork, and gives the one who comes next the work as it was. S2-16, F33.
func TestARollbackFencesWhoHeldTheWork(t *testing.T) {
	t.Parallel()
	p := plain(t, gate("true"))
	sup, ex := p.reviewing()
	h := p.human()
	submitted := wantState(t, ex, state.Reviewing)
	must(sup.Reject(t.Context(), "Not so.", ""))(t)
	claim(t, ex)
	must(ex.Progress(t.Context(), "Half of it."))(t)
	before := view(t, ex)

	done := rolled(t, h, submitted.Task.Seq-1) // found green, not submitted yet
	if done.Task.State != state.Checking || done.Task.ClaimedBy != "" || done.Task.Epoch != before.Task.Epoch+1 || done.Task.ReviewCycles != 0 ||
		len(done.Task.Progress) != 0 || p.exists(".ferrus/REVIEW.md") || p.exists(".ferrus/SUBMISSION.md") {
		t.Errorf("%+v", done.Task)
	}
	if done.Task.Issued != before.Task.Issued {
		t.Error("an id may be given out twice")
	}
	refused(t, second(ex.Progress(t.Context(), "The other half.")), refusal.LeaseLost, "a person rolled the task back to entry")
	next := p.executor("qwen")
	if got := claim(t, next); got.Packet.Review != "" {
		t.Errorf("it is told %q", got.Packet.Review)
	}
	if again := submittedBy(t, next); again.Task.Submission.ID == submitted.Task.Submission.ID {
		t.Error("two submissions have one id")
	}
}

func submittedBy(t *testing.T, s *Session) Done {
	t.Helper()
	submitted(t, s)
	return Done{Snapshot: wantState(t, s, state.Reviewing)}
}

// TestTheAbandonedTipCanBeReturnedTo: nothing of a history is lost by going back in it.
func TestTheAbandonedTipCanBeReturnedTo(t *testing.T) {
	t.Parallel()
	p := plain(t, gate("true"))
	sup, ex := p.reviewing()
	h := p.human()
	must(sup.AwaitReview(t.Context(), patience))(t)
	must(sup.Approve(t.Context(), "", ""))(t)
	complete := wantState(t, ex, state.Complete)
	rolled(t, h, 2)
	wantState(t, h, state.Executing)
	done := rolled(t, h, complete.Task.Seq)
	if done.Task.State != state.Complete || done.Task.Submission != complete.Task.Submission || p.read(".ferrus/SUBMISSION.md") == "" {
		t.Errorf("%+v", done.Task)
	}
	// S2-15: whoever opens the machine anew finds it there.
	if again := view(t, p.human()); again.Task.State != state.Complete || again.Task.Seq != done.Task.Seq {
		t.Errorf("found %+v", again.Task)
	}
}

// TestOnlyAnEntryOfTheTaskCanBeReturnedTo.
func TestOnlyAnEntryOfTheTaskCanBeReturnedTo(t *testing.T) {
	t.Parallel()
	p := plain(t, gate("true"))
	h := p.human()
	refused(t, second(h.Rollback(t.Context(), 1, "why")), refusal.WrongState)
	_, ex := p.begun()
	same := unchanged(t, ex)
	now := view(t, ex).Task.Seq
	for _, to := range []uint64{0, now, now + 1} {
		refused(t, second(h.Rollback(t.Context(), to, "why")), refusal.InvalidInput)
	}
	refused(t, second(h.Rollback(t.Context(), 1, " ")), refusal.InvalidInput)
	refused(t, second(ex.Rollback(t.Context(), 1, "why")), refusal.ForbiddenRole)
	same()
	must(h.Reset(t.Context(), ""))(t)
	p.begun()
	refused(t, second(h.Rollback(t.Context(), 1, "why")), refusal.InvalidInput)
}

// TestARollbackThatIsCutOffIsFinishedByTheSameCommand; until then nobody can act, and a person is waited for.
func TestARollbackThatIsCutOffIsFinishedByTheSameCommand(t *testing.T) {
	t.Parallel()
	p := repository(t, gate("true"))
	sup, ex := p.begun()
	allKept(sup, ex)
	h := p.human()
	p.write("code.txt", "two\n")
	check(t, ex, state.CheckGreen)
	p.write("code.txt", "three\n")
	cut := errors.New("cut off")
	if _, err := h.RollbackFiles(t.Context(), 1, "It went astray.", func() error { return cut }); err != cut {
		t.Fatal(err)
	}
	now := view(t, h)
	if now.Task.Returning.To != 1 || WaitingFor(now.Task).For != "human" || p.read("code.txt") != "three\n" {
		t.Errorf("%+v", now.Task)
	}
	unclaimed(t, p.executor("qwen"))
	refused(t, second(ex.Progress(t.Context(), "More.")), refusal.LeaseLost)
	refused(t, second(p.supervisor().AskHuman(t.Context(), "What now?", nil)), refusal.WrongState)
	// Somebody moves files meanwhile, or a kill has: what is there is kept before anything is moved.
	p.write("code.txt", "four\n")
	got := must(h.RollbackFiles(t.Context(), 1, "It went astray.", nil))(t)
	if got.Task.State != state.Executing || p.read("code.txt") != "one\n" || got.Task.Returning.To != 0 {
		t.Errorf("%+v, code.txt is %q", got.Task, p.read("code.txt"))
	}
	if text := p.git("show", "refs/ferrus/"+got.Task.TaskID+"/"+fmt.Sprint(now.Task.Seq)+":code.txt"); text != "four\n" {
		t.Errorf("kept %q", text)
	}
	claim(t, p.executor("qwen"))
}

// TestARollbackThatCannotMoveFilesMovesNone, and the task is as it was, but for who held it.
func TestARollbackThatCannotMoveFilesMovesNone(t *testing.T) {
	t.Parallel()
	p := repository(t, gate("true"))
	p.write("late.txt", "kept\n")
	sup, ex := p.begun()
	allKept(sup, ex)
	check(t, ex, state.CheckGreen)
	must(ex.Progress(t.Context(), "Half of it."))(t)
	p.remove("late.txt")
	p.write(".gitignore", "late.txt\n")
	p.write("late.txt", "what git ignores\n")
	before := view(t, ex)
	refused(t, second(p.human().RollbackFiles(t.Context(), 2, "It went astray.", nil)), refusal.TreeChanged, "late.txt", "nothing was moved")
	now := wantState(t, ex, state.Checking)
	if now.Task.Returning.To != 0 || len(now.Task.Progress) != len(before.Task.Progress) || p.read("late.txt") != "what git ignores\n" {
		t.Errorf("%+v", now.Task)
	}
	claim(t, ex)
}

// TestWithoutGitThereAreNoFilesToReturnTo.
func TestWithoutGitThereAreNoFilesToReturnTo(t *testing.T) {
	t.Parallel()
	p := plain(t, gate("true"))
	_, ex := p.begun()
	check(t, ex, state.CheckGreen)
	same := unchanged(t, ex)
	refused(t, second(p.human().RollbackFiles(t.Context(), 1, "It went astray.", nil)), refusal.InvalidInput, "without --files")
	same()
}
