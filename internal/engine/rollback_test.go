package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/kit"
)

// TestARollbackIsNoReplay: what was answered since is asked again, and nobody gets the old answer. S2-13.
func TestARollbackIsNoReplay(t *testing.T) {
	enginetest.InFiles(t, "it reads the documents in the folder")
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("true"))
	_, ex := p.Begun()
	h := p.Human()
	enginetest.Must(ex.AskHuman(t.Context(), "Red or blue?", nil))(t)
	asked := enginetest.WantState(t, ex, state.AwaitingHuman)
	enginetest.Must(h.Answer(t.Context(), "q1", "Red."))(t)
	if got, _ := enginetest.Must2(ex.AwaitAnswer(t.Context(), enginetest.Brief))(t); got == nil || got.Answer != "Red." {
		t.Fatalf("told %+v", got)
	}
	enginetest.Check(t, ex, state.CheckGreen)

	done := enginetest.Rolled(t, h, asked.Task.Seq)
	if done.Task.State != state.AwaitingHuman || done.Task.Top().ID != "q1" || p.Exists(".ferrus/ANSWER.md") || !p.Exists(".ferrus/QUESTION.md") {
		t.Errorf("%+v", done.Task)
	}
	next := p.Executor("qwen")
	if got, _ := enginetest.Must2(next.AwaitAnswer(t.Context(), enginetest.Brief))(t); got != nil {
		t.Errorf("told %+v", got)
	}
	enginetest.Must(h.Answer(t.Context(), "q1", "Blue."))(t)
	if got, _ := enginetest.Must2(next.AwaitAnswer(t.Context(), enginetest.Brief))(t); got == nil || got.Answer != "Blue." {
		t.Errorf("told %+v", got)
	}
	var told []string
	for _, d := range enginetest.Claim(t, next).Packet.Decisions {
		told = append(told, d.ID+": "+d.Answer)
	}
	if !slices.Equal(told, []string{"q1: Blue.", fmt.Sprint("rollback-", asked.Task.Seq, ": It went astray.")}) {
		t.Errorf("told %q", told)
	}
}

// TestARollbackFencesWhoHeldTheWork, and gives the one who comes next the work as it was. S2-16, F33.
func TestARollbackFencesWhoHeldTheWork(t *testing.T) {
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("true"))
	sup, ex := p.Reviewing()
	h := p.Human()
	submitted := enginetest.WantState(t, ex, state.Reviewing)
	enginetest.Must(sup.Reject(t.Context(), "Not so.", ""))(t)
	enginetest.Claim(t, ex)
	enginetest.Must(ex.Progress(t.Context(), "Half of it."))(t)
	before := enginetest.View(t, ex)

	done := enginetest.Rolled(t, h, submitted.Task.Seq-1) // found green, not submitted yet
	if done.Task.State != state.Checking || done.Task.ClaimedBy != "" || done.Task.Epoch != before.Task.Epoch+1 || done.Task.ReviewCycles != 0 ||
		len(done.Task.Progress) != 0 || p.Exists(".ferrus/REVIEW.md") || p.Exists(".ferrus/SUBMISSION.md") {
		t.Errorf("%+v", done.Task)
	}
	if done.Task.Issued != before.Task.Issued {
		t.Error("an id may be given out twice")
	}
	enginetest.Refused(t, enginetest.Second(ex.Progress(t.Context(), "The other half.")), refusal.LeaseLost, "a person rolled the task back to entry")
	next := p.Executor("qwen")
	if got := enginetest.Claim(t, next); got.Packet.Review != "" {
		t.Errorf("it gets %q", got.Packet.Review)
	}
	if again := submittedBy(t, next); again.Task.Submission.ID == submitted.Task.Submission.ID {
		t.Error("two submissions have one id")
	}
}

func submittedBy(t *testing.T, s *engine.Session) engine.Done {
	t.Helper()
	enginetest.Submitted(t, s)
	return engine.Done{Snapshot: enginetest.WantState(t, s, state.Reviewing)}
}

// TestTheAbandonedTipCanBeReturnedTo: nothing of a history is lost by going back in it.
func TestTheAbandonedTipCanBeReturnedTo(t *testing.T) {
	enginetest.InFiles(t, "it reads SUBMISSION.md")
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("true"))
	sup, ex := p.Reviewing()
	h := p.Human()
	enginetest.Must(sup.AwaitReview(t.Context(), kit.Patience))(t)
	enginetest.Must(sup.Approve(t.Context(), "", ""))(t)
	complete := enginetest.WantState(t, ex, state.Complete)
	enginetest.Rolled(t, h, 2)
	enginetest.WantState(t, h, state.Executing)
	done := enginetest.Rolled(t, h, complete.Task.Seq)
	if done.Task.State != state.Complete || done.Task.Submission != complete.Task.Submission || p.Read(".ferrus/SUBMISSION.md") == "" {
		t.Errorf("%+v", done.Task)
	}
	// S2-15: a new engine finds it there.
	if again := enginetest.View(t, p.Human()); again.Task.State != state.Complete || again.Task.Seq != done.Task.Seq {
		t.Errorf("found %+v", again.Task)
	}
}

// TestOnlyAnEntryOfTheTaskCanBeReturnedTo.
func TestOnlyAnEntryOfTheTaskCanBeReturnedTo(t *testing.T) {
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("true"))
	h := p.Human()
	enginetest.Refused(t, enginetest.Second(h.Rollback(t.Context(), 1, "why")), refusal.WrongState)
	_, ex := p.Begun()
	same := enginetest.Unchanged(t, ex)
	now := enginetest.View(t, ex).Task.Seq
	for _, to := range []uint64{0, now, now + 1} {
		enginetest.Refused(t, enginetest.Second(h.Rollback(t.Context(), to, "why")), refusal.InvalidInput)
	}
	enginetest.Refused(t, enginetest.Second(h.Rollback(t.Context(), 1, " ")), refusal.InvalidInput)
	enginetest.Refused(t, enginetest.Second(ex.Rollback(t.Context(), 1, "why")), refusal.ForbiddenRole)
	same()
	enginetest.Must(h.Reset(t.Context(), ""))(t)
	p.Begun()
	enginetest.Refused(t, enginetest.Second(h.Rollback(t.Context(), 1, "why")), refusal.InvalidInput)
}

// TestARollbackThatIsCutOffIsFinishedByTheSameCommand; until then nobody can act, and a person is waited for.
func TestARollbackThatIsCutOffIsFinishedByTheSameCommand(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	sup, ex := p.Begun()
	enginetest.AllKept(sup, ex)
	h := p.Human()
	p.Write("code.txt", "two\n")
	enginetest.Check(t, ex, state.CheckGreen)
	p.Write("code.txt", "three\n")
	cut := errors.New("cut off")
	if _, err := h.RollbackFiles(t.Context(), 1, "It went astray.", func() error { return cut }); err != cut {
		t.Fatal(err)
	}
	now := enginetest.View(t, h)
	if now.Task.Returning.To != 1 || state.WaitingFor(now.Task).For != "human" || p.Read("code.txt") != "three\n" {
		t.Errorf("%+v", now.Task)
	}
	unclaimed(t, p.Executor("qwen"))
	enginetest.Refused(t, enginetest.Second(ex.Progress(t.Context(), "More.")), refusal.LeaseLost)
	enginetest.Refused(t, enginetest.Second(p.Supervisor().AskHuman(t.Context(), "What now?", nil)), refusal.WrongState)
	// Somebody moves files meanwhile, or a kill has: what is there is saved before anything is moved.
	p.Write("code.txt", "four\n")
	got := enginetest.Must(h.RollbackFiles(t.Context(), 1, "It went astray.", nil))(t)
	if got.Task.State != state.Executing || p.Read("code.txt") != "one\n" || got.Task.Returning.To != 0 {
		t.Errorf("%+v, code.txt is %q", got.Task, p.Read("code.txt"))
	}
	if text := p.Git("show", "refs/ferrus/"+got.Task.TaskID+"/"+fmt.Sprint(now.Task.Seq)+":code.txt"); text != "four\n" {
		t.Errorf("kept %q", text)
	}
	enginetest.Claim(t, p.Executor("qwen"))
}

// TestARollbackThatCannotMoveFilesMovesNone, and the task is as it was, but for who held it.
func TestARollbackThatCannotMoveFilesMovesNone(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	p.Write("late.txt", "kept\n")
	sup, ex := p.Begun()
	enginetest.AllKept(sup, ex)
	enginetest.Check(t, ex, state.CheckGreen)
	enginetest.Must(ex.Progress(t.Context(), "Half of it."))(t)
	p.Remove("late.txt")
	p.Write(".gitignore", "late.txt\n")
	p.Write("late.txt", "what git ignores\n")
	before := enginetest.View(t, ex)
	enginetest.Refused(t, enginetest.Second(p.Human().RollbackFiles(t.Context(), 2, "It went astray.", nil)), refusal.TreeChanged, "late.txt", "nothing was moved")
	now := enginetest.WantState(t, ex, state.Checking)
	if now.Task.Returning.To != 0 || len(now.Task.Progress) != len(before.Task.Progress) || p.Read("late.txt") != "what git ignores\n" {
		t.Errorf("%+v", now.Task)
	}
	enginetest.Claim(t, ex)
}

// TestWithoutGitThereAreNoFilesToReturnTo.
func TestWithoutGitThereAreNoFilesToReturnTo(t *testing.T) {
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("true"))
	_, ex := p.Begun()
	enginetest.Check(t, ex, state.CheckGreen)
	same := enginetest.Unchanged(t, ex)
	enginetest.Refused(t, enginetest.Second(p.Human().RollbackFiles(t.Context(), 1, "It went astray.", nil)), refusal.InvalidInput, "without --files")
	same()
}
