//go:build unix

package schedule

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/queue"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
)

// worlds are projects on which a step has several things to decide, each with the places of the step.
var worlds = map[string]struct {
	places int
	make   func(t *testing.T) *bench
}{
	"agents are missing everywhere": {2, func(t *testing.T) *bench {
		y := newBench(t, "")
		enginetest.Must(y.Machine.Human().CreateTask(t.Context(), "Do it.", ""))(t)
		y.branch("a", state.Executing)
		y.branch("b", state.Reviewing)
		y.branch("c", state.Executing) // has no place
		y.branch("d", state.AwaitingHuman)
		y.pipeline()
		y.queued("q")
		return y
	}},
	"places are free for the queue": {4, func(t *testing.T) *bench {
		y := newBench(t, "")
		y.branch("a", state.Executing)
		y.branch("b", state.Complete)
		y.pipeline()
		y.queued("r")
		y.queued("q")
		return y
	}},
	"two branches are to be merged": {3, func(t *testing.T) *bench {
		y := newBench(t, "[branches]\non_approve = \"merge\"\n")
		y.branch("a", state.Complete)
		y.branch("b", state.Complete)
		y.branch("c", state.Executing)
		y.pipeline()
		y.queued("q")
		return y
	}},
}

// end is all that a step has left behind, as far as it does not depend on clocks and chance.
func (y *bench) left(list []Decision) map[string]string {
	y.t.Helper()
	all := map[string]string{"agents": fmt.Sprint(slices.Sorted(maps.Keys(y.agents())))}
	for _, d := range list {
		name := d.Name
		if d.Kind == Pipeline {
			name = ""
		}
		all[fmt.Sprintf("decided: %s %s", d.Kind, name)] += fmt.Sprintln(d.State, d.Do, d.Duty, d.Run)
	}
	for name, e := range y.engines() {
		for _, l := range enginetest.History(y.t, e) {
			all["journal of "+name] += fmt.Sprintln(l.Event, l.From, l.To, l.Actor.Role)
		}
	}
	names := enginetest.Must(y.runs().Names())(y.t)
	for _, name := range names {
		f := enginetest.Must(y.runs().Open(name))(y.t)
		for _, l := range enginetest.Must(f.Lines())(y.t) {
			all["run"] += fmt.Sprintln(l.Event, l.Row, l.Roles)
		}
	}
	for _, name := range []string{"a", "b", "c", "q"} {
		all["files"] += fmt.Sprintln(name, y.Exists(name+".txt"), y.Exists(".ferrus/worktrees/q/"+name+".txt"))
	}
	all["queue"] = fmt.Sprint(y.Exists(".ferrus/queue/q.md"), y.Exists(".ferrus/queue/r.md"))
	return all
}

// TestTheOrderOfAStepDoesNotMatter: whatever is carried out first, the same is decided and the same is left behind. S2-08.
func TestTheOrderOfAStepDoesNotMatter(t *testing.T) {
	t.Parallel()
	tries := 1
	if kit.Full() {
		tries = 60
	}
	cases, bad := 0, 0
	for name, world := range worlds {
		if !kit.Named() && name != "places are free for the queue" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			usual := world.make(t)
			want := usual.left(usual.step(world.places))
			usual.end()
			for seed := range tries {
				y := world.make(t)
				var order []string
				y.order = func(acts []*act) {
					r := rand.New(rand.NewPCG(uint64(seed), 8))
					r.Shuffle(len(acts), func(i, j int) { acts[i], acts[j] = acts[j], acts[i] })
					if seed == 0 {
						slices.Reverse(acts)
					}
					for _, a := range acts {
						order = append(order, string(a.Kind)+" "+a.Name)
					}
				}
				got := y.left(y.step(world.places))
				if diff := cmp.Diff(want, got); diff != "" {
					bad++
					t.Errorf("in the order %s: %s", strings.Join(order, ", "), diff)
				}
				y.end()
				cases++
			}
		})
	}
	t.Logf("rig: cases=%d bad=%d", cases, bad)
}

// TestAStepThatIsCutOffIsFinishedByTheNext: whatever it has carried out before it was killed, the steps after it come to the
// same end, and nobody is started twice.
func TestAStepThatIsCutOffIsFinishedByTheNext(t *testing.T) {
	t.Parallel()
	cuts := []int{2}
	if kit.Full() {
		cuts = []int{0, 1, 2, 3, 4, 5, 6}
	}
	end := func(y *bench, places int) map[string]string {
		y.order = nil
		for range 8 {
			y.step(places)
		}
		all := y.left(nil)
		delete(all, "run") // its commands end when they do
		for name, e := range y.engines() {
			runs, _ := process.Runs(conductor.Runs(e, enginetest.View(t, e.Session(engine.Caller{Role: state.Human})).Task.TaskID))
			all["runs of "+name] = fmt.Sprint(len(runs))
		}
		return all
	}
	cases, bad := 0, 0
	for name, world := range worlds {
		if !kit.Named() && name != "two branches are to be merged" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			usual := world.make(t)
			want := end(usual, world.places)
			usual.end()
			for _, cut := range cuts {
				y := world.make(t)
				y.order = func(acts []*act) {
					for i, a := range acts {
						if i >= cut {
							a.do = nil
						}
					}
				}
				y.step(world.places)
				if diff := cmp.Diff(want, end(y, world.places)); diff != "" {
					bad++
					t.Errorf("cut off after %d: %s", cut, diff)
				}
				y.end()
				cases++
			}
		})
	}
	t.Logf("rig: cases=%d bad=%d", cases, bad)
}

// TestAStepMovesEachByOneDecision: the task, two branches and a pipeline, once each in every step, and nobody is started twice.
// S2-07.
func TestAStepMovesEachByOneDecision(t *testing.T) {
	t.Parallel()
	y := newBench(t, "")
	enginetest.Must(y.Machine.Human().CreateTask(t.Context(), "Do it.", ""))(t)
	y.branch("a", state.Executing)
	y.branch("b", state.Reviewing)
	f := y.pipeline()
	times := map[string]int{}
	for n := range 10 {
		list := y.step(2)
		for _, d := range list {
			times[string(d.Kind)+" "+d.Name]++
			if want := map[bool]string{true: "start", false: "keep"}[n == 0]; d.Kind != Pipeline && d.Do != want {
				t.Errorf("step %d: %+v", n, d)
			}
		}
		if names := enginetest.Must(y.runs().Names())(t); len(names) == 0 {
			break // it is over and takes no more steps
		}
		kit.Eventually(t, "the worker has ended", func() bool {
			v := enginetest.Must(f.View(time.Now()))(t)
			return v.Action.Do != pipeline.Wait || v.Over()
		})
	}
	for _, who := range []string{"task ", "branch a", "branch b"} {
		if times[who] == 0 || times[who] != times["task "] {
			t.Errorf("%s was decided about %d times: %v", who, times[who], times)
		}
	}
	if got, want := slices.Sorted(maps.Keys(y.agents())), []string{" executor", "a executor", "b reviewer"}; !slices.Equal(got, want) {
		t.Errorf("at work: %v", got)
	}
	old := enginetest.Must(y.runs().Archived())(t)
	if len(old) != 1 {
		t.Fatalf("archived: %v", old)
	}
	g := enginetest.Must(y.runs().Open(old[0]))(t)
	var done []string
	for _, l := range enginetest.Must(g.Lines())(t) {
		if l.Event != "observed" {
			done = append(done, l.Event)
		}
	}
	// The launch was no step, and the archiving is no line.
	if n := times["pipeline "+f.Name()]; len(done) < 5 || n != len(done) {
		t.Errorf("the pipeline did %v in %d steps", done, n)
	}
}

// TestWhatHasChangedSinceTheLookIsLeftToTheNextStep: a decision from old facts is not carried out.
func TestWhatHasChangedSinceTheLookIsLeftToTheNextStep(t *testing.T) {
	t.Parallel()
	y := newBench(t, "")
	y.branch("a", state.Executing)
	y.branch("b", state.Executing)
	y.order = func([]*act) { enginetest.Must(y.On("a").Human().Reset(t.Context(), "No."))(t) }
	list := y.step(4)
	if y.agents()["a executor"] || !y.agents()["b executor"] {
		t.Errorf("at work: %v; %+v", y.agents(), list)
	}
}

// TestAStepIsMadeByOneAtATime, and leaves alone what a run works on.
func TestAStepIsMadeByOneAtATime(t *testing.T) {
	t.Parallel()
	y := newBench(t, "")
	y.branch("a", state.Executing)
	y.branch("b", state.Executing)
	lock := enginetest.Must(conductor.Hold(project.At(y.Dir, "a").Dir()))(t)
	list := y.step(1)
	want := map[string]string{"a": skip, "b": "park"} // the run on a has the one place
	for _, d := range list {
		if d.Do != want[d.Name] {
			t.Errorf("%+v", d)
		}
	}
	if len(y.agents()) > 0 {
		t.Errorf("at work: %v", y.agents())
	}
	lock.Close()
	defer enginetest.Must(conductor.Hold(Dir(y.Dir)))(t).Close()
	var busy *conductor.BusyError
	if _, err := y.try(1); !errors.As(err, &busy) {
		t.Errorf("beside another step: %v", err)
	}
}

// TestAMergeThatDoesNotFitStopsNobody: it is not tried again before something changes, and others are merged.
func TestAMergeThatDoesNotFitStopsNobody(t *testing.T) {
	t.Parallel()
	y := newBench(t, "[branches]\non_approve = \"merge\"\n")
	y.branch("a", state.Complete)
	y.branch("b", state.Complete)
	y.Write("a.txt", "mine\n")
	y.Git("add", "a.txt")
	merges := func() (list []string) {
		for _, d := range y.step(2) {
			if d.Kind == Merge {
				list = append(list, d.Name+" "+d.Why)
			}
		}
		return list
	}
	if got := merges(); len(got) != 1 || !strings.Contains(got[0], "a not merged: ") {
		t.Errorf("the first step: %v", got)
	}
	if got := merges(); len(got) != 1 || !strings.HasPrefix(got[0], "b") || strings.Contains(got[0], "not merged") {
		t.Errorf("the second step: %v", got)
	}
	merges() // the project has changed
	if got := merges(); len(got) != 0 {
		t.Errorf("it is tried again: %v", got)
	}
}

// TestAPipelineThatWaitsBecomesNoBranch: ferrus pipeline starts it.
func TestAPipelineThatWaitsBecomesNoBranch(t *testing.T) {
	y := newBench(t, "")
	it, err := queue.PutPipeline(y.Path(".ferrus"), "p", "a topic")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range y.step(2) {
		t.Errorf("%+v", d)
	}
	if list, err := queue.List(y.Path(".ferrus")); err != nil || len(list) != 1 || list[0].Name != it.Name {
		t.Errorf("%+v waits, %v", list, err)
	}
}
