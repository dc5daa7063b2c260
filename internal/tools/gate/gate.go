// Package gate is what every call of an MCP tool passes, whatever the tool does.
//
// A server has one [Gate], and each of its tools the handler that [Gate.Handler] returns. A call goes
// through these steps:
//
//  1. The watchdog starts to measure its time (watchdog.go).
//  2. The client gets progress notifications, if it asked for them (answer.go).
//  3. [Call.Serve] runs the tool. A panic ends this call, but not the server (server.go).
//  4. [Call.Finish] turns the outcome into an answer: a result, or a refusal.
//  5. The gate logs one line for the call and sends the answer.
//
// Nobody reads the answer to a call that the client has given up, so step 4 is left out. A call that
// does not end in time is answered without its help ([Gate.Stuck]).
//
// The package knows no tool, no task and no run. internal/tools and internal/tools/worker decide
// who may call a tool and what the tool does; decode.go reads their arguments.
//
// calllog.go has the form of the lines, and reads them. A server writes one file, which has a line for each call and lines about
// itself: internal/server makes the files, internal/status/stack reads them. Start reading at gate.go.
package gate

import (
	"context"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/platform/jsonx"
)

// A Gate is what the calls of one server pass.
type Gate struct {
	Watchdog
	Every time.Duration // between progress notifications; 10 s when zero
	// Stuck returns the result of a call that the watchdog gave up. It must not wait for anything:
	// the call may hang on a lock.
	Stuck func(Refusal) any
}

// usualEvery is the time between progress notifications.
const usualEvery = 10 * time.Second

// A Refusal is the part of a refusal that the gate knows.
type Refusal struct {
	Message, Remedy string
	Next            string   // the tool to call next, or "stop"
	Allowed         []string // never nil
}

// A Call is one call of a tool. The gate calls its methods once, in this order.
type Call interface {
	// Serve runs the tool.
	Serve(ctx context.Context, req *mcp.CallToolRequest) error
	// Finish returns the answer of a call whose Serve returned err, which is ErrBug after a panic.
	// The error of Finish becomes a protocol error.
	Finish(err error) (Outcome, error)
}

// An Outcome is how a call ended.
type Outcome struct {
	Object             []byte // the result, a JSON object
	Status, Code, Next string // of the result, for the log; a result with a code is a refusal
	Caller             []any  // keys and values for the log that say who called
}

// Handler returns the handler of a tool. begin makes the call; waits tells the watchdog how long
// the call will wait.
func (g *Gate) Handler(tool string, begin func(waits func(time.Duration)) Call) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		res, err := g.Run(ctx, tool, func(ctx context.Context, waits func(time.Duration)) (*mcp.CallToolResult, error) {
			return g.handle(ctx, tool, begin(waits), req)
		})
		if errors.Is(err, errStuck) {
			return g.giveUp(tool)
		}
		return res, err
	}
}

// handle performs the call and answers it.
func (g *Gate) handle(ctx context.Context, tool string, c Call, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	began, every := time.Now(), g.Every
	if every == 0 {
		every = usualEvery
	}
	stop := progress(ctx, req, every)
	err := Safely(g.Log, tool, func() error { return c.Serve(ctx, req) })
	stop()
	if ctx.Err() != nil { // nobody reads the answer
		return nil, ctx.Err()
	}
	out, err := c.Finish(err)
	if err != nil {
		return nil, err
	}
	facts := append([]any{"tool", tool}, out.Caller...)
	g.Log.Info(LogMessage, append(facts, "status", out.Status, "code", out.Code, "next", out.Next, "bytes", len(out.Object), "took", time.Since(began),
		LogBegan, began.UTC(), LogArgs, jsonx.Digest(req.Params.Arguments))...)
	return answer(out.Object, out.Code != ""), nil
}

// giveUp answers a call that the watchdog gave up.
func (g *Gate) giveUp(tool string) (*mcp.CallToolResult, error) {
	again, remedy := g.again()
	r := Refusal{Message: tool + " did not end in time; ferrus has a bug or the disk hangs", Remedy: remedy, Next: tool, Allowed: []string{tool}}
	if !again {
		r.Next, r.Allowed = "stop", []string{}
	}
	text, err := jsonx.Marshal(g.Stuck(r))
	if err != nil {
		return nil, err
	}
	return answer(text, true), nil
}
