package agents

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
)

// codexSpec is a launch whose files of Codex are these.
func codexSpec(t *testing.T, files map[string]string) LaunchSpec {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return LaunchSpec{Duty: Reviewer, Prompt: "go", Headless: true, Ferrus: `/bin/a "b"\ferrus`, Root: filepath.Join(dir, "p"),
		Work: filepath.Join(dir, "p", "sub"), Environ: []string{"HOME=" + filepath.Join(dir, "home"), "A_TOKEN=sesame", "GOFLAGS=-x"}}
}

// servers are the MCP servers of a launch, as Codex reads them.
func servers(t *testing.T, l Launch) map[string]map[string]any {
	t.Helper()
	for i, arg := range l.Argv {
		if value, ok := strings.CutPrefix(arg, "mcp_servers="); ok && l.Argv[i-1] == "-c" {
			var conf struct{ Servers map[string]map[string]any }
			if _, err := toml.Decode("servers = "+value, &conf); err != nil {
				t.Fatalf("%v in %s", err, value)
			}
			return conf.Servers
		}
	}
	t.Fatalf("no MCP servers: %q", l.Argv)
	return nil
}

func TestCodexSwitchesOffOtherServers(t *testing.T) {
	l, err := codex.Launch(codexSpec(t, map[string]string{
		"home/.codex/config.toml":      "model = 'x'\n[mcp_servers.mine]\ncommand = 'm'\n[mcp_servers.ferrus]\ncommand = 'old'\nargs = ['serve']\n",
		"home/.codex/work.config.toml": "[mcp_servers.\"in.profile\"]\ncommand = 'p'\n",
		"p/.codex/config.toml":         "[mcp_servers.far]\nurl = 'https://far.example/?key=sesame'\nrequired = true\n",
		"p/sub/.codex/config.toml":     "[mcp_servers.near]\ncommand = 'n'\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	got := servers(t, l)
	if diff := cmp.Diff([]string{"far", "ferrus", "in.profile", "mine", "near"}, slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, server := range got {
		if on := server["enabled"] == true; on != (name == ServerName) {
			t.Errorf("%s is enabled: %v", name, on)
		}
		// Codex refuses a server that it cannot reach in one way exactly, switched off or not.
		if (server["command"] != nil) == (server["url"] != nil) {
			t.Errorf("%s: %v", name, server)
		}
	}
	if got["far"]["url"] == nil || got["far"]["required"] != false {
		t.Errorf("far: %v", got["far"])
	}
	if strings.Contains(strings.Join(l.Argv, " "), "sesame") {
		t.Errorf("a secret is on the command line: %q", l.Argv)
	}
}

func TestCodexGivesOurServer(t *testing.T) {
	s := codexSpec(t, nil)
	l, err := codex.Launch(s)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"command": s.Ferrus, "enabled": true, "required": true, "startup_timeout_sec": int64(60),
		"tool_timeout_sec": int64(330), "default_tools_approval_mode": "approve", "env_vars": []any{"GOFLAGS", "HOME"},
		"args": []any{"serve", "--role", "supervisor", "--agent-name", "codex", "--agent-index", "1", "--root", s.Root, "--wait", "270", "--headless"}}
	if diff := cmp.Diff(want, servers(t, l)["ferrus"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCodexIsNotLaunchedBlindly(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"p/.codex/config.toml", "mcp_servers = [", "to switch off the other MCP servers"},
		{"home/.codex/config.toml", "[mcp_servers.ferrus]\nurl = 'x'\n", "mcp_servers.ferrus has url"},
		{"p/.codex/config.toml", "[mcp_servers.ferrus]\nenabled_tools = ['check']\n", "mcp_servers.ferrus has enabled_tools"},
	} {
		_, err := codex.Launch(codexSpec(t, map[string]string{c.file: c.text}))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), filepath.FromSlash(c.file)) {
			t.Errorf("%s %q: %v", c.file, c.text, err)
		}
	}
}

func TestCodexHomeIsTheirs(t *testing.T) {
	s := codexSpec(t, map[string]string{"other/config.toml": "[mcp_servers.mine]\ncommand = 'm'\n"})
	s.Environ = append(s.Environ, "CODEX_HOME="+filepath.Join(s.Root, "..", "other"))
	l, err := codex.Launch(s)
	if err != nil {
		t.Fatal(err)
	}
	if servers(t, l)["mine"] == nil {
		t.Errorf("CODEX_HOME was not looked into: %q", l.Argv)
	}
}

func FuzzTOML(f *testing.F) {
	f.Add("a\"b\\c\n\x00\x7fü")
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "?")
		var got struct{ V []map[string]string }
		text := "v = [" + tomlValue(map[string]any{s: s}) + "]"
		if _, err := toml.Decode(text, &got); err != nil || len(got.V) != 1 || got.V[0][s] != s {
			t.Errorf("%q is %q: %v", s, text, err)
		}
	})
}
