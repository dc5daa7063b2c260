package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/engine/delegate"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// A Delegated is a delegate of the task in a result.
type Delegated struct {
	ID     string `json:"id"`
	Branch string `json:"branch"`
	Status string `json:"status"` // working, submitted, asking, complete, failed, lost or cancelled
}

// delegateWork is the tool delegate. Its arguments say which of its three uses is meant: a task starts a delegate, a
// decision is about one, and without either it waits.
func delegateWork(ctx context.Context, c *call) error {
	rulings := c.rulings()
	id, task := c.Text["id"], c.Text["task"]
	switch {
	case task != "" && (id != "" || len(rulings) > 0):
		return invalid("task starts a new delegate", "send either task, or id")
	case task == "" && c.Text["agent"] != "":
		return invalid("agent is of a new delegate", "send it with task")
	case len(rulings) > 1 || len(rulings) == 1 && id == "":
		return invalid("a decision is one of approve, reject and answer, about the delegate that id names", "send id and one of them")
	case task != "":
		return c.startDelegate(ctx, task)
	case len(rulings) == 1:
		return c.decideDelegate(ctx, id, rulings[0])
	}
	return c.awaitDelegate(ctx, id)
}

func invalid(what string, remedy refusal.Own) error {
	return &refusal.RefusedError{Code: refusal.InvalidInput, Message: what, Remedy: remedy}
}

// rulings are the decisions that the call has arguments for.
func (c *call) rulings() (list []state.Ruling) {
	if c.Flag["approve"] {
		list = append(list, state.RuledApprove)
	}
	for _, r := range []state.Ruling{state.RuledReject, state.RuledAnswer} {
		if c.Text[string(r)] != "" {
			list = append(list, r)
		}
	}
	return list
}

func (c *call) startDelegate(ctx context.Context, task string) error {
	done, child, err := delegate.Start(ctx, c.s, task, c.Text["agent"], c.wait())
	if err != nil {
		return err
	}
	c.left(done)
	c.res.Status = statusOf(child)
	c.res.Message = fmt.Sprintf("Delegate %s works on branch %s, with the files as they are now. Continue your own part; delegate with its id waits for it.", child.ID, child.Branch)
	if !child.Open() {
		c.res.Message = fmt.Sprintf("Delegate %s has ended: %s. ferrus log --all says why.", child.ID, child.Ended)
	}
	return c.delegates(ctx)
}

func (c *call) decideDelegate(ctx context.Context, id string, what state.Ruling) error {
	text := c.Text[string(what)]
	done, child, err := delegate.Decide(ctx, c.s, id, what, c.Text["submission"], text, c.wait())
	if err != nil {
		return err
	}
	c.left(done)
	c.res.Status, c.res.Next = statusOf(child), "delegate"
	switch {
	case child.Ended == state.DelegateComplete:
		c.res.Next = ""
		c.res.Message = "Its change is in your work tree. Look it over, and check."
	case !child.Open():
		c.res.Next = ""
		c.res.Message = fmt.Sprintf("Delegate %s has ended: %s. Do its part yourself, or start another one.", id, child.Ended)
	case what == state.RuledApprove && child.Phase == delegate.Submitted && child.Decided.On == child.On:
		c.res.Status, c.res.Message = "running", "Its files are moving in. Call delegate with its id to wait for that; edit nothing meanwhile."
	case what == state.RuledApprove:
		c.res.Message = fmt.Sprintf("Git cannot merge the work of %s and yours: it has both sides now, and submits again.", id)
	default:
		c.res.Message = fmt.Sprintf("Delegate %s has your %s and continues.", id, map[state.Ruling]string{state.RuledReject: "review", state.RuledAnswer: "answer"}[what])
	}
	return c.delegates(ctx)
}

func (c *call) awaitDelegate(ctx context.Context, id string) error {
	list, due, err := delegate.Wait(ctx, c.s, id, c.wait())
	if err != nil {
		return err
	}
	open := 0
	for _, child := range list {
		open += map[bool]int{true: 1}[child.Open()]
	}
	switch {
	case due != nil && !due.Open():
		c.res.Status, c.res.Message = statusOf(*due), fmt.Sprintf("Delegate %s has ended: %s.", due.ID, due.Ended)
	case due != nil:
		if err := c.showDelegate(ctx, *due); err != nil {
			return err
		}
	case len(list) == 0:
		c.res.Status, c.res.Message = "idle", "The task has no delegate. delegate with task starts one."
	case open == 0:
		c.res.Status, c.res.Message = "ended", "Every delegate has ended."
	default:
		c.res.Status, c.res.Next = "timeout", "delegate"
		c.res.Message = "They work. Call again to wait, or do your own part meanwhile." + c.unattended()
	}
	return c.delegates(ctx)
}

// unattended says that nobody starts the agents of delegates, "" if somebody does.
func (c *call) unattended() string {
	if delegate.Conducted(c.s.Engine()) {
		return ""
	}
	return " Nobody runs them: a person has to start ferrus run or ferrus resume."
}

// showDelegate adds what a delegate waits with.
func (c *call) showDelegate(ctx context.Context, child delegate.Child) error {
	c.res.Status, c.res.Next = statusOf(child), "delegate"
	r, err := delegate.Review(ctx, c.s.Engine(), child)
	if err != nil {
		return err
	}
	c.s.ShowDelegate(child.ID, child.On)
	c.res.Task = r.Task
	if child.Phase == delegate.Asking {
		c.res.ConsultationID, c.res.Consultation = child.On, r.Question
		c.res.Message = fmt.Sprintf("Delegate %s asks you. Call delegate with its id and answer.", child.ID)
		return nil
	}
	c.res.SubmissionID, c.res.Submission, c.res.Diffstat, c.res.Patch = child.On, r.Submission, r.Diffstat, r.Patch
	c.res.PatchExact, c.res.Notices = r.PatchExact, append(c.res.Notices, r.Notices...)
	c.res.Message = fmt.Sprintf("Delegate %s has submitted. Read the patch, then call delegate with its id and approve or reject.", child.ID)
	return nil
}

// delegates adds all delegates of the task as they are now.
func (c *call) delegates(ctx context.Context) error {
	list, err := delegate.Children(ctx, c.s.Engine())
	if err != nil {
		return err
	}
	for _, child := range list {
		c.res.Delegates = append(c.res.Delegates, Delegated{child.ID, child.Branch, statusOf(child)})
	}
	return nil
}

// statusOf is how a delegate is, in one word.
func statusOf(c delegate.Child) string {
	switch {
	case !c.Open():
		return string(c.Ended)
	case c.Phase == delegate.Submitted, c.Phase == delegate.Asking:
		return string(c.Phase)
	}
	return string(delegate.Working)
}

// delegating reports whether the executor may delegate in this task.
func delegating(in situation) bool { return in.delegates }

// finishMove ends the move of a delegate's files whose executor has ended: nobody can claim the work before.
func (c *call) finishMove(ctx context.Context) {
	now, err := c.s.Engine().View()
	if err != nil || now.Task.Returning.Of == "" || c.s.Holds(now.Task) {
		return
	}
	ctx, stop := context.WithTimeout(ctx, c.wait())
	defer stop()
	if err := delegate.Settle(ctx, c.s.Engine(), nil); err != nil {
		c.res.Notices = append(c.res.Notices, strings.TrimSpace("the files of a delegate do not move in: "+err.Error()))
	}
}

// hideDelegate takes the tool out of the list where the task has no delegates.
func (o Options) hideDelegate(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		if list, ok := res.(*mcp.ListToolsResult); ok && err == nil && !o.Delegates() {
			list.Tools = slices.DeleteFunc(slices.Clone(list.Tools), func(t *mcp.Tool) bool { return t.Name == delegateTool })
		}
		return res, err
	}
}
