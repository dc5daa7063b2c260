package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// remotely is one call over the network: each is a session of its own, in one server.
func remotely(t testing.TB, e *engine.Engine, role state.Role, token, claim string) *engine.Session {
	t.Helper()
	return enginetest.Must(e.Remote(engine.Caller{Role: role, Agent: string(role) + ":net:1"}, token, claim))(t)
}

// claimed is a claim that a call without one was given.
func claimed(t testing.TB, e *engine.Engine, token string) string {
	t.Helper()
	s := remotely(t, e, state.Executor, token, "")
	enginetest.Claim(t, s)
	return s.Claim()
}

func TestAClaimIsTheIdentityOfACallerWithoutAProcess(t *testing.T) {
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("true"))
	e := p.Engine()
	enginetest.Must(p.Human().CreateTask(t.Context(), "Build it.", ""))(t)
	mine := claimed(t, e, "tk-1")
	call := func(token, claim string) *engine.Session { return remotely(t, e, state.Executor, token, claim) }

	enginetest.Must(call("tk-1", mine).Progress(t.Context(), "One."))(t)
	// The same token without the claim, another's claim, the claim with another token, and a claim of no epoch that was.
	for name, s := range map[string]*engine.Session{
		"no claim": call("tk-1", ""), "another token": call("tk-2", mine), "altered": call("tk-1", mine+"A"),
	} {
		same := enginetest.Unchanged(t, s)
		if err := enginetest.Second(s.Progress(t.Context(), "Not mine.")); refusal.CodeOf(err) != refusal.NotClaimed {
			t.Errorf("%s: %v", name, err)
		}
		same()
	}
	enginetest.Refused(t, enginetest.Second(call("tk-1", "").Progress(t.Context(), "No claim.")), refusal.NotClaimed, "name the claim")
	for _, garbage := range []string{"x", "c-", "c0-a", "c1", "1-a", "c99999999999999999999-a", strings.Repeat("c", 300)} {
		if _, err := e.Remote(engine.Caller{Role: state.Executor}, "tk-1", garbage); refusal.CodeOf(err) != refusal.NotClaimed {
			t.Errorf("claim %q: %v", garbage, err)
		}
	}
	// A gate that one call starts is the next call's.
	enginetest.Check(t, call("tk-1", mine), state.CheckGreen)
	if out := enginetest.Submitted(t, call("tk-1", mine)); out.Task.State != state.Reviewing {
		t.Errorf("submitted in %s", out.Task.State)
	}
	secret := mine[strings.Index(mine, "-")+1:]
	if strings.Contains(enginetest.JournalText(t, p.Dir), secret) || strings.Contains(p.Read(".ferrus/STATE.json"), secret) {
		t.Error("the journal or STATE.json has the secret of the claim")
	}
}

func TestTheLeaseOfARemoteHolderLastsFromItsLastCall(t *testing.T) {
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("true")+"[lease]\nmax_silence_secs = 600\n")
	c := p.Clocked()
	e := p.Engine()
	enginetest.Must(p.Human().CreateTask(t.Context(), "Build it.", ""))(t)
	mine := claimed(t, e, "tk-1")
	other := remotely(t, e, state.Executor, "tk-1", "") // two clients may share a token
	c.Pass(599 * time.Second)
	unclaimed(t, other)

	// Any call that names the claim renews; one that does not, does not.
	remotely(t, e, state.Executor, "tk-1", "").Touch()
	remotely(t, e, state.Executor, "tk-1", mine).Touch()
	if got := left(other, enginetest.View(t, other)); got != 600*time.Second {
		t.Errorf("after a call %v are left", got)
	}
	c.Pass(599 * time.Second)
	unclaimed(t, other)
	enginetest.Must(remotely(t, e, state.Executor, "tk-1", mine).Heartbeat(t.Context()))(t)
	c.Pass(599 * time.Second)
	unclaimed(t, other)

	// Silent for too long: another may have it, and what comes with the old claim changes nothing.
	c.Pass(time.Second)
	if got := enginetest.Claim(t, other); got.Stale == "" {
		t.Error("nobody is said to be editing still")
	}
	late := remotely(t, e, state.Executor, "tk-1", mine)
	same := enginetest.Unchanged(t, late)
	late.Touch()
	enginetest.Refused(t, enginetest.Second(late.Progress(t.Context(), "Late.")), refusal.LeaseLost, "took this work over")
	same()
	enginetest.Must(remotely(t, e, state.Executor, "tk-1", other.Claim()).Progress(t.Context(), "Mine now."))(t)
}

func TestARemoteReviewerNamesWhatItDecides(t *testing.T) {
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("true"))
	e := p.Engine()
	enginetest.Must(p.Human().CreateTask(t.Context(), "Build it.", ""))(t)
	enginetest.Submitted(t, remotely(t, e, state.Executor, "tk-1", claimed(t, e, "tk-1")))
	call := func() *engine.Session { return remotely(t, e, state.Supervisor, "tk-s", "") }
	enginetest.Must2(call().Review(t.Context()))(t)
	enginetest.Refused(t, enginetest.Second(call().Approve(t.Context(), "", "")), refusal.StaleReview, "has not been shown")
	enginetest.Refused(t, enginetest.Second(call().Reject(t.Context(), "No.", "s7")), refusal.StaleReview, "s7")
	if done := enginetest.Must(call().Approve(t.Context(), "", "s1"))(t); done.Task.State != state.Complete {
		t.Errorf("approved: %s", done.Task.State)
	}
}

func TestASessionMeansTheClaimThatACallNames(t *testing.T) {
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("true"))
	e := p.Engine()
	enginetest.Must(p.Human().CreateTask(t.Context(), "Build it.", ""))(t)
	first := remotely(t, e, state.Executor, "tk-1", "")
	enginetest.Claim(t, first)
	// Within one connection the claim need not be named; on another of the same token it must be.
	enginetest.Must(first.Progress(t.Context(), "Mine."))(t)
	next := remotely(t, e, state.Executor, "tk-1", "")
	enginetest.Refused(t, enginetest.Second(next.Progress(t.Context(), "Whose?")), refusal.NotClaimed)
	enginetest.Must(enginetest.Must(next.With(first.Claim()))(t).Progress(t.Context(), "Mine."))(t)
	if same := enginetest.Must(first.With(first.Claim()))(t); same != first {
		t.Error("the connection that claimed is not its own")
	}
	// With a process there is nothing to name, and nobody else's claim helps.
	local := p.Executor("codex")
	enginetest.Refused(t, enginetest.Second(local.With(first.Claim())), refusal.NotClaimed)
	if same := enginetest.Must(local.With(local.Claim()))(t); same != local {
		t.Error("a connection with a process is not its own")
	}
	enginetest.Refused(t, enginetest.Second(remotely(t, e, state.Supervisor, "tk-s", "").With(first.Claim())), refusal.NotClaimed)
}
