//go:build unix

package schedule

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/project/queue"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

const merges = "[branches]\non_approve = \"merge\"\n"

// queued puts a task into the queue.
func (y *yard) queued(name, task string) {
	y.t.Helper()
	_, err := queue.Put(filepath.Join(y.dir, ".ferrus"), name, task)
	must(y.t, err)
}

// TestSoManyTasksAtATimeAndNoMore: of all that could go on only so many do, and what comes into the queue meanwhile is taken.
func TestSoManyTasksAtATimeAndNoMore(t *testing.T) { rounds(t, soMany) }

func soMany(t *testing.T) {
	y := newYard(t, merges)
	y.say("hold")
	y.branch("write one.txt", "one")
	y.queued("two", "write two.txt")
	y.queued("three", "write three.txt")
	ended := make(chan error, 1)
	go func() {
		out, err := y.run(t.Context(), 2)
		if err == nil && out.Exit != 0 {
			err = errors.New("not all is well")
		}
		ended <- err
	}()
	kit.Eventually(t, "two are at work", func() bool { return strings.Count(text(y.side, "log"), "\n") >= 2 })
	y.queued("four", "write four.txt")
	must(t, os.Remove(filepath.Join(y.side, "hold")))
	must(t, <-ended)
	log := text(y.side, "log")
	if strings.Contains(log, "xxx") || !strings.Contains(log, "xx") || strings.Count(log, "\n") != 4 {
		t.Errorf("at work together, one x each:\n%s", log)
	}
	now, most := 0, 0
	for _, e := range y.events {
		switch e.Kind {
		case Begun:
			now++
		case Left:
			now--
		}
		most = max(most, now)
	}
	if most != 2 {
		t.Errorf("%d were conducted at a time", most)
	}
	for _, name := range []string{"one", "two", "three", "four"} {
		if text(y.dir, name+".txt") != name+"\n" {
			t.Errorf("%s is not merged", name)
		}
	}
}

// TestAFleetThatIsKilledGoesOn: no task is done twice, none is lost, and a task of the queue is taken once. While one is at
// work another is refused.
func TestAFleetThatIsKilledGoesOn(t *testing.T) { rounds(t, killedOnce) }

func killedOnce(t *testing.T) {
	y := newYard(t, merges)
	y.say("hold")
	y.queued("one", "write one.txt")
	y.queued("two", "write two.txt")
	// The third was cut off when it had its branch, and the fourth when that had its task.
	y.queued("three", "write three.txt")
	y.queued("four", "write four.txt")
	_, err := branch.Create(t.Context(), y.on(""), branch.Fork{Names: []string{"three"}, Own: true})
	must(t, err)
	y.branch("write four.txt", "four")
	first := y.start("fleet")
	kit.Eventually(t, "two are at work", func() bool { return strings.Count(text(y.side, "log"), "\n") >= 2 })
	_, err = y.run(t.Context(), 2)
	if busy := (*conductor.BusyError)(nil); !errors.As(err, &busy) {
		t.Errorf("a second fleet: %v", err)
	}
	ends(t, first)
	must(t, os.Remove(filepath.Join(y.side, "hold")))
	out, err := y.run(t.Context(), 2)
	must(t, err)
	if out.Exit != 0 || len(out.Tasks) != 4 {
		t.Errorf("%+v\n%v", out, y.events)
	}
	for _, name := range []string{"one", "two", "three", "four"} {
		if n, m := y.count(name, state.CreateTask), y.count(name, state.Submit); n != 1 || m != 1 || text(y.dir, name+".txt") != name+"\n" {
			t.Errorf("%s was begun %d times and submitted %d times", name, n, m)
		}
		if n := y.count(name, state.Merge); n != 1 {
			t.Errorf("%s was merged %d times", name, n)
		}
	}
	if n := y.count("", state.Merge); n != 4 {
		t.Errorf("%d merges", n)
	}
	if taken, _ := filepath.Glob(filepath.Join(y.dir, ".ferrus/queue/taken/*.md")); len(taken) != 4 && !sharedtest.On() {
		t.Errorf("taken: %q", taken)
	}
	if left, _ := filepath.Glob(filepath.Join(y.dir, ".ferrus/queue/*.md")); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
	if left, err := queue.List(filepath.Join(y.dir, ".ferrus")); len(left) != 0 || err != nil {
		t.Errorf("%v wait, %v", left, err)
	}
}

// TestATaskThatIsConductedIsNotConductedAgain because it still waits in the queue, as after the end of a fleet that had taken it.
func TestATaskThatIsConductedIsNotConductedAgain(t *testing.T) {
	t.Parallel()
	y := newYard(t, merges)
	y.queued("one", "write one.txt")
	y.branch("write one.txt", "one")
	_, err := y.run(t.Context(), 2)
	must(t, err)
	var begun int
	for _, e := range y.events {
		if e.Kind == Begun {
			begun++
		}
	}
	if left, err := queue.List(filepath.Join(y.dir, ".ferrus")); begun != 1 || len(y.told("one", Trouble)) != 0 || len(left) != 0 || err != nil {
		t.Errorf("begun %d times, %v wait, %v; %v", begun, left, err, y.events)
	}
}

// TestOneOfSeveralAttemptsIsMerged: the one that was selected, or that alone of which something came.
func TestOneOfSeveralAttemptsIsMerged(t *testing.T) {
	for _, c := range []struct {
		name, fails string
		selected    string
		merged      string
	}{
		{"one is approved", "fail try.2 fail try.3 when try.1 waits", "", "try.1"},
		{"the first failed", "fail try.1 fail try.2", "", "try.3"},
		{"two are approved, and then one is selected", "fail try.3", "try.2", "try.2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			y := newYard(t, "[limits]\nmax_review_cycles = 1\n"+merges)
			y.branch("write a.txt "+c.fails, "try.1", "try.2", "try.3")
			_, err := y.run(t.Context(), 3)
			must(t, err)
			if c.selected != "" {
				if got := text(y.dir, "a.txt"); got != "" {
					t.Errorf("before one was selected: %q", got)
				}
				for name, other := range map[string]string{"try.1": "try.2", "try.2": "try.1"} {
					if told := strings.Join(y.told(name, Unmerged), "\n"); strings.Count(told, other+" is approved, too") != 1 {
						t.Errorf("%s was told %q", name, told)
					}
				}
				_, err := y.on(c.selected).Select(t.Context(), "")
				must(t, err)
				_, err = y.run(t.Context(), 3)
				must(t, err)
			}
			if got := text(y.dir, "a.txt"); got != c.merged+"\n" {
				t.Errorf("merged %q, want %s; %v", got, c.merged, y.events)
			}
		})
	}
}

// TestAnotherTaskOfTheProjectIsInTheWay: it is reported once, and what waits for it is merged when it is over.
func TestAnotherTaskOfTheProjectIsInTheWay(t *testing.T) {
	t.Parallel()
	y := newYard(t, merges)
	_, err := y.on("").CreateTask(t.Context(), "Something else.", "")
	must(t, err)
	y.branch("write one.txt", "one")
	out, err := y.run(t.Context(), 1)
	must(t, err)
	if told := y.told("one", Unmerged); out.Exit != exitPerson || len(told) != 1 || !strings.Contains(told[0], "own task has not ended") {
		t.Errorf("exit %d, told %q", out.Exit, told)
	}
	_, err = y.on("").Reset(t.Context(), "")
	must(t, err)
	if _, err = y.run(t.Context(), 1); err != nil || text(y.dir, "one.txt") != "one\n" {
		t.Errorf("not merged then: %v", err)
	}
}

// TestAMergeThatWasCutOffIsFinished, before anything else, whichever process began it.
func TestAMergeThatWasCutOffIsFinished(t *testing.T) {
	t.Parallel()
	y := newYard(t, "")
	y.branch("write one.txt", "one")
	_, err := y.run(t.Context(), 1)
	must(t, err)
	dies := errors.New("the process dies here")
	if _, err := branch.Merge(t.Context(), y.on(""), y.on("one"), func() error { return dies }); !errors.Is(err, dies) {
		t.Fatal(err)
	}
	_, err = y.run(t.Context(), 1)
	must(t, err)
	if text(y.dir, "one.txt") != "one\n" || y.task("").Returning != (state.FileMove{}) {
		t.Errorf("it is not finished: %v", y.events)
	}
}

// TestAFleetThatIsStoppedLeavesAllAsItWas: its agents are gone, and the tasks go on later.
func TestAFleetThatIsStoppedLeavesAllAsItWas(t *testing.T) {
	t.Parallel()
	y := newYard(t, merges)
	y.say("hold")
	y.branch("write one.txt", "one", "two")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- second(y.run(ctx, 2)) }()
	kit.Eventually(t, "two are at work", func() bool { return strings.Count(text(y.side, "log"), "\n") >= 2 })
	cancel()
	if err := <-ended; !errors.Is(err, conductor.ErrStopped) {
		t.Errorf("%v", err)
	}
	for _, name := range []string{"one", "two"} {
		if now := y.task(name); now.State != state.Executing {
			t.Errorf("%s is %s", name, now.State)
		}
		if _, taken := conductor.Slot(y.on(name).Engine(), "executor").Taken(); taken {
			t.Errorf("the agent of %s is still there", name)
		}
	}
}

// TestATaskThatCannotBeTakenIsTriedOnce in a run, and is no success.
func TestATaskThatCannotBeTakenIsTriedOnce(t *testing.T) {
	t.Parallel()
	y := newYard(t, merges+"setup = \"echo >>../../../tries; exit 4\"\n")
	y.queued("one", "write one.txt")
	out, err := y.run(t.Context(), 1)
	must(t, err)
	if tries := text(y.dir, "tries"); out.Exit != exitFailure || tries != "\n" || len(y.told("one", Trouble)) != 1 {
		t.Errorf("exit %d, tried %q, told %q", out.Exit, tries, y.told("one", Trouble))
	}
}

// TestTheCommandsOfABranchAreFollowed: those of its set-up and of its merge, too, each before the event that it leads to.
func TestTheCommandsOfABranchAreFollowed(t *testing.T) {
	t.Parallel()
	y := newYard(t, merges+"setup = \"true\"\n")
	y.queued("one", "write one.txt")
	y.queued("two", "write two.txt") // one of them is merged into what the other has changed
	followed := map[string][]string{}
	opts := options(y.dir, 2, func(e Event) {
		y.mu.Lock()
		defer y.mu.Unlock()
		followed[e.Branch] = append(followed[e.Branch], string(e.Kind))
	})
	opts.Follow = func(branch, log string) {
		y.mu.Lock()
		defer y.mu.Unlock()
		followed[branch] = append(followed[branch], filepath.Ext(log))
	}
	must(t, second(Run(t.Context(), y.dir, opts)))
	merges := 0
	for _, name := range []string{"one", "two"} {
		if is := strings.Join(followed[name], " "); !strings.HasPrefix(is, ".log taken ") {
			t.Errorf("%s: %s", name, is)
		} else if strings.Contains(is, "merging .log merged") {
			merges++
		}
	}
	if merges != 1 {
		t.Errorf("%d merges were followed: %v", merges, followed)
	}
}

func second[T any](_ T, err error) error { return err }
