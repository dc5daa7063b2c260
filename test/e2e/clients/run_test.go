//go:build unix

package clients

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/model"
)

// eventful is the model of a task that takes one consultation and one rejection; the rules come before its own.
func eventful(rules ...model.Rule) model.Policy {
	return model.Diligent(append(rules, model.ReadPatch(), model.RejectFirst("Add that the review says so."),
		model.Respond("Light blue is blue."), model.ConsultOnce("Is light blue blue?"), model.Work(paint))...)
}

// paint does the task, by the client's own tools. What a review wants is written below it.
func paint(r model.Request, work model.Told) []model.Call {
	text := "blue\n"
	if work.Review != "" {
		text += "as the review says\n"
	}
	return r.WriteFile(filepath.Join(work.Worktree, "colour.txt"), text)
}

const painted = "blue\nas the review says\n"

// The journal of an eventful task, and how often an agent is started for it.
var (
	eventfully = []state.Event{state.CreateTask, state.Claim, state.Consult, state.RespondConsult, state.TakeResponse,
		state.CheckStarted, state.CheckPassed, state.Submit, state.Reject, state.Claim, state.CheckStarted, state.CheckPassed,
		state.Submit, state.Approve}
	started = map[agents.Duty]int{agents.Executor: 2, agents.Consultant: 1, agents.Reviewer: 2}
)

// A pair is who is supervisor and who executor.
type pair struct{ supervisor, executor string }

var pairs = []pair{{claude, codex}, {codex, claude}}

// TestATaskRunsToItsEnd: one command, through a consultation and a rejection.
func TestATaskRunsToItsEnd(t *testing.T) {
	t.Parallel()
	for _, p := range pairs {
		t.Run(p.executor+" for "+p.supervisor, func(t *testing.T) {
			r := newRig(t, p.supervisor, p.executor, eventful())
			began := time.Now()
			code, out := r.run(ferrus, "run", "--headless", task)
			t.Logf("%.1f s, %d requests", time.Since(began).Seconds(), len(r.model.Seen()))
			if code != 0 {
				t.Fatalf("exit code %d\n%s", code, out)
			}
			if got := r.events(); !slices.Equal(got, eventfully) {
				t.Errorf("journal %v\nwant    %v", got, eventfully)
			}
			r.finished()
		})
	}
}
