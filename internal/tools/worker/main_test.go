//go:build unix

package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/test/kit"
)

func TestMain(m *testing.M) {
	process.Shim(run.Hold)
	os.Exit(kit.Main(m.Run))
}

// brief is how long a call waits at most where a test wants it to wait in vain.
const brief = 20 * time.Millisecond

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// The pipelines of the tests: a terminal worker, and a dialogue whose result ferrus sends.
const (
	report = `{"report": {"deliver_by": "terminal", "phases": [
		{"id": "collect", "workers": [{"role": "reader", "task": "Read", "min_bytes": 4}]},
		{"id": "end", "workers": [{"role": "writer", "task": "Write", "reads": ["reader.md"], "final": true}]}]}}`
	inquiry = `{"inquiry": {"phases": [{"id": "all", "workers": [{"role": "asker", "task": "Ask", "asks": true, "final": true}]}]}}`
	debate  = `{"debate": {"phases": [
		{"id": "talk", "mode": "dialogue", "workers": [{"role": "ann", "task": "For"}, {"role": "bob", "task": "Against"}]},
		{"id": "end", "workers": [{"role": "sum", "task": "Sum up", "reads": ["talk.md"], "final": true}]}]}}`
)

// A stage is a run that nobody conducts.
type stage struct {
	t    testing.TB
	root string
	f    *run.Folder
}

func newStage(t testing.TB, text string, to config.Deliver) *stage {
	t.Helper()
	all, err := workflow.Parse([]byte(text))
	must(t, err)
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	conf := config.Default()
	conf.Deliver = to
	if to.To == "" {
		conf.Deliver = config.Deliver{To: config.ToFile, File: "result.md"}
	}
	place := run.At(root, conf.Pipelines)
	s := &stage{t: t, root: root}
	s.f, err = place.Launch(all[0], "the topic", place.Settings(conf), time.Now())
	must(t, err)
	return s
}

// put writes a file of the run.
func (s *stage) put(name, text string) {
	s.t.Helper()
	must(s.t, os.WriteFile(s.f.Path(name), []byte(text), 0o600))
}

func (s *stage) text(path string) string {
	text, _ := os.ReadFile(path)
	return string(text)
}

// offer gives ann the first turn, as a tick does.
func (s *stage) offer() {
	talk := pipeline.Dialogue{Question: "the topic", Inputs: []string{}, Roles: []pipeline.Speaker{{Role: "ann"}, {Role: "bob"}}, MaxRounds: 5}
	text := string(talk.Offer(time.Now()).Encode())
	s.put(pipeline.DialogueFile, text)
	s.put("dialogue.base.json", text)
}

// stands makes the run stand as an edit of its status says.
func (s *stage) stands(edit func(*pipeline.Status)) {
	s.t.Helper()
	status, err := s.f.Status()
	must(s.t, err)
	edit(&status)
	text, err := status.Encode()
	must(s.t, err)
	must(s.t, os.Remove(s.f.Path("status.json")))
	s.put("status.json", string(text))
}

// attempt writes down that an attempt of a worker has been started.
func (s *stage) attempt(role string, n int) {
	s.t.Helper()
	text, err := json.Marshal(process.Run{Name: fmt.Sprintf("%s-%d", role, n), Duty: agents.Duty(role), Log: fmt.Sprintf("agent-%s-%d.log", role, n), Started: time.Now()})
	must(s.t, err)
	s.put(filepath.Join("workers", role+".jsonl"), string(text)+"\n")
}

// A client is connected to the server of an attempt of a worker.
type client struct {
	t testing.TB
	*mcp.ClientSession
}

// enter starts a server for the first attempt of a worker, and connects to it.
func (s *stage) enter(role string, more ...func(*Options)) *client {
	s.t.Helper()
	opts := Options{Run: s.f.Dir, Worker: role, Attempt: 1, Wait: kit.Patience, Version: "test", Log: quiet}
	for _, change := range more {
		change(&opts)
	}
	opts.sends = new(sync.WaitGroup)
	s.t.Cleanup(opts.sends.Wait) // what is sent goes on without the call, in the folder of the test
	return connect(s.t, NewServer(opts), nil)
}

func hurried(o *Options) { o.Wait = brief }

func connect(t testing.TB, server *mcp.Server, opts *mcp.ClientOptions) *client {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	session, err := server.Connect(context.Background(), there, nil)
	must(t, err)
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, opts).Connect(context.Background(), here, nil)
	must(t, err)
	t.Cleanup(func() { c.Close(); session.Close() })
	return &client{t, c}
}

// call calls a tool with arguments as they are, "" for none.
func (c *client) call(tool, args string) Result {
	c.t.Helper()
	params := &mcp.CallToolParams{Name: tool}
	if args != "" {
		params.Arguments = json.RawMessage(args)
	}
	return c.send(params)
}

// begin begins a call that asks to be shown that it lives, and returns where its result will be.
func (c *client) begin(tool string) <-chan Result {
	params, ended := &mcp.CallToolParams{Name: tool}, make(chan Result, 1)
	params.SetProgressToken("token")
	go func() { ended <- c.send(params) }()
	return ended
}

func (c *client) send(params *mcp.CallToolParams) Result {
	c.t.Helper()
	tool := params.Name
	res, err := c.CallTool(context.Background(), params)
	if err != nil {
		c.t.Errorf("%s: %v", tool, err)
		return Result{}
	}
	text := res.Content[0].(*mcp.TextContent).Text
	var r, same Result
	shown, err := json.Marshal(res.StructuredContent)
	if err = errors.Join(err, json.Unmarshal([]byte(text), &r), json.Unmarshal(shown, &same)); err != nil {
		c.t.Errorf("%s: %v", tool, err)
	}
	if diff := cmp.Diff(r, same); diff != "" || len(res.Content) != 1 || res.IsError != (r.Code != "") {
		c.t.Errorf("%s: text and structure differ, or isError is %v for %q: %s", tool, res.IsError, r.Code, diff)
	}
	if r.Message == "" || r.Next == "" || r.Allowed == nil || (r.Code == "") != (r.Remedy == "") {
		c.t.Errorf("%s: not a whole result: %s", tool, text)
	}
	if r.Next != "stop" && !slices.Contains(r.Allowed, r.Next) {
		c.t.Errorf("%s: next is not among the allowed: %s", tool, text)
	}
	return r
}

// do calls a tool that must succeed.
func (c *client) do(tool, args string) Result {
	c.t.Helper()
	r := c.call(tool, args)
	if r.Code != "" {
		c.t.Fatalf("%s: %s: %s", tool, r.Code, r.Message)
	}
	return r
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
