//go:build unix

package server

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

func (w *wire) toolNames() []string {
	w.t.Helper()
	var list struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(w.request("tools/list", "{}").Result, &list); err != nil {
		w.t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// TestEveryRevisionOfTheProtocolIsServed, with and without a handshake.
func TestEveryRevisionOfTheProtocolIsServed(t *testing.T) {
	t.Parallel()
	dir := newProject(t, `"true"`)
	for _, version := range []string{"2024-11-05", "2025-06-18", "2025-11-25"} {
		t.Run(version, func(t *testing.T) {
			w := start(t, "ferrusd", dir, "--role", "supervisor")
			m := w.initialize(version)
			var res struct {
				ProtocolVersion string
				Instructions    string
				Capabilities    map[string]map[string]any
				ServerInfo      struct{ Name, Version string }
			}
			if err := json.Unmarshal(m.Result, &res); err != nil {
				t.Fatal(err)
			}
			if res.ProtocolVersion != version || res.Instructions == "" || res.ServerInfo.Name != "ferrus" || res.ServerInfo.Version == "" {
				t.Errorf("initialize: %s", m.Result)
			}
			for name, c := range res.Capabilities {
				if len(c) > 0 || !slices.Contains([]string{"tools", "resources", "prompts"}, name) {
					t.Errorf("capability %s: %v", name, c)
				}
			}
			if names := w.toolNames(); len(names) != 12 {
				t.Errorf("tools %v", names)
			}
			if r := w.call("status", "{}"); r.Next != "create_task" {
				t.Errorf("%+v", r)
			}
		})
	}
	t.Run("2026-07-28", func(t *testing.T) {
		w := start(t, "ferrusd", dir, "--role", "supervisor")
		w.meta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},` +
			`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}`
		if m := w.request("server/discover", "{}"); m.Error != nil || !strings.Contains(string(m.Result), "create_task: say what") {
			t.Errorf("discover: %s %+v", m.Result, m.Error)
		}
		if m := w.request("tools/list", "{}"); !strings.Contains(string(m.Result), `"cacheScope":"private"`) || strings.Contains(string(m.Result), "outputSchema") {
			t.Errorf("the list: %s", m.Result)
		}
		if r := w.call("status", "{}"); r.Next != "create_task" {
			t.Errorf("%+v", r)
		}
	})
}

// TestWithoutARoleOneMayOnlyLook, and the server says so where a person sees it.
func TestWithoutARoleOneMayOnlyLook(t *testing.T) {
	t.Parallel()
	w := start(t, "ferrusd", newProject(t, `"true"`))
	w.initialize("2025-06-18")
	if names := w.toolNames(); !slices.Equal(names, []string{"status"}) {
		t.Errorf("tools %v", names)
	}
	if r := w.call("status", "{}"); r.Next != "stop" || len(r.Allowed) != 0 || r.State != state.Idle {
		t.Errorf("%+v", r)
	}
	if m := w.request("tools/call", `{"name":"create_task","arguments":{"description":"d"}}`); m.Error == nil || m.Error.Code != -32602 {
		t.Errorf("%+v", m)
	}
	if code, _ := w.exit(w.leave); code != 0 || !strings.Contains(w.stderr.String(), "--role") {
		t.Errorf("exit %d, stderr %q", code, w.stderr)
	}
}

// TestABadFlagIsAUsageError: exit 2, what is wrong on stderr, nothing on stdout.
func TestABadFlagIsAUsageError(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for says, args := range map[string][]string{
		`unknown role "boss"`:      {"--role", "boss"},
		`unknown role "human"`:     {"--role", "human"},
		`unknown role "Executor"`:  {"--role", "Executor"},
		"did you mean --role?":     {"--rule", "executor"},
		"unknown flag: --zzz":      {"--zzz"},
		"unexpected argument":      {"--role", "executor", "extra"},
		"--wait takes a whole":     {"--wait", "soon"},
		"not negative":             {"--wait", "-1"},
		`agent name ""`:            {"--agent-name", ""},
		`agent name "a:b"`:         {"--agent-name", "a:b"},
		`agent name "../x"`:        {"--agent-name", "../x"},
		`branch name ".."`:         {"--branch", ".."},
		`branch name "../../x"`:    {"--branch", "../../x"},
		"--role needs a value":     {"--role"},
		"--agent-index are not ne": {"--agent-index", "-3"},
	} {
		w := start(t, "ferrusd", dir, args...)
		if code, _ := w.exit(func() {}); code != 2 || !strings.Contains(w.stderr.String(), says) {
			t.Errorf("%v: exit %d, stderr %q", args, code, w.stderr)
		}
	}
	w := start(t, "ferrusd", dir, "--help")
	if code, _ := w.exit(func() {}); code != 0 || !strings.Contains(w.stderr.String(), "-role") {
		t.Errorf("help: exit %d, stderr %q", code, w.stderr)
	}
}

// TestAServerFindsItsMachine from wherever a client starts it.
func TestAServerFindsItsMachine(t *testing.T) {
	t.Parallel()
	dir := tracked(t, `"true"`)
	inner := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	linked := filepath.Join(t.TempDir(), "linked")
	for _, args := range [][]string{{"commit", "-q", "--allow-empty", "-m", "c"}, {"worktree", "add", "-q", linked}} {
		if err := gitIn(dir, args...); err != nil {
			t.Fatal(err)
		}
	}
	ferrusd(t, dir, "supervisor").do("create_task", `{"description":"d","title":"the one"}`)
	for name, in := range map[string]string{"the root": dir, "a folder below": inner, "a linked work tree": linked, ".ferrus": filepath.Join(dir, ".ferrus")} {
		if r := ferrusd(t, in, "executor").do("status", "{}"); r.Title != "the one" {
			t.Errorf("in %s: %+v", name, r)
		}
		if r := ferrusd(t, t.TempDir(), "executor", "--root", in).do("status", "{}"); r.Title != "the one" {
			t.Errorf("with --root %s: %+v", name, r)
		}
	}
	w := ferrusd(t, linked, "executor")
	if r := w.do("wait_for_task", "{}"); r.Worktree != dir {
		t.Errorf("the work is in %s, not %s", r.Worktree, dir)
	}
}

// TestAServerFindsItsBranch in the work tree of the branch, and by its name.
func TestAServerFindsItsBranch(t *testing.T) {
	sharedtest.InFiles(t, "it moves the files of a machine to those of a branch")
	t.Parallel()
	dir := tracked(t, `"true"`)
	branch := project.At(dir, "feature")
	for _, args := range [][]string{
		{"-c", "user.name=u", "-c", "user.email=u@example.com", "commit", "-q", "--allow-empty", "-m", "begin"},
		{"worktree", "add", "-q", "--detach", branch.Work},
	} {
		if err := gitIn(dir, args...); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(branch.Work, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	// A machine of the same shape.
	initialise(t, filepath.Join(dir, "x"))
	if err := os.MkdirAll(filepath.Dir(branch.Dir()), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "x", ".ferrus"), branch.Dir()); err != nil {
		t.Fatal(err)
	}
	ferrusd(t, dir, "supervisor", "--branch", "feature").do("create_task", `{"description":"d","title":"of the branch"}`)
	if r := ferrusd(t, filepath.Join(branch.Work, "sub"), "executor").do("status", "{}"); r.Title != "of the branch" {
		t.Errorf("in its work tree: %+v", r)
	}
	if r := ferrusd(t, dir, "executor").do("status", "{}"); r.State != state.Idle {
		t.Errorf("the project's own machine: %+v", r)
	}
	if r := ferrusd(t, dir, "executor", "--branch", "nobody").call("status", "{}"); r.Code != refusal.UnknownBranch {
		t.Errorf("a branch that is not: %+v", r)
	}
	if entries, err := os.ReadDir(filepath.Join(dir, ".ferrus", "branches")); err != nil || len(entries) != 1 {
		t.Errorf("branches: %v %v", entries, err)
	}
}
