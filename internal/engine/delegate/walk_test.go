package delegate_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/delegate"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
)

// A walk is a task with delegates to which anything happens that may. The model check has the delegate as five abstract states;
// here both machines are whole.
type walk struct {
	family
	r    *rand.Rand
	kids map[string]*engine.Session // the executors of delegates, by the branch
	road []string
	n    int
}

// TestWalksOfAFamily: whatever happens to a task and its delegates, nobody waits for the dead, each delegate ends once, work
// moves in once, and the task comes to its submission.
func TestWalksOfAFamily(t *testing.T) {
	t.Parallel()
	walks, did := enginetest.Most(3, 150), map[string]int{}
	bad := 0
	for seed := range walks {
		if !kit.Every(3, seed) {
			continue
		}
		if !t.Run(strconv.Itoa(seed), func(t *testing.T) {
			w := &walk{family: newFamily(t), r: rand.New(rand.NewPCG(uint64(seed), 7)), kids: map[string]*engine.Session{}}
			defer func() {
				if t.Failed() {
					t.Log(w.road)
				}
			}()
			for range 30 {
				w.step(did)
				w.holds()
			}
			w.ends()
		}) {
			bad++
		}
	}
	t.Logf("rig: cases=%d bad=%d; %v", walks, bad, did)
	if kit.Full() {
		for _, s := range steps {
			if did[s.name] == 0 {
				t.Errorf("never done: %s", s.name)
			}
		}
	}
}

// steps are what may happen. Each reports whether it did.
var steps = []struct {
	name string
	do   func(w *walk) bool
}{
	{"start", (*walk).start}, {"start", (*walk).start},
	{"work", (*walk).work}, {"work", (*walk).work}, {"work", (*walk).work},
	{"consult", (*walk).consult},
	{"decide", (*walk).decide}, {"decide", (*walk).decide}, {"decide", (*walk).decide},
	{"settle", (*walk).settle},
	{"edit", (*walk).edit},
	{"the executor is killed", (*walk).kill},
	{"an executor decides and is killed", (*walk).decideAndDie},
	{"a person removes a delegate", (*walk).remove},
	{"a person resets a delegate", (*walk).reset},
	{"a person is needed", (*walk).needed},
	{"rollback", (*walk).rollback},
	{"progress", (*walk).progress},
}

func (w *walk) step(did map[string]int) {
	s := steps[w.r.IntN(len(steps))]
	if s.do(w) {
		did[s.name]++
		w.road = append(w.road, s.name)
	}
}

// holder has an executor that holds the work: another one if the last was killed or fenced.
func (w *walk) holder() *engine.Session {
	if now := w.task(); !w.ex.Holds(now) {
		_ = delegate.Settle(w.Context(), w.ex.Engine(), nil) // a conductor finishes what moves
		w.ex = w.Executor("codex")
		enginetest.Claim(w, w.ex)
	}
	return w.ex
}

func (w *walk) task() state.Task {
	w.Helper()
	return enginetest.Must(w.Human().Engine().View())(w).Task
}

func (w *walk) start() bool {
	if w.task().Issued.Delegates >= 3 {
		return false
	}
	w.n++
	_, _, err := delegate.Start(w.Context(), w.holder(), fmt.Sprintf("Part %d.", w.n), "", wait)
	enginetest.Must(0, err)(w)
	return true
}

// child is one of the open delegates that is in a phase.
func (w *walk) child(in ...delegate.Phase) (delegate.Child, bool) {
	var fit []delegate.Child
	for _, c := range enginetest.Must(delegate.Children(w.Context(), w.Human().Engine()))(w) {
		for _, p := range in {
			if c.Open() && c.Phase == p {
				fit = append(fit, c)
			}
		}
	}
	if len(fit) == 0 {
		return delegate.Child{}, false
	}
	return fit[w.r.IntN(len(fit))], true
}

// kid has the executor of a delegate, with its claim.
func (w *walk) kid(c delegate.Child) *engine.Session {
	s := w.kids[c.Branch]
	if s == nil || !s.Holds(c.Snap.Task) {
		if s != nil {
			enginetest.Dies(w, s)
		}
		s = w.On(c.Branch).Executor("codex")
		enginetest.Claim(w, s)
		w.kids[c.Branch] = s
	}
	return s
}

func (w *walk) work() bool {
	c, ok := w.child(delegate.Working)
	if !ok || !c.Snap.Task.State.InHand() {
		return false
	}
	s, on := w.kid(c), w.On(c.Branch)
	w.n++
	chosen := []string{"one", "two"}[w.r.IntN(2)]
	for _, name := range []string{"one", "two"} {
		if name == chosen || on.Exists(name) && strings.Contains(on.Read(name), "<<<<<<<") { // marks of a conflict are not submitted
			on.Write(name, fmt.Sprintf("%d by %s\n", w.n, c.ID))
		}
	}
	enginetest.Check(w, s, state.CheckGreen)
	if w.r.IntN(3) > 0 {
		enginetest.Submitted(w, s)
	}
	return true
}

func (w *walk) consult() bool {
	c, ok := w.child(delegate.Working)
	if !ok || !c.Snap.Task.State.InHand() {
		return false
	}
	enginetest.Must(w.kid(c).Consult(w.Context(), engine.Consulting{Problem: "p", Tried: "t", Question: "q"}))(w)
	return true
}

// ruling is a decision that fits a child.
func (w *walk) ruling(c delegate.Child) (state.Ruling, string) {
	switch {
	case c.Phase == delegate.Asking:
		return state.RuledAnswer, "So."
	case w.r.IntN(3) == 0:
		return state.RuledReject, "No."
	}
	return state.RuledApprove, ""
}

func (w *walk) decide() bool {
	ex := w.holder()
	c, ok := w.child(delegate.Submitted, delegate.Asking)
	if !ok || !w.task().State.InHand() {
		return false
	}
	what, text := w.ruling(c)
	_, _, err := delegate.Decide(w.Context(), ex, c.ID, what, c.On, text, wait)
	enginetest.Must(0, err)(w)
	if c.Phase == delegate.Asking {
		s := w.kid(c)
		enginetest.Must2(s.AwaitResponse(w.Context(), wait))(w)
	}
	return true
}

func (w *walk) decideAndDie() bool {
	ex := w.holder()
	c, ok := w.child(delegate.Submitted)
	if !ok || !c.Due() {
		return false
	}
	what, text := w.ruling(c)
	enginetest.Must(ex.DecideDelegate(w.Context(), c.ID, c.On, what, text))(w)
	return w.kill()
}

func (w *walk) settle() bool {
	enginetest.Must(0, delegate.Settle(w.Context(), w.Human().Engine(), nil))(w)
	return true
}

func (w *walk) edit() bool {
	w.n++
	w.Write([]string{"one", "mine"}[w.r.IntN(2)], fmt.Sprintf("%d by the executor\n", w.n))
	return true
}

func (w *walk) kill() bool {
	enginetest.Dies(w, w.ex)
	w.ex = w.Executor("codex")
	return true
}

func (w *walk) progress() bool {
	enginetest.Must(w.holder().Progress(w.Context(), fmt.Sprintf("note %d", len(w.road))))(w)
	return true
}

func (w *walk) remove() bool {
	c, ok := w.child(delegate.Working, delegate.Submitted)
	if !ok || w.r.IntN(3) > 0 {
		return false
	}
	enginetest.Must(branch.Remove(w.Context(), w.Human(), c.Branch, true))(w)
	return true
}

func (w *walk) reset() bool {
	c, ok := w.child(delegate.Working, delegate.Submitted)
	if !ok || w.r.IntN(3) > 0 {
		return false
	}
	enginetest.Must(w.On(c.Branch).Human().Reset(w.Context(), ""))(w)
	return true
}

func (w *walk) needed() bool {
	c, ok := w.child(delegate.Working)
	if !ok || !c.Snap.Task.State.InHand() || w.r.IntN(3) > 0 {
		return false
	}
	b := w.On(c.Branch).Human().Engine()
	enginetest.Must(b.Ask(w.Context(), enginetest.Must(b.View())(w), "Help.", nil))(w)
	return true
}

func (w *walk) rollback() bool {
	w.ex.Engine().Settle()
	now := w.task()
	to := 3 + w.r.Uint64N(max(1, now.Seq-3))
	if to >= now.Seq {
		return false
	}
	fenced := func() error { return nil }
	if w.r.IntN(2) == 0 { // the first call is killed
		dies := errors.New("the process dies here")
		_, _ = delegate.Rollback(w.Context(), w.Human(), to, "Astray.", true, func() error { return dies })
	}
	_, err := delegate.Rollback(w.Context(), w.Human(), to, "Astray.", true, fenced)
	enginetest.Must(0, err)(w)
	return true
}

// holds is what is true at any time.
func (w *walk) holds() {
	w.Helper()
	t := w.task()
	ids := map[string]bool{}
	for _, d := range t.Delegates {
		if ids[d.ID] || ids[d.Branch] {
			w.Fatalf("twice: %+v", t.Delegates)
		}
		ids[d.ID], ids[d.Branch] = true, true
		if d.Ended == state.DelegateComplete && d.Merged == "" {
			w.Fatalf("%s is complete and not merged", d.ID)
		}
	}
	if len(t.Delegates) > t.Issued.Delegates {
		w.Fatalf("%d of %d delegates", len(t.Delegates), t.Issued.Delegates)
	}
	if t.State.Over() {
		w.Fatalf("the task is %s", t.State)
	}
}

// ends leads the task to its submission: every delegate that is open does its work, and the executor approves it.
func (w *walk) ends() {
	w.Helper()
	for range 40 {
		ex := w.holder()
		enginetest.Must(0, delegate.Settle(w.Context(), w.ex.Engine(), ex))(w)
		if len(w.task().OpenDelegates()) == 0 {
			w.Write("last", "last\n")
			enginetest.Check(w, ex, state.CheckGreen)
			enginetest.Submitted(w, ex)
			return
		}
		if c, ok := w.child(delegate.Working); ok {
			s := w.kid(c)
			if now := enginetest.View(w, s); now.Task.State == state.Consultation {
				enginetest.Must2(s.AwaitResponse(w.Context(), wait))(w)
			}
			w.n++
			w.On(c.Branch).Write("last-"+c.ID, fmt.Sprintln(w.n))
			enginetest.Check(w, s, state.CheckGreen)
			enginetest.Submitted(w, s)
		}
		if c, ok := w.child(delegate.Submitted, delegate.Asking); ok {
			what, text := state.RuledApprove, ""
			if c.Phase == delegate.Asking {
				what, text = state.RuledAnswer, "So."
			}
			_, _, err := delegate.Decide(w.Context(), ex, c.ID, what, c.On, text, wait)
			enginetest.Must(0, err)(w)
		}
	}
	w.Fatalf("it does not end: %+v", w.task().Delegates)
}
