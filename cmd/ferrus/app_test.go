package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// TestEveryRefusalHasItsExitCodeAndARemedy: a code without an entry would be a plain failure without anybody having decided
// so, and an error without a remedy leaves its reader alone.
func TestEveryRefusalHasItsExitCodeAndARemedy(t *testing.T) {
	want := map[engine.Code]int{engine.WrongState: 3, engine.ForbiddenRole: 4, engine.NotClaimed: 3, engine.LeaseLost: 3,
		engine.StaleReview: 1, engine.CheckRunning: 3, engine.TreeChanged: 1, engine.InvalidInput: 2, engine.TooLarge: 2,
		engine.LockBusy: 7, engine.StoreError: 1, engine.StoreGone: 1, engine.OutcomeUnknown: 1, engine.InternalTimeout: 5, engine.Corrupt: 8,
		engine.NotInitialised: 3, engine.UnknownBranch: 3, engine.ConfigChanged: 6, engine.Conflict: 6, engine.Untrusted: 4, engine.ForeignState: 8}
	if diff := cmp.Diff(want, exits); diff != "" {
		t.Error(diff)
	}
	for code, exit := range want {
		err := fmt.Errorf("on the way: %w", &engine.Refusal{Code: code, Message: "m"})
		if got := explain(err).exit; got != exit {
			t.Errorf("%s exits with %d, not %d", code, got, exit)
		}
		if explain(failed("go on", "", err)).Remedy == "" {
			t.Errorf("%s has no remedy", code)
		}
	}
	for _, err := range []error{io.ErrUnexpectedEOF, context.Canceled, context.DeadlineExceeded, &store.Error{Code: store.StoreError},
		misused((&app{}).tree(), io.EOF), &engine.Refusal{Wrong: &state.RefusedError{State: state.Failed, Event: state.Answer}}} {
		if explain(failed("go on", "", err)).Remedy == "" {
			t.Errorf("%v has no remedy", err)
		}
	}
}

// TestARefusedVerbNamesTheStatesItNeeds, and they are those of the table.
func TestARefusedVerbNamesTheStatesItNeeds(t *testing.T) {
	for ev, want := range map[state.Event][]string{
		state.CreateTask: {"Idle", "Complete"},
		state.Answer:     {"AwaitingHuman"},
		state.Approve:    {"Reviewing"},
		state.Reopen:     {"Complete", "Failed"},
	} {
		if got := needed(ev); !slices.Equal(got, want) {
			t.Errorf("%s needs %v, not %v", ev, got, want)
		}
	}
}

func TestEveryStateSaysWhatIsNext(t *testing.T) {
	for _, s := range state.States() {
		r := &report{State: s, Question: &paper{ID: "q1"}, Submission: &paper{ID: "s1"}, Consultation: &paper{ID: "c1"}}
		if len(next(r)) == 0 {
			t.Errorf("%s has no next command", s)
		}
		if got := r.sentence(); got == "ferrus status says more" {
			t.Errorf("%s has no sentence", s)
		}
	}
}

// TestWhoWorksIsSaidAsItIs: that somebody works on the task, or will, is said only where a process was seen that does, and
// ferrus resume is named where none does.
func TestWhoWorksIsSaidAsItIs(t *testing.T) {
	alive, dead := &holder{Agent: "executor:a:1", Alive: true}, &holder{Agent: "executor:a:1", Dead: true, Why: "its process has ended"}
	started := []agentReport{{}}
	for _, tt := range []struct {
		name       string
		in         report
		with, want string // who is named, "" for nobody; the first command
	}{
		{"an agent works", report{Holder: alive, Conductor: 1}, "executor:a:1", "ferrus log"},
		{"one that a person has opened works", report{Holder: alive}, "executor:a:1", "ferrus log"},
		{"its run has ended", report{Holder: alive, Agents: started}, "executor:a:1", "ferrus resume"},
		{"both have ended", report{Holder: dead}, "", "ferrus resume"},
		{"it has ended, and the run goes on", report{Holder: dead, Conductor: 1}, "the run", "ferrus log"},
		{"nobody has come", report{}, "", "ferrus resume"},
		{"nobody has come to the run yet", report{Conductor: 1}, "the run", "ferrus log"},
	} {
		for _, s := range []state.State{state.Executing, state.Addressing, state.Checking, state.Consultation} {
			r := tt.in
			r.State, r.Waiting.For = s, "executor"
			if s == state.Consultation {
				r.Consultation = &paper{Answered: true}
			}
			said, first := r.sentence(), next(&r)[0].Command
			if first != tt.want || strings.Contains(said, "ferrus resume") != (tt.want == "ferrus resume") ||
				strings.Contains(said, "is with") != strings.Contains(tt.with, ":") || !strings.Contains(said, tt.with) {
				t.Errorf("%s, %s: %q, next %s", tt.name, s, said, first)
			}
		}
	}
	for _, s := range []state.State{state.Idle, state.Complete, state.Failed} {
		if r := (report{State: s, Agents: started}); r.deserted() {
			t.Errorf("in %s an agent is missing", s)
		}
	}
}

// TestJSONObeysNoTerminal: it says the same, and no byte of it is a control character.
func TestJSONObeysNoTerminal(t *testing.T) {
	text := "a\x1b[31m\x07\x7f\u009b\u202e\u2028\U000E0001 <b> é 漢 \t\n"
	got, err := asJSON(map[string]string{"k": text}, "  ")
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(string(got), "\x1b\x07\x7f\u009b\u202e\u2028\U000E0001\t") || !strings.Contains(string(got), "<b> é 漢") {
		t.Errorf("%q", got)
	}
	var back map[string]string
	if err := json.Unmarshal(got, &back); err != nil || back["k"] != text {
		t.Errorf("read back as %q: %v", back["k"], err)
	}
}

func TestTheServerIsGivenOurFlagsInItsOwnWords(t *testing.T) {
	for in, want := range map[string]string{
		"":                          "",
		"--role executor":           "--role executor",
		"-C dir --role executor":    "--root dir --role executor",
		"-Cdir --json --role x":     "--root dir --role x",
		"-C=dir --role x -C y":      "--root dir --role x -C y",
		"--root dir --role x":       "--root dir --role x",
		"--branch b --role x":       "--branch b --role x",
		"--json --branch b -C d -h": "--branch b -C d -h",
	} {
		if got := strings.Join(serverArgs(strings.Fields(in)), " "); got != want {
			t.Errorf("serve %s: %q, not %q", in, got, want)
		}
	}
}

func TestSpans(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 ms", 12 * time.Millisecond: "12 ms", time.Second: "1 s", 119 * time.Second: "119 s",
		2 * time.Minute: "2 min", 119 * time.Minute: "119 min", 2 * time.Hour: "2 h", 47 * time.Hour: "47 h", 48 * time.Hour: "2 days",
	} {
		if got := span(d); got != want {
			t.Errorf("%v is %q, not %q", d, got, want)
		}
	}
}
