package run

import (
	"bytes"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/conductor/schedule"
	"github.com/ferrus-go/ferrus/internal/status"
)

// TestAQuestionIsOpenUntilTheTaskMoves: what is typed meanwhile answers it, be the agent that asked gone by then.
func TestAQuestionIsOpenUntilTheTaskMoves(t *testing.T) {
	w := newWatcher((&cli.App{Out: io.Discard}), nil, false)
	for _, step := range []struct {
		event conductor.Event
		open  string
	}{
		{conductor.Event{Kind: conductor.Moved}, ""},
		{conductor.Event{Kind: conductor.Asked, Run: "q1"}, "q1"},
		{conductor.Event{Kind: conductor.Ended, Ended: &process.Run{}}, "q1"},
		{conductor.Event{Kind: conductor.Ending}, "q1"},
		{conductor.Event{Kind: conductor.Asked, Run: "q2"}, "q2"},
		{conductor.Event{Kind: conductor.Moved}, ""},
	} {
		if w.tell(step.event); w.open != step.open {
			t.Errorf("after %s the open question is %q", step.event.Kind, w.open)
		}
	}
}

// TestTheSandboxOfAnAgentIsSaid at its start, when it is found, while it works, and at its end where it had replaced .git; without
// one nothing is.
func TestTheSandboxOfAnAgentIsSaid(t *testing.T) {
	for _, mechanism := range []string{"landlock", ""} {
		var out bytes.Buffer
		a := &cli.App{Out: &out}
		w := newWatcher(a, nil, true)
		run := process.Run{Name: "executor-1", Agent: "codex", Sandbox: mechanism, Replaced: mechanism != ""}
		said := map[string]func(){
			"start": func() {
				w.tell(conductor.Event{Kind: conductor.Started, Run: run.Name, Agent: run.Agent, Sandbox: run.Sandbox})
			},
			"found": func() {
				w.tell(conductor.Event{Kind: conductor.Found, Run: run.Name, Agent: run.Agent, Sandbox: run.Sandbox})
			},
			"status": func() { a.ShowAgent(status.AgentReport{Run: run}) },
		}
		for what, say := range said {
			out.Reset()
			if say(); !strings.Contains(out.String(), "codex") || strings.Contains(out.String(), "landlock") != (mechanism != "") || strings.Contains(out.String(), "sandbox") != (mechanism != "") {
				t.Errorf("%s, in %q: %s", what, mechanism, &out)
			}
		}
		if end := cli.DescribeEnd(run); strings.Contains(end, ".git") != run.Replaced {
			t.Errorf("the end, in %q: %s", mechanism, end)
		}
	}
}

// TestChecksBeforeAnAgentShowThatTheyRun, with the last line of their output, until something else happens.
func TestChecksBeforeAnAgentShowThatTheyRun(t *testing.T) {
	log := filepath.Join(t.TempDir(), "trial.log")
	if err := os.WriteFile(log, []byte("half done\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tty := range []bool{true, false} {
		for name, next := range map[string]func(*watcher){
			"an event": func(w *watcher) { w.tell(conductor.Event{Kind: conductor.Stopping}) },
			"a view":   func(w *watcher) { w.show(conductor.View{}) },
			"the end":  (*watcher).close,
		} {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				w := newWatcher(&cli.App{Out: &out, OutTTY: tty}, nil, true)
				w.tell(conductor.Event{Kind: conductor.Trying, Sandbox: "bubblewrap"})
				w.follow(log)
				time.Sleep(82*time.Second + time.Millisecond)
				w.mu.Lock()
				shown := strings.Contains(out.String(), "running the checks for 82 s: half done") || !tty && strings.Contains(out.String(), "running the checks for 60 s: half done")
				w.mu.Unlock()
				if !shown {
					t.Errorf("after 82 s: %s", &out)
				}
				next(w)
				before := out.Len()
				time.Sleep(time.Hour)
				if out.Len() != before {
					t.Errorf("after %s it goes on: %s", name, &out)
				}
			})
		}
	}
	var out bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		w := newFleetWatcher(&cli.App{Out: &out})
		w.hear("b", conductor.Event{Kind: conductor.Trying})
		w.follow("b", log)
		w.follow("c", filepath.Join(t.TempDir(), "of another branch"))
		time.Sleep(82*time.Second + time.Millisecond)
		w.hear("c", conductor.Event{Kind: conductor.Stopping})
		w.hear("b", conductor.Event{Kind: conductor.Stopping})
		time.Sleep(time.Hour)
	})
	if strings.Count(out.String(), "running the checks for") != 2 || strings.Count(out.String(), "s: half done") != 2 || strings.Count(out.String(), "running commands for") != 2 {
		t.Errorf("of a branch: %s", &out)
	}
}

// TestBranchesThatWaitHaveALiveLineEach on a terminal, below what happens on others: of checks, of a merge, and of commands that no
// event has announced, as the set-up of a task that is taken from the queue.
func TestBranchesThatWaitHaveALiveLineEach(t *testing.T) {
	log := filepath.Join(t.TempDir(), "setup.log")
	if err := os.WriteFile(log, []byte("half done\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		w := newFleetWatcher(&cli.App{Out: &out, OutTTY: true})
		w.hear("checked", conductor.Event{Kind: conductor.Trying})
		w.tell(schedule.Event{Branch: "merged", Kind: schedule.Merging})
		w.follow("new", log)
		time.Sleep(9*time.Second + time.Millisecond)
		shown := func(want ...string) {
			t.Helper()
			synctest.Wait()
			w.mu.Lock()
			defer w.mu.Unlock()
			if !slices.Equal(slices.Sorted(maps.Values(w.lines)), want) {
				t.Errorf("%q, want %q", w.lines, want)
			}
			end := out.String()[strings.LastIndex(out.String(), "\x1b[J")+len("\x1b[J"):]
			for _, line := range want {
				if !strings.Contains(end, line) {
					t.Errorf("the end of the screen has no %q: %q", line, end)
				}
			}
		}
		shown("merging for 9 s", "running commands for 9 s: half done", "running the checks for 9 s")
		w.tell(schedule.Event{Branch: "new", Kind: schedule.Taken})
		shown("merging for 9 s", "running the checks for 9 s")
		w.tell(schedule.Event{Branch: "merged", Kind: schedule.Merged})
		w.close()
		shown()
		before := out.Len()
		time.Sleep(time.Hour)
		if out.Len() != before {
			t.Errorf("after the end it goes on: %s", &out)
		}
	})
}
