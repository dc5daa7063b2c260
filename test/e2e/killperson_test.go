//go:build unix

package e2e

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/tools"
)

// person looks on, answers what is asked, and gives every end a new beginning, until the storm is over.
func (s *tempest) person(over <-chan struct{}) {
	h := s.human()
	l := &life{role: state.Human, agent: h.Agent}
	s.mu.Lock()
	s.lives = append(s.lives, l)
	s.mu.Unlock()
	for n := 0; ; n++ {
		look := &call{life: l, tool: "status", begun: s.now()}
		snap, err := h.Engine().View()
		if look.ended = s.now(); err != nil {
			s.t.Error(err)
			return
		}
		t := snap.Task
		look.res = tools.Result{State: t.State, Seq: t.Seq, Epoch: t.Epoch, ClaimedBy: t.ClaimedBy, CheckRetries: &t.CheckRetries,
			ReviewCycles: &t.ReviewCycles, Paused: t.Paused}
		l.calls = append(l.calls, look)
		s.act(h, l, t, n)
		select {
		case <-over:
			return
		case <-time.After(time.Duration(1+n%7) * time.Millisecond): // in step with nobody
		}
	}
}

// act is what the person does about the task as it was seen.
func (s *tempest) act(h *engine.Session, l *life, t state.Task, n int) {
	c := &call{life: l, token: fmt.Sprintf("token-human-%d.", n), about: t.Top().ID}
	var do func(ctx context.Context) (engine.Done, error)
	switch {
	case t.State == state.AwaitingHuman:
		c.tool = "answer"
		do = func(ctx context.Context) (engine.Done, error) { return h.Answer(ctx, c.about, c.token) }
	case t.State == state.Failed && n%2 == 0:
		c.tool = "reopen"
		do = func(ctx context.Context) (engine.Done, error) { return h.Reopen(ctx, c.token) }
	case t.State == state.Failed, t.TaskID != "" && n%90 == 89:
		c.tool = "reset"
		do = func(ctx context.Context) (engine.Done, error) { return h.Reset(ctx, c.token) }
	case t.ClaimedBy != "" && n%10 == 9:
		c.tool = "release"
		do = func(ctx context.Context) (engine.Done, error) { return h.Release(ctx, c.token) }
	default:
		return
	}
	c.begun = s.now()
	done, err := do(context.Background())
	c.ended, c.res = s.now(), tools.Result{Code: refusal.CodeOf(err), State: done.Task.State, Seq: done.Task.Seq}
	if err != nil {
		c.res.Seq = 0
		if !slices.Contains(understandable, c.res.Code) || c.res.Code == "" {
			s.t.Errorf("%s: %v", c, err)
		}
	}
	l.calls = append(l.calls, c)
}
