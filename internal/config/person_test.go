package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/config/trust"
)

// own writes a person's own configuration.
func own(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv(trust.EnvXDGConf, dir)
	path := filepath.Join(dir, "ferrus", PersonFile)
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestAPersonGoesBeforeAProject: what they say of an agent counts, and the project's values are agreed to as they are.
func TestAPersonGoesBeforeAProject(t *testing.T) {
	project, err := Parse(FileName, []byte("[hq.executor]\nargs = [\"--yolo\"]\nmodel = \"m\"\n[hq.supervisor]\nagent = \"command\"\ncommand = \"evil\"\nargs = [\"x\"]\n"))
	if err != nil {
		t.Fatal(err)
	}
	own(t, "[hq.executor.args]\ncodex = [\"--mine\"]\n[hq.supervisor]\nagent = \"gemini\"\n")
	p, err := LoadPerson()
	if err != nil {
		t.Fatal(err)
	}
	c := project.With(p)
	want := HQ{Supervisor: Agent{Agent: "gemini", Args: []string{}, Fallback: []string{}}, Executor: Agent{Agent: "codex", Model: "m", Args: []string{"--mine"}, Fallback: []string{}}, Continue: Fresh,
		Sandbox: Sandbox{Mode: NoSandbox, Read: []string{}, Write: []string{}}}
	if diff := cmp.Diff(want, c.HQ); diff != "" {
		t.Error(diff)
	}
	if len(c.ProjectArgs()) != 0 || len(project.ProjectArgs()) != 2 {
		t.Errorf("%v %v", c.ProjectArgs(), project.ProjectArgs())
	}
	if trust.Digest(c.Executable()) != trust.Digest(project.Executable()) {
		t.Error("a person's own configuration changed what they agreed to")
	}
	if n := len(project.With(Person{}).ProjectArgs()); n != 2 {
		t.Errorf("arguments of %d tables without a configuration of their own", n)
	}
	line, err := Parse(FileName, []byte(PersonLine("hq.executor", "codex", []string{"--mine"})))
	if err == nil {
		t.Errorf("a project may have %v", line.HQ)
	}
}

// TestAPersonsFileMustBeTheirs: no file is nothing, and what is wrong is said.
func TestAPersonsFileMustBeTheirs(t *testing.T) {
	path := own(t, "[hq.executor]\nagnt = \"x\"\n")
	if _, err := LoadPerson(); err == nil || !strings.Contains(err.Error(), "unknown key hq.executor.agnt") {
		t.Error(err)
	}
	for text, want := range map[string]string{
		"[hq.executor]\nagent = \"claud\"\n":        "did you mean claude-code?",
		"[hq.supervisor.args]\ncodexx = [\"-x\"]\n": "did you mean codex?",
		"[hq.executor]\nagent = \"/nope/agent\"\n":  `there is no agent "/nope/agent"`,
		"[store]\ntree = \"origin\"\n":              "url, trees, namespace and silence_secs in [store]",
		"[store]\nsilence_secs = 1\n":               `silence_secs is 1; it is a number from 2 to 3600`,
		"[store]\nnamespace = \"refs/tags\"\n":      `namespace is "refs/tags"; it is one of refs/ferrus, refs/heads/ferrus`,
		"[store]\ntrees = \"../host.git\"\n":        `it is the name of a remote, a URL or an absolute path`,
		"[store]\ntrees = \"--upload-pack=x\"\n":    `it is the name of a remote, a URL or an absolute path`,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadPerson(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadPerson(); err != nil {
		t.Error(err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadPerson(); err == nil && os.PathSeparator == '/' {
		t.Error("a file that others can write is believed")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if p, err := LoadPerson(); err != nil || p.Path != path || p.Executor.Agent != "" {
		t.Errorf("%+v, %v", p, err)
	}
}
