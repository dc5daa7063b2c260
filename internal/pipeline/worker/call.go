package worker

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/jsontime"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/tools/wire"
)

// A call is one call of a tool on its way through the gate.
type call struct {
	*place
	tool Tool
	who  binding
	args wire.Values
	res  Result

	waits func(time.Duration) // tells the watchdog how long the call will wait
}

// A refusal says what failed, why, what to do, and what to call next: "" leaves that to the table.
type refusal struct {
	code            Code
	message, remedy string
	next            string
}

func (r *refusal) Error() string { return r.message + "; " + r.remedy }

// handler returns the gate that every call of t passes. The watchdog answers a call that hangs.
func (p *place) handler(t Tool, who binding) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		res, err := p.opts.dog.Run(ctx, t.Name, func(ctx context.Context, waits func(time.Duration)) (*mcp.CallToolResult, error) {
			return (&call{place: p, tool: t, who: who, waits: waits}).handle(ctx, req)
		})
		if errors.Is(err, wire.ErrStuck) {
			return p.stuck(t)
		}
		return res, err
	}
}

// handle performs the call and answers it.
func (c *call) handle(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	began, opts := time.Now(), c.opts
	stop := wire.Progress(ctx, req, opts.every)
	err := wire.Safely(opts.Log, c.tool.Name, func() error { return c.serve(ctx, req.Params.Arguments) })
	stop()
	if ctx.Err() != nil { // nobody reads the answer
		return nil, ctx.Err()
	}
	c.finish(err)
	text, err := jsontime.Marshal(c.res)
	if err != nil {
		return nil, err
	}
	opts.Log.Info("call", "tool", c.tool.Name, "worker", opts.Worker, "attempt", opts.Attempt, "status", c.res.Status, "code", c.res.Code,
		"next", c.res.Next, "bytes", len(text), "took", time.Since(began))
	return wire.Answer(text, c.res.Code != ""), nil
}

// stuck answers a call that the watchdog gave up. It does not read the run, because the call may
// hang on its locks.
func (p *place) stuck(t Tool) (*mcp.CallToolResult, error) {
	again, remedy := p.opts.dog.Again()
	res := Result{Code: InternalTimeout, Message: t.Name + " did not end in time; ferrus has a bug or the disk hangs", Remedy: remedy,
		Next: t.Name, Allowed: []string{t.Name}}
	if !again {
		res.Next, res.Allowed = "stop", []string{}
	}
	text, err := jsontime.Marshal(res)
	if err != nil {
		return nil, err
	}
	return wire.Answer(text, true), nil
}

// serve runs the tool.
func (c *call) serve(ctx context.Context, raw json.RawMessage) (err error) {
	if err := c.open(); err != nil {
		return err
	}
	if !c.who.has(c.tool.Name) {
		return c.notTerminal()
	}
	if c.args, err = c.tool.of(c.who).Decode(raw); err != nil {
		return err
	}
	return c.tool.run(ctx, c)
}

// finish adds the fields that every result has, and turns an error into a refusal.
func (c *call) finish(err error) {
	if err != nil {
		c.refuse(err)
	}
	in := c.situation()
	if !in.over {
		c.res.Left = &in.left
	} else if c.res.Code != "" {
		c.res.Next = "stop"
	}
	if notice := c.args.Notice(); notice != "" {
		c.res.Message = strings.TrimSpace(c.res.Message + " " + notice + ".")
	}
	if c.res.Code != "" && c.res.Next == c.tool.Name && !in.offers(c.tool) {
		c.res.Next = "" // no arguments would help
	}
	if c.res.Next == "" {
		c.res.Next = in.next()
	}
	c.res.Allowed = in.allowed(c.res.Next)
	if c.res.Code != "" && c.res.Remedy == "" {
		c.res.Remedy = wire.Remedy(c.res.Next, c.res.Allowed)
	}
}

// refuse turns an error into a refusal.
func (c *call) refuse(err error) {
	r := &refusal{code: StoreError, message: err.Error()}
	var fault *wire.Fault
	switch {
	case errors.Is(err, wire.ErrBug):
		r.code, r.remedy = OutcomeUnknown, "continue from the answer of heartbeat"
	case errors.Is(err, run.ErrReplaced):
		r = c.over()
	case errors.Is(err, run.ErrTooLong):
		r = &refusal{TooLarge, run.ErrTooLong.Error(), "say it shorter", c.tool.Name}
	case errors.As(err, &fault):
		r = &refusal{InvalidInput, fault.Message, fault.Remedy, c.tool.Name}
	default:
		errors.As(err, &r)
	}
	c.res = Result{Code: r.code, Message: r.message, Remedy: r.remedy, Next: r.next}
}
