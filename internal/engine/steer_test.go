//go:build unix

package engine_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"

	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/kit"
)

// steer messages the running agent, and returns under which id.
func steer(t testing.TB, h *engine.Session, text string) string {
	t.Helper()
	before := enginetest.View(t, h)
	done := enginetest.Must(h.Steer(t.Context(), text))(t)
	is, was := done.Task, before.Task
	if is.State != was.State || is.Epoch != was.Epoch || is.Session != was.Session || len(is.Decisions) != len(was.Decisions)+1 {
		t.Errorf("a word changes the task from %+v to %+v", was, is)
	}
	return fmt.Sprint("steer-", is.Seq)
}

// ids are those of decisions.
func ids(list []handover.Decision) (ids []string) {
	for _, d := range list {
		ids = append(ids, d.ID)
	}
	return ids
}

// untold are the ids of what a session has not been shown, which it is now.
func untold(t testing.TB, s *engine.Session) []string {
	t.Helper()
	return ids(enginetest.Must(s.Pending(enginetest.View(t, s), engine.Reader{Role: state.Executor, Steers: true}))(t).Steers)
}

// TestASteerIsToldOnceToWhoeverWorks, now or later. S2-17.
func TestASteerIsToldOnceToWhoeverWorks(t *testing.T) {
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("true"))
	_, ex := p.Begun()
	h := p.Human()
	if got := untold(t, ex); len(got) > 0 {
		t.Errorf("told %v", got)
	}
	first, second := steer(t, h, "Use blue."), steer(t, h, "Not that blue.")
	list := enginetest.Must(ex.Pending(enginetest.View(t, ex), engine.Reader{Role: state.Executor, Steers: true}))(t).Steers
	if !slices.Equal(ids(list), []string{first, second}) || list[0].Answer != "Use blue." || list[0].By != "human" || list[0].Question == "" {
		t.Errorf("told %+v", list)
	}
	if got := untold(t, ex); len(got) > 0 {
		t.Errorf("told %v again", got)
	}
	third := steer(t, h, "The other one.")
	if got := untold(t, ex); !slices.Equal(got, []string{third}) {
		t.Errorf("told %v", got)
	}
	enginetest.Must(h.Release(t.Context(), ""))(t)
	next := p.Executor("qwen")
	got := enginetest.Claim(t, next)
	if !slices.Equal(ids(got.Packet.Decisions), []string{third, second, first}) {
		t.Errorf("the packet has %+v", got.Packet.Decisions)
	}
	next.MarkShown(handover.News{Steers: got.Packet.Decisions})
	if got := untold(t, next); len(got) > 0 {
		t.Errorf("told %v, which the packet has", got)
	}
	sup := p.Supervisor()
	enginetest.Submitted(t, next)
	r, _ := enginetest.Must2(sup.Review(t.Context()))(t)
	if !slices.Equal(ids(r.Decisions), []string{third, second, first}) || len(r.Cut) > 0 {
		t.Errorf("the reviewer sees %+v, cut %v", r.Decisions, r.Cut)
	}
}

// TestASteerIsAPersonsWhereATaskIsUnderWay.
func TestASteerIsAPersonsWhereATaskIsUnderWay(t *testing.T) {
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("true"))
	h := p.Human()
	enginetest.Refused(t, enginetest.Second(h.Steer(t.Context(), "Use blue.")), refusal.WrongState)
	sup, ex := p.Begun()
	for _, s := range []*engine.Session{sup, ex} {
		enginetest.Refused(t, enginetest.Second(s.Steer(t.Context(), "Use blue.")), refusal.ForbiddenRole)
	}
	for text, code := range map[string]refusal.Code{"": refusal.InvalidInput, " \n": refusal.InvalidInput, "\xff": refusal.InvalidInput, strings.Repeat("x", engine.MaxNote+1): refusal.TooLarge} {
		enginetest.Refused(t, enginetest.Second(h.Steer(t.Context(), text)), code)
	}
	steer(t, h, strings.Repeat("x", engine.MaxNote))
	enginetest.Must(ex.Consult(t.Context(), engine.Consulting{Problem: "p", Tried: "t", Question: "q"}))(t)
	steer(t, h, "While it asks.")
	enginetest.Must(sup.AskHuman(t.Context(), "Red or blue?", nil))(t)
	steer(t, h, "While I am asked.")
	enginetest.Must(h.Answer(t.Context(), "", "Blue."))(t)
	enginetest.Must(h.Answer(t.Context(), "", "As I said."))(t)
	if _, ok, err := ex.AwaitResponse(t.Context(), enginetest.Brief); err != nil || !ok {
		t.Fatal(err)
	}
	enginetest.Submitted(t, ex)
	steer(t, h, "While it is reviewed.")
	enginetest.Must(h.Reject(t.Context(), "Not so.", ""))(t)
	steer(t, h, "While nobody has it.")
	enginetest.Claim(t, ex)
	enginetest.Check(t, ex, state.CheckGreen)
	steer(t, h, "While it is green.")
	enginetest.Submitted(t, ex)
	enginetest.Must(h.Approve(t.Context(), "", ""))(t)
	enginetest.Refused(t, enginetest.Second(h.Steer(t.Context(), "Use red.")), refusal.WrongState)
	enginetest.Must(h.CreateTask(t.Context(), "Another.", ""))(t)
	if got := enginetest.Must(h.Engine().News(enginetest.View(t, h), engine.Reader{Role: state.Executor, Steers: true}, handover.News{}))(t); len(got.Steers) > 0 {
		t.Errorf("another task has %v", got)
	}
}

// TestASteerThatARollbackLeftBehindIsNotInForce, until one returns to it.
func TestASteerThatARollbackLeftBehindIsNotInForce(t *testing.T) {
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("true"))
	_, ex := p.Begun()
	h := p.Human()
	kept := steer(t, h, "Use blue.")
	before := enginetest.View(t, h).Task.Seq
	left := steer(t, h, "No, red.")
	tip := enginetest.View(t, h).Task.Seq
	if got := untold(t, ex); !slices.Equal(got, []string{kept, left}) {
		t.Errorf("told %v", got)
	}
	enginetest.Rolled(t, h, before)
	next := p.Executor("qwen")
	got := ids(enginetest.Claim(t, next).Packet.Decisions)
	if !slices.Contains(got, kept) || slices.Contains(got, left) || slices.Contains(untold(t, next), left) {
		t.Errorf("told %v", got)
	}
	enginetest.Rolled(t, h, tip)
	if got := untold(t, next); !slices.Contains(got, left) {
		t.Errorf("back at it, told %v", got)
	}
}

// TestASteerIsToldToOneOfTwoCalls, and to both sessions of one name.
func TestASteerIsToldToOneOfTwoCalls(t *testing.T) {
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("true"))
	_, ex := p.Begun()
	steer(t, p.Human(), "Use blue.")
	now := enginetest.View(t, ex)
	told := make(chan []handover.Decision, 8)
	var all sync.WaitGroup
	for range cap(told) {
		all.Go(func() {
			list, err := ex.Pending(now, engine.Reader{Role: state.Executor, Steers: true})
			if err != nil {
				t.Error(err)
			}
			told <- list.Steers
		})
	}
	all.Wait()
	n := 0
	for range cap(told) {
		n += len(<-told)
	}
	if n != 1 {
		t.Errorf("told %d times", n)
	}
	if got := untold(t, p.Executor("codex")); len(got) != 1 {
		t.Errorf("another session gets %v", got)
	}
}

// TestARemoteExecutorIsToldOncePerClaim, though each of its calls is a session of its own; a supervisor, who has none, again.
func TestARemoteExecutorIsToldOncePerClaim(t *testing.T) {
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("true"))
	e := p.Engine()
	enginetest.Must(p.Supervisor().CreateTask(t.Context(), "Build it.", ""))(t)
	mine := claimed(t, e, "tk-1")
	id := steer(t, p.Human(), "Use blue.")
	for i, want := range [][]string{{id}, nil} {
		if got := untold(t, remotely(t, e, state.Executor, "tk-1", mine)); !slices.Equal(got, want) {
			t.Errorf("call %d gets %v", i, got)
		}
		if got := untold(t, remotely(t, e, state.Supervisor, "tk-1", "")); !slices.Equal(got, []string{id}) {
			t.Errorf("call %d of the supervisor gets %v", i, got)
		}
	}
}

// TestASteerThatIsCutIsYetToBeTold: what does not fit among the decisions comes whole with what is asked for next.
func TestASteerThatIsCutIsYetToBeTold(t *testing.T) {
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("true"))
	_, ex := p.Begun()
	h := p.Human()
	long := strings.Repeat("long ", engine.MaxNote/5)
	first, last := steer(t, h, long), steer(t, h, "Use blue.")
	enginetest.Submitted(t, ex)
	sup := p.Supervisor()
	r, now := enginetest.Must2(sup.Review(t.Context()))(t)
	if !slices.Equal(ids(r.Decisions), []string{last, first}) || len(r.Decisions[1].Answer) >= len(long) || len(r.Cut) != 1 || len(asJSON(t, r.Decisions)) > engine.MaxReviewed {
		t.Errorf("%d bytes, cut %v", len(asJSON(t, r.Decisions)), r.Cut)
	}
	sup.MarkShown(handover.News{Steers: r.Decisions})
	if got := enginetest.Must(sup.Pending(now, engine.Reader{Role: state.Executor, Steers: true}))(t).Steers; !slices.Equal(ids(got), []string{first}) || got[0].Answer != long {
		t.Errorf("told %v", ids(got))
	}
}

// TestACheckThatWasOverBringsWhatWasSaidSince, and one that runs is not disturbed.
func TestACheckThatWasOverBringsWhatWasSaidSince(t *testing.T) {
	t.Parallel()
	p := slow(t)
	_, ex := p.Begun()
	h := p.Human()
	if out := enginetest.Must(ex.Check(t.Context(), enginetest.Brief))(t); out.Status != state.CheckRunning {
		t.Fatal(out.Status)
	}
	during := steer(t, h, "While it runs.")
	p.LetGo()
	kit.Eventually(t, "the check is over", func() bool { return enginetest.View(t, h).Task.Check.Status == state.CheckRed })
	after := steer(t, h, "When it was over.")
	out := enginetest.Check(t, ex, state.CheckRed)
	if got := ids(enginetest.Must(ex.Pending(out.Snapshot, engine.Reader{Role: state.Executor, Steers: true}))(t).Steers); out.ID != "k1" || out.Task.CheckRetries != 1 || !slices.Equal(got, []string{during, after}) {
		t.Errorf("%s, %d retries, told %v", out.ID, out.Task.CheckRetries, got)
	}
}

// TestWhereNothingIsSaidNothingIsRead: the journal has no line at these places.
func TestWhereNothingIsSaidNothingIsRead(t *testing.T) {
	t.Parallel()
	_, ex := enginetest.Plain(t, enginetest.Gate("true")).Begun()
	at := func(id string) store.Snapshot {
		return store.Snapshot{Task: state.Task{Decisions: []state.Record{{ID: id, Off: 1 << 40}}}}
	}
	for id, read := range map[string]bool{"q1": false, "rollback-3": false, "steer-3": true} {
		if _, err := ex.Pending(at(id), engine.Reader{Role: state.Executor, Steers: true}); (err != nil) != read {
			t.Errorf("%s: %v", id, err)
		}
	}
	ex.MarkShown(handover.News{Steers: []handover.Decision{{ID: "steer-4"}}})
	if list, err := ex.Pending(at("steer-4"), engine.Reader{Role: state.Executor, Steers: true}); len(list.Steers) > 0 || err != nil {
		t.Errorf("%v, %v", list, err)
	}
}

// asJSON is a value as its readers get it.
func asJSON(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
