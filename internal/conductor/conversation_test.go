//go:build unix

package conductor

import (
	"testing"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/state"
)

const session = "0f5d2a3e-aaaa-4bbb-8ccc-1234567890ab"

// TestAnExecutorContinuesItsOwnSession only where that is asked for, is safe and can be done.
func TestAnExecutorContinuesItsOwnSession(t *testing.T) {
	t.Parallel()
	own := func(r *process.Run) { r.Client = session }
	with := func(change func(*process.Run)) []process.Run { return []process.Run{ended(own, change)} }
	same := func(*process.Run) {}
	cases := []struct {
		name  string
		agent string
		duty  agents.Duty
		runs  []process.Run
		facts func(*Facts)
		want  conversation
		why   string
	}{
		{"the same agent again", "codex", agents.Executor, with(same), nil, conversation{session, false}, "continues the session of executor-1"},
		{"it was stopped by a person", "codex", agents.Executor, with(func(r *process.Run) { r.Stopped, r.Exit, r.Signal = true, -1, "terminated" }), nil,
			conversation{session, false}, "continues the session of executor-1"},
		{"the newest counts", "codex", agents.Executor, append(with(same), ended(func(r *process.Run) { r.Name, r.At = "executor-2", 200 })), nil,
			conversation{}, "a new session: executor-2 did not name its session"},
		{"a reviewer between", "codex", agents.Executor, append(with(same), ended(func(r *process.Run) { r.Name, r.Duty = "reviewer-1", agents.Reviewer })), nil,
			conversation{session, false}, "continues the session of executor-1"},
		{"fresh is the default", "codex", agents.Executor, with(same), func(f *Facts) { f.Gate.HQ.Continue = config.Fresh }, conversation{}, ""},
		{"older tasks", "codex", agents.Executor, with(same), func(f *Facts) { f.Gate.HQ.Continue = "" }, conversation{}, ""},
		{"the first of a task", "codex", agents.Executor, nil, nil, conversation{}, ""},
		{"reviewers are always new", "codex", agents.Reviewer, with(same), nil, conversation{}, ""},
		{"another agent", "claude-code", agents.Executor, with(same), nil, conversation{}, "a new session: executor-1 was another agent"},
		{"another model", "codex", agents.Executor, with(func(r *process.Run) { r.Model = "small" }), nil, conversation{}, "a new session: executor-1 was another agent"},
		{"an agent that cannot", "goose", agents.Executor, with(func(r *process.Run) { r.Agent = "goose" }), nil, conversation{}, "a new session: executor-1 cannot be continued by ferrus"},
		{"an option for a name", "codex", agents.Executor, with(func(r *process.Run) { r.Client = "--dangerously-bypass" }), nil,
			conversation{}, "a new session: executor-1 did not name its session"},
		{"it was killed", "codex", agents.Executor, with(func(r *process.Run) { r.Exit, r.Signal = -1, "killed" }), nil, conversation{}, "a new session: executor-1 did not end well"},
		{"it failed", "codex", agents.Executor, with(func(r *process.Run) { r.Exit = 1 }), nil, conversation{}, "a new session: executor-1 did not end well"},
		{"the conductor ended it", "codex", agents.Executor, with(func(r *process.Run) { r.Cut = true }), nil, conversation{}, "a new session: executor-1 did not end well"},
		{"it made no progress", "codex", agents.Executor, with(same), func(f *Facts) { f.Journal.Bytes = 100 }, conversation{}, "a new session: executor-1 made no progress"},
		{"rolled back, and it cannot copy", "codex", agents.Executor, with(same), rolledBack(500), conversation{}, "a new session: executor-1 knows work that was rolled back"},
		{"rolled back, and it can", "claude-code", agents.Executor, with(func(r *process.Run) { r.Agent = "claude-code" }), rolledBack(500),
			conversation{session, true}, "continues the session of executor-1"},
		{"rolled back before it began", "codex", agents.Executor, with(same), rolledBack(50), conversation{session, false}, "continues the session of executor-1"},
	}
	for _, c := range cases {
		f := Facts{Runs: c.runs}
		f.Gate.HQ.Continue, f.Journal.Bytes = config.Native, 1000
		if c.facts != nil {
			c.facts(&f)
		}
		adapter, err := agents.Find(c.agent)
		if err != nil {
			t.Fatal(err)
		}
		if got, why := f.conversation(c.duty, adapter, ""); got != c.want || why != c.why {
			t.Errorf("%s: %+v, %q; want %+v, %q", c.name, got, why, c.want, c.why)
		}
	}
}

func rolledBack(at int64) func(*Facts) {
	return func(f *Facts) {
		f.Task.Decisions = []state.Record{{ID: "q1", Off: 10}, {ID: "rollback-3", Off: at}, {ID: "q2", Off: 900}}
	}
}
