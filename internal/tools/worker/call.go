package worker

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/platform/jsonx"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/tools/gate"
)

// A call is one call of a tool on its way through the gate.
type call struct {
	*place
	tool Tool
	who  binding
	args gate.Values
	res  Result

	waits func(time.Duration) // tells the watchdog how long the call will wait
}

// A refused is a refusal with what to call next: "" leaves that to the table.
type refused struct {
	refusal.RefusedError
	next string
}

func refuse(code refusal.Code, message string, remedy refusal.Own, next string) *refused {
	return &refused{refusal.RefusedError{Code: code, Message: message, Remedy: remedy}, next}
}

// handler returns the handler of t: the gate with its calls.
func (p *place) handler(t Tool, who binding) mcp.ToolHandler {
	return p.opts.gate.Handler(t.Name, func(waits func(time.Duration)) gate.Call { return &call{place: p, tool: t, who: who, waits: waits} })
}

// stuck is the result of a call that did not end.
func stuck(r gate.Refusal) any {
	return Result{Code: InternalTimeout, Message: r.Message, Remedy: r.Remedy, Next: r.Next, Allowed: r.Allowed}
}

// Finish returns the answer of the call.
func (c *call) Finish(err error) (gate.Outcome, error) {
	c.finish(err)
	text, err := jsonx.Marshal(c.res)
	return gate.Outcome{Object: text, Status: c.res.Status, Code: string(c.res.Code), Next: c.res.Next,
		Caller: []any{"worker", c.opts.Worker, "attempt", c.opts.Attempt, gate.LogTask, filepath.Base(c.opts.Run),
			gate.LogSeq, c.rev(), gate.LogRun, fmt.Sprintf("%s-%d", c.opts.Worker, c.opts.Attempt)}}, err
}

// Serve runs the tool.
func (c *call) Serve(ctx context.Context, req *mcp.CallToolRequest) (err error) {
	if err := c.open(); err != nil {
		return err
	}
	if !c.who.has(c.tool.Name) {
		if c.tool.Asks {
			return c.mayNotAsk()
		}
		return c.notTerminal()
	}
	if c.args, err = c.tool.of(c.who).Decode(req.Params.Arguments); err != nil {
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
		c.res.Remedy = gate.Remedy(c.res.Next, c.res.Allowed)
	}
}

// refuse turns an error into a refusal.
func (c *call) refuse(err error) {
	var r *refused
	failed, _ := errors.AsType[*refusal.RefusedError](err)
	switch {
	case errors.As(err, &r):
	case errors.Is(err, gate.ErrBug):
		r = refuse(OutcomeUnknown, err.Error(), "continue from the answer of heartbeat", "")
	case errors.Is(err, run.ErrReplaced):
		r = c.over()
	case errors.Is(err, run.ErrTooLong):
		r = refuse(TooLarge, run.ErrTooLong.Error(), "say it shorter", c.tool.Name)
	case failed != nil && failed.Code == InvalidInput:
		r = refuse(failed.Code, failed.Message, failed.Remedy, c.tool.Name)
	default:
		r = refuse(StoreError, err.Error(), "", "")
	}
	c.res = Result{Code: r.Code, Message: r.Message, Remedy: r.Remedy.String(), Next: r.next}
}
