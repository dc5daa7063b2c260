package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A played call does what a test says, and notes what Finish was given.
type played struct {
	serve    func(ctx context.Context) error
	out      Outcome
	finished []error
}

func (p *played) Serve(ctx context.Context, _ *mcp.CallToolRequest) error { return p.serve(ctx) }

func (p *played) Finish(err error) (Outcome, error) {
	p.finished = append(p.finished, err)
	return p.out, nil
}

// TestACallIsServedFinishedLoggedAndAnswered, in this order, also after a panic; one that the client has given up only ends.
func TestACallIsServedFinishedLoggedAndAnswered(t *testing.T) {
	refused := errors.New("refused")
	result := Outcome{Object: []byte(`{"message":"a\u200bb"}`), Status: "done", Next: "other", Caller: []any{"agent", "a"}}
	refusal := Outcome{Object: []byte(`{"code":"wrong_state"}`), Code: "wrong_state"}
	for _, tt := range []struct {
		name  string
		serve func(ctx context.Context) error
		out   Outcome
		given error // to Finish
		text  string
		log   string
	}{
		{"it succeeds", func(context.Context) error { return nil }, result, nil, `{"message":"a<U+200B>b"}`,
			`msg=call tool=name agent=a status=done code="" next=other bytes=22 took=`},
		{"it is refused", func(context.Context) error { return refused }, refusal, refused, `{"code":"wrong_state"}`,
			`msg=call tool=name status="" code=wrong_state next="" bytes=22 took=`},
		{"it panics", func(context.Context) error { panic("a bug") }, refusal, ErrBug, `{"code":"wrong_state"}`, "msg=panic in=name"},
	} {
		var said bytes.Buffer
		g := &Gate{Watchdog: Watchdog{Log: slog.New(slog.NewTextHandler(&said, nil))}}
		c := &played{serve: tt.serve, out: tt.out}
		res, err := g.Handler("name", func(func(time.Duration)) Call { return c })(t.Context(), request())
		if err != nil || res.IsError != (tt.out.Code != "") || res.Content[0].(*mcp.TextContent).Text != tt.text ||
			string(res.StructuredContent.(json.RawMessage)) != tt.text {
			t.Errorf("%s: %+v, %v", tt.name, res, err)
		}
		if len(c.finished) != 1 || !errors.Is(c.finished[0], tt.given) || !strings.Contains(said.String(), tt.log) {
			t.Errorf("%s: finished with %v; the log says\n%s", tt.name, c.finished, &said)
		}
	}

	over, giveUp := context.WithCancel(t.Context())
	giveUp()
	c := &played{serve: func(context.Context) error { return nil }}
	g := &Gate{Watchdog: Watchdog{Log: slog.New(slog.DiscardHandler)}}
	if _, err := g.Handler("name", func(func(time.Duration)) Call { return c })(over, request()); !errors.Is(err, context.Canceled) || len(c.finished) > 0 {
		t.Errorf("a call that was given up: %v, finished %v", err, c.finished)
	}
}

// TestACallThatDoesNotEndIsAnsweredByTheGate: the same tool is next, and after three of them in a row nothing is.
func TestACallThatDoesNotEndIsAnsweredByTheGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &Gate{Watchdog: Watchdog{Log: slog.New(slog.DiscardHandler)}, Stuck: func(r Refusal) any { return r }}
		hangs := func(func(time.Duration)) Call {
			return &played{serve: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}
		}
		for n, next := range []string{"name", "name", "stop", "stop"} {
			res, err := g.Handler("name", hangs)(t.Context(), request())
			if err != nil {
				t.Fatal(err)
			}
			var r Refusal
			if err := json.Unmarshal(res.StructuredContent.(json.RawMessage), &r); err != nil || !res.IsError || r.Next != next ||
				len(r.Allowed) != 0 && next == "stop" || r.Allowed == nil || !strings.HasPrefix(r.Message, "name did not end") || r.Remedy == "" {
				t.Errorf("call %d: %+v, %v", n, r, err)
			}
		}
	})
}

func request() *mcp.CallToolRequest { return &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{}} }
