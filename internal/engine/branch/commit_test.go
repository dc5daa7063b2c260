//go:build unix

package branch_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// trap is a hook that leaves a trace when it runs.
const trap = "#!/bin/sh\ntouch ran\n"

// hooked are hooks and what the work does to them: whether they run.
var hooked = []struct {
	name   string
	before func(p *enginetest.Machine)
	work   func(p *enginetest.Machine)
	runs   bool
	named  string
}{
	{"a hook of the person", func(p *enginetest.Machine) { program(p, ".git/hooks/pre-commit") }, nil, true, ""},
	{"a tracked hook", func(p *enginetest.Machine) {
		p.Git("config", "core.hooksPath", "hooks")
		program(p, "hooks/pre-commit")
	}, nil, true, ""},
	{"a tracked hook that the work changed", func(p *enginetest.Machine) {
		p.Git("config", "core.hooksPath", "hooks")
		program(p, "hooks/pre-commit")
	}, func(p *enginetest.Machine) { p.Write("hooks/pre-commit", trap+"# worse\n") }, false, "hooks/pre-commit"},
	{"a tracked hook that the work added", func(p *enginetest.Machine) { p.Git("config", "core.hooksPath", "hooks") },
		func(p *enginetest.Machine) { program(p, "hooks/commit-msg") }, false, "hooks/commit-msg"},
	{"what an ignored hook runs", func(p *enginetest.Machine) {
		p.Git("config", "core.hooksPath", ".husky/_")
		p.Write(".gitignore", ".ferrus\n.husky/_\nran\n")
		program(p, ".husky/_/pre-commit")
		program(p, ".husky/pre-commit")
	}, func(p *enginetest.Machine) { p.Write(".husky/pre-commit", trap+"# worse\n") }, false, ".husky/pre-commit"},
	{"an ignored hook that was written again", func(p *enginetest.Machine) {
		p.Git("config", "core.hooksPath", "build/hooks")
		p.Write(".gitignore", ".ferrus\nbuild\nran\n")
		program(p, "build/hooks/pre-commit")
	}, func(p *enginetest.Machine) { p.Write("build/hooks/pre-commit", trap+"# worse\n") }, false, "build/hooks/pre-commit"},
	{"a folder of ignored hooks that was moved into place", func(p *enginetest.Machine) {
		p.Git("config", "core.hooksPath", "build/hooks")
		p.Write(".gitignore", ".ferrus\nbuild\nother\nran\n")
		program(p, "other/hooks/pre-commit")
	}, func(p *enginetest.Machine) { rename(p, "other", "build") }, false, "build/hooks/pre-commit"},
	{"a hook of git that was written since", nil, func(p *enginetest.Machine) { program(p, ".git/hooks/post-commit") }, false, ".git/hooks/post-commit"},
	{"a link to a file that the work changed", func(p *enginetest.Machine) {
		program(p, "tools/check.sh")
		if err := errors.Join(os.MkdirAll(p.Path(".git/hooks"), 0o755), os.Symlink(p.Path("tools/check.sh"), p.Path(".git/hooks/pre-commit"))); err != nil {
			p.T.Fatal(err)
		}
	}, func(p *enginetest.Machine) { p.Write("tools/check.sh", trap+"# worse\n") }, false, "tools/check.sh"},
	{"settings of a hook", func(p *enginetest.Machine) { program(p, ".git/hooks/pre-commit") },
		func(p *enginetest.Machine) { p.Write(".pre-commit-config.yaml", "repos: []\n") }, false, ".pre-commit-config.yaml"},
	{"another configuration of git", func(p *enginetest.Machine) { program(p, ".git/hooks/pre-commit") },
		func(p *enginetest.Machine) { p.Git("config", "gpg.program", "evil") }, false, "git configuration"},
	{"no hook", nil, func(p *enginetest.Machine) { p.Write(".pre-commit-config.yaml", "repos: []\n") }, true, ""},
}

// program writes a trap.
func program(p *enginetest.Machine, name string) {
	p.Write(name, trap)
	if err := os.Chmod(p.Path(name), 0o755); err != nil {
		p.T.Fatal(err)
	}
}

func rename(p *enginetest.Machine, from, to string) {
	if err := os.Rename(p.Path(from), p.Path(to)); err != nil {
		p.T.Fatal(err)
	}
}

// TestAHookThatTheWorkChangedDoesNotRun, wherever it lies and however it is reached, and then nothing is committed. One that the agents cannot
// have written runs, and the commit has exactly the approved tree.
func TestAHookThatTheWorkChangedDoesNotRun(t *testing.T) {
	bad := 0
	for _, c := range hooked {
		ok := t.Run(c.name, func(t *testing.T) {
			p := enginetest.Repository(t, enginetest.Gate("true"))
			p.Git("config", "user.name", "Ann")
			p.Git("config", "user.email", "ann@example.com")
			p.Write(".gitignore", ".ferrus\nran\n")
			if c.before != nil {
				c.before(p)
			}
			p.Git("add", "-A")
			p.Git("-c", "core.hooksPath=none", "commit", "-qm", "before")
			head := p.Git("rev-parse", "HEAD")
			h := worked(p, func() {
				p.Write("work.txt", "work\n")
				if c.work != nil {
					c.work(p)
				}
			})
			var said bytes.Buffer
			commit, err := branch.PrepareCommit(t.Context(), h, nil, "")
			id := ""
			if err == nil {
				id, err = commit.Make(t.Context(), &said)
			}
			ran := p.Exists("ran")
			if !c.runs {
				enginetest.Refused(t, err, refusal.Untrusted, c.named)
				if ran || p.Git("rev-parse", "HEAD") != head {
					t.Errorf("the hook ran: %v; HEAD is %s", ran, p.Git("log", "--oneline"))
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if ran != (c.before != nil) {
				t.Errorf("the hook ran: %v", ran)
			}
			if got, want := p.Git("rev-parse", id+"^{tree}", "HEAD", "HEAD^"), strings.Join([]string{enginetest.View(t, h).Task.Submission.Tree, id, head}, "\n"); got != want {
				t.Errorf("tree, HEAD and parent are\n%s, want\n%s", got, want)
			}
			if left := p.Git("status", "--porcelain"); left != "" {
				t.Errorf("left: %s", left)
			}
		})
		if !ok {
			bad++
		}
	}
	t.Logf("rig: cases=%d bad=%d", len(hooked), bad)
}

// worked has a task worked on and approved, and returns the person.
func worked(p *enginetest.Machine, work func()) *engine.Session {
	h := p.Human()
	enginetest.Must(h.CreateTask(p.T.Context(), "Do it.", ""))(p.T)
	ex := p.Executor("codex")
	enginetest.Claim(p.T, ex)
	work()
	enginetest.Submitted(p.T, ex)
	enginetest.Must(h.Approve(p.T.Context(), "", ""))(p.T)
	return h
}

// TestATextOfOthersClosesNoIssue: a forge obeys these words in the message of a commit.
func TestATextOfOthersClosesNoIssue(t *testing.T) {
	for text, want := range map[string]string{
		"Closes #1":                                 "Closes, see #1",
		"It FIXED:\n#12, and resolves me/p#3.":      "It FIXED, see #12, and resolves, see me/p#3.",
		"close https://github.com/me/p/issues/4":    "close, see https://github.com/me/p/issues/4",
		"Fix GH-7: done":                            "Fix, see GH-7: done",
		"Closes the door, fixes item #5; prefix #6": "Closes the door, fixes item #5; prefix #6",
	} {
		if got := branch.Unclosing(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
