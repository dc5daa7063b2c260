//go:build unix

package tools

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

func (a *agent) resource(name string) string {
	a.t.Helper()
	res, err := a.client.ReadResource(context.Background(), &mcp.ReadResourceParams{URI: "ferrus://" + name})
	if err != nil {
		a.t.Fatalf("%s: %v", name, err)
	}
	if len(res.Contents) != 1 || res.Contents[0].URI != "ferrus://"+name {
		a.t.Fatalf("%s: %+v", name, res)
	}
	c := res.Contents[0]
	if none := c.Meta["ferrus/absent"] == true; c.Text == "" || none != strings.HasSuffix(c.Text, "there is none now. ferrus://state has the state of the task.") ||
		none && c.MIMEType != "text/plain" {
		a.t.Errorf("%s: %+v", name, c)
	}
	if c.Meta["ferrus/absent"] == true {
		return ""
	}
	return c.Text
}

// TestAResourceReadsWhatTheFileSays, for every document, and that there is none while there is none.
func TestAResourceReadsWhatTheFileSays(t *testing.T) {
	sharedtest.InFiles(t, "it reads the documents in files")
	t.Parallel()
	c := newCast(t, newWorld)
	files := map[string]state.Doc{"task": state.TaskDoc, "submission": state.SubmissionDoc, "review": state.ReviewDoc, "question": state.QuestionDoc,
		"answer": state.AnswerDoc, "consult_request": state.ConsultRequestDoc, "consult_response": state.ConsultResponseDoc}
	for name := range files {
		if text := c.supervisor.resource(name); text != "" {
			t.Errorf("%s is %q before there is any", name, text)
		}
	}
	if text := c.supervisor.resource("history"); text != "" {
		t.Errorf("the history is %q before there is any", text)
	}
	working(c)
	c.holder.do("consult", nil)
	c.supervisor.do("respond_consult", map[string]any{"response": "Second line:\nhere.", "consultation": "c1"})
	c.holder.do("wait_for_consult", nil)
	c.holder.do("ask_human", nil)
	done, err := c.person.Answer(t.Context(), "", "1")
	must(t, done, err)
	c.holder.do("submit", nil)
	c.supervisor.do("wait_for_review", nil)
	c.supervisor.do("reject", nil)
	for name, doc := range files {
		want, err := os.ReadFile(filepath.Join(c.dir, ".ferrus", string(doc)))
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range c.callers() {
			if a == c.none {
				continue
			}
			if got := a.resource(name); got != string(want) {
				t.Errorf("%s reads %q, the file %q", name, got, want)
			}
		}
	}
	var task state.Task
	if err := json.Unmarshal([]byte(c.none.resource("state")), &task); err != nil || task.State != state.Addressing {
		t.Errorf("the state is %s: %v", task.State, err)
	}
	history := c.supervisor.resource("history")
	for _, want := range []string{"create_task  Idle → Executing", "consult  Executing → Consultation", "      here.\n", "reject  Reviewing → Addressing"} {
		if !strings.Contains(history, want) {
			t.Errorf("the history lacks %q:\n%s", want, history)
		}
	}
	if _, err := c.none.client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "ferrus://../ferrus.toml"}); err == nil {
		t.Error("what is no resource can be read")
	}
}

// TestAWaitShowsThatItLives to a client that asks for it, and to no other.
func TestAWaitShowsThatItLives(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	shown := make(chan *mcp.ProgressNotificationParams, 100)
	opts := &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, n *mcp.ProgressNotificationClientRequest) { shown <- n.Params }}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a := w.enterWith(state.Supervisor, 1, opts, func(o *Options) { o.Wait, o.every = time.Hour, time.Millisecond })
	a.do("create_task", nil)
	ended := make(chan error, 1)
	go func() {
		params := &mcp.CallToolParams{Name: "wait_for_review"}
		params.SetProgressToken("token")
		_, err := a.client.CallTool(ctx, params)
		ended <- err
	}()
	for last, i := 0.0, 0; i < 3; i++ {
		select {
		case n := <-shown:
			if n.ProgressToken != "token" || n.Progress <= last {
				t.Errorf("shown %+v after %v", n, last)
			}
			last = n.Progress
		case <-time.After(kit.Patience):
			t.Fatal("nothing is shown")
		}
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the wait ended with %v", err)
	}
	unasked := make(chan *mcp.ProgressNotificationParams, 100)
	opts = &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, n *mcp.ProgressNotificationClientRequest) { unasked <- n.Params }}
	quiet := w.enterWith(state.Executor, 1, opts, func(o *Options) { o.every = time.Nanosecond })
	quiet.do("wait_for_task", nil)
	if len(unasked) > 0 {
		t.Error("a client that did not ask is shown progress")
	}
}

// TestAPanicIsAnAnswer: a bug of ours ends the call and not the server.
func TestAPanicIsAnAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	broken := true
	a := w.enter(state.Executor, 1, func(o *Options) {
		session := o.Session
		o.Session = func(req *mcp.CallToolRequest) (*engine.Session, error) {
			if broken {
				panic("a bug")
			}
			return session(req)
		}
		o.Engine = func() (*engine.Engine, error) { panic("another bug") }
		o.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	})
	a.refused(refusal.OutcomeUnknown, "status", nil)
	if _, err := a.client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "ferrus://task"}); err == nil || !strings.Contains(err.Error(), "bug here") {
		t.Errorf("a broken resource: %v", err)
	}
	broken = false
	a.do("status", nil)
}

// TestTheOutcomeOfACheckIsToldOnce: a check that ends while nobody waits is in the result of the next call, also when it was
// the one that ended the task; then check runs again.
func TestTheOutcomeOfACheckIsToldOnce(t *testing.T) {
	t.Parallel()
	c := newCast(t, newWorld)
	working(c)
	c.write("red", "")
	for i, want := range []state.State{state.Addressing, state.Failed} {
		release := c.hold()
		if r := c.holder.call("check", nil); r.Status != "running" || r.Next != "check" {
			t.Fatalf("the check is %s, next %s", r.Status, r.Next)
		}
		release()
		awaitState(c, want)
		if r := c.holder.do("check", nil); r.Status != "failed" || *r.RetriesUsed != i+1 || r.State != want || len(r.Failures) != 1 {
			t.Errorf("told %+v", r)
		}
		if err := os.Remove(c.gate); err != nil {
			t.Fatal(err)
		}
	}
	c.holder.refused(refusal.WrongState, "check", nil)
}

// TestASubmissionThatOutlivesItsCallIsCalledAgain, and not a check: without git that would take the outcome, and the next
// submission run another.
func TestASubmissionThatOutlivesItsCallIsCalledAgain(t *testing.T) {
	t.Parallel()
	c := newCast(t, newWorld)
	working(c)
	release := c.hold()
	r := c.holder.call("submit", nil)
	if r.Status != "running" || r.Next != "submit" {
		t.Fatalf("the submission is %s, next %s", r.Status, r.Next)
	}
	if r := c.holder.call("status", nil); r.Next != "check" {
		t.Errorf("next of who is not submitting is %s", r.Next)
	}
	release()
	awaitState(c, state.Checking)
	for r.Status == "running" && r.Next == "submit" { // a call waits but a moment
		r = c.holder.call(r.Next, nil)
	}
	if r.Status != "submitted" {
		t.Errorf("called again: %+v", r)
	}
}

// awaitState waits until the task is in a state.
func awaitState(c *cast, want state.State) {
	c.t.Helper()
	bell := c.none.s.Engine().Store().Watch()
	defer bell.Close()
	over := time.After(kit.Patience)
	for {
		snap, err := c.none.s.Engine().View()
		if err != nil {
			c.t.Fatal(err)
		}
		if snap.Task.State == want {
			return
		}
		select {
		case <-bell.C:
		case <-over:
			c.t.Fatalf("the task stays in %s", snap.Task.State)
		}
	}
}
