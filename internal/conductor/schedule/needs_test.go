//go:build unix

package schedule

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/project/queue"
	"github.com/ferrus-go/ferrus/internal/state"
)

// TestADependentIsBegunOnce, with the work that it needs, wherever the process that takes it is cut off; and the one that needs it knows its id before its name
// is free.
func TestADependentIsBegunOnce(t *testing.T) {
	t.Parallel()
	h := func(y *bench) *engine.Session { return y.Machine.Human() }
	cut := []func(y *bench, c *queue.Claim) error{
		func(*bench, *queue.Claim) error { return nil },
		func(y *bench, c *queue.Claim) error { // the branch is there, without a task
			f, err := began(t.Context(), h(y), c.Item)
			if err == nil {
				_, err = branch.Create(t.Context(), h(y), f)
			}
			return err
		},
		func(y *bench, c *queue.Claim) error { return enginetest.Second(makeBranch(t.Context(), h(y), c)) },
		func(y *bench, c *queue.Claim) error {
			task, err := makeBranch(t.Context(), h(y), c)
			recordTaken(h(y).Engine(), c.Name, task.TaskID)
			return err
		},
	}
	bad := 0
	for i, cutOff := range cut {
		if !t.Run(fmt.Sprint(i), func(t *testing.T) {
			y := newBench(t, "")
			y.branch("a", state.Complete)
			for _, name := range []string{"b", "c"} {
				needs := map[string]string{"b": "a", "c": "b"}[name]
				enginetest.Must(branch.Enqueue(h(y).Engine(), name, "Do "+name+".", branch.Queueing{Needs: []string{needs}}))(t)
			}
			claim := enginetest.Must(queue.Take(t.Context(), enginetest.Must(queue.Find(y.Path(".ferrus"), "b"))(t)))(t)
			if err := errors.Join(cutOff(y, claim), claim.Close()); err != nil {
				t.Fatal(err)
			}
			y.step(3)
			y.step(3)
			on := y.On("b")
			e := on.Human().Engine()
			now := enginetest.View(t, on.Human()).Task
			if n := enginetest.Count(t, e, state.CreateTask); n != 1 || len(now.BeganWith) != 1 || now.BeganWith[0].Branch != "a" || on.Read("a.txt") != "a\n" {
				t.Errorf("%d tasks were begun; it began with %+v", n, now.BeganWith)
			}
			list := enginetest.Must(queue.List(y.Path(".ferrus")))(t)
			if len(list) != 1 || list[0].Name != "c" || fmt.Sprint(list[0].Needs) != "[b="+now.TaskID+"]" {
				t.Errorf("there wait %+v, and the task of b is %s", list, now.TaskID)
			}
		}) {
			bad++
		}
	}
	t.Logf("rig: cases=%d bad=%d", len(cut), bad)
}

// TestADependentIsBegunOnceAfterAKill: the process that runs all is killed between the end of what is needed and the beginning of what needs it, or right
// after that.
func TestADependentIsBegunOnceAfterAKill(t *testing.T) {
	const keeps = ""
	for _, c := range []struct{ toml, dies string }{{merges, "merged a"}, {merges, "taken b"}, {merges, "begun b"}, {keeps, "left a"}, {keeps, "taken b"}} {
		t.Run(c.dies, func(t *testing.T) {
			t.Parallel()
			y := newYard(t, c.toml)
			for _, name := range []string{"a", "b"} {
				q := branch.Queueing{}
				if name == "b" {
					q.Needs = []string{"a"}
				}
				enginetest.Must(branch.Enqueue(y.on("").Engine(), name, "write "+name+".txt", q))(t)
			}
			died := y.start("fleet", diesEnv+"="+c.dies).Wait()
			var exit *exec.ExitError
			if !errors.As(died, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("the first ended with %v", died)
			}
			if out, err := y.run(t.Context(), 2); err != nil || out.Exit != 0 || len(out.Tasks) != 2 {
				t.Errorf("%+v, %v", out, err)
			}
			for _, name := range []string{"a", "b"} {
				if n, m := y.count(name, state.CreateTask), y.count(name, state.Submit); n != 1 || m != 1 {
					t.Errorf("%s was begun %d times and submitted %d times", name, n, m)
				}
			}
			if is := y.task("b"); text(y.on("b").Engine().Place().Work, "a.txt") != "a\n" || c.toml == keeps != (len(is.BeganWith) == 1) {
				t.Errorf("b began with %+v", is.BeganWith)
			}
			if list, err := queue.List(filepath.Join(y.dir, ".ferrus")); len(list) > 0 || err != nil {
				t.Errorf("%v wait, %v", list, err)
			}
		})
	}
}

// TestAConflictOfNeedsIsRecorded, so that the task waits for a person and is tried again when what it begins with has changed.
func TestAConflictOfNeedsIsRecorded(t *testing.T) {
	t.Parallel()
	y := newBench(t, "")
	for _, name := range []string{"a", "b"} {
		y.branch(name, state.Idle)
		y.On(name).Does("same.txt", name+"\n")
	}
	enginetest.Must(branch.Enqueue(y.Machine.Human().Engine(), "c", "Do c.", branch.Queueing{Needs: []string{"a", "b"}}))(t)
	const why = "the work of b does not fit what else the task begins with: same.txt"
	list, err := y.try(3)
	for _, d := range list {
		if d.Kind == Queue && d.Name == "c" && !strings.Contains(fmt.Sprint(d.Err), why) {
			t.Errorf("taken: %+v", d)
		}
	}
	waits := func() (why string) {
		for _, d := range y.step(3) {
			if d.Kind == Queue && d.Name == "c" {
				why += d.Do + ": " + d.Why
			}
		}
		return why
	}
	if got := waits(); err != nil || !strings.HasPrefix(got, "wait: "+why) {
		t.Errorf("then %q, %v", got, err)
	}
	if it := enginetest.Must(queue.Find(y.Path(".ferrus"), "c"))(t); it.Conflict.Branch != "b" || it.Text != "Do c." {
		t.Errorf("recorded: %+v", it)
	}
	enginetest.Must(y.On("b").Human().Reopen(t.Context(), "Leave same.txt as it is."))(t)
	if got := waits(); got != "wait: waits for b" {
		t.Errorf("while b is worked on %q", got)
	}
	y.On("b").Does("same.txt", "a\n")
	waits()
	if now := enginetest.View(t, y.On("c").Human()).Task; len(now.BeganWith) != 2 {
		t.Errorf("c began with %+v", now.BeganWith)
	}
}

// TestAWaitNamesItsCause in the decisions of a step, and what a person wrote is recorded by it.
func TestAWaitNamesItsCause(t *testing.T) {
	t.Parallel()
	y := newBench(t, "")
	y.branch("a", state.AwaitingHuman)
	y.Write(".ferrus/queue/b.md", "needs: a\n\nDo b.")
	y.Write(".ferrus/queue/c.md", "needs: nothing\n\nDo c.")
	why := map[string]string{}
	for _, d := range y.step(3) {
		if d.Kind == Queue {
			why[d.Name] = d.Do + ": " + d.Why
		}
	}
	if want := "map[b:wait: waits for a c:wait: needs nothing, and there is no such task]"; fmt.Sprint(why) != want {
		t.Errorf("decided: %v, want %s", why, want)
	}
	if it := enginetest.Must(queue.Find(y.Path(".ferrus"), "b"))(t); len(it.Needs) != 1 || len(it.Needs[0].IDs) != 1 || it.Needs[0].IDs[0] != enginetest.View(t, y.On("a").Human()).Task.TaskID {
		t.Errorf("recorded: %+v", it.Needs)
	}
}
