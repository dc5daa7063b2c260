package plan_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/confine"
	"github.com/ferrus-go/ferrus/internal/conductor/plan"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestALinkGivesNothingAway: keys, settings and programs are protected where they are, whatever links a person has made to them.
func TestALinkGivesNothingAway(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	m := enginetest.Repository(t, "")
	at := func(name string) string { return filepath.Join(home, name) }
	for _, dir := range []string{"dotfiles/ssh", "dotfiles/config/x", "dotfiles/other", "tools/bin", "cache"} {
		must(t, os.MkdirAll(at(dir), 0o700))
	}
	for link, to := range map[string]string{".ssh": "dotfiles/ssh", ".config": "dotfiles/config", "bin": "tools/bin", "elsewhere": ".ssh"} {
		must(t, os.Symlink(to, at(link)))
	}
	t.Setenv("PATH", os.Getenv("PATH")+":"+at("bin")+":relative::"+at("missing"))
	for _, c := range []struct {
		read, write string
		want        string // "" for nothing
	}{
		{read: ".ssh", want: "give away"},
		{read: "elsewhere", want: "give away"},
		{read: "dotfiles/ssh", want: "give away"},
		{read: "dotfiles", want: "give away"},
		{read: "dotfiles/config/x"},
		{read: "dotfiles/other"},
		{read: "tools/bin"},
		{write: ".config/x", want: "give away"},
		{write: "dotfiles/config/x", want: "give away"},
		{write: "dotfiles/ssh", want: "give away"},
		{write: "tools/bin", want: "give away"},
		{write: "tools", want: "give away"},
		{write: "dotfiles/other"},
		{write: "cache"},
	} {
		g := gate(t)
		if c.read != "" {
			g.HQ.Sandbox.Read = []string{at(c.read)}
		} else {
			g.HQ.Sandbox.Write = []string{at(c.write)}
		}
		err := plan.Check(t.Context(), g, project.Place{Root: m.Dir, Branch: "alt"}, false)
		if c.want == "" && err != nil || c.want != "" && (refusal.CodeOf(err) != refusal.InvalidInput || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("read %q, write %q: %v, and not %q", c.read, c.write, err, c.want)
		}
	}
}

// TestAPersonLogsInForExecutors in a folder of the project, in a sandbox like theirs. Without a sandbox there is no such login.
func TestAPersonLogsInForExecutors(t *testing.T) {
	claude, err := agents.Find("claude-code")
	must(t, err)
	m := enginetest.Repository(t, "")
	place, g := project.Place{Root: m.Dir, Branch: "alt"}, gate(t)
	off := g
	off.HQ.Sandbox.Mode = config.NoSandbox
	_, err = plan.LogIn(t.Context(), off, place, claude, nil)
	enginetest.Refused(t, err, refusal.InvalidInput, "the login of your own home folder", `set sandbox = "auto"`)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := plan.LogIn(over, g, place, claude, nil); err == nil || got.Prefix != nil {
		t.Errorf("interrupted: %+v, %v", got, err)
	}
	home := confine.Login(m.Dir, "claude-code")
	if m.Exists(home) {
		t.Error("a login that is refused has a folder")
	}
	got, err := plan.LogIn(t.Context(), g, place, claude, []string{"PATH=/usr/bin:/bin", "HOME=/home/me", "SSH_AUTH_SOCK=/run/s", "TERM=xterm"})
	must(t, err)
	if got.Home != home || len(got.Prefix) == 0 || !slices.Contains(got.Environ, "HOME="+home) || !slices.Contains(got.Environ, "PWD="+home) ||
		!slices.Contains(got.Environ, "TERM=xterm") || !slices.Contains(got.Environ, "TMPDIR="+filepath.Join(home, "tmp")) || slices.Contains(got.Environ, "SSH_AUTH_SOCK=/run/s") {
		t.Errorf("%+v", got)
	}
	if info, err := os.Stat(filepath.Join(home, "tmp")); err != nil || !info.IsDir() {
		t.Errorf("%v, %v", info, err)
	}
	if plan.LoggedIn(g, place, claude) {
		t.Error("nobody has logged in")
	}
	write(t, filepath.Join(home, ".claude", ".credentials.json"))
	if !plan.LoggedIn(g, place, claude) || plan.LoggedIn(off, place, claude) {
		t.Error("a login counts where there is a sandbox, and only there")
	}
	must(t, errors.Join(os.RemoveAll(home), os.Symlink(t.TempDir(), home)))
	if _, err := plan.LogIn(t.Context(), g, place, claude, nil); err == nil {
		t.Error("a link in the place of the folder was followed")
	}
}

// TestWithoutAFolderOfRecordsThereIsNoSandbox: nobody knows what an executor must not have.
func TestWithoutAFolderOfRecordsThereIsNoSandbox(t *testing.T) {
	m, g := enginetest.Repository(t, ""), gate(t)
	for _, name := range []string{"HOME", "FERRUS_STATE_DIR"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, map[string]string{"FERRUS_STATE_DIR": "relative"}[name])
			if err := plan.Check(t.Context(), g, project.Place{Root: m.Dir, Branch: "alt"}, false); err == nil {
				t.Error("it has one")
			}
		})
	}
}

// TestGitOutsideUsesTheRepository, whatever lies in the place of .git in the work tree.
func TestGitOutsideUsesTheRepository(t *testing.T) {
	m := enginetest.Repository(t, "")
	got, err := plan.GitEnviron(t.Context(), project.Place{Root: m.Dir}, m.Dir)
	if want := []string{"GIT_DIR=" + filepath.Join(m.Dir, ".git"), "GIT_WORK_TREE=" + m.Dir}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	plain := enginetest.Plain(t, "")
	if got, err := plan.GitEnviron(t.Context(), project.Place{Root: plain.Dir}, plain.Dir); err != nil || got != nil {
		t.Errorf("without git: %q, %v", got, err)
	}
}

// TestWhatLiesInTheOwnWorkTreeIsHidden: .ferrus of this project and of others, and the work trees of branches. What decides about the project is read there.
func TestWhatLiesInTheOwnWorkTreeIsHidden(t *testing.T) {
	self, err := os.Executable()
	must(t, err)
	if err := sandbox.Probe(t.Context(), sandbox.Bwrap, self); err != nil {
		t.Skip(err)
	}
	m := enginetest.Repository(t, "")
	m.Git("worktree", "add", "-q", "-b", "beside", filepath.Join(m.Dir, "trees", "beside"))
	m.Git("worktree", "add", "-q", "-b", "outside", filepath.Join(m.Side, "outside"))
	inner := enginetest.PlainIn(t, m.Path("."), "")
	inner.Recorded().Agreed()
	g := gate(t)
	g.HQ.Sandbox.Mode = "bwrap"
	place := project.Place{Root: m.Dir, Work: m.Dir}
	executor := plan.Executor{Gate: g, Place: place, Work: m.Dir, Ferrus: self, Environ: []string{"PATH=/usr/bin:/bin"}}
	p, err := plan.Of(t.Context(), executor)
	must(t, err)
	hidden := []string{m.Path(".ferrus"), m.Path("trees/beside"), filepath.Join(inner.Dir, ".ferrus")}
	slices.Sort(p.Order.Hidden)
	slices.Sort(hidden)
	if !slices.Equal(p.Order.Hidden, hidden) {
		t.Errorf("hidden are %q, not %q", p.Order.Hidden, hidden)
	}
	for _, path := range hidden {
		if !slices.Contains(p.Order.Deny, path) {
			t.Errorf("%s is not tried", path)
		}
	}
	if !slices.Contains(p.Order.Read, m.Path("ferrus.toml")) || slices.Contains(p.Order.Deny, m.Dir) || p.Order.Top != m.Dir {
		t.Errorf("%+v", p.Order)
	}
	g.HQ.Sandbox.Mode, executor.Work = "landlock", m.Path(".ferrus/worktrees/alt")
	executor.Gate, executor.Place = g, project.Place{Root: m.Dir, Branch: "alt"}
	must(t, errors.Join(os.MkdirAll(executor.Work, 0o700), os.MkdirAll(m.Path(".ferrus/branches/alt"), 0o700)))
	p, err = plan.Of(t.Context(), executor)
	must(t, err)
	if len(p.Order.Hidden) != 0 || !slices.Contains(p.Order.Deny, m.Dir) {
		t.Errorf("of a branch: %+v", p.Order)
	}
	for _, gone := range []string{executor.Work, m.Path(".ferrus/branches/alt")} {
		must(t, os.RemoveAll(gone))
		if p, err := plan.Of(t.Context(), executor); err == nil || p.Order != nil {
			t.Errorf("without %s: %+v, %v", gone, p, err)
		}
		must(t, os.MkdirAll(gone, 0o700))
	}
	executor.Gate.HQ.Sandbox.Mode = config.NoSandbox
	if p, err := plan.Of(t.Context(), executor); err != nil || p.Order != nil || p.Outside != "" {
		t.Errorf("without a sandbox: %+v, %v", p, err)
	}
}
