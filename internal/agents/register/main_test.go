package register

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/test/kit"
)

func TestMain(m *testing.M) { os.Exit(kit.Main(m.Run)) }

const exe = "/opt/ferrus/bin/ferrus"

// who are roles with their agents: "claude-code" as a supervisor and "codex" as an executor are "claude-code codex".
// A dash is nobody; a model follows a colon, and +hooks the whole.
func who(text string) map[agents.Duty]Assignment {
	want := map[agents.Duty]Assignment{}
	for i, name := range strings.Fields(text) {
		name, hooked := strings.CutSuffix(name, "+hooks")
		if agent, model, _ := strings.Cut(name, ":"); agent != "-" {
			want[roles[i]] = Assignment{Agent: agent, Model: model, Hooks: hooked}
		}
	}
	return want
}

// project makes a project with files: names and texts in turn.
func project(t *testing.T, files ...string) Project {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, ".ferrus"), 0o700); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(files); i += 2 {
		put := filepath.Join(root, files[i])
		if err := os.MkdirAll(filepath.Dir(put), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(put, []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Project{Root: root, Exe: exe, Record: filepath.Join(root, ".ferrus", "register.json"),
		Skills: map[agents.Duty]string{agents.Supervisor: "how to supervise\n", agents.Executor: "how to execute\n"}}
}

// tree is every file and folder of a project, links followed, without the folder of ferrus.
func tree(t *testing.T, p Project) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(p.Root, func(name string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(p.Root, name)
		switch {
		case err != nil:
			return err
		case d.Name() == ".ferrus":
			return fs.SkipDir
		case d.IsDir():
			all[filepath.ToSlash(rel)+"/"] = ""
			return nil
		}
		text, err := os.ReadFile(name)
		all[filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// register plans and writes, and fails the test if that fails.
func register(t *testing.T, p Project, roles string) *Plan {
	t.Helper()
	plan, err := p.Plan(who(roles))
	if err == nil {
		err = plan.Write()
	}
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func equal[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got)\n%s", what, d)
	}
}

// forget removes the record.
func forget(t *testing.T, p Project) {
	t.Helper()
	if err := os.Remove(p.Record); err != nil {
		t.Fatal(err)
	}
}
