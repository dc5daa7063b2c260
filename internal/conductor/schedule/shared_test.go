//go:build unix

package schedule

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/queue"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/postgrestest"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// begun counts the tasks that the machine of a branch has had.
func begun(t *testing.T, m *enginetest.Machine, name string) int {
	t.Helper()
	return strings.Count(sharedtest.Journal(t, m.Dir, name), `"event":"`+string(state.CreateTask)+`"`)
}

// TestATaskThatIsCutOffIsFinishedOnAnyComputer: whatever step its taking was cut off after, the next computer finishes it, and its branch has one task.
func TestATaskThatIsCutOffIsFinishedOnAnyComputer(t *testing.T) {
	a, b, _ := enginetest.Computers(t, enginetest.Gate("true"))
	steps := []func(name string, c *queue.Claim) error{
		func(name string, _ *queue.Claim) error {
			_, err := branch.Create(t.Context(), a.Human(), branch.Fork{Names: []string{name}, Own: true})
			return err
		},
		func(name string, c *queue.Claim) error {
			_, err := a.On(name).Human().CreateTask(t.Context(), c.Text, "")
			return err
		},
		func(_ string, c *queue.Claim) error { return c.Done() },
	}
	for cut := range len(steps) + 1 {
		for where, next := range map[string]*enginetest.Machine{"here": a, "there": b} {
			name := where + "-" + string(rune('0'+cut))
			it, err := queue.Put(a.Path(".ferrus"), name, "Do "+name+".")
			must(t, err)
			c, err := queue.Take(t.Context(), it)
			must(t, err)
			for _, do := range steps[:cut] {
				must(t, do(name, c))
			}
			if other, err := queue.Take(t.Context(), it); other != nil || err != nil {
				t.Errorf("%s: it is claimed twice, %v", name, err)
			}
			must(t, c.Close())
			// The next computer reads the queue.
			list, err := queue.List(next.Path(".ferrus"))
			must(t, err)
			if done := cut == len(steps); len(list) == 0 != done {
				t.Fatalf("%s: %d wait", name, len(list))
			}
			for _, it := range list {
				task, err := Take(t.Context(), next.Human(), it)
				if err != nil || task == nil || task.Title != "Do "+name+"." {
					t.Errorf("%s: %+v, %v", name, task, err)
				}
			}
			if list, err := queue.List(a.Path(".ferrus")); len(list) > 0 || err != nil {
				t.Errorf("%s waits still, %v", name, err)
			}
			if n := begun(t, a, name); n != 1 {
				t.Errorf("%s was begun %d times", name, n)
			}
			if here := project.At(next.Dir, name).Here(); cut < 2 && here != nil {
				t.Errorf("%s: the work tree is not on the computer that made the branch: %v", name, here)
			}
		}
	}
}

// TestATaskIsBegunOnceByManyComputers that read the same queue at once.
func TestATaskIsBegunOnceByManyComputers(t *testing.T) {
	a, b, _ := enginetest.Computers(t, enginetest.Gate("true"))
	names := []string{"one", "two", "three"}
	for _, name := range names {
		_, err := queue.Put(b.Path(".ferrus"), name, "Do "+name+".")
		must(t, err)
	}
	var all sync.WaitGroup
	for _, m := range []*enginetest.Machine{a, b} {
		s := m.Human()
		for range 2 {
			all.Go(func() {
				for {
					list, err := queue.List(m.Path(".ferrus"))
					if err != nil || len(list) == 0 {
						if err != nil {
							t.Error(err)
						}
						return
					}
					for _, it := range list {
						if _, err := Take(t.Context(), s, it); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
	}
	all.Wait()
	for _, name := range names {
		if n := begun(t, a, name); n != 1 {
			t.Errorf("%s was begun %d times", name, n)
		}
	}
}

// TestATaskOfAnotherComputerWakesANode, which otherwise looks again after an hour.
func TestATaskOfAnotherComputerWakesANode(t *testing.T) {
	a, b, _ := enginetest.Computers(t, enginetest.Gate("true"))
	ctx, stop := context.WithCancel(t.Context())
	events, ended := make(chan Event, 100), make(chan error, 1)
	go func() {
		_, err := Run(ctx, a.Dir, Options{Parallel: 1, Node: true, Every: time.Hour, Caller: person, Engine: a.Opts, Tell: func(e Event) { events <- e },
			Conduct: func(string, *engine.Engine) (conductor.Options, error) {
				return conductor.Options{}, errors.New("nobody works here")
			}})
		ended <- err
	}()
	for _, name := range []string{"one", "two"} {
		_, err := queue.Put(b.Path(".ferrus"), name, "Do "+name+".")
		must(t, err)
		for _, kind := range []EventKind{Taken, Trouble} {
			select {
			case e := <-events:
				if e.Branch != name || e.Kind != kind {
					t.Errorf("%+v, not %s of %s", e, kind, name)
				}
			case <-time.After(kit.Patience):
				t.Fatalf("%s: never %s", name, kind)
			}
		}
	}
	stop()
	if err := <-ended; !errors.Is(err, conductor.ErrStopped) {
		t.Error(err)
	}
}

// TestAPersonsFilesAreNotConductedElsewhere: the project's own task is conducted on another computer only if that has the same files.
func TestAPersonsFilesAreNotConductedElsewhere(t *testing.T) {
	a, b, _ := enginetest.Computers(t, enginetest.Gate("true"))
	a.Write("code.txt", "of the first computer\n")
	if _, err := a.Human().CreateTask(t.Context(), "Do it.", ""); err != nil {
		t.Fatal(err)
	}
	look := func() error {
		turn, err := conductor.Look(b.Engine(), conductor.Options{FetchFiles: func(ctx context.Context, e *engine.Engine) error {
			return branch.Bring(ctx, e.Session(b.Human().Caller))
		}})
		if err == nil {
			err = turn.Close()
		}
		return err
	}
	enginetest.Refused(t, look(), refusal.WrongState, "the project's own work tree is yours")
	b.Write("code.txt", "of the first computer\n")
	if err := look(); err != nil {
		t.Error(err)
	}
}

// TestAnIdleNodeReadsNoTexts of tasks: not of those that were taken, of one that waits for somebody else, or of a branch that has not changed.
func TestAnIdleNodeReadsNoTexts(t *testing.T) {
	a, b, _ := enginetest.Computers(t, enginetest.Gate("true"))
	at, err := project.At(b.Dir, "").Shared()
	must(t, err)
	proxy := postgrestest.NewProxy(t, at.URL)
	far := *at
	far.URL = proxy.URL
	must(t, project.At(b.Dir, "").Share(&far))
	t.Cleanup(func() { far.Close() })

	text := strings.Repeat("A line of a long task.\n", 5000)
	for i := range 30 {
		it, err := queue.Put(a.Path(".ferrus"), fmt.Sprintf("taken-%d", i), text)
		must(t, err)
		c, err := queue.Take(t.Context(), it)
		must(t, err)
		must(t, errors.Join(c.Done(), c.Close()))
	}
	_, err = queue.PutPipeline(a.Path(".ferrus"), "review", text)
	must(t, err)
	// The newest line of this branch has the text, and no conductor can work on it.
	_, err = branch.Create(t.Context(), a.Human(), branch.Fork{Names: []string{"one"}, Own: true})
	must(t, err)
	_, err = a.On("one").Human().CreateTask(t.Context(), text, "")
	must(t, err)

	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := Run(ctx, b.Dir, Options{Parallel: 1, Node: true, Caller: person, Engine: b.Opts, Tell: func(Event) {},
			Conduct: func(string, *engine.Engine) (conductor.Options, error) {
				return conductor.Options{}, errors.New("nobody works here")
			}})
		ended <- err
	}()
	more := func(n int) (bytes int) {
		before := proxy.Passed(postgrestest.ToClient)
		every := time.NewTicker(10 * time.Millisecond)
		defer every.Stop()
		for to := proxy.Requests() + n; proxy.Requests() < to; <-every.C {
		}
		return proxy.Passed(postgrestest.ToClient) - before
	}
	more(60) // it begins
	if n := more(25); n > len(text)/2 {
		t.Errorf("25 requests of an idle node have brought %d bytes; a text has %d", n, len(text))
	}
	stop()
	if err := <-ended; !errors.Is(err, conductor.ErrStopped) {
		t.Error(err)
	}
}
