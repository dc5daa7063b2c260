package delegate_test

import (
	"errors"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/delegate"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// TestARollbackTakesTheDelegatesBack to the entry that they had come to, with their files; those that began later are removed and
// kept like any removed branch. The same command finishes after a crash. S2-14.
func TestARollbackTakesTheDelegatesBack(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]bool{"with files": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFamily(t)
			c, child := f.starts("Do it.")
			ex := child.Executor("codex")
			enginetest.Claim(t, ex)
			child.Write("a", "one")
			enginetest.Check(t, ex, state.CheckGreen)
			enginetest.AllKept(ex)
			then := enginetest.View(t, child.Human()).Task
			here := enginetest.Must(f.ex.Progress(t.Context(), "The half is under way."))(t)
			if d, _ := here.Task.Delegate(c.ID); d.Seq != then.Seq {
				t.Fatalf("the line says that %s has come to %d, not %d", c.ID, d.Seq, then.Seq)
			}
			enginetest.AllKept(f.ex)

			child.Write("a", "two")
			enginetest.Check(t, ex, state.CheckGreen)
			enginetest.Submitted(t, ex)
			if got, err := f.decides(c.ID, state.RuledApprove, ""); err != nil || got.Ended != state.DelegateComplete {
				t.Fatalf("%+v %v", got, err)
			}
			later, _ := f.starts("Another part.")
			f.Write("mine", "mine")

			h := f.Human()
			dies := errors.New("the process dies here")
			if _, err := delegate.Rollback(t.Context(), h, here.Task.Seq, "Astray.", files, func() error { return dies }); !errors.Is(err, dies) {
				t.Fatal(err)
			}
			if now := f.task(); now.Returning.To != here.Task.Seq || refusal.Finishing(now) == "" {
				t.Fatalf("nobody knows that there is something to finish: %+v", now.Returning)
			}
			done, err := delegate.Rollback(t.Context(), f.Human(), here.Task.Seq, "Astray.", files, func() error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			d, _ := done.Task.Delegate(c.ID)
			if len(done.Task.Delegates) != 1 || !d.Open() || d.Merged != "" || done.Task.Issued.Delegates != 2 {
				t.Errorf("%+v, issued %d", done.Task.Delegates, done.Task.Issued.Delegates)
			}
			if now := enginetest.View(t, child.Human()).Task; now.State != then.State || now.Merged != "" || child.Read("a") != "one" {
				t.Errorf("the delegate is %s with %q", now.State, child.Read("a"))
			}
			if _, err := f.Human().Engine().Place().On(later.Branch); refusal.CodeOf(err) != refusal.UnknownBranch {
				t.Errorf("the later one is there: %v", err)
			}
			if f.Exists("a") == files || f.Exists("mine") == files {
				t.Errorf("the work has a: %v, mine: %v", f.Exists("a"), f.Exists("mine"))
			}
			// It goes on from there, under an id that nobody had.
			f.ex = f.Executor("codex")
			enginetest.Claim(t, f.ex)
			f.submits(child, map[string]string{"b": "b"})
			if !files {
				f.Remove("a") // else both sides have added it
			}
			if got, err := f.decides(c.ID, state.RuledApprove, ""); err != nil || got.Ended != state.DelegateComplete || f.Read("b") != "b" {
				t.Fatalf("%+v %v", got, err)
			}
			if next, _ := f.starts("A third."); next.ID != "d3" {
				t.Errorf("the next one is %s", next.ID)
			}
		})
	}
}

// TestARollbackPassesByADelegateThatWasReset: it has nothing to return to, and is lost.
func TestARollbackPassesByADelegateThatWasReset(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	c, child := f.starts("Do it.")
	here := enginetest.Must(f.ex.Progress(t.Context(), "It is under way."))(t)
	enginetest.Must(child.Human().Reset(t.Context(), ""))(t)
	f.Write("mine", "mine")
	enginetest.Check(t, f.ex, state.CheckGreen)
	if _, err := delegate.Rollback(t.Context(), f.Human(), here.Task.Seq, "Astray.", false, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	e := f.Human().Engine()
	if err := delegate.Settle(t.Context(), e, nil); err != nil {
		t.Fatal(err)
	}
	if d, _ := taskOf(f, e).Delegate(c.ID); d.Ended != state.DelegateLost {
		t.Errorf("%+v", d)
	}
}

// TestARollbackLeavesADelegateAloneThatHasDoneNothingSince: its journal gets no line.
func TestARollbackLeavesADelegateAloneThatHasDoneNothingSince(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	c, child := f.starts("Do it.")
	here := enginetest.Must(f.ex.Progress(t.Context(), "It is under way."))(t)
	unchanged := enginetest.Unchanged(t, child.Human())
	enginetest.Must(f.ex.Progress(t.Context(), "It is still under way."))(t)
	done, err := delegate.Rollback(t.Context(), f.Human(), here.Task.Seq, "Astray.", false, func() error { return nil })
	if d, _ := done.Task.Delegate(c.ID); err != nil || !d.Open() {
		t.Errorf("%+v, %v", d, err)
	}
	unchanged()
}

// TestTheEndOfATaskEndsItsDelegates: whichever event it is, nobody works for a task that is over, and a person decides about such
// a branch again. S2-09.
func TestTheEndOfATaskEndsItsDelegates(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(f family){
		"failed": func(f family) {
			f.Write("ferrus.toml", enginetest.Gate("false")+limits+"max_check_retries = 1\n")
			enginetest.Must2(f.Human().AcceptConfig(f.Context()))(f)
			enginetest.Must(f.ex.Check(f.Context(), wait))(f)
		},
		"reset": func(f family) { enginetest.Must(f.Human().Reset(f.Context(), ""))(f) },
		"merge": func(f family) {
			enginetest.Branched(f, f.Human(), branch.Fork{Names: []string{"alt"}})
			alt := f.On("alt")
			alt.Does("alt.txt", "alt\n")
			enginetest.Must(branch.Merge(f.Context(), f.Human(), alt.Human(), nil))(f)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFamily(t)
			_, child := f.starts("Do it.")
			b := child.Human()
			if now := enginetest.View(t, b); !b.Engine().Delegated(now) {
				t.Fatal("it is no delegate")
			}
			end(f)
			now := f.task()
			for _, d := range now.Delegates {
				if d.Ended != state.DelegateCancelled {
					t.Errorf("%+v", d)
				}
			}
			if len(now.Delegates) == 0 && name != "reset" {
				t.Error("it is forgotten")
			}
			if now := enginetest.View(t, b); b.Engine().Delegated(now) {
				t.Error("it still works for its executor")
			}
		})
	}
}

// TestABranchHasNoDelegatesOfItsParent: they are the other's.
func TestABranchHasNoDelegatesOfItsParent(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	c, child := f.starts("Do it.")
	enginetest.Branched(t, f.Human(), branch.Fork{Names: []string{"alt"}})
	alt := enginetest.View(t, f.On("alt").Human()).Task
	if d, _ := alt.Delegate(c.ID); d.Ended != state.DelegateLost {
		t.Errorf("%+v", alt.Delegates)
	}
	f.submits(child, map[string]string{"a": "a"})
	if got, err := f.decides(c.ID, state.RuledApprove, ""); err != nil || got.Ended != state.DelegateComplete {
		t.Fatalf("%+v %v", got, err)
	}
	// And a branch of a delegate is nobody's.
	enginetest.Must(branch.Create(t.Context(), child.Human(), branch.Fork{Names: []string{"other"}}))(t)
	other := f.On("other").Human()
	if now := enginetest.View(t, other); now.Task.Parent != (state.Parent{}) || other.Engine().Delegated(now) {
		t.Errorf("%+v", now.Task.Parent)
	}
}

// TestADelegateIsNotMergedByAPerson into the project, nor approved in place of its executor.
func TestADelegateIsNotMergedByAPerson(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	_, child := f.starts("Do it.")
	f.submits(child, map[string]string{"a": "a"})
	_, err := child.Human().Approve(t.Context(), "", "")
	enginetest.Refused(t, err, refusal.WrongState, "d1")
	_, err = branch.Merge(t.Context(), f.Human(), child.Human(), nil)
	enginetest.Refused(t, err, refusal.WrongState, "delegate")
}

// TestAHalfMovedDelegateIsFinished by the next process, when the executor has been killed while files moved.
func TestAHalfMovedDelegateIsFinished(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	c, child := f.starts("Do it.")
	f.submits(child, map[string]string{"a": "a\n", "code.txt": "b\n"})
	_, due, err := delegate.Wait(t.Context(), f.ex, "", wait)
	if err != nil || due == nil {
		t.Fatal(err)
	}
	enginetest.Must(f.ex.DecideDelegate(t.Context(), c.ID, due.On, state.RuledApprove, ""))(t)
	tree := enginetest.Must(child.Human().Engine().Tree(t.Context(), due.Snap))(t)
	ours := enginetest.Must(f.ex.Engine().Tree(t.Context(), enginetest.View(t, f.ex)))(t)
	was := enginetest.Must(ours.Snapshot(t.Context()))(t)
	if err := tree.SaveRef(t.Context(), "half", due.Snap.Task.Submission.Tree); err != nil {
		t.Fatal(err)
	}
	enginetest.Must(f.ex.BeginDelegateMerge(t.Context(), c.ID, state.FileMove{From: c.Branch, Was: was, Tree: due.Snap.Task.Submission.Tree}))(t)
	f.Write("code.txt", "b\n") // one of the two is there
	enginetest.Dies(t, f.ex)

	next := f.Executor("codex")
	if got, _, err := next.AwaitTask(t.Context(), 0, true); got != nil || err != nil {
		t.Fatalf("the work is claimed while files move: %+v %v", got, err)
	}
	e := f.Human().Engine()
	if err := delegate.Settle(t.Context(), e, nil); err != nil {
		t.Fatal(err)
	}
	if now := taskOf(f, e); len(now.OpenDelegates()) != 0 || now.Returning != (state.FileMove{}) || f.Read("a") != "a\n" || f.Read("code.txt") != "b\n" {
		t.Errorf("%+v, a %q", now, f.Read("a"))
	}
	if now := enginetest.WantState(t, child.Human(), state.Complete); now.Task.Merged == "" {
		t.Error("its branch does not know it")
	}
	enginetest.Claim(t, next)
}

// TestADecisionOfAKilledExecutorIsCarriedOut by its successor: no decision is asked for twice, and none is lost.
func TestADecisionOfAKilledExecutorIsCarriedOut(t *testing.T) {
	t.Parallel()
	for _, what := range []state.Ruling{state.RuledApprove, state.RuledReject} {
		t.Run(string(what), func(t *testing.T) {
			t.Parallel()
			f := newFamily(t)
			c, child := f.starts("Do it.")
			f.submits(child, map[string]string{"a": "a\n"})
			_, due, err := delegate.Wait(t.Context(), f.ex, "", wait)
			if err != nil || due == nil {
				t.Fatal(err)
			}
			enginetest.Must(f.ex.DecideDelegate(t.Context(), c.ID, due.On, what, "Not so."))(t)
			enginetest.Dies(t, f.ex)

			if err := delegate.Settle(t.Context(), f.Human().Engine(), nil); err != nil {
				t.Fatal(err)
			}
			next := f.Executor("codex")
			enginetest.Claim(t, next)
			if what == state.RuledReject {
				enginetest.WantState(t, child.Human(), state.Addressing)
				return
			}
			if f.Exists("a") {
				t.Error("files have moved while nobody held the work")
			}
			list, _, err := delegate.Wait(t.Context(), next, c.ID, wait)
			if err != nil || list[0].Ended != state.DelegateComplete || f.Read("a") != "a\n" {
				t.Errorf("%+v %v", list, err)
			}
		})
	}
}

func taskOf(f family, e *engine.Engine) state.Task { return enginetest.Must(e.View())(f).Task }
