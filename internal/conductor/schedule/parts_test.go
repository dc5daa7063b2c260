//go:build unix

package schedule

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/delegate"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// delegated is a task whose executor, a session of the test, has given parts of it to delegates. Nobody conducts them.
func delegated(t *testing.T, toml string, parts ...string) (*yard, *engine.Engine) {
	t.Helper()
	y := newFamily(t, toml, "One.")
	ex := y.on("").Engine().Session(engine.Caller{Role: state.Executor, Agent: "executor:command:1"})
	_, _, err := ex.AwaitTask(t.Context(), time.Minute, true)
	must(t, err)
	for _, part := range parts {
		_, _, err = delegate.Start(t.Context(), ex, part, "", time.Minute)
		must(t, err)
	}
	return y, y.on("").Engine()
}

// TestEndAllEndsTheAgentsOfDelegates of the task and, where they are named, of earlier tasks.
func TestEndAllEndsTheAgentsOfDelegates(t *testing.T) {
	t.Parallel()
	y, e := delegated(t, limits, "write a.txt")
	y.say("hold-write")
	child := y.on(y.task("").Delegates[0].Branch).Engine()
	starts := func() {
		t.Helper()
		turn, err := conductor.Look(child, taskOptions(child).Options)
		must(t, err)
		must(t, turn.Take(t.Context()))
		must(t, turn.Close())
	}
	works := func() bool {
		_, taken := conductor.Slot(child, agents.Executor).Taken()
		return taken
	}
	starts()
	if !works() {
		t.Fatal("no agent of the delegate works")
	}
	if must(t, EndAll(t.Context(), e)); works() {
		t.Error("the agent of the delegate works on")
	}
	starts()
	was := y.task("")
	_, err := y.on("").Reset(t.Context(), "enough")
	must(t, err)
	if must(t, EndAll(t.Context(), e)); !works() {
		t.Error("the agent of an earlier task was ended that nobody has named")
	}
	if must(t, EndAll(t.Context(), e, was)); works() {
		t.Error("the agent of an earlier task works on")
	}
}

// TestADelegateWhoseConductorEndsIsNotForgotten: it has failed if its agents cannot be started, and is left to others if they conduct it.
func TestADelegateWhoseConductorEndsIsNotForgotten(t *testing.T) {
	t.Parallel()
	y, e := delegated(t, limits, "One.", "Two.")
	list := y.task("").Delegates
	first, second := list[0].ID, list[1].ID
	f := &family{TaskOptions: taskOptions(e), e: e, running: map[string]*running{first: {}}}
	if !f.busy() {
		t.Error("its conductor does not run")
	}
	f.end(t.Context(), delegateEnded{id: first, out: conductor.Outcome{Snapshot: store.Snapshot{Task: state.Task{Seq: 7}}}})
	if f.running[first].left != 7 || f.busy() {
		t.Errorf("it has ended at entry %d", f.running[first].left)
	}
	f.end(t.Context(), delegateEnded{id: first})
	if f.running[first].left == 0 {
		t.Error("it runs again")
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for why, c := range map[string]struct {
		ctx context.Context
		err error
	}{
		"another conducts it": {t.Context(), &conductor.BusyError{}},
		"it was stopped":      {t.Context(), conductor.ErrStopped},
		"the run ends":        {over, errors.New("interrupted")},
	} {
		f.running[first] = &running{}
		f.end(c.ctx, delegateEnded{id: first, err: c.err})
		if _, known := f.running[first]; known || y.task("").Delegates[0].Ended != "" {
			t.Errorf("%s: %+v, %+v", why, f.running, y.task("").Delegates)
		}
	}
	f.running[second] = &running{}
	f.end(t.Context(), delegateEnded{id: second, err: errors.New("no such program")})
	switch got := y.task("").Delegates[1]; {
	case got.Ended != state.DelegateFailed || f.running[second].left == 0:
		t.Errorf("%+v", got)
	case y.task("").Delegates[0].Ended != "":
		t.Error("another one has ended")
	}
	ends := ""
	for l, err := range e.Store().History() {
		must(t, err)
		if l.Event == state.DelegateDone {
			ends = l.Note
		}
	}
	if !strings.Contains(ends, "its agents cannot be started: no such program") {
		t.Errorf("the journal says %q", ends)
	}
}

// TestDelegatesThatCannotBeReadAreNotForgotten: a pass over them says why, and starts nobody.
func TestDelegatesThatCannotBeReadAreNotForgotten(t *testing.T) {
	if sharedtest.On() {
		t.Skip("it damages files")
	}
	t.Parallel()
	y, e := delegated(t, limits, "One.")
	f := &family{TaskOptions: taskOptions(e), e: e, running: map[string]*running{}}
	lock := project.At(y.dir, "").Path("live", "delegates.lock")
	must(t, errors.Join(os.RemoveAll(lock), os.Mkdir(lock, 0o700)))
	if err := f.pass(t.Context()); err == nil || !strings.Contains(err.Error(), "delegates.lock") || len(f.running) > 0 {
		t.Errorf("they cannot be settled: %v, %v", err, f.running)
	}
	must(t, os.Remove(lock))
	held, err := conductor.Hold(project.At(y.dir, y.task("").Delegates[0].Branch).Dir())
	must(t, err)
	if err := f.pass(t.Context()); err != nil || len(f.running) > 0 {
		t.Errorf("another conducts it: %v, %v", err, f.running)
	}
	must(t, held.Close())
	_, err = e.EndDelegate(t.Context(), y.task("").Delegates[0].ID, state.DelegateFailed, "enough")
	must(t, err)
	if err := f.pass(t.Context()); err != nil || len(f.running) > 0 {
		t.Errorf("it has ended: %v, %v", err, f.running)
	}
	stopped := false
	f.running["d9"] = &running{stop: func() { stopped = true }}
	must(t, e.Close())
	if err := f.pass(t.Context()); err == nil || stopped {
		t.Errorf("the task cannot be read: %v; the conductor of another was stopped: %v", err, stopped)
	}
}

// TestAFamilyThatCannotRunSaysWhy, and leaves nothing running.
func TestAFamilyThatCannotRunSaysWhy(t *testing.T) {
	t.Parallel()
	y := newFamily(t, limits, "One.")
	lock, err := conductor.Hold(project.At(y.dir, "").Dir())
	must(t, err)
	defer lock.Close()
	var busy *conductor.BusyError
	if _, err := y.runTask(t.Context()); !errors.As(err, &busy) {
		t.Errorf("beside another conductor: %v", err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (&family{e: y.on("").Engine()}).pass(over); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// TestTheBudgetIsThatOfTheFamily: a delegate that used it holds all of them, until a person renews it. Runs from before that do not count.
func TestTheBudgetIsThatOfTheFamily(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	runs := []process.Run{{Name: "executor-1", Started: began}, {Name: "executor-2", Started: began.Add(1)}}
	if got := begunAfter(runs, began); len(got) != 1 || got[0].Name != "executor-2" || len(runs) != 2 || runs[0].Name != "executor-1" {
		t.Errorf("%+v of %+v", got, runs)
	}
	if got := begunAfter(runs, time.Time{}); len(got) != 2 {
		t.Errorf("%+v", got)
	}
	y, e := delegated(t, limits, "write a.txt")
	f := &family{e: e}
	if at, err := f.renewed(state.Task{}); !at.IsZero() || err != nil {
		t.Errorf("renewed at %v, %v", at, err)
	}
	second := int64(0)
	for l, err := range e.Store().History() {
		must(t, err)
		if second == 0 && l.Seq == 2 {
			second = l.Off
			if at, err := f.renewed(state.Task{BudgetFrom: second}); !at.Equal(l.At) || err != nil {
				t.Errorf("renewed at %v, not %v, %v", at, l.At, err)
			}
		}
	}
	if _, err := f.renewed(state.Task{BudgetFrom: second + 1}); err == nil {
		t.Error("a line that is none was read")
	}
	for what, why := range map[string]string{"without limits": Hold(e)(), "of a delegate": Hold(y.on(y.task("").Delegates[0].Branch).Engine())()} {
		if why != "" {
			t.Errorf("%s: held: %s", what, why)
		}
	}
	gone := y.task("").Delegates[0]
	gone.Branch = "gone"
	if list, err := f.runs(gone); list != nil || err != nil {
		t.Errorf("of a branch that is gone: %+v, %v", list, err)
	}
	if !sharedtest.On() {
		d := y.task("").Delegates[0]
		path := project.At(y.dir, d.Branch).Path(store.JournalName)
		must(t, errors.Join(os.Rename(path, path+".away"), os.Mkdir(path, 0o700)))
		if list, err := f.runs(d); list != nil || err == nil {
			t.Errorf("of a branch that cannot be read: %+v, %v", list, err)
		}
		must(t, errors.Join(os.Remove(path), os.Rename(path+".away", path)))
	}
	must(t, e.Close())
	// A machine in the database can still be read: its connections belong to the process.
	if _, _, err := Others(e)(); err == nil && !sharedtest.On() {
		t.Error("a machine that cannot be read has used nothing")
	}
}
