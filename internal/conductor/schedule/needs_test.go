//go:build unix

package schedule

import (
	"errors"
	"fmt"
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
