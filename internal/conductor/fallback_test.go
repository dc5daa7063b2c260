//go:build unix

package conductor

import (
	"slices"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

const none1 = "nobody"

// TestWhoWorksOfAList: the first that can, and nobody who would have its own work reviewed.
func TestWhoWorksOfAList(t *testing.T) {
	limited, out, broke := agents.RateLimited, agents.Unauthorised, agents.NoServer
	hour := time.Hour
	for _, c := range []struct {
		name  string
		facts Facts
		duty  agents.Duty
		want  string        // AGENT, or AGENT:MODEL; nobody
		until time.Duration // of nobody: from now; 0 when nobody knows
	}{
		{"nothing has happened", facts(state.Executing, team("codex", "gemini")), ex, "codex", 0},
		{"a limit that lasts", facts(state.Executing, team("codex", "gemini"), ran("codex", limited, hour)), ex, "gemini", 0},
		{"a limit of an unknown end", facts(state.Executing, team("codex", "gemini"), ran("codex", limited, 0)), ex, "codex", 0},
		{"a short limit", facts(state.Executing, team("codex", "gemini"), ran("codex", limited, 4*time.Minute)), ex, "codex", 0},
		{"a limit that is over", facts(state.Executing, team("codex", "gemini"), ran("codex", limited, hour), func(f *Facts) { f.Now = noon.Add(hour) }), ex, "codex", 0},
		{"a missing login", facts(state.Executing, team("codex", "gemini"), ran("codex", out, 0)), ex, "gemini", 0},
		{"a missing login, an hour ago", facts(state.Executing, team("codex", "gemini"), ran("codex", out, 0), func(f *Facts) { f.Now = noon.Add(hour) }), ex, "codex", 0},
		{"a program that is not there", facts(state.Executing, team("codex", "gemini"), ran("codex", "", 0), newestRun(func(r *process.Run) { r.Unable = true })), ex, "gemini", 0},
		{"an ordinary failure", facts(state.Executing, team("codex", "gemini"), ran("codex", "", 0)), ex, "codex", 0},
		{"no server of ours", facts(state.Executing, team("codex", "gemini"), ran("codex", broke, 0)), ex, "codex", 0},
		{"it has worked since", facts(state.Executing, team("codex", "gemini"), ran("codex", out, 0), ran("codex", "", 0)), ex, "codex", 0},
		{"another computer's login", facts(state.Executing, team("codex", "gemini"), ran("codex", out, 0), newestRun(func(r *process.Run) { r.Node = "far" })), ex, "codex", 0},
		{"another model of it", facts(state.Executing, team("codex:big", "codex:small"), ran("codex:big", limited, hour)), ex, "codex:small", 0},
		{"the third", facts(state.Executing, team("codex", "gemini", "goose"), ran("codex", limited, hour), ran("gemini", out, 0)), ex, "goose", 0},
		{"all are limited", facts(state.Executing, team("codex", "gemini"), ran("codex", limited, 2*hour), ran("gemini", limited, hour)), ex, none1, hour},
		{"limited and logged out", facts(state.Executing, team("codex", "gemini"), ran("codex", limited, 2*hour), ran("gemini", out, 0)), ex, none1, 2 * hour},
		{"all are logged out", facts(state.Executing, team("codex", "gemini"), ran("codex", out, 0), ran("gemini", out, 0)), ex, none1, 0},
		{"alone at its limit", facts(state.Executing, team("codex"), ran("codex", limited, hour)), ex, "codex", 0},
		{"logged out, and a person has answered", facts(state.Executing, team("codex", "gemini"), ran("codex", out, 0), func(f *Facts) {
			f.Task.Decisions = []state.Record{{ID: "q1", Off: 200}}
		}), ex, "codex", 0},
		{"limited, and a person has answered", facts(state.Executing, team("codex", "gemini"), ran("codex", limited, hour), func(f *Facts) {
			f.Task.Decisions = []state.Record{{ID: "q1", Off: 200}}
		}), ex, "gemini", 0},
		{"logged out before the run", facts(state.Executing, team("codex", "gemini"), ran("codex", out, 0), func(f *Facts) { f.Afresh = noon }), ex, "codex", 0},
		{"limited before the run", facts(state.Executing, team("codex", "gemini"), ran("codex", limited, hour), func(f *Facts) { f.Afresh = noon }), ex, "gemini", 0},
		{"all limited before the run", facts(state.Executing, team("codex", "gemini"), ran("codex", limited, hour), ran("gemini", limited, hour), func(f *Facts) { f.Afresh = noon }), ex, "codex", 0},

		{"the reviewer's own", facts(state.Executing, team("codex", "claude-code:opus"), ran("codex", limited, hour)), ex, none1, hour},
		{"the reviewer's client of any model", facts(state.Executing, team("codex", "claude-code"), ran("codex", limited, hour)), ex, none1, hour},
		{"the reviewer's client, another model", facts(state.Executing, team("codex", "claude-code:haiku"), ran("codex", limited, hour)), ex, "claude-code:haiku", 0},
		{"the reviewer's own, and it is skipped", facts(state.Executing, team("codex", "claude-code:opus", "gemini"), ran("codex", limited, hour)), ex, "gemini", 0},
		{"the reviewer's own, and permitted", facts(state.Executing, team("codex", "claude-code:opus"), ran("codex", limited, hour), permitted), ex, "claude-code:opus", 0},
		{"the reviewer's own, and another one is left", facts(state.Executing, team("codex", "claude-code:opus"), reviewers("claude-code:opus", "gemini"), ran("codex", limited, hour)),
			ex, "claude-code:opus", 0},
		{"the same, of a delegate", facts(state.Executing, team("codex", "claude-code:opus"), reviewers("claude-code:opus", "gemini"), ran("codex", limited, hour), child), ex, none1, hour},
		{"one for both roles", facts(state.Executing, team("codex", "gemini"), reviewers("codex"), ran("codex", limited, hour)), ex, "gemini", 0},

		{"one for both roles reviews", facts(state.Reviewing, team("codex"), reviewers("codex"), ran("codex", "", 0)), rev, "codex", 0},
		{"the reviewer is limited", facts(state.Reviewing, team("codex"), reviewers("claude-code", "gemini"), ran("codex", "", 0), ran("claude-code", limited, hour)), rev, "gemini", 0},
		{"the reviewer is limited, and the rest wrote", facts(state.Reviewing, team("codex"), reviewers("claude-code", "codex"), ran("codex", "", 0), ran("claude-code", limited, hour),
			newestRun(func(r *process.Run) { r.Duty = rev })), rev, none1, hour},
		{"the same, permitted", facts(state.Reviewing, team("codex"), reviewers("claude-code", "codex"), ran("codex", "", 0), ran("claude-code", limited, hour), permitted), rev, "codex", 0},
		{"a reviewer stood in for the other one", facts(state.Reviewing, team("codex"), reviewers("claude-code", "gemini"), ran("codex", "", 0), ran("claude-code", limited, hour), func(f *Facts) {
			f.Task.SetStandIn(state.StandIn{Duty: string(rev), Agent: "gemini", For: "claude-code"})
		}), rev, "gemini", 0},
		{"the reviewer stood in", facts(state.Reviewing, team("codex", "claude-code"), reviewers("claude-code", "gemini"), stoodIn("claude-code")), rev, "gemini", 0},
		{"the only reviewer stood in", facts(state.Reviewing, team("codex", "claude-code"), reviewers("claude-code"), stoodIn("claude-code")), rev, none1, 0},
		{"a delegate is the second reviewer", facts(state.Reviewing, team("codex"), reviewers("claude-code", "gemini"), ran("claude-code", limited, hour), newestRun(func(r *process.Run) { r.Duty = rev }),
			func(f *Facts) {
				f.Task.Delegates = []state.Delegate{{ID: "d1", Variant: state.Variant{Agent: "gemini"}}}
			}), rev, none1, hour},
		{"a rule named the reviewer", facts(state.Reviewing, team("codex"), reviewers("claude-code"), ran("claude-code", "", 0)), rev, "claude-code", 0},
		{"a consultant has judged nothing", facts(state.Consultation, team("codex"), reviewers("claude-code", "codex"), ran("codex", "", 0), ran("claude-code", limited, hour)), con, "codex", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := choose(c.facts, c.duty)
			who := got.In.Variant().String()
			if got.Why != "" {
				who = none1
			}
			if until := got.Until; who != c.want || !until.IsZero() != (c.until != 0) || c.until != 0 && !until.Equal(noon.Add(c.until)) {
				t.Errorf("%s until %v: %s\nwant %s until %v", who, until, got.Why, c.want, c.until)
			}
			if first := Agent(c.facts.Gate.HQ, c.duty); got.In.Agent != got.Agent.Agent || (got.In.For != "") != (got.Agent.Agent+got.Agent.Model != first.Agent+first.Model) {
				t.Errorf("%+v works as %+v", got.Agent, got.In)
			}
		})
	}
}

func permitted(f *Facts) { f.Gate.HQ.SameModel = true }

// TestAMoveIsNoFailure: an agent at its limit has used no start of its list, and one that failed has.
func TestAMoveIsNoFailure(t *testing.T) {
	c := conducting(t, "")
	f := facts(state.Executing, team("codex", "gemini"), ran("codex", agents.Unauthorised, 0), ran("gemini", agents.Unauthorised, 0), ran("codex", agents.RateLimited, time.Hour))
	if s := c.slotFacts(f, ex); s.Stuck+s.Starts+s.Alike != 0 || !s.NotBefore.IsZero() || !s.Limited.IsZero() || s.Last.Trouble != agents.RateLimited {
		t.Errorf("%+v", s)
	}
	f.Gate.HQ.Executor.Fallback = nil
	if s := c.slotFacts(f, ex); s.Stuck != 2 || s.Limited.IsZero() {
		t.Errorf("without a list: %+v", s)
	}
}

// TestAStandInIsWrittenDown before it starts, once, and so is the first that works again.
func TestAStandInIsWrittenDown(t *testing.T) {
	c := conducting(t, "[checks]\ncommands = [\"true\"]\n[hq.executor]\nagent = \"codex\"\nfallback = [\"gemini\"]\n")
	var said []string
	c.Tell = func(e Event) { said = append(said, string(e.Kind)+" "+e.Text) }
	done, err := c.e.Session(engine.Caller{Role: state.Human, Agent: "human", TTY: true}).CreateTask(t.Context(), "Build it.", "")
	if err != nil {
		t.Fatal(err)
	}
	look := func(at store.Snapshot, change ...func(*Facts)) Facts {
		f := facts(state.Executing, change...)
		f.Snapshot = at
		if f.Gate, err = c.e.Gate(at); err != nil {
			t.Fatal(err)
		}
		return f
	}
	act := Act{Do: start, Duty: ex, Prompt: "executor-work"}
	again, err := c.start(t.Context(), look(done.Snapshot, ran("codex", agents.RateLimited, time.Hour)), act)
	now, seen := c.e.View()
	in := now.Task.StandIn("executor")
	if !again || err != nil || seen != nil || now.Top.Event != state.Fallback || now.Top.Actor.Role != state.Engine || in.Agent != "gemini" || in.For != "codex" ||
		!in.Until.Equal(noon.Add(time.Hour)) || now.Task.State != state.Executing || now.Task.Epoch != done.Task.Epoch {
		t.Fatalf("%v, %v, %v: %+v", again, err, seen, now.Top)
	}
	if choose(look(now, ran("codex", agents.RateLimited, time.Hour)), ex).news(now.Task) {
		t.Error("it would be written down again")
	}
	// The facts are old: nothing is written, and the next look decides.
	if again, err := c.start(t.Context(), look(done.Snapshot, ran("codex", agents.Unauthorised, 0)), act); !again || err != nil {
		t.Errorf("%v, %v", again, err)
	}
	if _, err := c.start(t.Context(), look(now), act); err != nil {
		t.Fatal(err)
	}
	after, err := c.e.View()
	if last := after.Task.StandIn("executor"); err != nil || after.Task.Seq != now.Task.Seq+1 || last.For != "" || last.Agent != "codex" {
		t.Errorf("%v: %+v", err, last)
	}
	want := []string{"fallback executor: gemini works in place of codex, which has reached its limit until " + format.Date(noon.Add(time.Hour)), "fallback executor: codex works again"}
	if !slices.Equal(said, want) {
		t.Errorf("%q", said)
	}
}

// TestOnlyAClientOfBothRolesIsTheSameModel, and of a command nobody knows.
func TestOnlyAClientOfBothRolesIsTheSameModel(t *testing.T) {
	for _, c := range []struct{ wrote, reviewed, want string }{
		{"codex", "codex", "codex"}, {"codex:big", "codex", "codex"}, {"codex:big", "codex:small", ""}, {"codex", "gemini", ""}, {"command", "command", ""}, {"codex", "", ""},
	} {
		f := facts(state.Complete, ran(c.wrote, "", 0))
		if c.reviewed != "" {
			ran(c.reviewed, "", 0)(&f)
			f.Runs[1].Duty = rev
		}
		if got := SameModel(f.Runs); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
