package register

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus"
	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/test/golden"
)

// top is the repository, plugin the folder that the clients take.
const (
	top    = "../../../"
	plugin = top + "plugin/"
)

// A manifest is what the manifests of the clients have in common.
type manifest struct {
	Name, Version, Description string
	Servers                    map[string]struct {
		Command string
		Args    []string
		Timeout int
		Tool    int      `json:"tool_timeout_sec"`
		Passed  []string `json:"env_vars"`
	} `json:"mcpServers"`
}

func decode(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// TestThePluginStartsOneServerInEachClient, with the limits that ferrus register writes, and says one thing to all of them.
func TestThePluginStartsOneServerInEachClient(t *testing.T) {
	var npm manifest
	decode(t, top+"packaging/npm/package.json", &npm)
	for client, file := range map[string]string{"claude-code": ".claude-plugin/plugin.json", "codex": ".codex-plugin/plugin.json", "gemini": "gemini-extension.json"} {
		var m, first manifest
		decode(t, plugin+file, &m)
		decode(t, plugin+"gemini-extension.json", &first)
		if m.Name != "ferrus" || m.Description != first.Description {
			t.Errorf("%s: %+v", file, m)
		}
		// The others count each commit as a version, unless there is one.
		if version := m.Version; version != "" && version != npm.Version || client == "gemini" && version == "" {
			t.Errorf("%s has the version %q, npm %q", file, version, npm.Version)
		}
		a, err := agents.Find(client)
		if err != nil {
			t.Fatal(err)
		}
		server := m.Servers[agents.ServerName]
		if len(m.Servers) != 1 || server.Command != "ferrus" || !slices.Equal(server.Args, []string{"serve", "--client", client}) {
			t.Errorf("%s: %+v", file, m.Servers)
		}
		if seconds := max(server.Timeout/1000, server.Tool); seconds != limit(assignment{Adapter: a}) {
			t.Errorf("%s: a call has %d s", file, seconds)
		}
		if client == "codex" && !slices.Equal(server.Passed, passed) {
			t.Errorf("%s: env_vars differ from those of ferrus register", file)
		}
	}
}

// TestThePluginHasTheHooksThatAreRegistered, in the forms of the clients that have them in a plugin. It says whose they are.
func TestThePluginHasTheHooksThatAreRegistered(t *testing.T) {
	type group struct{ Hooks []map[string]any }
	var claude struct{ Hooks map[string][]group }
	var codex struct {
		Hooks struct{ Hooks map[string][]group }
	}
	decode(t, plugin+".claude-plugin/plugin.json", &claude)
	decode(t, plugin+".codex-plugin/plugin.json", &codex)
	want := func(command string, args any) []group {
		hook := map[string]any{"type": "command", "command": command, "timeout": float64(hookTime)}
		if args != nil {
			hook["args"] = args
		}
		return []group{{Hooks: []map[string]any{hook}}}
	}
	inClaude, inCodex := map[string][]group{}, map[string][]group{}
	for _, event := range hookEvents {
		inClaude[event] = want("ferrus", []any{HookCommand, "--client", "claude-code"})
		if event != "Notification" { // which Codex does not have
			inCodex[event] = want("ferrus "+HookCommand+" --client codex", nil)
		}
	}
	equal(t, "hooks of Claude Code", claude.Hooks, inClaude)
	equal(t, "hooks of Codex", codex.Hooks.Hooks, inCodex)
}

// TestTheMarketplacesLeadToThePlugin by the name that the sessions of ferrus switch off.
func TestTheMarketplacesLeadToThePlugin(t *testing.T) {
	for _, file := range []string{".claude-plugin/marketplace.json", ".agents/plugins/marketplace.json"} {
		var market struct {
			Name    string
			Plugins []struct {
				Name   string
				Source any
			}
		}
		decode(t, top+file, &market)
		if len(market.Plugins) != 1 || market.Plugins[0].Name+"@"+market.Name != agents.Plugin {
			t.Fatalf("%s: %+v", file, market)
		}
		source := market.Plugins[0].Source
		if m, ok := source.(map[string]any); ok {
			source = m["path"]
		}
		if source != "./plugin" {
			t.Errorf("%s: %v", file, source)
		}
	}
}

// TestThePluginHasTheSkillsThatAreRegistered, word for word.
func TestThePluginHasTheSkillsThatAreRegistered(t *testing.T) {
	for _, role := range roles {
		name := "skills/ferrus-" + string(role) + "/SKILL.md"
		text, err := fs.ReadFile(ferrus.Template(), name)
		if err != nil {
			t.Fatal(err)
		}
		golden.Check(t, plugin+name, string(text))
	}
}

// TestTheCommandsAreTheSameInEveryClient: those of Gemini CLI are made from the files of Claude Code.
func TestTheCommandsAreTheSameInEveryClient(t *testing.T) {
	files, err := fs.Glob(os.DirFS(plugin+"commands"), "*.md")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(plugin, "commands", file))
		if err != nil {
			t.Fatal(err)
		}
		head, body, _ := strings.Cut(strings.TrimPrefix(string(text), "---\n"), "\n---\n\n")
		about, _, _ := strings.Cut(strings.TrimPrefix(head, "description: "), "\n")
		golden.Check(t, filepath.Join(plugin, "commands", "ferrus", strings.TrimSuffix(file, ".md")+".toml"),
			"description = "+tomlText(about)+"\nprompt = \"\"\"\n"+strings.ReplaceAll(body, "$ARGUMENTS", "{{args}}")+"\"\"\"\n")
	}
	if made, err := fs.Glob(os.DirFS(plugin+"commands/ferrus"), "*"); err != nil || len(made) != len(files) {
		t.Errorf("%v, from %v", made, files)
	}
}
