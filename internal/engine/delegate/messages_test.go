package delegate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/delegate"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// reads are the messages that the executor of a session's machine is shown by its next call, each with its sender.
func reads(t testing.TB, s *engine.Session) (list []string) {
	t.Helper()
	now := enginetest.View(t, s)
	relatives := enginetest.Must(delegate.Messages(s.Engine(), now.Task))(t)
	for _, m := range enginetest.Must(s.Pending(now, engine.Reader{Role: s.Role, Relatives: relatives}))(t).Messages {
		list = append(list, m.From+": "+m.Text)
	}
	return list
}

func wantReads(t testing.TB, s *engine.Session, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, reads(t, s)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", s.Agent, diff)
	}
}

// TestMessagesGoWithinAFamily: from an executor to its delegate and back, once each, and to nobody else.
func TestMessagesGoWithinAFamily(t *testing.T) {
	f := newFamily(t)
	first, child := f.starts("Do it.")
	second, other := f.starts("Do the rest.")
	ex, beside := child.Executor("codex"), other.Executor("qwen")
	enginetest.Claim(t, ex)
	enginetest.Claim(t, beside)
	tell := func(s *engine.Session, to, text string) {
		t.Helper()
		enginetest.Must(s.Tell(t.Context(), to, text))(t)
	}

	tell(f.ex, first.ID, "The table has three columns.")
	tell(ex, "supervisor", "It has four now.")
	tell(beside, "supervisor", "I am slow.")
	wantReads(t, ex, f.ex.Agent+" of parent: The table has three columns.")
	wantReads(t, ex)
	wantReads(t, beside)
	wantReads(t, f.ex, ex.Agent+" of "+first.ID+": It has four now.", beside.Agent+" of "+second.ID+": I am slow.")
	wantReads(t, f.ex)
	tell(beside, "supervisor", "I am done.")
	wantReads(t, f.ex, beside.Agent+" of "+second.ID+": I am done.")

	// The successor of a delegate's executor reads them, too.
	enginetest.Dies(t, ex)
	next := child.Executor("codex")
	enginetest.Claim(t, next)
	wantReads(t, next, f.ex.Agent+" of parent: The table has three columns.")

	for _, to := range []string{"d9", "executor", second.Branch, "parent"} {
		enginetest.Refused(t, enginetest.Second(f.ex.Tell(t.Context(), to, "x")), refusal.InvalidInput, first.ID, second.ID)
	}
	enginetest.Refused(t, enginetest.Second(next.Tell(t.Context(), second.ID, "x")), refusal.InvalidInput, "supervisor")
}

// TestMessagesOfAnotherTaskAreNotRead: ids of delegates are counted anew in every task.
func TestMessagesOfAnotherTaskAreNotRead(t *testing.T) {
	f := newFamily(t)
	c, child := f.starts("Do it.")
	ex := child.Executor("codex")
	enginetest.Claim(t, ex)
	enginetest.Must(f.Human().Reset(t.Context(), "another task"))(t)
	_, f.ex = f.Begun()
	again, _ := f.starts("Do something else.")
	if again.ID != c.ID {
		t.Fatalf("%s is not %s again", again.ID, c.ID)
	}
	enginetest.Must(f.ex.Tell(t.Context(), again.ID, "Not for the first one."))(t)
	stale := state.Task{Parent: state.Parent{ID: c.ID}}
	if list := enginetest.Must(delegate.Messages(child.Engine(), stale))(t); len(list) > 0 {
		t.Errorf("a delegate of the last task reads %v", list)
	}
}
