package agents

import (
	"slices"
	"testing"
)

// TestOnlyWhatIsKnownToBeHarmlessComesFromAProject: each way to loosen an agent, and each disguise of one.
func TestOnlyWhatIsKnownToBeHarmlessComesFromAProject(t *testing.T) {
	for _, good := range []struct {
		agent string
		args  []string
	}{
		{"claude-code", []string{"--model", "opus", "--effort=high", "--fallback-model", "sonnet[1m]"}},
		{"codex", []string{"-m", "gpt-5", "-c", `model_reasoning_effort="high"`, "--config", "model_verbosity=low"}},
		{"gemini", []string{"--model=gemini-2.5-pro"}}, {"opencode", []string{"-m", "anthropic/claude-x"}}, {"goose", nil},
		{"command", []string{"--anything", "; rm -rf /"}},
	} {
		if bad := Harmful(good.agent, good.args); bad != nil {
			t.Errorf("%s %q: %q are refused", good.agent, good.args, bad)
		}
	}
	for _, bad := range []struct {
		agent string
		args  []string
	}{
		{"codex", []string{"--dangerously-bypass-approvals-and-sandbox"}}, {"codex", []string{"--yolo"}},
		{"codex", []string{"-c", `sandbox_mode="danger-full-access"`}}, {"codex", []string{"-csandbox_mode=x"}},
		{"codex", []string{"--config=sandbox_mode=x"}}, {"codex", []string{"-c"}}, {"codex", []string{"-c", "model"}},
		{"codex", []string{"-c", `model="x"` + "\nsandbox_mode=\"y\""}}, {"codex", []string{"-c", "model={a=1}"}},
		{"codex", []string{"-m", "--yolo"}}, {"codex", []string{"-m"}}, {"codex", []string{"--add-dir=/"}},
		{"codex", []string{"-c", "notify=sh"}}, {"codex", []string{"-s", "danger-full-access"}},
		{"claude-code", []string{"--dangerously-skip-permissions"}}, {"claude-code", []string{"--settings", "evil.json"}},
		{"claude-code", []string{"--permission-mode=bypassPermissions"}}, {"claude-code", []string{"--model", "--settings=x"}},
		{"claude-code", []string{"--mcp-config", "x"}}, {"claude-code", []string{"--allowedTools=Bash"}},
		{"claude-code", []string{"--model=../../x y"}}, {"claude-code", []string{"--setting-sources=project"}},
		{"gemini", []string{"--yolo"}}, {"gemini", []string{"-e", "x"}}, {"qwen-code", []string{"--approval-mode=yolo"}},
		{"opencode", []string{"--agent=x"}}, {"goose", []string{"--with-extension=sh"}}, {"unknown", []string{"--model", "x"}},
		{"codex", []string{"x"}}, {"codex", []string{""}},
	} {
		if got := Harmful(bad.agent, bad.args); got == nil {
			t.Errorf("%s %q is let through", bad.agent, bad.args)
		}
	}
	for agent := range harmless {
		if _, err := Find(agent); err != nil || slices.Contains(harmless[agent], "") {
			t.Errorf("%s: %v", agent, err)
		}
	}
}
