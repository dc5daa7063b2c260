// Package enginetest gives tests a project with a machine of ferrus, sessions of every role, and what they do in every test.
package enginetest

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/postgrestest"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// Brief is how long a call waits in vain.
const Brief = 20 * time.Millisecond

var Quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// A Machine is a folder with ferrus in it. Each of its engines is what another process would have.
type Machine struct {
	T    testing.TB
	Dir  string
	Side string // a folder beside the work tree, for what must not count as work
	Opts engine.Options

	Branch, Root string // where the sessions are, if not on the project's own machine; see on
}

// Plain makes a project without git, with the given ferrus.toml.
func Plain(t testing.TB, toml string) *Machine {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return PlainIn(t, base, toml)
}

// Folder is the folder of each project: its name has characters with a meaning in patterns, formats, settings and URLs.
const Folder = "pro[j]ect #1"

func PlainIn(t testing.TB, base, toml string) *Machine {
	t.Helper()
	p := &Machine{T: t, Dir: filepath.Join(base, Folder), Side: filepath.Join(base, "side"), Opts: engine.Options{Log: Quiet}}
	for _, dir := range []string{p.Dir, p.Side} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p.Write("ferrus.toml", toml)
	p.Init()
	return p
}

// Repository makes a project in a git repository with a commit.
func Repository(t testing.TB, toml string) *Machine {
	t.Helper()
	p := Plain(t, toml)
	p.Commits()
	return p
}

// Commits makes the project a git repository with a commit.
func (p *Machine) Commits() {
	p.T.Helper()
	if err := os.CopyFS(p.Dir, os.DirFS(Seed(p.T))); err != nil {
		p.T.Fatal(err)
	}
	p.Git("update-index", "--refresh") // it would doubt files that are copies
}

// Lived commits files, and leaves what is somebody's own: a file that git ignores, and one in the stash.
func (p *Machine) Lived(files map[string]string) {
	p.T.Helper()
	p.Write(".gitignore", "ignored\n.ferrus\n")
	add := []string{"add", ".gitignore"}
	for name, text := range files {
		p.Write(name, text)
		add = append(add, name)
	}
	p.Git(add...)
	p.Git("commit", "-q", "-m", "more")
	p.Write("ignored", "mine\n")
	p.Write("stashed", "stashed\n")
	p.Git("stash", "push", "-q", "-u", "--", "stashed")
}

var Seeding sync.Mutex

// Seed is a repository in which code.txt is committed, made for the first test that asks.
func Seed(t testing.TB) string {
	t.Helper()
	Seeding.Lock()
	defer Seeding.Unlock()
	dir := filepath.Join(Scratch, "seed")
	if _, err := os.Lstat(dir); err == nil {
		return dir
	}
	p := &Machine{T: t, Dir: dir + ".new"}
	p.Write("code.txt", "one\n")
	p.GitInit()
	p.Git("add", "code.txt")
	p.Git("commit", "-q", "-m", "begin")
	if err := os.Rename(p.Dir, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Save keeps the project as it lies there, for again.
func (p *Machine) Save() { p.Copy(p.Dir, p.Dir+".saved") }

// Again is the project as it was saved, for a test.
func (p *Machine) Again(t testing.TB) *Machine {
	t.Helper()
	q := *p
	q.T = t
	q.Copy(p.Dir+".saved", p.Dir)
	return &q
}

// Copy replaces a folder by a copy of another. One of them is the project's, in which no machine is open.
func (p *Machine) Copy(from, to string) {
	p.T.Helper()
	sharedtest.Disconnect(p.T, p.Dir)
	if err := os.RemoveAll(to); err != nil {
		p.T.Fatal(err)
	}
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		p.T.Fatalf("%v\n%s", err, out)
	}
}

// GitInit makes an empty repository that leaves .ferrus alone, as "ferrus init" sees to: files come and go in there
// while git looks.
func (p *Machine) GitInit() {
	p.T.Helper()
	p.Git("init", "-q", "-b", "main", "--template=")
	p.Write(".git/info/exclude", "/.ferrus/\n")
}

func (p *Machine) Init() {
	p.T.Helper()
	sharedtest.Init(p.T, p.Dir)
}

func (p *Machine) Git(args ...string) string {
	p.T.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=u", "-c", "user.email=u@example.com", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir = p.Dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.T.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (p *Machine) Path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(p.Dir, name)
}

func (p *Machine) Write(name, text string) {
	p.T.Helper()
	if err := os.MkdirAll(filepath.Dir(p.Path(name)), 0o755); err != nil {
		p.T.Fatal(err)
	}
	if err := os.WriteFile(p.Path(name), []byte(text), 0o644); err != nil {
		p.T.Fatal(err)
	}
}

func (p *Machine) Read(name string) string {
	p.T.Helper()
	data, err := os.ReadFile(p.Path(name))
	if err != nil {
		p.T.Fatal(err)
	}
	return string(data)
}

func (p *Machine) Exists(name string) bool {
	_, err := os.Lstat(p.Path(name))
	return err == nil
}

func (p *Machine) Remove(name string) {
	p.T.Helper()
	if err := os.Remove(p.Path(name)); err != nil {
		p.T.Fatal(err)
	}
}

// Gate is a ferrus.toml whose checks are these shell commands.
func Gate(commands ...string) string {
	var quoted []string
	for _, c := range commands {
		quoted = append(quoted, fmt.Sprintf("%q", c))
	}
	return "[checks]\ncommands = [" + strings.Join(quoted, ", ") + "]\n"
}

var Background = context.Background()

// Main runs a test program, usually m.Run, with a folder that all tests share, and returns its exit code.
func Main(run func() int) int {
	sandbox.Stage()
	checks.Helper()
	tests := func() int { return postgrestest.Main(run) }
	return kit.Main(func() int { return kit.Scratch(&Scratch, tests) })
}

// Scratch is a folder of all tests, for what is made once and copied.
var Scratch string

// Most is how much of something is tried, in the usual form and with -full.
func Most(usual, far int) int {
	if kit.Full() {
		return far
	}
	return usual
}
