package engine

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/state"
)

// remotely is one call over the network: each is a session of its own, in one server.
func remotely(t testing.TB, e *Engine, role state.Role, token, claim string) *Session {
	t.Helper()
	return must(e.Remote(Caller{Role: role, Agent: string(role) + ":net:1"}, token, claim))(t)
}

// claimed is a claim that a call without one was given.
func claimed(t testing.TB, e *Engine, token string) string {
	t.Helper()
	s := remotely(t, e, state.Executor, token, "")
	claim(t, s)
	return s.Claim()
}

func TestAClaimIsTheIdentityOfACallerWithoutAProcess(t *testing.T) {
	t.Parallel()
	p := plain(t, gate("true"))
	e := p.engine()
	must(p.human().CreateTask(t.Context(), "Build it.", ""))(t)
	mine := claimed(t, e, "tk-1")
	call := func(token, claim string) *Session { return remotely(t, e, state.Executor, token, claim) }

	must(call("tk-1", mine).Progress(t.Context(), "One."))(t)
	// The same token without the claim, another's claim, the claim with another token, and a claim of no epoch that was.
	for name, s := range map[string]*Session{
		"no claim": call("tk-1", ""), "another token": call("tk-2", mine), "altered": call("tk-1", mine+"A"),
	} {
		same := unchanged(t, s)
		if err := second(s.Progress(t.Context(), "Not mine.")); refusal.CodeOf(err) != refusal.NotClaimed {
			t.Errorf("%s: %v", name, err)
		}
		same()
	}
	refused(t, second(call("tk-1", "").Progress(t.Context(), "No claim.")), refusal.NotClaimed, "name the claim")
	for _, garbage := range []string{"x", "c-", "c0-a", "c1", "1-a", "c99999999999999999999-a", strings.Repeat("c", 300)} {
		if _, err := e.Remote(Caller{Role: state.Executor}, "tk-1", garbage); refusal.CodeOf(err) != refusal.NotClaimed {
			t.Errorf("claim %q: %v", garbage, err)
		}
	}
	// A gate that one call starts is the next call's.
	check(t, call("tk-1", mine), state.CheckGreen)
	if out := submitted(t, call("tk-1", mine)); out.Task.State != state.Reviewing {
		t.Errorf("submitted in %s", out.Task.State)
	}
	secret := mine[strings.Index(mine, "-")+1:]
	for _, file := range []string{"journal.jsonl", "STATE.json"} {
		if text, err := os.ReadFile(e.store.Path(file)); err != nil || strings.Contains(string(text), secret) {
			t.Errorf("%s has the secret of the claim (%v)", file, err)
		}
	}
}

func TestTheLeaseOfARemoteHolderLastsFromItsLastCall(t *testing.T) {
	t.Parallel()
	p := plain(t, gate("true")+"[lease]\nmax_silence_secs = 600\n")
	c := p.clocked()
	e := p.engine()
	must(p.human().CreateTask(t.Context(), "Build it.", ""))(t)
	mine := claimed(t, e, "tk-1")
	other := remotely(t, e, state.Executor, "tk-1", "") // two clients may share a token
	c.pass(599 * time.Second)
	unclaimed(t, other)

	// Any call that names the claim renews; one that does not, does not.
	remotely(t, e, state.Executor, "tk-1", "").Touch()
	remotely(t, e, state.Executor, "tk-1", mine).Touch()
	if got := left(other, view(t, other)); got != 600*time.Second {
		t.Errorf("after a call %v are left", got)
	}
	c.pass(599 * time.Second)
	unclaimed(t, other)
	must(remotely(t, e, state.Executor, "tk-1", mine).Heartbeat(t.Context()))(t)
	c.pass(599 * time.Second)
	unclaimed(t, other)

	// Silent for too long: another may have it, and what comes with the old claim changes nothing.
	c.pass(time.Second)
	if got := claim(t, other); got.Stale == "" {
		t.Error("nobody is said to be editing still")
	}
	late := remotely(t, e, state.Executor, "tk-1", mine)
	same := unchanged(t, late)
	late.Touch()
	refused(t, second(late.Progress(t.Context(), "Late.")), refusal.LeaseLost, "took this work over")
	same()
	must(remotely(t, e, state.Executor, "tk-1", other.Claim()).Progress(t.Context(), "Mine now."))(t)
}

func TestARemoteReviewerNamesWhatItDecides(t *testing.T) {
	t.Parallel()
	p := plain(t, gate("true"))
	e := p.engine()
	must(p.human().CreateTask(t.Context(), "Build it.", ""))(t)
	submitted(t, remotely(t, e, state.Executor, "tk-1", claimed(t, e, "tk-1")))
	call := func() *Session { return remotely(t, e, state.Supervisor, "tk-s", "") }
	must2(call().Review(t.Context()))(t)
	refused(t, second(call().Approve(t.Context(), "", "")), refusal.StaleReview, "has not been shown")
	refused(t, second(call().Reject(t.Context(), "No.", "s7")), refusal.StaleReview, "s7")
	if done := must(call().Approve(t.Context(), "", "s1"))(t); done.Task.State != state.Complete {
		t.Errorf("approved: %s", done.Task.State)
	}
}

func TestASessionMeansTheClaimThatACallNames(t *testing.T) {
	t.Parallel()
	p := plain(t, gate("true"))
	e := p.engine()
	must(p.human().CreateTask(t.Context(), "Build it.", ""))(t)
	first := remotely(t, e, state.Executor, "tk-1", "")
	claim(t, first)
	// Within one connection the claim need not be named; on another of the same token it must be.
	must(first.Progress(t.Context(), "Mine."))(t)
	next := remotely(t, e, state.Executor, "tk-1", "")
	refused(t, second(next.Progress(t.Context(), "Whose?")), refusal.NotClaimed)
	must(must(next.With(first.Claim()))(t).Progress(t.Context(), "Mine."))(t)
	if same := must(first.With(first.Claim()))(t); same != first {
		t.Error("the connection that claimed is not its own")
	}
	// With a process there is nothing to name, and nobody else's claim helps.
	local := p.executor("codex")
	refused(t, second(local.With(first.Claim())), refusal.NotClaimed)
	if same := must(local.With(local.Claim()))(t); same != local {
		t.Error("a connection with a process is not its own")
	}
	refused(t, second(remotely(t, e, state.Supervisor, "tk-s", "").With(first.Claim())), refusal.NotClaimed)
}
