package tools

import (
	"context"
	"slices"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
)

// Preview returns what an agent of a role would get at a moment when it asks for work: an executor
// by wait_for_task, with the claim or claiming, a supervisor by wait_for_review. The result has no
// claim, and no lease unless one runs. Preview claims nothing and marks nothing as delivered.
func Preview(ctx context.Context, e *engine.Engine, m engine.AsOf, role state.Role) (Result, error) {
	c := &call{opts: Options{Role: role}, snap: &m.Snapshot}
	in, err := c.given(ctx, e, m)
	if err != nil {
		return Result{}, err
	}
	c.res.State, c.res.Next = in.task.State, in.next()
	c.res.Allowed = in.allowed(c.res.Next)
	if messages, steers := c.hears(in); messages {
		news, err := e.News(m.Snapshot, engine.Reader{Role: role, Steers: steers}, c.shown())
		if err != nil {
			return Result{}, err
		}
		c.addNews(news)
	}
	st := engine.Status{Snapshot: *c.snap}
	if !m.Past {
		st, err = e.StatusOf(*c.snap)
	}
	if err == nil {
		c.res.Notices = append(c.res.Notices, st.Notices()...)
	}
	_, err = c.encode()
	return c.res, err
}

// given adds what the role would get to the result, and returns the situation of the agent after
// it.
func (c *call) given(ctx context.Context, e *engine.Engine, m engine.AsOf) (situation, error) {
	t := m.Task
	if c.opts.Role == state.Supervisor {
		in := situation{role: state.Supervisor, as: state.Supervisor, task: t, submission: true, consultation: true,
			own: t.Asked.Supervisor != "" && t.Top().ID == t.Asked.Supervisor}
		if !slices.Contains(state.Allowed(t, state.Supervisor), state.Approve) {
			return in, c.needed(e, m.Snapshot)
		}
		r, err := e.ReviewOf(ctx, m.Snapshot, state.Supervisor)
		if err == nil {
			c.res.Status = "submission"
			c.reviewed(e, r, m.Snapshot)
		}
		return in, err
	}
	got, err := e.Work(ctx, m)
	if err != nil {
		return situation{}, err
	}
	if got == nil {
		c.nothing(m.Snapshot)
		return situation{role: state.Executor, as: state.Executor, task: t}, nil
	}
	c.claimed(got)
	return situation{role: state.Executor, as: state.Holder, task: got.Task}, nil
}
