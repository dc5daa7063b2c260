//go:build unix

package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// brief is how long a call of a test waits at most.
const brief = 30 * time.Millisecond

// A world is a project with ferrus in it, and the connected callers.
type world struct {
	t    *testing.T
	dir  string
	gate string // a named pipe; while it exists a check waits until it is written to
}

// seed is a git repository with one commit, made once and copied.
var seed = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp(scratch, "seed-")
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "code.txt"), []byte("code\n"), 0o644); err != nil {
		return "", err
	}
	for _, args := range [][]string{{"init", "-q", "--template="}, {"add", "."}, {"-c", "user.name=t", "-c", "user.email=t@example.com",
		"-c", "commit.gpgsign=false", "commit", "-q", "-m", "seed"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("git %s: %v: %s", args[0], err, out)
		}
	}
	return dir, nil
})

// newWorld makes a project whose checks are red while there is a file called red. more is added to ferrus.toml. It is a
// plain folder unless -full is given: most of what is promised here asks nothing of git, whose processes would be most of
// the work.
func newWorld(t *testing.T, more string) *world {
	t.Helper()
	if kit.Full() {
		return repository(t, more)
	}
	w := &world{t: t, dir: filepath.Join(t.TempDir(), "project")}
	if err := os.Mkdir(w.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return w.init(more)
}

// repository is newWorld in a git repository, for what is promised of trees, and where a green check must be trusted:
// without trees a submission runs its own.
func repository(t *testing.T, more string) *world {
	t.Helper()
	from, err := seed()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: filepath.Join(t.TempDir(), "project")}
	if err := os.CopyFS(w.dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return w.init(more)
}

func (w *world) init(more string) *world {
	w.t.Helper()
	w.gate = filepath.Join(filepath.Dir(w.dir), "gate")
	w.write("ferrus.toml", fmt.Sprintf("[checks]\ncommands = [\"test ! -e red\", \"test ! -p %[1]s || cat %[1]s\"]\n%[2]s", w.gate, more))
	sharedtest.Init(w.t, w.dir)
	return w
}

func (w *world) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) remove(name string) {
	w.t.Helper()
	if err := os.Remove(filepath.Join(w.dir, name)); err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
}

// hold makes checks wait until the returned function is called.
func (w *world) hold() (release func()) {
	w.t.Helper()
	if err := syscall.Mkfifo(w.gate, 0o600); err != nil {
		w.t.Fatal(err)
	}
	return func() {
		w.t.Helper()
		f, err := os.OpenFile(w.gate, os.O_WRONLY, 0)
		if err != nil {
			w.t.Fatal(err)
		}
		f.Close()
	}
}

// open opens the world's machine as another process would.
func (w *world) open() *engine.Engine {
	w.t.Helper()
	e, err := engine.Open(project.At(w.dir, ""), engine.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { e.Close() })
	return e
}

// person is a person at a terminal.
func (w *world) person() *engine.Session {
	return w.open().Session(engine.Caller{Role: state.Human, Agent: "human", TTY: true})
}

// must fails the test of an act that was refused.
func must(t *testing.T, _ engine.Done, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// An agent is a client of a server of its own.
type agent struct {
	t      *testing.T
	role   state.Role
	s      *engine.Session
	client *mcp.ClientSession
	held   uint64 // the epoch under which it claimed last
}

// enter connects an agent. Its server is a real one; only the wire is memory.
func (w *world) enter(role state.Role, index int, change ...func(*Options)) *agent {
	w.t.Helper()
	return w.enterWith(role, index, nil, change...)
}

func (w *world) enterWith(role state.Role, index int, opts *mcp.ClientOptions, change ...func(*Options)) *agent {
	w.t.Helper()
	e := w.open()
	a := &agent{t: w.t, role: role}
	a.s = e.Session(engine.Caller{Role: role, Agent: fmt.Sprintf("%s:test:%d", role, index)})
	o := Options{Role: role, Wait: brief, Version: "test",
		Session: func(*mcp.CallToolRequest) (*engine.Session, error) { return a.s, nil },
		Engine:  func() (*engine.Engine, error) { return e, nil }}
	for _, c := range change {
		c(&o)
	}
	a.client = connect(w.t, NewServer(o), opts)
	return a
}

// samples are arguments with which each tool can be called.
var samples = map[string]map[string]any{
	"create_task":     {"description": "Make it so.\n\nAnd check it."},
	"reject":          {"notes": "Not so."},
	"respond_consult": {"response": "Do that."},
	"submit":          {"summary": "I did that.", "verification": "I ran it.", "no_change": "It was so."},
	"consult":         {"problem": "There is one.", "tried": "Much.", "question": "What now?"},
	"progress":        {"note": "Half of it is done."},
	"ask_human":       {"question": "Which of the two?", "options": []string{"this", "that"}},
	"select":          {},
	"queue_task":      {"text": "Another thing.\n\nSome time."},
}

// try calls a tool and checks what every result promises.
func (a *agent) try(tool string, args any) (Result, error) {
	a.t.Helper()
	var r Result
	if args == nil {
		args = map[string]any{}
		if s, ok := samples[tool]; ok {
			args = s
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), kit.Patience)
	defer cancel()
	res, err := a.client.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return r, err
	}
	r = read(a.t, res)
	if r.Claim != "" {
		a.held = r.Epoch
	}
	return r, nil
}

// read takes a result apart and checks what every result promises.
func read(t *testing.T, res *mcp.CallToolResult) Result {
	t.Helper()
	var r Result
	if len(res.Content) != 1 {
		t.Fatalf("%d content blocks", len(res.Content))
	}
	text := []byte(res.Content[0].(*mcp.TextContent).Text)
	structured, err := json.Marshal(res.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	var a, b map[string]any
	if json.Unmarshal(text, &a) != nil || json.Unmarshal(structured, &b) != nil || fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("the text is not the structured content: %s / %s", text, structured)
	}
	for _, key := range []string{"state", "message", "next", "allowed"} {
		if _, ok := a[key]; !ok {
			t.Errorf("no %s in %s", key, text)
		}
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if res.IsError != (r.Code != "") || (r.Code != "") != (r.Remedy != "") || r.Message == "" || r.Next == "" || r.Allowed == nil {
		t.Errorf("isError %v with %s", res.IsError, text)
	}
	if r.Next != "stop" && r.Next != "choose" && !slices.Contains(r.Allowed, r.Next) || r.Next == "choose" && len(r.Allowed) == 0 {
		t.Errorf("next is not among the allowed: %s", text)
	}
	return r
}

// call calls a tool that must be there.
func (a *agent) call(tool string, args any) Result {
	a.t.Helper()
	r, err := a.try(tool, args)
	if err != nil {
		a.t.Fatalf("%s: %v", tool, err)
	}
	return r
}

// do calls a tool that must succeed, again while it says that it is running.
func (a *agent) do(tool string, args any) Result {
	a.t.Helper()
	r := a.call(tool, args)
	for deadline := time.Now().Add(kit.Patience); r.Status == "running"; r = a.call(tool, args) {
		if time.Now().After(deadline) {
			a.t.Fatalf("%s does not end", tool)
		}
	}
	if r.Code != "" {
		a.t.Fatalf("%s: %s: %s", tool, r.Code, r.Message)
	}
	return r
}

// refused calls a tool that must be refused with a code.
func (a *agent) refused(code refusal.Code, tool string, args any) Result {
	a.t.Helper()
	r := a.call(tool, args)
	if r.Code != code {
		a.t.Errorf("%s %v: code %q, not %q: %s", tool, args, r.Code, code, r.Message)
	}
	return r
}

// disk is what is on the disk but for what a renewal may rewrite.
func (w *world) disk() string {
	w.t.Helper()
	journal := sharedtest.Journal(w.t, w.dir, "")
	view, err := os.ReadFile(filepath.Join(w.dir, ".ferrus", "STATE.json"))
	if err != nil {
		w.t.Fatal(err)
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(view, &keys); err != nil {
		w.t.Fatal(err)
	}
	for _, volatile := range []string{"lease_until", "last_heartbeat", "lease"} {
		delete(keys, volatile)
	}
	rest, err := json.Marshal(keys)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(bytes.Join([][]byte{[]byte(journal), rest}, []byte("\n--\n")))
}
