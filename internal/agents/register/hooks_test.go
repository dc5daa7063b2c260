package register

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

const settingsFile = ".claude/settings.local.json"

// theirs is a file of settings with hooks of a person, laid out as no program would.
const theirs = "\ufeff{ // mine\r\n\t\"hooks\" : {\"Stop\":[ {\"hooks\": [{\"type\":\"command\",\"command\":\"say 'ferrus hook'\"}]} /* loud */ ,],\r\n" +
	"\t\t\"PreToolUse\" : []  },\r\n\t\"model\": \"opus\",\r\n}\r\n"

// TestHooksComeAndGo: with them, without them and out again, a file is as it was, byte for byte.
func TestHooksComeAndGo(t *testing.T) {
	t.Parallel()
	for _, before := range []string{"", "{}", theirs, `{"hooks":{"Stop":[]}}`, `{"hooks":{}, "permissions":{"allow":["mcp__ferrus"]}}`} {
		p := project(t)
		if before != "" {
			p = project(t, settingsFile, before)
		}
		was := tree(t, p)
		register(t, p, "- claude-code")
		bare := tree(t, p)
		if Hooks(p.Root, "claude-code") {
			t.Error("hooks that nobody asked for")
		}
		plan := register(t, p, "- claude-code+hooks")
		if !Hooks(p.Root, "claude-code") || !strings.Contains(plan.Changes[1].Diff(), exe) {
			t.Errorf("no hooks: %s", plan.Changes[1].Diff())
		}
		found, err := p.Registered()
		if err != nil || !found[agents.Executor].Hooks {
			t.Errorf("%v, %v", found, err)
		}
		if other, err := p.Plan(who("- claude-code:m+hooks")); err != nil || other.Changes[1].Hooks || !plan.Changes[1].Hooks {
			t.Errorf("a person is asked about hooks that stay: %v", err)
		}
		if again, err := p.Plan(found); err != nil || !again.Idle() {
			t.Errorf("a second run is not idle: %v", err)
		}
		register(t, p, "- claude-code")
		equal(t, "without hooks again, "+before, tree(t, p), bare)
		register(t, p, "- claude-code+hooks")
		register(t, p, "")
		equal(t, "out again, "+before, tree(t, p), was)
	}
}

// TestAHookSaysWhatClaudeCodeRuns: a program by its full path, with arguments of its own, at three events; and only for an executor.
func TestAHookSaysWhatClaudeCodeRuns(t *testing.T) {
	t.Parallel()
	p := project(t)
	p.Exe = "/opt/it's \"here\" $HOME/ferrus"
	register(t, p, "- claude-code+hooks")
	var is struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Type, Command string
				Args          []string
				Timeout       int
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(p.Root, settingsFile))
	if err == nil {
		err = json.Unmarshal(text, &is)
	}
	if err != nil || len(is.Hooks) != 3 {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, event := range []string{"SessionStart", "Stop", "Notification"} {
		if got := is.Hooks[event]; len(got) != 1 || len(got[0].Hooks) != 1 || got[0].Hooks[0].Type != "command" || got[0].Hooks[0].Command != p.Exe ||
			strings.Join(got[0].Hooks[0].Args, " ") != "hook" || got[0].Hooks[0].Timeout != 5 {
			t.Errorf("%s: %+v", event, got)
		}
	}
	register(t, p, "claude-code+hooks")
	if Hooks(p.Root, "claude-code") {
		t.Error("a supervisor has hooks")
	}
}

// TestAHookIsKnownByWhatItRuns: without the record, and when ferrus has moved, there is one, and it goes.
func TestAHookIsKnownByWhatItRuns(t *testing.T) {
	t.Parallel()
	p := project(t, settingsFile, theirs)
	register(t, p, "- claude-code+hooks")
	forget(t, p)
	p.Exe = "/usr/bin/ferrus-2"
	register(t, p, "- claude-code+hooks")
	text, _ := os.ReadFile(filepath.Join(p.Root, settingsFile))
	if strings.Contains(string(text), exe) || strings.Count(string(text), p.Exe) != 3 {
		t.Errorf("%s", text)
	}
	forget(t, p)
	register(t, p, "")
	text, _ = os.ReadFile(filepath.Join(p.Root, settingsFile))
	if strings.Contains(string(text), p.Exe) || !strings.Contains(string(text), "say 'ferrus hook'") || !strings.Contains(string(text), "/* loud */") {
		t.Errorf("%s", text)
	}
}

// TestHooksThatCannotBeAddedChangeNothing: settings that mean something else, and a file that is committed.
func TestHooksThatCannotBeAddedChangeNothing(t *testing.T) {
	t.Parallel()
	mixed := `{"hooks": {"Stop": [{"hooks": [{"command": "` + exe + `", "args": ["hook"]}, {"command": "mine"}]}]}}`
	for _, c := range []struct{ text, want string }{
		{`{"hooks": "none"}`, "hooks is no object"},
		{`{"hooks": ["ferrus"]}`, "hooks is no object"},
		{`{"hooks": {"Stop": {"hooks": []}}}`, "hooks.Stop is no list"},
		{`{"hooks": {"Stop": null}}`, "hooks.Stop is no list"},
		{`{"hooks": {"Stop": [], "Stop": []}}`, `"Stop" stands there twice`},
		{`{"hooks": {"Stop": [`, "not valid JSON"},
		{mixed, "in one group"},
	} {
		p := project(t, settingsFile, c.text)
		was := tree(t, p)
		_, err := p.Plan(who("- claude-code+hooks"))
		var r *refusal.RefusedError
		if !errors.As(err, &r) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.text, err)
		}
		equal(t, c.text, tree(t, p), was)
	}
	for _, strange := range []string{mixed, `{"hooks": 1}`, "[", strings.Repeat("[", 1<<20)} {
		if p := project(t, settingsFile, strange); Hooks(p.Root, "claude-code") {
			t.Errorf("%.200s has hooks", strange)
		}
	}

	p := project(t, "dot/settings.json", "{}\n", ".claude/other", "")
	link(t, p, "dot/settings.json", settingsFile)
	for _, args := range [][]string{{"init", "-q"}, {"add", "dot"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = p.Root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if _, err := p.Plan(who("- claude-code+hooks")); err == nil || !strings.Contains(err.Error(), "git has this file") {
		t.Errorf("hooks in a file that is committed: %v", err)
	}
	register(t, p, "- claude-code") // the rest is for everybody
	register(t, p, "")
	text, _ := os.ReadFile(filepath.Join(p.Root, "dot", "settings.json"))
	equal(t, "the committed file", string(text), "{}\n")
}
