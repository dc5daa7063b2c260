package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/jsontime"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/tools/wire"
)

// A call is one call of a tool on its way through the gate.
type call struct {
	tool Tool
	opts Options
	s    *engine.Session
	wire.Values
	snap *store.Snapshot // the machine as the tool left it; nil when it must be looked at
	res  Result

	unknown error          // why the project is not trusted; nil where it is
	status  *engine.Status // that the tool has asked for; nil when it has not

	packet *engine.Packet      // of a claim; nil for any other call
	lacks  bool                // it names no claim, or not what it decides about, and would be let through if it did
	waits  func(time.Duration) // tells the watchdog how long the call will wait
}

// handler is the gate that every call of t passes. The watchdog answers a call that does not end.
func (o Options) handler(t Tool) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		res, err := o.dog.Run(ctx, t.Name, func(ctx context.Context, waits func(time.Duration)) (*mcp.CallToolResult, error) {
			return (&call{tool: t, opts: o, waits: waits}).handle(ctx, req)
		})
		if errors.Is(err, wire.ErrStuck) {
			return o.stuck(t)
		}
		return res, err
	}
}

// handle makes the call and answers it.
func (c *call) handle(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	began, log := time.Now(), c.opts.Log
	stop := wire.Progress(ctx, req, c.opts.every)
	err := wire.Safely(log, c.tool.Name, func() error { return c.serve(ctx, req) })
	stop()
	if ctx.Err() != nil { // nobody reads the answer: what it would say first is left to the next one
		return nil, ctx.Err()
	}
	c.finish(err)
	text, err := c.encode()
	if err != nil {
		return nil, err
	}
	if c.s != nil {
		c.s.Told(c.res.Decisions)
	}
	log.Info("call", "tool", c.tool.Name, "agent", c.agent(), "state", c.res.State, "status", c.res.Status, "code", c.res.Code, "next", c.res.Next,
		"bytes", len(text), "took", time.Since(began))
	return wire.Answer(text, c.res.Code != ""), nil
}

// stuck answers a call that was given up. It asks the machine nothing: the call may be stuck on its locks.
func (o Options) stuck(t Tool) (*mcp.CallToolResult, error) {
	again, remedy := o.dog.Again()
	res := Result{Code: engine.InternalTimeout, Message: t.Name + " did not end in time; ferrus has a bug or the disk hangs", Remedy: remedy,
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

// agent is who called, "" when that could not be found out.
func (c *call) agent() string {
	if c.s == nil {
		return ""
	}
	return c.s.Agent
}

// serve runs the tool.
func (c *call) serve(ctx context.Context, req *mcp.CallToolRequest) (err error) {
	if c.s, err = c.opts.Session(req); err != nil {
		return err
	}
	if c.unknown = c.s.Engine().Known(); c.unknown != nil && c.tool.Name != "status" {
		return c.unknown
	}
	v, err := c.tool.wire().Decode(req.Params.Arguments)
	c.Values = v
	if notice := v.Notice(); notice != "" {
		c.res.Notices = append(c.res.Notices, notice)
	}
	if id := c.Text["claim"]; id != "" && err == nil {
		var claimed *engine.Session
		if claimed, err = c.s.With(id); err == nil {
			c.s = claimed
		}
	}
	c.s.Touch()
	if err != nil {
		return err
	}
	return c.tool.run(ctx, c)
}

// finish completes the result with what every result has, and turns an error into a refusal.
func (c *call) finish(err error) {
	defer c.help()
	if err != nil {
		c.refuse(err)
	}
	c.res.Allowed = []string{}
	if c.s == nil {
		c.res.Next = "stop"
		return
	}
	e := c.s.Engine()
	if c.snap == nil {
		snap, err := e.View()
		if err != nil {
			if c.res.Code == "" {
				c.refuse(err)
			}
			c.res.Next = "stop"
			return
		}
		c.snap = &snap
	}
	in := c.situation()
	c.res.State = c.snap.Task.State
	if c.res.Next == c.tool.Name && c.res.Code != "" && !c.lacks && !c.tool.aside && !in.offers(c.tool) {
		c.res.Next = "" // no arguments would help
	}
	if c.res.Next == "" {
		c.res.Next = in.next()
	}
	c.res.Allowed = in.allowed(c.res.Next)
	if c.unknown != nil { // status alone answers, and says why the others do not
		c.res.Next, c.res.Notices = "stop", []string{untrustedNotice(c.unknown)}
		return
	}
	c.listen(in)
	if st, err := c.statusOf(e); err == nil {
		c.res.Notices = append(c.res.Notices, st.Notices()...)
		if n := st.EnvironNotice(); n != "" && slices.Contains(runsChecks, c.tool.Name) {
			c.res.Notices = append(c.res.Notices, n)
		}
	}
}

// statusOf is the status of the machine as the tool left it.
func (c *call) statusOf(e *engine.Engine) (engine.Status, error) {
	if c.status != nil {
		return *c.status, nil
	}
	return e.StatusOf(*c.snap)
}

// help sees to it that a refusal says what helps.
func (c *call) help() {
	if c.res.Code == "" {
		return
	}
	var task state.Task
	if c.snap != nil {
		task = c.snap.Task
	}
	remedies := []string{c.res.Remedy}
	switch {
	case task.State == state.Failed && slices.Contains(stuck, c.res.Code):
		remedies = append(remedies, failedRemedy)
	case c.res.Remedy == "" && c.res.Next == "stop" && c.snap != nil:
		remedies = append(remedies, "stop: "+waitingText(task))
	case c.res.Remedy == "":
		remedies = append(remedies, wire.Remedy(c.res.Next, c.res.Allowed))
	}
	remedies = slices.DeleteFunc(remedies, func(r string) bool { return r == "" })
	c.res.Remedy = c.commands(strings.Join(remedies, "; "))
}

// commands names the branch of the call in the commands of a text.
func (c *call) commands(text string) string {
	if c.s == nil {
		return text
	}
	return engine.Commands(c.s.Engine().Place().Branch, text)
}

// stuck are the codes of refusals in a failed task that no call of an agent can get around.
var stuck = []engine.Code{engine.WrongState, engine.NotClaimed, engine.LeaseLost, engine.StaleReview}

// runsChecks are the tools whose results say with which environment the checks run.
var runsChecks = []string{"check", "submit", "status"}

// untrustedNotice says in the result of status why every other tool refuses.
func untrustedNotice(err error) string {
	var r *engine.RefusedError
	if errors.As(err, &r) {
		return string(r.Code) + ": " + r.Error()
	}
	return string(engine.Untrusted) + ": " + err.Error()
}

// maxClaim is the largest claim in bytes: some clients cut the middle out of what is longer.
const maxClaim = 10 << 10

// encode returns the result as JSON, with as much of the packet as there is room for.
func (c *call) encode() ([]byte, error) {
	text, err := jsontime.Marshal(c.res)
	if err != nil || c.packet == nil {
		return text, err
	}
	c.packet.Fit(maxClaim - len(text))
	c.res.lay(*c.packet)
	return jsontime.Marshal(c.res)
}

// refuse makes a refusal of an error.
func (c *call) refuse(err error) {
	c.snap = nil
	c.res = Result{Code: engine.StoreError, Message: err.Error(), Notices: c.res.Notices}
	r := engine.AsRefused(err)
	var f *wire.Fault
	switch {
	case errors.Is(err, wire.ErrBug): // the agent is told to look where it stands
		r = &engine.RefusedError{Code: engine.OutcomeUnknown, Message: err.Error(), Remedy: "call status and go on from what it says"}
	case errors.As(err, &f):
		r = &engine.RefusedError{Code: engine.InvalidInput, Message: f.Message, Remedy: f.Remedy}
	case r == nil:
		return
	}
	c.res.Code, c.res.Message, c.res.Remedy = r.Code, r.Message, r.Remedy
	if r.Wrong != nil {
		c.res.Message = c.wrong(r.Wrong)
	}
	c.lacks = c.nameless()
	switch r.Code {
	case engine.TreeChanged:
		if c.tool.Name == "approve" {
			c.res.Next = "reject"
		}
	case engine.StaleReview:
		c.res.Next = "review_pending"
		if c.tool.Name == "respond_consult" {
			c.res.Next = "wait_for_review"
		}
		if c.lacks = c.s.Once && c.Text["submission"] == "" && c.Text["consultation"] == ""; c.lacks {
			c.res.Next = c.tool.Name
		}
	case engine.NotClaimed:
		// One that has forgotten to name its claim must not be sent to wait for the work that it holds.
		if c.lacks {
			c.res.Next = c.tool.Name
			c.res.Remedy = "call it again with the claim that wait_for_task gave you; wait_for_task only if you never got one"
		}
	case engine.CheckRunning:
		c.res.Next = "check"
	case engine.InvalidInput, engine.TooLarge, engine.LockBusy, engine.UnknownBranch:
		c.res.Next = c.tool.Name
	}
	if r.Person {
		c.res.Next = "stop"
	}
}

// nameless reports whether the call named no claim, though a holder of the caller's own name must.
func (c *call) nameless() bool {
	if !c.opts.Remote || c.Text["claim"] != "" || c.s == nil {
		return false
	}
	now, err := c.s.Engine().View()
	return err == nil && now.Task.ClaimedBy == c.s.Agent && !c.s.Holds(now.Task)
}

// wrong says in tool names what the table said in events.
func (c *call) wrong(w *state.RefusedError) string {
	return fmt.Sprintf("%s cannot %s while the task is in %s", w.Role.Public(), c.tool.Name, w.State)
}

// wait is how long this call may wait.
func (c *call) wait() time.Duration {
	most := c.opts.Wait
	if most == 0 {
		conf, _ := c.s.Engine().Config()
		most = conf.Server.WaitTimeout()
	}
	c.waits(most)
	return most
}

// left notes the machine as the tool left it.
func (c *call) left(done engine.Done) {
	c.snap, c.res.Repeated = &done.Snapshot, done.Repeated
}
