package run

import (
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/workflow"
)

// TestAWorkerHasTheOthersOfItsList: that of its role, and of no variant. Only what another one can take over is no fault of its own.
func TestAWorkerHasTheOthersOfItsList(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	s := Settings{Executor: config.Agent{Agent: "codex", Fallback: []string{"gemini:flash"}}, Supervisor: config.Agent{Agent: "claude-code", Model: "opus", Fallback: []string{"goose"}}}
	ended := func(agent, model string, trouble agents.Trouble, until time.Duration) process.Run {
		r := process.Run{Agent: agent, Model: model, Ended: now.Add(-time.Minute), Exit: 1, Trouble: trouble}
		if until != 0 {
			r.Until = now.Add(until)
		}
		return r
	}
	limit := ended("codex", "", agents.RateLimited, time.Hour)
	for _, c := range []struct {
		name    string
		worker  workflow.Worker
		variant string
		runs    []process.Run
		want    string
		moved   int
	}{
		{"nothing has happened", workflow.Worker{Role: "a"}, "", nil, "codex", 0},
		{"a limit", workflow.Worker{Role: "a"}, "", []process.Run{limit}, "gemini:flash", 1},
		{"no login", workflow.Worker{Role: "a"}, "", []process.Run{ended("codex", "", agents.Unauthorised, 0)}, "gemini:flash", 1},
		{"an ordinary failure", workflow.Worker{Role: "a"}, "", []process.Run{ended("codex", "", "", 0)}, "codex", 0},
		{"the other fails", workflow.Worker{Role: "a"}, "", []process.Run{limit, ended("gemini", "flash", "", 0)}, "gemini:flash", 1},
		{"all are limited", workflow.Worker{Role: "a"}, "", []process.Run{limit, ended("gemini", "flash", agents.RateLimited, time.Hour)}, "codex", 1},
		{"a model of its own", workflow.Worker{Role: "a", Model: "big"}, "", []process.Run{ended("codex", "big", agents.RateLimited, time.Hour)}, "gemini:flash", 1},
		{"the list of the supervisor", workflow.Worker{Role: "a", Agent: "claude-code"}, "", []process.Run{ended("claude-code", "opus", agents.RateLimited, time.Hour)}, "goose:", 1},
		{"an agent without a list", workflow.Worker{Role: "a", Agent: "qwen-code"}, "", []process.Run{ended("qwen-code", "", agents.RateLimited, time.Hour)}, "qwen-code:", 0},
		{"a variant", workflow.Worker{Role: "a"}, "codex", []process.Run{limit}, "codex", 0},
		{"a command of its own", workflow.Worker{Role: "a", Run: "make"}, "", []process.Run{limit}, "", 0},
	} {
		s.Variant = c.variant
		f := &Folder{Settings: s, Workflow: workflow.Workflow{Phases: []workflow.Phase{{ID: "one", Workers: []workflow.Worker{c.worker}}}}}
		if who, _ := s.standsIn(c.worker, c.runs, now); c.want != "" && who.Agent+":"+who.Model != c.want && who.Agent != c.want {
			t.Errorf("%s: %+v, not %s", c.name, who, c.want)
		}
		if n := f.moved("a", c.runs); n != c.moved {
			t.Errorf("%s: %d moves, not %d", c.name, n, c.moved)
		}
	}
}
