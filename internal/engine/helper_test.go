package engine

import (
	"cmp"
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

	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// patience is how long a test waits for what should take milliseconds, and brief how long a call waits in vain.
const (
	patience = 20 * time.Second
	brief    = 20 * time.Millisecond
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// A project is a folder with ferrus in it. Each of its engines is what another process would have.
type machine struct {
	t    testing.TB
	dir  string
	side string // a folder beside the work tree, for what must not count as work
	opts Options

	branch, root string // where the sessions are, if not on the project's own machine; see on
}

// plain makes a project without git, with the given ferrus.toml.
func plain(t testing.TB, toml string) *machine {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return plainIn(t, base, toml)
}

func plainIn(t testing.TB, base, toml string) *machine {
	t.Helper()
	p := &machine{t: t, dir: filepath.Join(base, "project"), side: filepath.Join(base, "side"), opts: Options{Log: quiet}}
	for _, dir := range []string{p.dir, p.side} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p.write("ferrus.toml", toml)
	p.init()
	return p
}

// repository makes a project in a git repository with a commit.
func repository(t testing.TB, toml string) *machine {
	t.Helper()
	p := plain(t, toml)
	p.commits()
	return p
}

// commits makes the project a git repository with a commit.
func (p *machine) commits() {
	p.t.Helper()
	if err := os.CopyFS(p.dir, os.DirFS(seed(p.t))); err != nil {
		p.t.Fatal(err)
	}
	p.git("update-index", "--refresh") // it would doubt files that are copies
}

// lived commits files, and leaves what is somebody's own: a file that git ignores, and one in the stash.
func (p *machine) lived(files map[string]string) {
	p.t.Helper()
	p.write(".gitignore", "ignored\n.ferrus\n")
	add := []string{"add", ".gitignore"}
	for name, text := range files {
		p.write(name, text)
		add = append(add, name)
	}
	p.git(add...)
	p.git("commit", "-q", "-m", "more")
	p.write("ignored", "mine\n")
	p.write("stashed", "stashed\n")
	p.git("stash", "push", "-q", "-u", "--", "stashed")
}

var seeding sync.Mutex

// seed is a repository in which code.txt is committed, made for the first test that asks.
func seed(t testing.TB) string {
	t.Helper()
	seeding.Lock()
	defer seeding.Unlock()
	dir := filepath.Join(scratch, "seed")
	if _, err := os.Lstat(dir); err == nil {
		return dir
	}
	p := &machine{t: t, dir: dir + ".new"}
	p.write("code.txt", "one\n")
	p.gitInit()
	p.git("add", "code.txt")
	p.git("commit", "-q", "-m", "begin")
	if err := os.Rename(p.dir, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// save keeps the project as it lies there, for again.
func (p *machine) save() { p.copy(p.dir, p.dir+".saved") }

// again is the project as it was saved, for a test.
func (p *machine) again(t testing.TB) *machine {
	t.Helper()
	q := *p
	q.t = t
	q.copy(p.dir+".saved", p.dir)
	return &q
}

func (p *machine) copy(from, to string) {
	p.t.Helper()
	if err := os.RemoveAll(to); err != nil {
		p.t.Fatal(err)
	}
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		p.t.Fatalf("%v\n%s", err, out)
	}
}

// gitInit makes an empty repository that leaves .ferrus alone, as "ferrus init" sees to: files come and go in there
// while git looks.
func (p *machine) gitInit() {
	p.t.Helper()
	p.git("init", "-q", "-b", "main", "--template=")
	p.write(".git/info/exclude", "/.ferrus/\n")
}

func (p *machine) init() {
	p.t.Helper()
	if _, err := project.Init(p.dir); err != nil {
		p.t.Fatal(err)
	}
}

func (p *machine) git(args ...string) string {
	p.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=u", "-c", "user.email=u@example.com", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir = p.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (p *machine) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(p.dir, name)
}

func (p *machine) write(name, text string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(p.path(name)), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(p.path(name), []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *machine) read(name string) string {
	p.t.Helper()
	data, err := os.ReadFile(p.path(name))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(data)
}

func (p *machine) exists(name string) bool {
	_, err := os.Lstat(p.path(name))
	return err == nil
}

func (p *machine) remove(name string) {
	p.t.Helper()
	if err := os.Remove(p.path(name)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *machine) engine() *Engine {
	p.t.Helper()
	e, err := Open(project.At(cmp.Or(p.root, p.dir), p.branch), p.opts)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { e.Close() })
	return e
}

// Each of these is a process of its own.
func (p *machine) executor(name string) *Session {
	p.t.Helper()
	return p.engine().Session(Caller{Role: state.Executor, Agent: "executor:" + name + ":1"})
}

func (p *machine) supervisor() *Session {
	p.t.Helper()
	return p.engine().Session(Caller{Role: state.Supervisor, Agent: "supervisor:claude:1"})
}

func (p *machine) human() *Session {
	p.t.Helper()
	return p.engine().Session(Caller{Role: state.Human, Agent: "human", TTY: true})
}

// allKept waits until the files of every entry are kept that these have made. Another process does not wait for them.
func allKept(sessions ...*Session) {
	for _, s := range sessions {
		s.e.keeper.Wait()
	}
}

// dies ends the process of a session as SIGKILL would: its lock is free, and nothing of it goes on.
func dies(t testing.TB, s *Session) {
	t.Helper()
	s.e.Close()
	if err := s.live.Close(); err != nil {
		t.Fatal(err)
	}
}

// begun has a task that an executor holds.
func (p *machine) begun() (sup, ex *Session) {
	p.t.Helper()
	sup, ex = p.supervisor(), p.executor("codex")
	must(sup.CreateTask(p.t.Context(), "Build it.", ""))(p.t)
	claim(p.t, ex)
	return sup, ex
}

func claim(t testing.TB, s *Session) *Claimed {
	t.Helper()
	got, snap, err := s.AwaitTask(t.Context(), patience, false)
	if err != nil || got == nil {
		t.Fatalf("%s claims nothing in %s: %v", s.Agent, snap.Task.State, err)
	}
	return got
}

// must returns the value of a call that may not fail.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func view(t testing.TB, s *Session) store.Snapshot {
	t.Helper()
	return must(s.e.View())(t)
}

func wantState(t testing.TB, s *Session, want state.State) store.Snapshot {
	t.Helper()
	snap := view(t, s)
	if snap.Task.State != want {
		t.Fatalf("the task is %s, want %s", snap.Task.State, want)
	}
	return snap
}

// check runs the gate to its end.
func check(t testing.TB, s *Session, want state.CheckStatus) Checked {
	t.Helper()
	out := must(s.Check(t.Context(), patience))(t)
	if out.Status != want {
		t.Fatalf("check %s ended %s, want %s (%s %+v)", out.ID, out.Status, want, out.Err, out.Failures)
	}
	return out
}

var work = Submitting{Summary: "Built it.", Verification: "Ran it.", NoChange: "None is needed."}

func submitted(t testing.TB, s *Session) Submitted {
	t.Helper()
	out := must(s.Submit(t.Context(), work, patience))(t)
	if !out.Accepted {
		t.Fatalf("not submitted: the gate ended %s", out.Gate.Status)
	}
	return out
}

// reviewing has a submission that a supervisor has been shown.
func (p *machine) reviewing() (sup, ex *Session) {
	p.t.Helper()
	sup, ex = p.begun()
	submitted(p.t, ex)
	must2(sup.Review(p.t.Context()))(p.t)
	return sup, ex
}

// second is the error of a call.
func second[T any](_ T, err error) error { return err }

func must2[A, B any](a A, b B, err error) func(testing.TB) (A, B) {
	return func(t testing.TB) (A, B) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return a, b
	}
}

// refused is an error of the code, which says all the words.
func refused(t testing.TB, err error, want refusal.Code, words ...string) {
	t.Helper()
	if refusal.CodeOf(err) != want {
		t.Fatalf("error %v (code %q), want code %q", err, refusal.CodeOf(err), want)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
}

// history is the whole journal, which must be sound.
func history(t testing.TB, e *Engine) []*store.Line {
	t.Helper()
	var lines []*store.Line
	for l, err := range e.store.History() {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines
}

func count(t testing.TB, e *Engine, ev state.Event) int {
	t.Helper()
	n := 0
	for _, l := range history(t, e) {
		if l.Event == ev {
			n++
		}
	}
	return n
}

// unchanged is the machine as the journal and its views have it; comparing two shows that nothing happened between.
func unchanged(t testing.TB, s *Session) func() {
	t.Helper()
	before := view(t, s).Journal
	return func() {
		t.Helper()
		if now := view(t, s).Journal; now != before {
			t.Errorf("the journal went from %d to %d bytes", before.Bytes, now.Bytes)
		}
	}
}

// eventually polls, for what other goroutines and processes do without telling.
func eventually(t testing.TB, what string, claim func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !claim(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not in %v: %s", patience, what)
		}
	}
}

// A dial is a clock that is moved by hand.
type dial struct {
	mu sync.Mutex
	at time.Duration
}

func (c *dial) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at += d
}

func (c *dial) instant() lease.Instant {
	c.mu.Lock()
	defer c.mu.Unlock()
	return lease.Instant{Boot: "b", Nanos: int64(time.Hour + c.at)}
}

func (c *dial) now() time.Time {
	return time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC).Add(time.Duration(c.instant().Nanos))
}

// clocked lets the project's engines live by a clock.
func (p *machine) clocked() *dial {
	c := &dial{}
	p.opts.Clock, p.opts.Now = c.instant, c.now
	return c
}

// gate is a ferrus.toml whose checks are these shell commands.
func gate(commands ...string) string {
	var quoted []string
	for _, c := range commands {
		quoted = append(quoted, fmt.Sprintf("%q", c))
	}
	return "[checks]\ncommands = [" + strings.Join(quoted, ", ") + "]\n"
}

var background = context.Background()
