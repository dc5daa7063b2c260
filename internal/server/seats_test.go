//go:build unix

package server

import (
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/server/tokens"
	"github.com/ferrus-go/ferrus/internal/server/web"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// TestTwoClientsOfOneTokenAreTwo: one holds the work and the other does not. A client with a session need not name its
// claim; one without must, and a caller that names it with another token is nobody.
func TestTwoClientsOfOneTokenAreTwo(t *testing.T) {
	for _, transport := range transports {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			dir := newProject(t, `"true"`)
			o := opened(t, dir)
			o.visit(t, transport, state.Supervisor, nil).do("create_task", map[string]any{"description": "d"})
			one, two := o.visit(t, transport, state.Executor, nil), o.visit(t, transport, state.Executor, nil)
			claim := one.do("wait_for_task", nil).Claim
			if r := two.call("check", nil); r.Code != refusal.NotClaimed {
				t.Errorf("the other client: %+v", r)
			}
			r := one.call("check", nil)
			if want := map[bool]refusal.Code{true: refusal.NotClaimed, false: ""}[transport == "modern"]; r.Code != want {
				t.Errorf("the holder, without its claim: %+v", r)
			}
			one.claim = claim
			one.do("check", nil)
			secret, _, err := o.tokens.New(state.Executor, "thief", time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			thief, err := o.dial(t, transport, secret, nil)
			if err != nil {
				t.Fatal(err)
			}
			thief.claim = claim
			if r := thief.call("progress", map[string]any{"note": "mine"}); r.Code != refusal.NotClaimed && r.Code != refusal.LeaseLost {
				t.Errorf("a claim with another token: %+v", r)
			}
			one.do("progress", map[string]any{"note": "still mine"})
		})
	}
}

// TestASeatIsKeptForItsSession, and cleared when nobody has sat on it for long.
func TestASeatIsKeptForItsSession(t *testing.T) {
	t.Parallel()
	dir := newProject(t, `"true"`)
	e, err := engine.Open(project.At(dir, ""), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	at := &sessionCache{taken: map[sessionKey]*entry{}}
	sit := func(token, session string) *engine.Session {
		s, err := at.session(e, web.Caller{Token: tokens.Token{ID: token, Role: state.Executor, Name: "n"}, Session: session})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	a := sit("tk-1", "s")
	if sit("tk-1", "s") != a || sit("tk-1", "r") == a || sit("tk-2", "s") == a || a.Agent != "executor:n:1" {
		t.Errorf("callers are mixed up; %+v", a.Caller)
	}
	if one, other := sit("tk-1", ""), sit("tk-1", ""); one == other || len(at.taken) != 3 {
		t.Errorf("a caller without a session has an entry: %d", len(at.taken))
	}
	for _, one := range at.taken {
		one.last = one.last.Add(-idleSeat - time.Hour)
	}
	at.swept = time.Time{}
	if sit("tk-1", "s") == a || len(at.taken) != 1 {
		t.Errorf("%d entries are left", len(at.taken))
	}
}

// TestALostClaimIsHadAgain: a client whose answer got lost repeats itself, and in its session it gets the same claim.
func TestALostClaimIsHadAgain(t *testing.T) {
	for _, transport := range []string{"legacy", "sse"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			o := opened(t, newProject(t, `"true"`))
			o.visit(t, transport, state.Supervisor, nil).do("create_task", map[string]any{"description": "d"})
			v := o.visit(t, transport, state.Executor, nil)
			lost := v.do("wait_for_task", nil)
			if again := v.do("wait_for_task", nil); again.Claim != lost.Claim || again.Epoch != lost.Epoch || again.Status != "claimed" || again.Task == "" {
				t.Errorf("again: %+v\nthe answer that was lost: %+v", again, lost)
			}
			if r := o.visit(t, transport, state.Executor, nil).call("wait_for_task", nil); r.Claim != "" {
				t.Errorf("another session of the token gets it, too: %+v", r)
			}
		})
	}
}
