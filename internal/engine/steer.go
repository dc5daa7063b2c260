package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/store/live"
)

// Steer sends a person's message to the agent that works on the task or reviews it, now or later: text of at most 4 KiB. It is in
// force until the task ends; a rollback to before it leaves it behind.
func (s *Session) Steer(ctx context.Context, text string) (Done, error) {
	if err := handover.CheckText("the message", text, maxNote); err != nil {
		return Done{}, err
	}
	return s.commit(ctx, transition{event: state.Steer, note: text, apply: func(now store.Snapshot, next *state.Task) {
		next.Decisions = state.Remember(next.Decisions, state.Record{ID: fmt.Sprint(handover.SteerPrefix, now.Task.Seq+1), Off: now.Journal.Bytes})
	}})
}

// Tell sends an agent's message of at most 4 KiB: to the agent of the other role, the executor or the supervisor of the same
// task, or from an executor to one of its open delegates, by the delegate's id. The present agents read it and those after
// them. It is in force as a steer is. A task may have limits.max_messages.
func (s *Session) Tell(ctx context.Context, to, text string) (Done, error) {
	if err := handover.CheckText("the message", text, maxNote); err != nil {
		return Done{}, err
	}
	return s.commit(ctx, s.telling(to, text, func(now store.Snapshot) error {
		if err := s.checkReader(now.Task, to); err != nil {
			return err
		}
		return s.e.spareMessages(now)
	}))
}

// checkReader refuses a message to anybody but the agents that the session works with.
func (s *Session) checkReader(t state.Task, to string) error {
	can := []string{string(state.Executor)}
	if s.Role == state.Executor {
		can[0] = string(state.Supervisor)
		for _, d := range t.OpenDelegates() {
			can = append(can, d.ID)
		}
	}
	if slices.Contains(can, to) {
		return nil
	}
	return &refusal.RefusedError{Code: refusal.InvalidInput, Message: fmt.Sprintf("to is %.80q, which this session sends no messages to", to),
		Remedy: refusal.Say("set to to one of %q", can)}
}

func (s *Session) telling(to, text string, check func(store.Snapshot) error) transition {
	return transition{event: state.Tell, note: text, arg: to, check: check, apply: func(now store.Snapshot, next *state.Task) {
		next.Issued.Messages++
		next.Messages = state.Remember(next.Messages, state.Message{ID: fmt.Sprint("m", now.Task.Seq+1), To: to, Off: now.Journal.Bytes})
	}}
}

// spareMessages refuses a message when the task has had limits.max_messages: two models that answer each other never end.
func (e *Engine) spareMessages(now store.Snapshot) error {
	gate, err := e.Gate(now)
	if err != nil || now.Task.Issued.Messages < gate.Limits.MaxMessages {
		return err
	}
	return &refusal.RefusedError{Code: refusal.WrongState, Message: fmt.Sprintf("the agents of this task have sent %s, which is all that limits.max_messages allows",
		format.Count(now.Task.Issued.Messages, "message", "messages")), Remedy: "continue without messages: put the rest into the submission, the review, a consultation or its answer"}
}

// A Reader is who reads messages: an agent of a role, which reads steers only when it is its turn. Relatives are messages to
// it from the machines of its delegates, or from the one that it is a delegate of.
type Reader struct {
	Role      state.Role
	Steers    bool
	Relatives []handover.Message
}

// News returns what is in force for a reader, without what was shown.
func (e *Engine) News(now store.Snapshot, to Reader, shown handover.News) (handover.News, error) {
	var s handover.Shown
	s.Note("", shown)
	return e.news(now, to, func(id string) bool { return s.Has("", id) })
}

// Pending returns what is in force and the session has not been shown, and notes that it is shown it.
func (s *Session) Pending(now store.Snapshot, to Reader) (handover.News, error) {
	return s.memory().Take(s.ID, func(shown func(id string) bool) (handover.News, error) { return s.e.news(now, to, shown) })
}

// MarkShown notes that the session has been shown something. A text that was cut is yet to be shown.
func (s *Session) MarkShown(news handover.News) {
	s.memory().Note(s.ID, news)
}

// memory is where the session remembers which messages it got. A remote executor may have a new Session with every call, and is
// known by its claim; a remote supervisor without an MCP session is not known at all, and gets the messages again.
func (s *Session) memory() *handover.Shown {
	if live.IsSession(s.ID) && s.Role == state.Executor {
		return &s.e.shown
	}
	return &s.messages
}

// news returns what is in force for a reader and was not shown, as much as one result carries. Where there is none it reads
// nothing.
func (e *Engine) news(now store.Snapshot, to Reader, shown func(id string) bool) (news handover.News, err error) {
	for _, r := range now.Task.Decisions {
		if !to.Steers || !strings.HasPrefix(r.ID, handover.SteerPrefix) || shown(r.ID) {
			continue
		}
		d, err := handover.ReadDecision(e.store, r)
		if err != nil {
			return handover.News{}, err
		}
		news.Steers = append(news.Steers, d)
	}
	for _, r := range now.Task.MessagesTo(string(to.Role)) {
		if shown(r.ID) {
			continue
		}
		m, err := handover.ReadMessage(e.store, r)
		if err != nil {
			return handover.News{}, err
		}
		news.Messages = append(news.Messages, m)
	}
	for _, m := range to.Relatives {
		if !shown(m.ID) {
			news.Messages = append(news.Messages, m)
		}
	}
	news.Fit()
	return news, nil
}
