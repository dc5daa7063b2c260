//go:build unix

package e2e

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// question is what a person is asked now.
func (w *world) question() string {
	w.t.Helper()
	e := w.engine()
	snap, err := e.View()
	if err != nil {
		w.t.Fatal(err)
	}
	text, err := store.Text(e.Store(), snap, state.QuestionDoc)
	if err != nil {
		w.t.Fatal(err)
	}
	return text
}

func (w *world) answer() {
	w.t.Helper()
	if _, err := w.human().Answer(w.t.Context(), "", "Go on."); err != nil {
		w.t.Fatal(err)
	}
}

// TestAgentsThatComeToNothingBecomeAQuestion after exactly as many as there may be, and as many again after the answer.
func TestAgentsThatComeToNothingBecomeAQuestion(t *testing.T) {
	t.Parallel()
	w := newProject(t, conducted+"[limits]\nmax_executor_dispatches = 3\n", plans{"executor": strings.Repeat("wait_for_task say:I_give_up\nexit:1\n", 3) + "wait_for_task submit",
		"reviewer": approves})
	var waits []int
	patient := func(o *conductor.Options) {
		o.Patience.Instant = time.Nanosecond // none of them ends at once
		o.BackOff = func(n int) time.Duration {
			if !slices.Contains(waits, n) {
				waits = append(waits, n)
			}
			return time.Duration(n) * 20 * time.Millisecond
		}
	}
	for round, want := range []string{"executor 3", "executor 6"} {
		out := w.run(patient)
		if out.Exit != 6 || out.Task.State != state.AwaitingHuman || w.started() != want {
			t.Fatalf("round %d: exit code %d in %s after %s", round, out.Exit, out.Task.State, w.started())
		}
		if q := w.question(); !strings.HasPrefix(q, "3 agents in a row, started as executor, exited without progress") || !strings.Contains(q, "ferrus logs executor-") {
			t.Errorf("asked %q", q)
		}
		w.deserted()
		w.answer()
	}
	if !slices.Equal(waits, []int{1, 2, 3}) {
		t.Errorf("waited after %v failures", waits)
	}
	list := w.runs()
	for i := range 2 {
		if gap := list[i+1].Started.Sub(list[i].Ended); gap < time.Duration(i+1)*20*time.Millisecond {
			t.Errorf("after %d failures the next one started %v later", i+1, gap)
		}
	}
	if out := w.run(patient); out.Exit != 0 || w.started() != "executor 7, reviewer 1" {
		t.Errorf("then: exit code %d after %s", out.Exit, w.started())
	}
}

// TestAnAgentThatEndsAtOnceIsTriedTwice, without a wait, and as often again after the answer; one that did something is no such
// agent.
func TestAnAgentThatEndsAtOnceIsTriedTwice(t *testing.T) {
	t.Parallel()
	atOnce := func(o *conductor.Options) {
		o.Patience.Instant = time.Hour
		o.BackOff = func(n int) time.Duration { return time.Duration(n) * time.Hour }
	}
	w := newProject(t, strings.ReplaceAll(conducted, "exec SELF SIDE", "exec /nope/agent"), nil)
	for round := range 2 {
		out := w.run(atOnce)
		if q := w.question(); out.Exit != 6 || len(out.Runs) != 2*(round+1) || !strings.Contains(q, "command cannot work as executor: it ended at once, twice") ||
			!strings.Contains(q, "not found") || !strings.Contains(q, "[hq.executor] in ferrus.toml") || !strings.Contains(q, "ferrus config accept") {
			t.Fatalf("round %d: exit code %d after %d runs, asked %q", round, out.Exit, len(out.Runs), q)
		}
		w.answer()
	}
}

// TestARateLimitIsWaitedForAndSpendsNothing: one start is all that there is.
func TestARateLimitIsWaitedForAndSpendsNothing(t *testing.T) {
	t.Parallel()
	limit := "say:error:_429_Too_Many_Requests,_try_again_in_0.3s exit:1\n"
	w := newProject(t, conducted+"[limits]\nmax_executor_dispatches = 1\n", plans{"executor": limit + limit + "wait_for_task submit", "reviewer": approves})
	parked := 0
	out := w.run(func(o *conductor.Options) {
		o.Tell = func(ev conductor.Event) {
			if ev.Kind == conductor.Parked && strings.Contains(ev.Text, "rate limit") && !ev.Until.IsZero() {
				parked++
			}
		}
	})
	if out.Exit != 0 || w.started() != "executor 3, reviewer 1" || parked != 2 {
		t.Errorf("exit code %d after %s, parked %d times: %+v", out.Exit, w.started(), parked, out.Runs)
	}
	if gap := out.Runs[1].Started.Sub(out.Runs[0].Ended); gap < 250*time.Millisecond {
		t.Errorf("the next one started %v later", gap)
	}
	w.deserted()
}

// TestAnAgentThatIsNotThereIsAQuestion after two tries, of which none counts as work.
func TestAnAgentThatIsNotThereIsAQuestion(t *testing.T) {
	t.Parallel()
	toml := strings.Replace(conducted, "agent = \"command\"\ncommand = \"FERRUS_TEST_PART=agent exec SELF SIDE\"", "agent = \"codex\"", 1)
	w := newProject(t, toml+"[limits]\nmax_executor_dispatches = 2\n", nil)
	nowhere := func(o *conductor.Options) { o.Environ = []string{"PATH=" + w.side} }
	for round := range 2 {
		out := w.run(nowhere)
		if q := w.question(); out.Exit != 6 || len(out.Runs) != 2*(round+1) || !strings.Contains(q, "codex cannot work as executor: it ended at once, twice") ||
			!strings.Contains(q, "codex is not on the PATH") {
			t.Errorf("exit code %d, %d runs, asked %q", out.Exit, len(out.Runs), q)
		}
		for _, r := range out.Runs {
			if r.Began() {
				t.Errorf("%+v", r)
			}
		}
		w.deserted()
		w.answer()
	}
}

// ran writes down an agent that has run for so long, and made no progress.
func (w *world) ran(d time.Duration) {
	w.t.Helper()
	e := w.engine()
	snap, err := e.View()
	if err != nil {
		w.t.Fatal(err)
	}
	now := time.Now()
	text, err := json.Marshal(process.Run{Name: "executor-1", Duty: agents.Executor, Agent: "command", Log: "agent-executor-1.log", At: snap.Journal.Bytes, Started: now.Add(-d), Ended: now, Exit: 1})
	if err == nil {
		err = os.Mkdir(w.path(".ferrus/runs"), 0o700)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(conductor.Runs(e, snap.Task.TaskID), string(text)+"\n")
}

// TestTheMinutesOfATaskAreBounded: who runs when they are used up is ended, and as many begin with an answer.
func TestTheMinutesOfATaskAreBounded(t *testing.T) {
	t.Parallel()
	for name, headless := range map[string]bool{"headless": true, "a person looks on": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newProject(t, conducted+"[limits]\nmax_task_minutes = 5\n", plans{"executor": "wait_for_task hang\nwait_for_task submit", "reviewer": approves})
			w.ran(5*time.Minute - 2*time.Second)
			over := make(chan conductor.Outcome)
			asked := make(chan string, 1)
			conduct := func() {
				over <- w.run(func(o *conductor.Options) {
					o.Headless = headless
					o.Patience.Leaving = brief
					o.Tell = func(ev conductor.Event) {
						if ev.Kind == conductor.Asked {
							asked <- ev.Text
						}
					}
				})
			}
			go conduct()
			if q := <-asked; !strings.HasPrefix(q, "The agents of this task have run for 5 minutes of 5.") || w.started() != "executor 1" {
				t.Errorf("after %s asked %q", w.started(), q)
			}
			if list := w.runs(); len(list) != 2 || !list[1].Over() {
				t.Error("an agent runs on while it is asked whether it may")
			}
			if headless {
				if out := <-over; out.Exit != 6 {
					t.Errorf("exit code %d", out.Exit)
				}
			}
			w.answer()
			if headless {
				go conduct()
			}
			if out := <-over; out.Exit != 0 || w.started() != "executor 2, reviewer 1" {
				t.Errorf("then: exit code %d after %s", out.Exit, w.started())
			}
			w.deserted()
		})
	}
}

// TestTheTokensOfATaskAreBounded, as the agents report them.
func TestTheTokensOfATaskAreBounded(t *testing.T) {
	t.Parallel()
	toml := strings.Replace(conducted, "agent = \"command\"\ncommand = \"FERRUS_TEST_PART=agent exec SELF SIDE\"", "agent = \"codex\"", 1)
	w := newProject(t, toml+"[limits]\nmax_task_tokens = 200\n", nil)
	w.write(w.side+"/codex", "#!/bin/sh\necho codex $$ >> "+w.side+`/starts
echo '{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":0,"output_tokens":1}}'
`)
	if err := os.Chmod(w.side+"/codex", 0o755); err != nil {
		t.Fatal(err)
	}
	for round, want := range []string{"codex 2", "codex 4"} {
		out := w.run(func(o *conductor.Options) { o.Environ = append(o.Environ, "PATH="+w.side+":"+os.Getenv("PATH")) })
		if q := w.question(); out.Exit != 6 || w.started() != want || !strings.HasPrefix(q, "The agents of this task have used 202 tokens of 200.") {
			t.Errorf("round %d: exit code %d after %s, asked %q", round, out.Exit, w.started(), q)
		}
		w.answer()
	}
	w.deserted()
}
