package register

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheConductorStartsWhoIsRegistered: [hq] names the registered agents, and every other byte of the file stays.
func TestTheConductorStartsWhoIsRegistered(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct{ before, was, will, after string }{
		"the opposite pair": {"# mine\n[hq.supervisor] # reviews\nagent = 'claude-code' # the best\n\n[hq.executor]\nagent = \"codex\"\n\n[checks]\ncommands = [] # none\n",
			"claude-code codex", "codex claude-code",
			"# mine\n[hq.supervisor] # reviews\nagent = \"codex\" # the best\n\n[hq.executor]\nagent = \"claude-code\"\n\n[checks]\ncommands = [] # none\n"},
		"no file":         {"", "claude-code codex", "- claude-code", "[hq.executor]\nagent = \"claude-code\"\n"},
		"no table":        {"[checks]\r\ncommands = []\r\n", "claude-code codex", "gemini -", "[checks]\r\ncommands = []\r\n\r\n[hq.supervisor]\r\nagent = \"gemini\"\r\n"},
		"dotted keys":     {"hq.executor.agent = 'codex' # x\n[checks]\n", "claude-code codex", "- gemini", "hq.executor.agent = \"gemini\" # x\n[checks]\n"},
		"inline tables":   {"hq = { executor = { agent = 'codex' } }\n", "claude-code codex", "gemini goose", "hq = { executor = { agent = \"goose\" }, supervisor.agent = \"gemini\" }\n"},
		"another's model": {"[hq.executor]\n# fast\nmodel = 'gpt-9'\nagent = 'codex'\nargs = ['-x'] # mine\n", "claude-code codex:gpt-9", "- claude-code", "[hq.executor]\n# fast\nagent = \"claude-code\"\n"},
		"a model":         {"[hq.executor]\nagent = 'codex'\n", "claude-code codex", "- codex:gpt-9", "[hq.executor]\nagent = \"codex\"\nmodel = \"gpt-9\"\n"},
		"nothing to say":  {"[checks]\n", "claude-code codex:m", "claude-code codex", "[checks]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			p := project(t)
			path := filepath.Join(p.Root, "ferrus.toml")
			if x.before != "" {
				if err := os.WriteFile(path, []byte(x.before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			plan, err := p.Plan(who(x.will))
			if err == nil {
				err = plan.Conduct(who(x.was), who(x.will))
			}
			if err != nil {
				t.Fatal(err)
			}
			if c := plan.Config(); (c == nil) != (x.before == x.after) || c != nil && !strings.Contains(c.Diff(), "--- ferrus.toml") {
				t.Errorf("%+v", c)
			}
			if err := plan.Write(); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(path)
			if err != nil || string(got) != x.after {
				t.Errorf("%v: %q, not %q", err, got, x.after)
			}
			// To say it again changes nothing, and the record of the other files is as it was.
			again, err := p.Plan(who(x.will))
			if err == nil {
				err = again.Conduct(who(x.will), who(x.will))
			}
			if err != nil || !again.Idle() {
				t.Errorf("again: %v, %+v", err, again.Changes)
			}
		})
	}
	p := project(t, "mine.toml", "")
	if err := os.Symlink("mine.toml", filepath.Join(p.Root, "ferrus.toml")); err != nil {
		t.Skip(err)
	}
	plan, err := p.Plan(who("codex"))
	if err == nil {
		err = plan.Conduct(who("claude-code"), who("codex"))
	}
	if err == nil || !strings.Contains(err.Error(), "link") {
		t.Errorf("a link: %v", err)
	}
}
