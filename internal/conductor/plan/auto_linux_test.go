package plan_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/confine"
	"github.com/ferrus-go/ferrus/internal/conductor/plan"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
	"github.com/ferrus-go/ferrus/internal/project"
)

// TestAutoFindsASandboxOrSaysWhyNot: an executor whose client can work in a sandbox gets one. Otherwise it starts as ever, with the
// reason and what changes that. What ferrus.toml says wrongly is refused all the same.
func TestAutoFindsASandboxOrSaysWhyNot(t *testing.T) {
	claude, err := agents.Find("claude-code")
	if err != nil {
		t.Fatal(err)
	}
	command, err := agents.Find("command")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	key := []string{"PATH=/usr/bin:/bin", "ANTHROPIC_API_KEY=sesame"}
	type change func(*testing.T, *enginetest.Machine, *plan.Executor)
	for name, c := range map[string]struct {
		change  change
		outside []string // nil for a sandbox
		refused string
	}{
		"a key": {func(_ *testing.T, _ *enginetest.Machine, e *plan.Executor) { e.Environ = key }, nil, ""},
		"no key and no login": {func(*testing.T, *enginetest.Machine, *plan.Executor) {},
			[]string{"no key and no login", "ANTHROPIC_API_KEY", "ferrus open executor --login"}, ""},
		"a login of its own": {func(t *testing.T, m *enginetest.Machine, e *plan.Executor) {
			write(t, filepath.Join(confine.Login(m.Dir, "claude-code"), ".claude", ".credentials.json"))
		}, nil, ""},
		"a command, of which nothing is known": {func(_ *testing.T, _ *enginetest.Machine, e *plan.Executor) { e.Agent, e.Environ = command, key },
			[]string{"no key and no login", `sandbox = "on"`}, ""},
		"checks without a sandbox": {func(_ *testing.T, _ *enginetest.Machine, e *plan.Executor) {
			e.Environ, e.Gate.Checks.Sandbox = key, config.NoSandbox
		},
			[]string{"the checks run what the executor wrote", "under [checks] too"}, ""},
		"a partial clone": {func(_ *testing.T, m *enginetest.Machine, e *plan.Executor) {
			e.Environ = key
			m.Git("config", "remote.origin.promisor", "true")
		}, []string{"partial clone", "git fetch --refetch"}, ""},
		"a path that gives the project away": {func(_ *testing.T, m *enginetest.Machine, e *plan.Executor) {
			e.Environ, e.Gate.HQ.Sandbox.Write = key, []string{m.Dir}
		}, nil, "give away"},
	} {
		t.Run(name, func(t *testing.T) {
			m := enginetest.Repository(t, "")
			work := filepath.Join(m.Dir, ".ferrus", "worktrees", "alt")
			for _, dir := range []string{work, filepath.Join(m.Dir, ".ferrus", "branches", "alt")} {
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			e := plan.Executor{Gate: gate(t), Place: project.Place{Root: m.Dir, Branch: "alt"}, Work: work, Ferrus: self, Agent: claude, Environ: key[:1]}
			e.Gate.HQ.Sandbox.Mode, e.Gate.Checks.Sandbox = config.AutoSandbox, config.AutoSandbox
			c.change(t, m, &e)
			p, err := plan.Of(t.Context(), e)
			checked := plan.Check(t.Context(), e.Gate, e.Place, false)
			if c.refused != "" {
				for _, err := range []error{err, checked} {
					if err == nil || !strings.Contains(err.Error(), c.refused) {
						t.Errorf("%v, and not %q", err, c.refused)
					}
				}
				return
			}
			if err != nil || checked != nil || (p.Order == nil) != (c.outside != nil) {
				t.Fatalf("%+v, %v, %v", p, err, checked)
			}
			for _, want := range c.outside {
				if !strings.Contains(p.Outside, want) {
					t.Errorf("no %q in %q", want, p.Outside)
				}
			}
			if login := confine.Login(m.Dir, "claude-code"); p.Order != nil && (p.Order.Home() == login) != strings.Contains(name, "login") {
				t.Errorf("its home folder is %s", p.Order.Home())
			}
		})
	}
}

// TestAWorkTreeThatContainsAHomeFolderIsNoPlace for an executor in a sandbox: it would write what the person's programs obey.
func TestAWorkTreeThatContainsAHomeFolderIsNoPlace(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := sandbox.Probe(t.Context(), sandbox.Bwrap, self); err != nil {
		t.Skip(err)
	}
	m := enginetest.Repository(t, "")
	home := filepath.Join(m.Dir, "home")
	write(t, filepath.Join(home, "file"))
	t.Setenv("HOME", home)
	g := gate(t)
	g.HQ.Sandbox.Mode, g.Checks.Sandbox = "bwrap", config.AutoSandbox
	place := project.Place{Root: m.Dir, Work: m.Dir}
	if err := plan.Check(t.Context(), g, place, false); err == nil || !strings.Contains(err.Error(), "contains "+home) {
		t.Error(err)
	}
	g.HQ.Sandbox.Mode = config.AutoSandbox
	p, err := plan.Of(t.Context(), plan.Executor{Gate: g, Place: place, Work: m.Dir, Ferrus: self, Environ: []string{"ANTHROPIC_API_KEY=x"}})
	if err != nil || p.Order != nil || !strings.Contains(p.Outside, "contains "+home) {
		t.Errorf("%+v, %v", p, err)
	}
}

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
}
