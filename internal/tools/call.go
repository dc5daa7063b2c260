package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/platform/jsonx"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/tools/gate"
)

// A call is one call of a tool on its way through the gate.
type call struct {
	tool Tool
	opts Options
	s    *engine.Session
	gate.Values
	snap *store.Snapshot // the machine after the tool; nil when it must be read
	res  Result

	unknown error          // why the project is not trusted; nil if it is
	status  *engine.Status // nil if the tool did not read the status

	packet *handover.Packet    // of a claim; nil for any other call
	remedy refusal.Own         // refusals only: what helps
	lacks  bool                // it does not name its claim, or its subject, and would be allowed if it did
	waits  func(time.Duration) // tells the watchdog how long the call will wait
}

// handler returns the handler of t: the gate with its calls.
func (o Options) handler(t Tool) mcp.ToolHandler {
	return o.gate.Handler(t.Name, func(waits func(time.Duration)) gate.Call { return &call{tool: t, opts: o, waits: waits} })
}

// stuck is the result of a call that did not end.
func stuck(r gate.Refusal) any {
	return Result{Code: refusal.InternalTimeout, Message: r.Message, Remedy: r.Remedy, Next: r.Next, Allowed: r.Allowed}
}

// Finish returns the answer of the call. If it is not called, messages stay for the next call.
func (c *call) Finish(err error) (gate.Outcome, error) {
	c.finish(err)
	text, err := c.encode()
	if err == nil && c.s != nil {
		c.s.MarkShown(c.shown())
	}
	return gate.Outcome{Object: text, Status: c.res.Status, Code: string(c.res.Code), Next: c.res.Next, Caller: c.caller()}, err
}

// caller returns who called and where the task stands after the call, for the log.
func (c *call) caller() []any {
	facts := []any{"agent", c.agent(), "state", c.res.State}
	if c.snap != nil && c.snap.Top != nil {
		facts = append(facts, gate.LogTask, c.snap.Task.TaskID, gate.LogSeq, c.snap.Top.Seq)
	}
	if c.opts.Run != nil {
		facts = append(facts, gate.LogRun, c.opts.Run())
	}
	return facts
}

// agent returns the name of the caller, "" when it is unknown.
func (c *call) agent() string {
	if c.s == nil {
		return ""
	}
	return c.s.Agent
}

// Serve runs the tool.
func (c *call) Serve(ctx context.Context, req *mcp.CallToolRequest) (err error) {
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

// finish adds the fields that every result has, and turns an error into a refusal.
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
	if c.unknown != nil { // only status answers, and says why the other tools refuse
		c.res.Next, c.res.Notices = "stop", []string{untrustedNotice(c.unknown)}
		return
	}
	c.listen(in)
	if st, err := c.statusOf(e); err == nil {
		c.res.Notices = append(c.res.Notices, st.Notices()...)
		if n := engine.Environ(st.Facts()); n != "" && slices.Contains(runsChecks, c.tool.Name) {
			c.res.Notices = append(c.res.Notices, n)
		}
	}
}

// statusOf returns the status of the machine after the tool.
func (c *call) statusOf(e *engine.Engine) (engine.Status, error) {
	if c.status != nil {
		return *c.status, nil
	}
	return e.StatusOf(*c.snap)
}

// help makes sure that a refusal says what to do next.
func (c *call) help() {
	if c.res.Code == "" {
		return
	}
	var task state.Task
	if c.snap != nil {
		task = c.snap.Task
	}
	remedies := []refusal.Own{c.remedy}
	switch {
	case task.State == state.Failed && slices.Contains(unresolvable, c.res.Code):
		remedies = append(remedies, failedRemedy)
	case c.remedy == "" && c.res.Next == "stop" && c.snap != nil:
		remedies = append(remedies, refusal.Say("stop: %s", waitingText(task)))
	case c.remedy == "":
		remedies = append(remedies, refusal.Say("%s", gate.Remedy(c.res.Next, c.res.Allowed)))
	}
	remedies = slices.DeleteFunc(remedies, func(r refusal.Own) bool { return r == "" })
	branch := ""
	if c.s != nil {
		branch = c.s.Engine().Place().Branch
	}
	c.res.Remedy = refusal.Join(remedies, "; ").On(branch)
}

// unresolvable are the refusals in a failed task that no call of an agent can resolve.
var unresolvable = []refusal.Code{refusal.WrongState, refusal.NotClaimed, refusal.LeaseLost, refusal.StaleReview}

// runsChecks are the tools whose results say with which environment the checks run.
var runsChecks = []string{"check", "submit", "status"}

// untrustedNotice says in the result of status why every other tool refuses.
func untrustedNotice(err error) string {
	var r *refusal.RefusedError
	if errors.As(err, &r) {
		return string(r.Code) + ": " + r.Error()
	}
	return string(refusal.Untrusted) + ": " + err.Error()
}

// maxClaim is the largest result of a claim in bytes: some clients cut the middle out of longer
// ones.
const maxClaim = 10 << 10

// encode returns the result as JSON, with as much of the packet as fits.
func (c *call) encode() ([]byte, error) {
	text, err := jsonx.Marshal(c.res)
	if err != nil || c.packet == nil {
		return text, err
	}
	c.packet.Fit(maxClaim - len(text))
	c.res.setPacket(*c.packet)
	return jsonx.Marshal(c.res)
}

// refuse turns an error into a refusal.
func (c *call) refuse(err error) {
	c.snap = nil
	c.res = Result{Code: refusal.StoreError, Message: err.Error(), Notices: c.res.Notices}
	r := refusal.Of(err)
	switch {
	case errors.Is(err, gate.ErrBug): // the agent reads the status to find out what happened
		r = &refusal.RefusedError{Code: refusal.OutcomeUnknown, Message: err.Error(), Remedy: "call status and continue from its answer"}
	case r == nil:
		return
	}
	c.res.Code, c.res.Message, c.remedy = r.Code, r.Message, r.Remedy
	if r.Output != "" {
		c.res.Message += "\n" + r.Output
	}
	if r.Wrong != nil {
		c.res.Message = c.wrong(r.Wrong)
	}
	c.lacks = c.nameless()
	switch r.Code {
	case refusal.TreeChanged:
		if c.tool.Name == "approve" {
			c.res.Next = "reject"
		}
	case refusal.StaleReview:
		c.res.Next = "review_pending"
		if c.tool.Name == "respond_consult" {
			c.res.Next = "wait_for_review"
		}
		if c.lacks = c.s.Once && c.Text["submission"] == "" && c.Text["consultation"] == ""; c.lacks {
			c.res.Next = c.tool.Name
		}
	case refusal.NotClaimed:
		// A caller that forgot to name its claim must not be sent to wait for the work that it has
		// claimed.
		if c.lacks {
			c.res.Next = c.tool.Name
			c.remedy = "call it again with the claim that wait_for_task gave you; wait_for_task only if you never got one"
		}
	case refusal.DelegatesRunning:
		c.res.Next = delegateTool
	case refusal.CheckRunning:
		c.res.Next = "check"
	case refusal.InvalidInput, refusal.TooLarge, refusal.LockBusy, refusal.UnknownBranch:
		c.res.Next = c.tool.Name
	}
	if r.Person {
		c.res.Next = "stop"
	}
}

// nameless reports whether the call names no claim although the task is claimed under the caller's
// own name.
func (c *call) nameless() bool {
	if !c.opts.Remote || c.Text["claim"] != "" || c.s == nil {
		return false
	}
	now, err := c.s.Engine().View()
	return err == nil && now.Task.ClaimedBy == c.s.Agent && !c.s.Holds(now.Task)
}

// wrong says in names of tools what the table says in events.
func (c *call) wrong(w *state.RefusedError) string {
	return fmt.Sprintf("%s cannot %s while the task is in %s", w.Role.Public(), c.tool.Name, w.State)
}

// wait returns how long this call may wait.
func (c *call) wait() time.Duration {
	most := c.opts.Wait
	if most == 0 {
		conf, _ := c.s.Engine().Config()
		most = conf.Server.WaitTimeout()
	}
	c.waits(most)
	return most
}

// left stores the machine after the tool.
func (c *call) left(done engine.Done) {
	c.snap, c.res.Repeated = &done.Snapshot, done.Repeated
}
