//go:build unix

package schedule

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/delegate"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// steps makes a step in which decisions may fail, and returns them by what they are about.
func (y *bench) steps(places int) map[string]Decision {
	y.t.Helper()
	list, err := y.try(places)
	if err != nil {
		y.t.Fatal(err)
	}
	all := map[string]Decision{}
	for _, d := range list {
		if (d.Err == nil) != (d.Error == "") {
			y.t.Errorf("%+v", d)
		}
		all[strings.TrimSpace(string(d.Kind)+" "+d.Name)] = d
	}
	return all
}

// fails demands that a decision failed, with words of the reason, and says what it did.
func fails(t *testing.T, d Decision, do string, words ...string) {
	t.Helper()
	if d.Err == nil || d.Do != do {
		t.Errorf("it has not failed: %+v", d)
	}
	for _, w := range words {
		if !strings.Contains(d.Error, w) {
			t.Errorf("%q does not say %q", d.Error, w)
		}
	}
}

// TestAStepConductsDelegates while their task waits for them, and ends their agents when it does not. What keeps it from settling them is said at
// the task that has them.
func TestAStepConductsDelegates(t *testing.T) {
	t.Parallel()
	y := newBench(t, "[limits]\nmax_delegates = 3\n")
	_, ex := y.Begun()
	lock := y.Path(".ferrus/live/delegates.lock")
	_, c, err := delegate.Start(t.Context(), ex, "A part.", "", kit.Patience)
	if err != nil {
		t.Fatal(err)
	}
	child, works := "branch "+c.Branch, c.Branch+" executor"
	if d := y.steps(1)[child]; d.Do != "start" || d.Run == "" || d.Err != nil || !y.agents()[works] {
		t.Errorf("%+v; at work: %v", d, y.agents())
	}
	if err := errors.Join(os.RemoveAll(lock), os.Mkdir(lock, 0o700)); err != nil {
		t.Fatal(err)
	}
	fails(t, y.steps(1)["task"], "keep", "delegates.lock")
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	all := y.steps(1)
	if d, of := all["task"], all[child]; d.Err != nil || d.Do != "keep" || of.Do != "keep" || of.Err != nil {
		t.Errorf("%+v", all)
	}
	y.ready = func(context.Context, *engine.Engine) error { return errors.New("nobody is started") }
	if d := y.steps(1)[child]; d.Do != "keep" || d.Err != nil {
		t.Errorf("who works is not started again: %+v", d)
	}
	other := enginetest.Must(conductor.Hold(project.At(y.Dir, "").Dir()))(t)
	if all := y.steps(1); all["task"].Do != skip || all["task"].Why == "" || all[child].Do != "keep" || all[child].Err != nil {
		t.Errorf("this process conducts the task: %+v", all)
	}
	other.Close()
	enginetest.Must(y.Machine.Human().Reset(t.Context(), "No."))(t)
	if d := y.steps(1)[child]; d.Do != "end" || d.Duty != "executor" || d.Err != nil || d.Why != "the task that delegated it does not wait for it" {
		t.Errorf("%+v", d)
	}
	if y.agents()[works] {
		t.Error("the agent of a delegate works that nobody waits for")
	}
	if d, there := y.steps(1)[child]; there {
		t.Errorf("it is decided about again: %+v", d)
	}
}

// TestADelegateThatWaitsForItsTaskIsConducted: it has asked, or has submitted its work.
func TestADelegateThatWaitsForItsTaskIsConducted(t *testing.T) {
	t.Parallel()
	y := newBench(t, "[limits]\nmax_delegates = 3\n")
	_, ex := y.Begun()
	for _, what := range []string{"asks", "submits"} {
		_, c, err := delegate.Start(t.Context(), ex, "It "+what+".", "", kit.Patience)
		if err != nil {
			t.Fatal(err)
		}
		its := y.On(c.Branch).Executor("codex")
		enginetest.Claim(t, its)
		if what == "asks" {
			enginetest.Must(its.Consult(t.Context(), engine.Consulting{Problem: "p", Tried: "t", Question: "q"}))(t)
		} else {
			enginetest.Submitted(t, its)
		}
		enginetest.Dies(t, its)
		if d, there := y.steps(1)["branch "+c.Branch]; !there || d.Do == "end" || d.Err != nil {
			t.Errorf("it %s: %+v", what, d)
		}
	}
}

// TestWhatCannotBeDecidedSaysSo, and keeps the step from nothing else.
func TestWhatCannotBeDecidedSaysSo(t *testing.T) {
	sharedtest.InFiles(t, "a journal that is a file cannot be read")
	t.Parallel()
	y := newBench(t, "")
	y.branch("a", state.Executing)
	y.branch("b", state.Executing)
	f := y.pipeline()
	y.Write(".ferrus/queue/not a name.md", "Do it.")
	y.Write(".ferrus/queue/a.md", "Do something else.")
	y.Write(".ferrus/queue/q.md", "Do q.")
	y.Write(".ferrus/queue/r.md", "Do r.") // for which there is no place
	journal := y.Path(".ferrus/branches/b/journal.jsonl")
	if err := errors.Join(os.Rename(journal, journal+".away"), os.Mkdir(journal, 0o700)); err != nil {
		t.Fatal(err)
	}
	y.ready, y.tick = func(context.Context, *engine.Engine) error { return errors.New("nobody is started") }, errors.New("nothing is advanced")
	all := y.steps(2)
	fails(t, all["branch a"], "start", "nobody is started")
	fails(t, all["branch b"], skip)
	fails(t, all["pipeline "+f.Name()], skip, "nothing is advanced")
	fails(t, all["queue a"], take, "a branch of that name with another task")
	fails(t, all["queue"], skip, "not a name.md")
	if d := all["queue q"]; d.Do != take || d.Err != nil || d.State == "" || d.Why != "Do q." {
		t.Errorf("%+v of %+v", d, all)
	}
	if _, there := all["queue r"]; there || len(y.agents()) > 0 {
		t.Errorf("at work: %v; of the queue: %+v", y.agents(), all)
	}
}

// TestDecisionsAreShownInOneOrder: by what they are about, then by name; those of the queue in its order, in which they were taken.
func TestDecisionsAreShownInOneOrder(t *testing.T) {
	t.Parallel()
	var got []string
	for _, d := range sorted([]Decision{{Kind: Pipeline, Name: "a"}, {Kind: Queue, Name: "b"}, {Kind: Queue, Name: "a"}, {Kind: Merge}, {Kind: Branch, Name: "b"}, {Kind: Branch, Name: "a"}, {Kind: Task}}) {
		got = append(got, string(d.Kind)+d.Name)
	}
	if want := []string{"task", "brancha", "branchb", "merge", "queueb", "queuea", "pipelinea"}; !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}

// TestAMergeThatIsCutOffIsTriedAgain: it was not refused. One that was is remembered as long as nothing changes, unless its record is lost.
func TestAMergeThatIsCutOffIsTriedAgain(t *testing.T) {
	t.Parallel()
	y := newBench(t, "")
	y.branch("a", state.Complete)
	e := y.Machine.Human().Engine()
	s := &step{StepOptions: StepOptions{Caller: engine.Caller{Role: state.Human, Agent: "human", TTY: true}}, e: e, s: y.Machine.Human(), engines: map[string]*engine.Engine{"": e}}
	defer enginetest.Must(conductor.Hold(Dir(y.Dir)))(t).Close()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	d := Decision{Kind: Merge, Name: "a", Do: merge}
	s.merge(over, &d)
	if fails(t, d, merge); d.Why != "" || len(s.readRefused()) != 0 {
		t.Errorf("%+v, %+v", d, s.readRefused())
	}
	d = Decision{Kind: Merge, Name: "none", Do: merge}
	if s.merge(t.Context(), &d); refusal.CodeOf(d.Err) != refusal.UnknownBranch || len(s.readRefused()) != 0 {
		t.Errorf("%+v, %+v", d, s.readRefused())
	}
	y.Write("a.txt", "mine\n")
	y.Git("add", "a.txt")
	d = Decision{Kind: Merge, Name: "a", Do: merge}
	s.merge(t.Context(), &d)
	own, on := enginetest.View(t, y.Machine.Human()).Task.Seq, enginetest.View(t, y.On("a").Human()).Task.Seq
	if got := s.readRefused()["a"]; d.Err != nil || !strings.HasPrefix(d.Why, "not merged: ") || got.Why != strings.TrimPrefix(d.Why, "not merged: ") || got.Branch != on || got.Project != own {
		t.Errorf("%+v, %+v of %d and %d", d, got, on, own)
	}
	path := filepath.Join(Dir(y.Dir), refusedFile)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	for name, spoil := range map[string]func() error{
		"damaged":  func() error { return os.WriteFile(path, []byte(`{"a": {"branch": 1}, "b": 7}`), 0o600) },
		"a folder": func() error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if got := s.readRefused(); got == nil || len(got) != 0 {
			t.Errorf("%s: %+v", name, got)
		}
		if err := errors.Join(os.RemoveAll(path), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAStepThatIsInterruptedCarriesOutNothing, and leaves nothing locked.
func TestAStepThatIsInterruptedCarriesOutNothing(t *testing.T) {
	t.Parallel()
	y := newBench(t, "")
	over, cancel := context.WithCancel(t.Context())
	cancel()
	y.branch("a", state.Executing)
	if list, err := Step(over, y.Dir, StepOptions{Parallel: 1, Engine: engine.Options{Log: quiet}, Runs: y.runs(), Caller: engine.Caller{Role: state.Human},
		Conduct: func(*engine.Engine) (conductor.Options, error) { return conductor.Options{}, errors.New("no options") }}); !errors.Is(err, context.Canceled) || list != nil {
		t.Errorf("interrupted: %+v, %v", list, err)
	}
	if all := y.steps(1); all["branch a"].Do != "start" || all["branch a"].Err != nil {
		t.Errorf("%+v", all)
	}
	if list, err := Step(t.Context(), y.Side, StepOptions{}); err == nil || list != nil {
		t.Errorf("in a folder without a project: %+v, %v", list, err)
	}
}
