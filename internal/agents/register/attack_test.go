package register

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs/rootfstest"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// TestNoEntryLeadsRegisterOutside lays links, FIFOs and huge files in place of the files of all clients, of the folders
// that they are in, and of our record.
func TestNoEntryLeadsRegisterOutside(t *testing.T) {
	t.Parallel()
	paths := []string{".mcp.json", ".claude", ".claude/skills/ferrus-supervisor", ".claude/skills/ferrus-supervisor/SKILL.md", ".codex", ".codex/config.toml",
		".agents", ".gemini/settings.json", "opencode.json", ".ferrus/register.json"}
	all := []agents.Duty{agents.Supervisor, agents.Executor}
	of := func(dir string) Project {
		return Project{Root: dir, Exe: "/bin/ferrus", Record: filepath.Join(dir, ".ferrus", "register.json"),
			Skills: map[agents.Duty]string{agents.Supervisor: "supervise\n", agents.Executor: "execute\n"}}
	}
	write := func(p Project, first, second string) error {
		plan, err := p.Plan(map[agents.Duty]Assignment{all[0]: {Agent: first}, all[1]: {Agent: second}})
		if err == nil {
			err = plan.Write()
		}
		return err
	}
	setup := func(t *testing.T, dir string) {
		if err := os.Mkdir(filepath.Join(dir, ".ferrus"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := write(of(dir), "claude-code", "codex"); err != nil {
			t.Fatal(err)
		}
	}
	rootfstest.Attack(t, paths, setup, func(t *testing.T, c rootfstest.Case) error {
		p := of(c.Dir)
		_, err := p.Registered()
		errs := []error{err, write(p, "claude-code", "codex"), write(p, "gemini", "opencode"), write(p, "qwen-code", "claude-code")}
		if _, err := p.Servers(); err != nil {
			errs = append(errs, err)
		}
		plan, err := p.Plan(nil)
		if err == nil {
			err = plan.Write()
		}
		err = errors.Join(append(errs, err)...)
		if strings.HasSuffix(c.Entry, " link") && !strings.Contains(c.Path, ".ferrus") && (err == nil || !strings.Contains(err.Error(), "link")) {
			t.Errorf("%s as a %s is refused with %v", c.Path, c.Entry, err)
		}
		return err
	})
}

// TestALinkToWhatGitKeepsIsRefused: a client's file in its place would be a program that git runs, or its configuration.
func TestALinkToWhatGitKeepsIsRefused(t *testing.T) {
	t.Parallel()
	for _, to := range []string{".git", ".git/hooks", ".GIT/hooks", "sub/.git", ".ferrus", ".ferrus/branches"} {
		dir := t.TempDir()
		p := Project{Root: dir, Exe: "/bin/ferrus", Record: filepath.Join(dir, ".ferrus", "register.json")}
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, to), 0o700), os.MkdirAll(filepath.Join(dir, ".ferrus"), 0o700),
			os.Symlink(to, filepath.Join(dir, ".codex"))); err != nil {
			t.Skip(err)
		}
		_, err := p.Plan(map[agents.Duty]Assignment{agents.Executor: {Agent: "codex"}})
		var f *refusal.RefusedError
		if !errors.As(err, &f) || !strings.HasPrefix(f.Message, ".codex: ") || f.Remedy == "" {
			t.Errorf("%s: %v", to, err)
		}
	}
}

// TestARecordRemovesNothingOutside: what a repository can bring along in place of our record names folders to be removed,
// and arguments of agents.
func TestARecordRemovesNothingOutside(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	dir := filepath.Join(base, "project")
	for _, name := range []string{"project/.ferrus", "project/empty", "outside"} {
		if err := os.MkdirAll(filepath.Join(base, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p := Project{Root: dir, Exe: "/bin/ferrus", Record: filepath.Join(dir, ".ferrus", "register.json")}
	if err := os.WriteFile(p.Record, []byte(`{"roles": {"executor": {"agent": "codex", "model": "--dangerously"}, "supervisor": {"agent": "/bin/sh"}, "root": {"agent": "codex"}},
		"dirs": ["../outside", "`+filepath.ToSlash(filepath.Join(base, "outside"))+`", "", ".", "empty/../../outside", "empty"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if rec, err := remembered(p.Record); err != nil || len(rec.Roles) != 0 {
		t.Errorf("%+v, %v", rec.Roles, err)
	}
	plan, err := p.Plan(nil)
	if err == nil {
		err = plan.Write()
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"project", "outside"} {
		if _, err := os.Stat(filepath.Join(base, name)); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "empty")); err == nil {
		t.Error("a folder that was made is left")
	}
}
