//go:build unix

package server

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/register"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/tools"
)

// ofPlugin starts a server as the plugin of a client does, and returns what it says of itself.
func ofPlugin(t *testing.T, dir, client, agent string) (w *wire, instructions string, can map[string]any) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w = launch(t, "env", "ferrusd", dir, "FERRUS_AGENT="+agent, self, "--client", client)
	var res struct {
		Instructions string
		Capabilities map[string]any
	}
	if err := json.Unmarshal(w.initialize("2025-06-18").Result, &res); err != nil {
		t.Fatal(err)
	}
	return w, res.Instructions, res.Capabilities
}

// silent checks that a server of a plugin offers nothing, reports no error, and writes nothing into the folder.
func silent(t *testing.T, dir, client, agent string) {
	t.Helper()
	before := files(t, dir)
	w, instructions, can := ofPlugin(t, dir, client, agent)
	if client == "gemini" { // calls a server broken that offers nothing
		delete(can, "prompts")
	}
	if names := w.toolNames(); len(names) > 0 || instructions != "" || len(can) > 0 {
		t.Errorf("tools %v, instructions %q, capabilities %v", names, instructions, can)
	}
	for _, list := range []string{"prompts", "resources"} {
		m := w.request(list+"/list", "{}")
		if got, want := strings.Contains(string(m.Result), `"name"`), client == "gemini" && list == "prompts"; got != want {
			t.Errorf("%s: %s", list, m.Result)
		}
	}
	if code, _ := w.exit(w.leave); code != 0 || w.stderr.String() != "" {
		t.Errorf("exit code %d, stderr %q", code, w.stderr)
	}
	if after := files(t, dir); !slices.Equal(before, after) {
		t.Errorf("files %v, before %v", after, before)
	}
}

func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		names = append(names, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// acts checks that a server of a plugin has the tools of a role, and the arguments by which others recognise it.
func acts(t *testing.T, dir, client string, role state.Role) {
	t.Helper()
	w, instructions, _ := ofPlugin(t, dir, client, client)
	var want []string
	for _, tool := range tools.Catalogue() {
		if tool.For(role) && tool.Name != "delegate" {
			want = append(want, tool.Name)
		}
	}
	got := w.toolNames()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) || instructions == "" {
		t.Errorf("%s is no %s: %v", client, role, got)
	}
	if r := w.call("status", "{}"); r.Code != "" {
		t.Errorf("%+v", r)
	}
	if runtime.GOOS != "linux" {
		return
	}
	adapter, err := agents.Find(client)
	if err != nil {
		t.Fatal(err)
	}
	line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(w.cmd.Process.Pid), "cmdline"))
	if args := strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00"); err != nil || !slices.Equal(args[1:], register.Flags(adapter, agents.Duty(role))) {
		t.Errorf("its arguments are %q", args)
	}
}

// TestThePluginHasTheRoleOfItsClient that ferrus register would write.
func TestThePluginHasTheRoleOfItsClient(t *testing.T) {
	t.Parallel()
	const checks = "[checks]\ncommands = [\"true\"]\n"
	for hq, want := range map[string]map[string]state.Role{
		"": {"claude-code": state.Supervisor, "codex": state.Executor, "gemini": state.Supervisor},
		"[hq.supervisor]\nagent = \"codex\"\n[hq.executor]\nagent = \"claude-code\"\n": {"claude-code": state.Executor, "codex": state.Supervisor},
		"[hq.supervisor]\nagent = \"codex\"\n[hq.executor]\nagent = \"codex\"\n":       {"codex": state.Supervisor},
		"[hq": {"codex": state.Supervisor},
	} {
		dir := newProject(t, `"true"`)
		write(t, filepath.Join(dir, "ferrus.toml"), checks+hq)
		for client, role := range want {
			acts(t, dir, client, role)
		}
	}
}

// TestThePluginIsSilentWhereItHasNoBusiness: without a project, in a session that ferrus started, and beside a registered server.
func TestThePluginIsSilentWhereItHasNoBusiness(t *testing.T) {
	t.Parallel()
	for _, client := range []string{"claude-code", "codex", "gemini"} {
		silent(t, t.TempDir(), client, "")
	}
	dir := newProject(t, `"true"`)
	silent(t, dir, "claude-code", "executor:claude-code:1")
	silent(t, dir, "claude-code", "researcher:claude-code:1")
	entry := `{"mcpServers": {"ferrus": {"command": "/else/where/ferrus", "args": ["serve", "--role", "supervisor"]}}}`
	write(t, filepath.Join(dir, ".mcp.json"), entry)
	silent(t, dir, "claude-code", "claude-code")
	below := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	silent(t, below, "claude-code", "claude-code") // the client looks in the folders above, too
	acts(t, dir, "codex", state.Executor)          // has no such file, and its own would replace this server
	write(t, filepath.Join(dir, ".mcp.json"), strings.Replace(entry, "/else/where/ferrus", "other", 1))
	acts(t, dir, "claude-code", state.Supervisor)
}

// TestThePluginDoesNothingInAClone to which nobody has agreed: it answers status.
func TestThePluginDoesNothingInAClone(t *testing.T) {
	t.Parallel()
	dir := newProject(t, `"true"`)
	write(t, filepath.Join(dir, "ferrus.toml"), "[checks]\ncommands = [\"touch canary\"]\n[hq.executor]\nagent = \"gemini\"\n")
	p, err := trust.Open(dir)
	if err == nil {
		_, err = p.Revoke()
	}
	if err != nil {
		t.Fatal(err)
	}
	for client, tool := range map[string]string{"claude-code": "create_task", "gemini": "wait_for_task"} {
		w, _, _ := ofPlugin(t, dir, client, "")
		if r := w.call("status", "{}"); r.Code != "" {
			t.Errorf("%s: status: %+v", client, r)
		}
		if r := w.call(tool, cmp.Or(arguments[tool], "{}")); r.Code != refusal.Untrusted {
			t.Errorf("%s: %s: %+v", client, tool, r)
		}
	}
}

// TestThePluginTakesNoOtherRole: the project alone says what a client is.
func TestThePluginTakesNoOtherRole(t *testing.T) {
	t.Parallel()
	dir := newProject(t, `"true"`)
	for says, args := range map[string][]string{
		`there is no agent "boss"`: {"--client", "boss"},
		"--role: a client":         {"--client", "codex", "--role", "executor"},
		"--agent-name: a client":   {"--client", "codex", "--agent-name", "x"},
		"--http: a client":         {"--client", "codex", "--http", "127.0.0.1:0"},
	} {
		w := start(t, "ferrusd", dir, args...)
		if code, _ := w.exit(func() {}); code != 2 || !strings.Contains(w.stderr.String(), says) {
			t.Errorf("%v: exit %d, stderr %q", args, code, w.stderr)
		}
	}
}
