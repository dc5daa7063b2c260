package desk

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/tools/wire"
)

// A call is one call of a tool on its way through the gate.
type call struct {
	*place
	tool Tool
	who  seat
	args wire.Values
	res  Result
}

// A refusal says what could not be, why, what helps, and what to call next: "" leaves that to the table.
type refusal struct {
	code            Code
	message, remedy string
	next            string
}

func (r *refusal) Error() string { return r.message + "; " + r.remedy }

// handler is the gate that every call of t passes.
func (p *place) handler(t Tool, who seat) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		c, began := &call{place: p, tool: t, who: who}, time.Now()
		stop := wire.Progress(ctx, req, p.opts.every)
		err := wire.Safely(p.opts.Log, t.Name, func() error { return c.serve(ctx, req.Params.Arguments) })
		stop()
		if errors.Is(err, context.Canceled) && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		c.finish(err)
		text, err := json.Marshal(c.res)
		if err != nil {
			return nil, err
		}
		p.opts.Log.Info("call", "tool", t.Name, "worker", p.opts.Worker, "attempt", p.opts.Attempt, "status", c.res.Status, "code", c.res.Code,
			"next", c.res.Next, "bytes", len(text), "took", time.Since(began))
		return wire.Answer(text, c.res.Code != ""), nil
	}
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

// finish completes the result with what every result has, and turns an error into a refusal.
func (c *call) finish(err error) {
	if err != nil {
		c.refuse(err)
	}
	in := c.situation()
	c.res.Allowed = in.allowed()
	if !in.over {
		c.res.Left = &in.left
	} else if c.res.Code != "" {
		c.res.Next = "stop"
	}
	if notice := c.args.Notice(); notice != "" {
		c.res.Message = strings.TrimSpace(c.res.Message + " " + notice + ".")
	}
	if c.res.Next == "" {
		c.res.Next = in.next()
	}
	if c.res.Code != "" && c.res.Remedy == "" {
		c.res.Remedy = wire.Remedy(c.res.Next, c.res.Allowed)
	}
}

// refuse makes a refusal of an error.
func (c *call) refuse(err error) {
	r := &refusal{code: StoreError, message: err.Error()}
	var fault *wire.Fault
	switch {
	case errors.Is(err, wire.ErrBug):
		r.code, r.remedy = OutcomeUnknown, "go on from what heartbeat says"
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
