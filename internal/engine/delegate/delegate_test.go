package delegate_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/delegate"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/kit"
)

const wait = time.Minute

// limits lets a task have delegates.
const limits = "[limits]\nmax_delegates = 3\nmax_review_cycles = 2\n"

// A family is a task with an executor that delegates.
type family struct {
	*testing.T
	*enginetest.Machine
	ex *engine.Session
}

func newFamily(t *testing.T) family {
	p := enginetest.Repository(t, enginetest.Gate("true")+limits)
	_, ex := p.Begun()
	return family{t, p, ex}
}

// starts has a delegate started, and returns it with its machine.
func (f family) starts(task string) (delegate.Child, *enginetest.Machine) {
	f.Helper()
	_, c, err := delegate.Start(f.Context(), f.ex, task, "", wait)
	if err != nil || c.Phase != delegate.Working {
		f.Fatalf("%+v %v", c, err)
	}
	return c, f.On(c.Branch)
}

// submits has a delegate do its work.
func (f family) submits(child *enginetest.Machine, files map[string]string) {
	f.Helper()
	ex := child.Executor("codex")
	enginetest.Claim(f, ex)
	for name, text := range files {
		child.Write(name, text)
	}
	enginetest.Check(f, ex, state.CheckGreen)
	enginetest.Submitted(f, ex)
	enginetest.Dies(f, ex)
}

func (f family) decides(id string, what state.Ruling, text string) (delegate.Child, error) {
	f.Helper()
	list, due, err := delegate.Wait(f.Context(), f.ex, id, wait)
	if err != nil || due == nil {
		f.Fatalf("%+v %v", list, err)
	}
	f.ex.ShowDelegate(due.ID, due.On)
	_, c, err := delegate.Decide(f.Context(), f.ex, id, what, "", text, wait)
	return c, err
}

// reviews returns what a delegate waits with.
func (f family) reviews(id string) delegate.Reviewed {
	f.Helper()
	_, due, err := delegate.Wait(f.Context(), f.ex, id, wait)
	if err != nil || due == nil {
		f.Fatalf("%+v %v", due, err)
	}
	return enginetest.Must(delegate.Review(f.Context(), f.ex.Engine(), *due))(f)
}

func (f family) task() state.Task {
	f.Helper()
	return enginetest.Must(f.ex.Engine().View())(f).Task
}

// TestTheWorkOfADelegateMovesIn: it begins with the executor's files as they are, has a review of its own, and is a part of
// what the executor submits. S2-10. F28: nothing is submitted before.
func TestTheWorkOfADelegateMovesIn(t *testing.T) {
	enginetest.InFiles(t, "it reads REVIEW.md")
	f := newFamily(t)
	f.Write("mine.txt", "mine\n")
	c, child := f.starts("Write theirs.txt.")
	if child.Read("mine.txt") != "mine\n" {
		t.Error("it does not begin with the executor's files as they are")
	}
	enginetest.Check(t, f.ex, state.CheckGreen)
	_, err := f.ex.Submit(t.Context(), engine.Submitting{Summary: "s", Verification: "v"}, wait)
	enginetest.Refused(t, err, refusal.DelegatesRunning, c.ID)

	f.submits(child, map[string]string{"theirs.txt": "first\n"})
	if r := f.reviews(c.ID); r.Task != "Write theirs.txt." || r.Question != "" || !strings.Contains(f.Read(r.Patch), "+first") || !strings.Contains(r.Diffstat, "theirs.txt") {
		t.Errorf("it waits with %+v", r)
	}
	if c, err := f.decides(c.ID, state.RuledReject, "Write it well."); err != nil || c.Phase != delegate.Working {
		t.Fatalf("%+v %v", c, err)
	}
	if text := f.Read(".ferrus/branches/" + c.Branch + "/REVIEW.md"); !strings.Contains(text, "Write it well.") {
		t.Errorf("the review says %q", text)
	}
	epoch := f.task().Epoch
	f.submits(child, map[string]string{"theirs.txt": "well\n"})
	if c, err := f.decides(c.ID, state.RuledApprove, ""); err != nil || c.Ended != state.DelegateComplete {
		t.Fatalf("%+v %v", c, err)
	}
	if f.Read("theirs.txt") != "well\n" || f.Read("mine.txt") != "mine\n" {
		t.Errorf("moved in: %q, %q", f.Read("theirs.txt"), f.Read("mine.txt"))
	}
	if now := f.task(); now.Epoch != epoch || !f.ex.Holds(now) || now.Returning != (state.FileMove{}) {
		t.Errorf("the executor has lost its claim: %+v", now)
	}
	if now := enginetest.WantState(t, child.Human(), state.Complete); now.Task.Merged == "" {
		t.Error("the branch of the delegate does not know that it is merged")
	}
	enginetest.Check(t, f.ex, state.CheckGreen)
	enginetest.Submitted(t, f.ex)
}

// TestADelegateAsksItsExecutor, and nobody else.
func TestADelegateAsksItsExecutor(t *testing.T) {
	f := newFamily(t)
	c, child := f.starts("Do it.")
	ex := child.Executor("codex")
	enginetest.Claim(t, ex)
	_, err := ex.AskHuman(t.Context(), "May I?", nil)
	enginetest.Refused(t, err, refusal.WrongState, c.ID, "consult")
	enginetest.Must(ex.Consult(t.Context(), engine.Consulting{Problem: "p", Tried: "t", Question: "Left or right?"}))(t)
	if r := f.reviews(c.ID); r.Task != "Do it." || !strings.Contains(r.Question, "Left or right?") || r.Patch != "" {
		t.Errorf("it waits with %+v", r)
	}
	if _, err := f.decides(c.ID, state.RuledAnswer, "So."); err != nil {
		t.Fatal(err)
	}
	if done, ok, err := ex.AwaitResponse(t.Context(), wait); !ok || err != nil || done.Task.State != state.Executing {
		t.Errorf("%v %v", ok, err)
	}
	_, err = ex.Engine().Session(engine.Caller{Role: state.Executor}).AskHuman(t.Context(), "?", nil)
	enginetest.Refused(t, err, refusal.WrongState)
}

// TestNobodyWaitsForADeadDelegate: one that failed, was removed or reset, or would need a person has ended. F29.
func TestNobodyWaitsForADeadDelegate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kill func(f family, child *enginetest.Machine, name string)
		want state.DelegateEnd
	}{
		"failed": {func(f family, child *enginetest.Machine, _ string) {
			f.submits(child, map[string]string{"a": "1"})
			_, err := f.decides("d1", state.RuledReject, "No.")
			enginetest.Must(0, err)(f)
			f.submits(child, map[string]string{"a": "2"})
			_, err = f.decides("d1", state.RuledReject, "No.")
			enginetest.Must(0, err)(f)
		}, state.DelegateFailed},
		"removed": {func(f family, child *enginetest.Machine, name string) {
			enginetest.Must(branch.Remove(f.Context(), f.Human(), name, true))(f)
		}, state.DelegateLost},
		"reset": {func(f family, child *enginetest.Machine, _ string) {
			enginetest.Must(child.Human().Reset(f.Context(), ""))(f)
		}, state.DelegateLost},
		"a person is needed": {func(f family, child *enginetest.Machine, _ string) {
			e := child.Human().Engine()
			enginetest.Must(e.Ask(f.Context(), enginetest.Must(e.View())(f), "It cannot work.", nil))(f)
		}, state.DelegateFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFamily(t)
			d, child := f.starts("Do it.")
			c.kill(f, child, d.Branch)
			list, due, err := delegate.Wait(t.Context(), f.ex, d.ID, wait)
			if err != nil || due == nil || due.Ended != c.want {
				t.Fatalf("%+v %+v %v", list, due, err)
			}
			f.Write("b", "b")
			enginetest.Check(t, f.ex, state.CheckGreen)
			enginetest.Submitted(t, f.ex)
		})
	}
}

// TestAStaleExecutorDecidesNothing about the delegates of the one that has the work now, which finds the decisions of its
// predecessor carried out.
func TestAStaleExecutorDecidesNothing(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	c, child := f.starts("Do it.")
	f.submits(child, map[string]string{"a": "1"})
	_, due, err := delegate.Wait(t.Context(), f.ex, "", wait)
	if err != nil || due == nil {
		t.Fatalf("%+v %v", due, err)
	}
	f.ex.ShowDelegate(due.ID, due.On)
	enginetest.Must(f.Human().Release(t.Context(), ""))(t)
	second := f.Executor("codex")
	enginetest.Claim(t, second)
	_, _, err = delegate.Decide(t.Context(), f.ex, c.ID, state.RuledApprove, "", "", wait)
	enginetest.Refused(t, err, refusal.LeaseLost)
	if now := f.task(); now.Delegates[0].Decided != (state.Verdict{}) || f.Exists("a") {
		t.Errorf("%+v", now.Delegates)
	}
	_, _, err = delegate.Decide(t.Context(), second, c.ID, state.RuledApprove, "", "", wait)
	enginetest.Refused(t, err, refusal.StaleReview)
	if _, c, err = delegate.Decide(t.Context(), second, c.ID, state.RuledApprove, due.On, "", wait); err != nil || c.Ended != state.DelegateComplete || f.Read("a") != "1" {
		t.Errorf("%+v %v", c, err)
	}
}

// TestWhatKeepsDelegatesFromBeingSettledIsSaid to whoever starts one, waits or decides. The next call goes on.
func TestWhatKeepsDelegatesFromBeingSettledIsSaid(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	c, child := f.starts("Do it.")
	f.submits(child, map[string]string{"a": "1"})
	lock := f.Path(".ferrus/live/delegates.lock")
	if err := errors.Join(os.RemoveAll(lock), os.Mkdir(lock, 0o700)); err != nil {
		t.Fatal(err)
	}
	f.ex.ShowDelegate(c.ID, enginetest.View(t, child.Human()).Task.Submission.ID)
	_, _, waits := delegate.Wait(t.Context(), f.ex, "", wait)
	_, _, starts := delegate.Start(t.Context(), f.ex, "More.", "", wait)
	_, _, decides := delegate.Decide(t.Context(), f.ex, c.ID, state.RuledApprove, "", "", wait)
	for what, err := range map[string]error{"wait": waits, "start": starts, "decide": decides} {
		if err == nil || !strings.Contains(err.Error(), "delegates.lock") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	list, due, err := delegate.Wait(t.Context(), f.ex, c.ID, wait)
	if err != nil || due == nil || due.Ended != state.DelegateComplete || len(list) != 2 || list[1].Phase != delegate.Working {
		t.Errorf("%+v, %+v, %v", list, due, err)
	}
}

// TestWorkThatDoesNotFitGoesBack to the delegate, with both sides in its files.
func TestWorkThatDoesNotFitGoesBack(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	c, child := f.starts("Do it.")
	f.submits(child, map[string]string{"code.txt": "theirs\n"})
	f.Write("code.txt", "mine\n")
	got, err := f.decides(c.ID, state.RuledApprove, "")
	if err != nil || got.Phase != delegate.Working || f.Read("code.txt") != "mine\n" {
		t.Fatalf("%+v %v %q", got, err, f.Read("code.txt"))
	}
	if text := child.Read("code.txt"); !strings.Contains(text, "mine\n") || !strings.Contains(text, "theirs\n") || !strings.Contains(text, "<<<<<<<") {
		t.Errorf("the delegate has %q", text)
	}
	ex := child.Executor("codex")
	enginetest.Claim(t, ex)
	_, err = ex.Submit(t.Context(), enginetest.Work, kit.Patience)
	enginetest.Refused(t, err, refusal.Conflict, "code.txt:1")
	enginetest.Dies(t, ex)
	f.submits(child, map[string]string{"code.txt": "both\n"})
	if got, err := f.decides(c.ID, state.RuledApprove, ""); err != nil || got.Ended != state.DelegateComplete || f.Read("code.txt") != "both\n" {
		t.Fatalf("%+v %v %q", got, err, f.Read("code.txt"))
	}
}

// TestADelegateCannotDelegate, and a task has no more of them than it may. S2-06.
func TestADelegateCannotDelegate(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	_, child := f.starts("One.")
	f.starts("Two.")
	f.starts("Three.")
	_, _, err := delegate.Start(t.Context(), f.ex, "Four.", "", wait)
	enginetest.Refused(t, err, refusal.WrongState, "max_delegates")
	ex := child.Executor("codex")
	enginetest.Claim(t, ex)
	_, _, err = delegate.Start(t.Context(), ex, "Deeper.", "", wait)
	enginetest.Refused(t, err, refusal.WrongState, "cannot delegate")
	_, _, err = delegate.Start(t.Context(), f.ex, "Other.", "gemini", wait)
	enginetest.Refused(t, err, refusal.InvalidInput, "codex")
}
