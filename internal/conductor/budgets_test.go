//go:build unix

package conductor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
)

// TestBudgetsHoldBesideEveryOtherThingThatCanWait: each budget ends the agent, or asks, whatever else waits at the time.
func TestBudgetsHoldBesideEveryOtherThingThatCanWait(t *testing.T) {
	t.Parallel()
	for budget, use := range map[string]func(*Facts){
		"minutes": func(f *Facts) { f.Gate.Limits.MaxTaskMinutes, f.Spent.Time = 1, time.Minute },
		"tokens":  func(f *Facts) { f.Gate.Limits.MaxTaskTokens, f.Spent.Usage.Output = 10, 10 },
		"dollars": func(f *Facts) { f.Gate.Limits.MaxTaskDollars, f.Spent.Usage.Dollars = 2, 2 },
	} {
		for waits, lay := range map[string]func(f *Facts, s *SlotFacts){
			"nothing":                  func(*Facts, *SlotFacts) {},
			"a message to the agent":   func(f *Facts, _ *SlotFacts) { f.Task.Decisions = []state.Record{{ID: "steer-4", Off: 9}} },
			"a message to a delegate":  func(f *Facts, _ *SlotFacts) { f.Task.Messages = []state.Message{{To: "d1"}} },
			"an open delegate":         func(f *Facts, _ *SlotFacts) { f.Task.Delegates = []state.Delegate{{ID: "d1", Branch: "d1-1"}} },
			"the budget of its parent": func(f *Facts, _ *SlotFacts) { f.Hold = "used up" },
			"a question":               func(f *Facts, _ *SlotFacts) { f.Task.State = state.AwaitingHuman },
			"a consultation":           func(f *Facts, _ *SlotFacts) { f.Task.State = state.Consultation },
			"a consultation of a delegate": func(f *Facts, _ *SlotFacts) {
				f.Task.State, f.Delegated = state.Consultation, true
			},
			"a review":               func(f *Facts, _ *SlotFacts) { f.Task.State = state.Reviewing },
			"a review of a delegate": func(f *Facts, _ *SlotFacts) { f.Task.State, f.Delegated = state.Reviewing, true },
			"files that move in":     func(f *Facts, _ *SlotFacts) { f.Task.Returning = state.FileMove{Of: "d1", Tree: "x"} },
			"another executor":       func(f *Facts, _ *SlotFacts) { reassigned(f) },
			"another computer":       func(f *Facts, _ *SlotFacts) { f.Elsewhere = map[agents.Duty]string{agents.Executor: "far"} },
			"a claim":                func(f *Facts, _ *SlotFacts) { f.Held, f.Heard = true, f.Now },
			"a rate limit": func(f *Facts, s *SlotFacts) {
				s.Limited, s.Reading = f.Now.Add(time.Hour), agents.Reading{Trouble: agents.RateLimited, Until: f.Now.Add(time.Hour)}
			},
			"a back-off":       func(f *Facts, s *SlotFacts) { s.NotBefore = f.Now.Add(time.Hour) },
			"a sleep just now": func(f *Facts, _ *SlotFacts) { f.Woke = f.Now },
		} {
			for _, taken := range []bool{true, false} {
				f := facts(state.Executing)
				s := f.Slots[agents.Executor]
				if s.Taken = taken; taken {
					s.Occupant, s.Printed = process.Occupant{Run: "executor-1", Started: f.Now}, f.Now
				}
				use(&f)
				lay(&f, &s)
				f.Slots[agents.Executor] = s
				act, needed := decide(f), wanted(f).want != ""
				switch {
				case taken && act.Do != end && act.Do != ask:
					t.Errorf("%s beside %s: an agent that runs is left to it: %+v", budget, waits, act)
				case !taken && needed && act.Do != ask:
					t.Errorf("%s beside %s: nobody is asked: %+v", budget, waits, act)
				case act.Do == start:
					t.Errorf("%s beside %s: an agent starts", budget, waits)
				}
			}
		}
	}
}

// TestTheLimitOfADay lets no agent start before midnight, and ends none. The next day begins with nothing used.
func TestTheLimitOfADay(t *testing.T) {
	t.Parallel()
	c := conducting(t, "[checks]\ncommands = []\n[limits]\nmax_day_minutes = 2\nday_zone = \"UTC\"\n")
	human := c.e.Session(engine.Caller{Role: state.Human, Agent: "human", TTY: true})
	if _, err := human.CreateTask(t.Context(), "Build it.", ""); err != nil {
		t.Fatal(err)
	}
	look := func() Act {
		t.Helper()
		f, err := c.gather()
		if err != nil {
			t.Fatal(err)
		}
		return decide(f)
	}
	if act := look(); act.Do != start {
		t.Fatalf("%+v", act)
	}
	const line = `{"run":"executor-1","duty":"executor","agent":"codex","log":"agent-a.log","started":"2026-01-02T01:00:00Z","ended":"2026-01-02T01:02:00Z"}` + "\n"
	dir := c.e.Place().Path("runs")
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "t-0.jsonl"), []byte(line), 0o600)); err != nil {
		t.Fatal(err)
	}
	midnight := time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)
	if act := look(); act.Do != park || !act.Until.Equal(midnight) || !strings.HasPrefix(act.Why, "The agents of this project have run for 2 minutes of 2 today.") {
		t.Errorf("%+v", act)
	}
	f := facts(state.Executing, there(agents.Executor, time.Minute, 0), held)
	f.Day.Text, f.Day.Until = "used up", midnight
	if act := decide(f); act.Do != keep {
		t.Errorf("an agent that runs: %+v", act)
	}
	c.Now = func() time.Time { return midnight }
	if act := look(); act.Do != start {
		t.Errorf("the next day: %+v", act)
	}
}
