//go:build unix

package server

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/project/agreement"
	"github.com/ferrus-go/ferrus/internal/tools"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// seed is a git repository with one commit, made once and copied.
var seed = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp(scratch, "seed-")
	if err != nil {
		return "", err
	}
	return dir, gitIn(dir, "init", "-q", "--template=")
})

func gitIn(dir string, args ...string) error {
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %v: %s", args[0], err, out)
	}
	return nil
}

// repository makes a git repository with these checks.
func repository(t testing.TB, checks string) string {
	t.Helper()
	from, err := seed()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "project")
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	configure(t, dir, checks)
	return dir
}

// project is a folder with ferrus and these checks. It is a repository with -full only: who calls, and over what, asks
// nothing of git, whose processes would be most of the work.
func newProject(t testing.TB, checks string) string {
	t.Helper()
	if kit.Full() {
		return tracked(t, checks)
	}
	dir := filepath.Join(t.TempDir(), "project")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	configure(t, dir, checks)
	initialise(t, dir)
	return dir
}

// tracked is a repository with ferrus and these checks.
func tracked(t testing.TB, checks string) string {
	t.Helper()
	dir := repository(t, checks)
	initialise(t, dir)
	return dir
}

func initialise(t testing.TB, dir string) {
	t.Helper()
	sharedtest.Init(t, dir)
	if err := agreement.Agree(dir); err != nil {
		t.Fatal(err)
	}
}

func configure(t testing.TB, dir, checks string) {
	t.Helper()
	write(t, filepath.Join(dir, "ferrus.toml"), "[checks]\ncommands = ["+checks+"]\n")
	if err := agreement.Agree(dir); err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A wire is a server process, seen from the other end of its streams.
type wire struct {
	t      testing.TB
	cmd    *exec.Cmd
	in     io.WriteCloser
	lines  chan message // closed at the end of stdout
	stderr *buffer
	ended  chan struct{} // closed when the process has been waited for
	id     int
	meta   string // of every request; "" for the older revisions
}

// A message is what a server may write to stdout, and nothing else.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Result  json.RawMessage `json:"result"`
	Error   *rpcError       `json:"error"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// buffer takes what a process writes to stderr.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) { b.mu.Lock(); defer b.mu.Unlock(); return b.b.Write(p) }
func (b *buffer) String() string              { b.mu.Lock(); defer b.mu.Unlock(); return b.b.String() }

// start starts this test binary as a server.
func start(t testing.TB, what, dir string, args ...string) *wire {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return launch(t, self, what, dir, args...)
}

func launch(t testing.TB, program, what, dir string, args ...string) *wire {
	t.Helper()
	w := &wire{t: t, cmd: exec.Command(program, args...), lines: make(chan message, 1000), stderr: &buffer{}, ended: make(chan struct{})}
	w.cmd.Dir, w.cmd.Stderr = dir, w.stderr
	w.cmd.Env = append(os.Environ(), as+"="+what)
	in, err := w.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	w.in = in
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(w.ended)
		defer close(w.lines)
		for r := bufio.NewReader(out); ; {
			line, err := r.ReadBytes('\n')
			if len(line) > 0 {
				var m message
				if json.Unmarshal(line, &m) != nil || m.Version != "2.0" || err != nil {
					t.Errorf("no message on stdout: %.200q", line)
				}
				w.lines <- m
			}
			if err != nil {
				break
			}
		}
		_ = w.cmd.Wait() // the exit code is looked at by who asks
	}()
	t.Cleanup(func() {
		_ = w.cmd.Process.Kill() // an error means that it is gone
		<-w.ended
	})
	return w
}

// ferrusd starts a server of a role and shakes hands in the older way.
func ferrusd(t testing.TB, dir, role string, args ...string) *wire {
	t.Helper()
	w := start(t, "ferrusd", dir, append([]string{"--role", role, "--agent-name", "test", "--wait", "1"}, args...)...)
	w.initialize("2025-11-25")
	return w
}

func (w *wire) initialize(version string) message {
	w.t.Helper()
	m := w.request("initialize", fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"t","version":"1"}}`, version))
	if m.Error != nil {
		w.t.Fatalf("initialize: %+v; stderr %s", m.Error, w.stderr)
	}
	w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return m
}

func (w *wire) send(line string) {
	w.t.Helper()
	if _, err := io.WriteString(w.in, line+"\n"); err != nil {
		w.t.Fatalf("send: %v; stderr %s", err, w.stderr)
	}
}

// next is the next message of the server.
func (w *wire) next() message {
	w.t.Helper()
	select {
	case m, ok := <-w.lines:
		if !ok {
			w.t.Fatalf("the server has ended; stderr %s", w.stderr)
		}
		return m
	case <-time.After(kit.Patience):
		w.t.Fatalf("the server is silent; stderr %s", w.stderr)
	}
	panic("unreachable")
}

// ask sends a request and returns its id.
func (w *wire) ask(method, params string) string {
	w.t.Helper()
	w.id++
	if w.meta != "" {
		params = `{"_meta":` + w.meta + `,` + params[1:]
		if params[len(params)-2:] == ",}" {
			params = params[:len(params)-2] + "}"
		}
	}
	w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, w.id, method, params))
	return fmt.Sprint(w.id)
}

// answerTo waits for the answer to a request; others' and notifications are dropped.
func (w *wire) answerTo(id string) message {
	w.t.Helper()
	for {
		if m := w.next(); string(m.ID) == id && m.Method == "" {
			return m
		}
	}
}

func (w *wire) request(method, params string) message {
	w.t.Helper()
	return w.answerTo(w.ask(method, params))
}

// call calls a tool with arguments as they are.
func (w *wire) call(tool, args string) tools.Result {
	w.t.Helper()
	return w.result(w.request("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args)))
}

func (w *wire) result(m message) tools.Result {
	w.t.Helper()
	if m.Error != nil {
		w.t.Fatalf("a protocol error: %+v", m.Error)
	}
	var res struct {
		StructuredContent tools.Result
		IsError           bool
	}
	if err := json.Unmarshal(m.Result, &res); err != nil {
		w.t.Fatal(err)
	}
	if res.IsError != (res.StructuredContent.Code != "") {
		w.t.Errorf("isError %v in %s", res.IsError, m.Result)
	}
	return res.StructuredContent
}

// do calls a tool that must succeed, again while it is running.
func (w *wire) do(tool, args string) tools.Result {
	w.t.Helper()
	for {
		r := w.call(tool, args)
		if r.Code != "" {
			w.t.Fatalf("%s: %s: %s", tool, r.Code, r.Message)
		}
		if r.Status != "running" {
			return r
		}
	}
}

// exit waits for the end of the process and returns its exit code and how long it took from the call of end.
func (w *wire) exit(end func()) (code int, took time.Duration) {
	w.t.Helper()
	began, over := time.Now(), time.After(kit.Patience)
	end()
	for {
		select {
		case _, ok := <-w.lines:
			if !ok {
				<-w.ended
				return w.cmd.ProcessState.ExitCode(), time.Since(began)
			}
		case <-over:
			w.t.Fatalf("the server does not end; stderr %s", w.stderr)
		}
	}
}

func (w *wire) signal(s syscall.Signal) func() {
	return func() {
		if err := w.cmd.Process.Signal(s); err != nil {
			w.t.Error(err)
		}
	}
}

func (w *wire) leave() { w.in.Close() }
