package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/ferrus-go/ferrus/internal/document"
	"github.com/ferrus-go/ferrus/internal/packet"
	"github.com/ferrus-go/ferrus/internal/remote"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// Steer says something to whoever works on the task, or reviews it, now or later: text of at most 4 KiB. It is in force
// until the task ends; one that a rollback left behind is not.
func (s *Session) Steer(ctx context.Context, text string) (Done, error) {
	if err := document.Check("the message", text, maxNote); err != nil {
		return Done{}, err
	}
	return s.commit(ctx, transition{event: state.Steer, note: text, lay: func(now store.Snapshot, next *state.Task) {
		next.Decisions = state.Remember(next.Decisions, state.Record{ID: fmt.Sprint(packet.SteerPrefix, now.Task.Seq+1), Off: now.Journal.Bytes})
	}})
}

// Steers returns the steers in force, oldest first, without those that stand whole among decisions shown.
func (e *Engine) Steers(now store.Snapshot, shown []packet.Decision) ([]packet.Decision, error) {
	var t packet.Shown
	t.Note("", shown)
	return e.pending(now, func(id string) bool { return t.Has("", id) })
}

// Pending returns the steers in force that the session has not been shown, oldest first, and notes that it is shown them.
func (s *Session) Pending(now store.Snapshot) ([]packet.Decision, error) {
	return s.memory().Take(s.ID, func(shown func(id string) bool) ([]packet.Decision, error) { return s.e.pending(now, shown) })
}

// Told notes that the session has been shown decisions. A steer that was cut is yet to be shown.
func (s *Session) Told(list []packet.Decision) {
	s.memory().Note(s.ID, list)
}

// memory is where the session remembers what it was told. A remote executor may have a new Session with every call, and is
// known by its claim; a remote supervisor without an MCP session is not known at all, and is told again.
func (s *Session) memory() *packet.Shown {
	if remote.IsSession(s.ID) && s.Role == state.Executor {
		return &s.e.told
	}
	return &s.told
}

// pending returns the steers in force that were not shown. Where there are none it reads nothing.
func (e *Engine) pending(now store.Snapshot, shown func(id string) bool) ([]packet.Decision, error) {
	var list []packet.Decision
	for _, r := range now.Task.Decisions {
		if !strings.HasPrefix(r.ID, packet.SteerPrefix) || shown(r.ID) {
			continue
		}
		d, err := packet.ReadDecision(e.store, r)
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, nil
}
