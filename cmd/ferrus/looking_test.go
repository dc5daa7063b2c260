//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/cli/root"
	setupcmd "github.com/ferrus-go/ferrus/internal/cli/setup"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// looking are the command lines that only read, each with the state that they must not need.
var looking = []string{
	"status", "status --all", "status --json", "log", "log -n 2 --durations", "log --json", "history", "history begin --json", "usage", "usage --by task --json", "metrics", "metrics --json", "trace", "trace --json", "show 1", "show 2 --json", "diff", "diff --stat",
	"diff --json", "context", "context --role executor", "context --role supervisor", "doctor", "agents", "branches", "branches --json",
	"evidence", "logs", "logs k1", "queue", "store", "token list", "gc", "config check", "config explain", "config example", "pipeline list",
	"pipeline validate", "pipeline status", "tick --dry-run", "register --print --supervisor claude-code --executor codex", "unregister --print",
	"diff 1", "diff --branch b1", "diff --stat --branch b1", "context --branch b1", "evidence --branch b1", "status --branch b1", "show 1 --branch b1",
	"log --all", "questions", "stack executor", "simulate submit", "select", "pipeline runs", "pipeline logs", "pipeline explain", "pipeline prompt worker", "pipeline table",
	"completion bash", "completion zsh", "completion fish", "__complete status --", "__complete logs ", "version", "version --json", "docs", "docs queue --json", "help", "trust --show", "service status", "hook",
}

// acting are the commands that may start something, or change something: that is what they are for. All others only look.
var acting = strings.Fields(`init run ui web answer resume stop step demo demo/agent task send approve reject check release reopen reset rollback
	branch select merge commit pr node node/drain pipeline/run pipeline/start pipeline/resume pipeline/retry pipeline/deliver pipeline/cancel pipeline/rerun
	wait-file config/accept notify open serve connect token/new token/revoke store/move store/join store/remove store/export store/import service/install service/remove upgrade-check uninstall`)

// TestEveryCommandLooksOrActs walks the tree of commands: a new one either acts, or is run by TestLookingRunsNothing.
func TestEveryCommandLooksOrActs(t *testing.T) {
	found := map[string]bool{}
	all(root.Tree(&cli.App{}), func(c *cobra.Command) {
		_, line, _ := strings.Cut(c.CommandPath(), " ")
		path := strings.ReplaceAll(line, " ", "/")
		found[path] = true
		if !c.Runnable() || slices.Contains(acting, path) {
			return
		}
		if !slices.ContainsFunc(looking, func(l string) bool { return l == line || strings.HasPrefix(l, line+" ") }) {
			t.Errorf("ferrus %s is neither in acting nor in looking", line)
		}
	})
	for _, path := range acting {
		if !found[path] {
			t.Errorf("there is no ferrus %s", path)
		}
	}
}

// canaryConfig are the keys of a repository's configuration that name a program, or make git look for one. CANARY is
// the program.
const canaryConfig = `[core]
	fsmonitor = CANARY
	hooksPath = HOOKS
	pager = CANARY
	editor = CANARY
	sshCommand = CANARY
	askPass = CANARY
	gitProxy = CANARY
	alternateRefsCommand = CANARY
[diff]
	external = CANARY
[diff "canary"]
	command = CANARY
	textconv = CANARY
[merge "canary"]
	driver = CANARY
[credential]
	helper = !CANARY
[gpg]
	program = CANARY
[gpg "ssh"]
	program = CANARY
	defaultKeyCommand = CANARY
[log]
	showSignature = true
[commit]
	gpgSign = true
[interactive]
	diffFilter = CANARY
[sequence]
	editor = CANARY
[alias]
	version = !CANARY
	status = !CANARY
	rev-parse = !CANARY
	ls-files = !CANARY
	diff-tree = !CANARY
[pager]
	diff = CANARY
	diff-tree = CANARY
	ls-files = CANARY
[uploadpack]
	packObjectsHook = CANARY
[trailer "canary"]
	command = CANARY
[extensions]
	partialClone = canary
[remote "canary"]
	url = ext::CANARY
	uploadpack = CANARY
	vcs = canary
	promisor = true
[filter "canary"]
	clean = CANARY
	smudge = CANARY
	process = CANARY
	required = true
[protocol "ext"]
	allow = always
[include]
	path = ../more.gitconfig
`

// A bait is a project in which every place that can name a program names one that leaves a mark.
type bait struct {
	root string
	mark string // the file of marks
}

// caught are the marks so far.
func (b bait) caught() string {
	text, _ := os.ReadFile(b.mark)
	return string(text)
}

// TestLookingRunsNothing runs every reading command in a project full of canaries.
func TestLookingRunsNothing(t *testing.T) {
	b := newBait(t)
	var tried, failed int
	for _, dir := range []string{".", "pkg", "inner", "inner.git", ".ferrus/worktrees/b1"} {
		at := filepath.Join(b.root, dir)
		t.Chdir(at)
		lines := looking
		switch {
		case dir == "." || kit.Full():
		case dir == "inner.git":
			lines = []string{"status", "diff", "doctor"}
		default:
			lines = []string{"status", "diff", "branches", "context"}
		}
		for _, line := range lines {
			tried++
			var out bytes.Buffer
			a := &cli.App{In: strings.NewReader(""), Out: &out, Err: &out}
			root.Run(a, t.Context(), strings.Fields(line))
			if got := b.caught(); got != "" {
				failed++
				t.Errorf("ferrus %s in %s ran\n%s", line, dir, got)
				os.Remove(b.mark)
			}
			if !a.Parsed {
				t.Errorf("ferrus %s is no command line: %s", line, out.String())
			}
			if line == "status" && !strings.Contains(out.String(), "A task") {
				t.Fatalf("it looked at nothing in %s:\n%s", dir, out.String())
			}
			if line == "doctor" && strings.Count(out.String(), "not started: it is not this ferrus") != 5 {
				t.Errorf("it does not say of each server why it is not started:\n%s", out.String())
			}
		}
	}
	// What the page and the screen show, of a task that is worked on.
	for _, name := range []string{"", "b1"} {
		e, err := engine.Open(project.At(b.root, name), engine.Options{Look: true})
		if err != nil {
			t.Fatal(err)
		}
		_, detail := status.ReadDetail(t.Context(), e, 0)
		var out bytes.Buffer
		if err := errors.Join(detail, status.WriteDiff(t.Context(), e, "", &out), e.Close()); err != nil {
			t.Error(err)
		}
		if got := b.caught(); got != "" {
			t.Errorf("what the page shows of %q ran\n%s", name, got)
			os.Remove(b.mark)
		}
	}
	// A git of the project is refused: nothing that needs git is shown then.
	b.program(t, "bin/git")
	t.Setenv("PATH", filepath.Join(b.root, "bin")+":"+os.Getenv("PATH"))
	t.Chdir(b.root)
	for _, line := range []string{"status", "diff", "doctor", "branches", "context"} {
		tried++
		a := &cli.App{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}
		root.Run(a, t.Context(), strings.Fields(line))
		if got := b.caught(); got != "" {
			failed++
			t.Errorf("ferrus %s ran\n%s", line, got)
			os.Remove(b.mark)
		}
	}
	t.Logf("%d of %d ran something", failed, tried)
}

// program writes one that leaves a mark.
func (b bait) program(t *testing.T, name string) {
	t.Helper()
	path := filepath.Join(b.root, name)
	text := fmt.Sprintf("#!/bin/sh\necho \"$0 $*\" >> %s\nexit 1\n", b.mark)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
		t.Fatal(err)
	}
}

// newBait creates one: first the project, then the canaries.
func newBait(t *testing.T) bait {
	t.Helper()
	b := bait{root: filepath.Join(t.TempDir(), "p"), mark: filepath.Join(t.TempDir(), "mark")}
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(b.root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		cmd.Dir = b.root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	write("ferrus.toml", "[checks]\ncommands = []\n")
	write("a.txt", "one\n")
	write("pkg/b.txt", "two\n")
	git("init", "-q")
	// A filter that the repository had before the task: it is frozen with it, and only acts run it.
	write("bin/early", fmt.Sprintf("#!/bin/sh\necho \"early $*\" >> %s\ncat\n", b.mark))
	git("add", "ferrus.toml", "a.txt", "pkg")
	git("config", "filter.early.clean", filepath.Join(b.root, "bin/early"))
	write(".git/info/attributes", "* filter=early\n")
	git("commit", "-qm", "first")
	git("init", "-q", "inner")
	git("-C", "inner", "commit", "-qm", "inner", "--allow-empty")
	git("init", "-q", "--bare", "inner.git")
	b.work(t)
	if err := os.Remove(b.mark); err != nil {
		t.Fatalf("the acts of a task did not run its filter: %v", err)
	}

	canary := filepath.Join(b.root, "bin", "canary")
	names := strings.NewReplacer("CANARY", canary, "HOOKS", filepath.Join(b.root, "hooks"))
	for _, name := range strings.Fields("canary git-remote-ext git-remote-canary claude codex gemini qwen opencode goose ferrus ferrusd sh less node go cat env") {
		b.program(t, "bin/"+name)
	}
	hook := fmt.Sprintf("#!/bin/sh\necho \"hook $0\" >> %s\n", b.mark)
	for _, name := range strings.Fields("post-index-change fsmonitor-watchman reference-transaction post-checkout pre-commit pre-auto-gc post-rewrite") {
		write("hooks/"+name, hook)
		write(".git/hooks/"+name, hook)
	}
	for _, repo := range []string{".git/config", "inner/.git/config", "inner.git/config"} {
		old, err := os.ReadFile(filepath.Join(b.root, repo))
		if err != nil {
			t.Fatal(err)
		}
		write(repo, string(old)+names.Replace(canaryConfig))
	}
	write("more.gitconfig", names.Replace("[core]\n\tfsmonitor = CANARY\n"))
	write(".gitattributes", "* filter=canary diff=canary merge=canary\n")
	write("inner.git/ferrus.toml", "")
	write("ferrus.toml", names.Replace(`[checks]
commands = ["CANARY"]
[notify]
command = "CANARY"
[branches]
setup = "CANARY"
score = "CANARY"
[deliver]
command = "CANARY"
[hq.supervisor]
agent = "command"
command = "CANARY"
[hq.executor]
agent = "codex"
`))
	write("workflows.json", `{}`)
	server := fmt.Sprintf(`{"mcpServers": {"ferrus": {"command": %q, "args": ["--role", "supervisor"]}}}`, filepath.Join(b.root, "bin/ferrusd"))
	write(".mcp.json", server)
	write(".gemini/settings.json", server)
	write(".qwen/settings.json", server)
	write("opencode.json", fmt.Sprintf(`{"mcp": {"ferrus": {"type": "local", "command": [%q, "--role", "executor"]}}}`, filepath.Join(b.root, "bin/ferrusd")))
	write(".codex/config.toml", fmt.Sprintf("[mcp_servers.ferrus]\ncommand = %q\nargs = [\"serve\", \"--role\", \"executor\"]\n", filepath.Join(b.root, "bin/ferrus")))
	write(".claude/settings.json", names.Replace(`{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "CANARY"}]}]}}`))
	for _, name := range []string{".envrc", ".env", "mise.toml", ".tool-versions", "bunfig.toml", ".npmrc", "Makefile"} {
		write(name, names.Replace("CANARY"))
	}
	write("a.txt", "three\n") // what there is to see in a diff
	t.Setenv("PATH", filepath.Join(b.root, "bin")+":bin:./bin::"+os.Getenv("PATH"))
	for _, name := range []string{"PAGER", "GIT_PAGER", "LESSOPEN", "EDITOR", "VISUAL", "GIT_EDITOR", "GIT_EXTERNAL_DIFF", "GIT_SSH_COMMAND", "GIT_ASKPASS", "BROWSER"} {
		t.Setenv(name, canary)
	}
	if got := b.caught(); got != "" {
		t.Fatalf("the bait was taken before anything looked: %s", got)
	}
	return b
}

// work makes a task with a submission and a branch, while the repository is still harmless.
func (b bait) work(t *testing.T) {
	t.Helper()
	if _, err := setupcmd.SetUp((&cli.App{}), t.Context(), b.root); err != nil {
		t.Fatal(err)
	}
	sharedtest.Move(t, b.root)
	e, err := engine.Open(project.At(b.root, ""), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	person := e.Session(engine.Caller{Role: state.Human, Agent: "human", TTY: true})
	if _, err := person.CreateTask(t.Context(), "A task", ""); err != nil {
		t.Fatal(err)
	}
	agent := e.Session(engine.Caller{Role: state.Executor, Agent: "executor:codex:1"})
	if got, _, err := agent.AwaitTask(t.Context(), 0, true); got == nil {
		t.Fatal(err)
	}
	if _, err := agent.Submit(t.Context(), engine.Submitting{Summary: "Done.", Verification: "None.", NoChange: "None is needed."}, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := branch.Create(t.Context(), person, branch.Fork{Names: []string{"b1"}}); err != nil {
		t.Fatal(err)
	}
}
