//go:build unix

package e2e

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
)

// waiting is a check that says that it runs, and ends, red, when it is let go.
const waiting = "[checks]\ncommands = [\"echo $$ >> SIDE/runs; until test -e SIDE/go; do sleep 0.02; done; test -e green\"]\n"

// groups are the process groups of the checks that have run.
func (w *world) groups() (ids []int) {
	for _, line := range strings.Fields(w.text(w.side + "/runs")) {
		if id, err := strconv.Atoi(line); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

func alive(group int) bool { return proc.Tree(group).Alive() }

// S1-33.
func TestACheckThatOutlivesItsCallIsOneRunAndOneCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t, waiting)
	c := w.start(state.Executor, "codex")
	w.claimed(c)
	for range 3 { // the client's own time limit, again and again
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		if _, err := c.Call(ctx, "check", nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("the call ends with %v", err)
		}
		cancel()
	}
	c.call("status", nil) // the server has read that the calls were given up
	checked := c.later("check", nil)
	kit.Eventually(t, "the check runs", func() bool { return len(w.groups()) == 1 })
	w.write(w.side+"/go", "")
	res := <-checked
	if res.Status != "failed" || res.CheckID != "k1" || res.RetriesUsed == nil || *res.RetriesUsed != 1 || res.State != state.Addressing {
		t.Errorf("%s %s in %s, %v retries", res.CheckID, res.Status, res.State, res.RetriesUsed)
	}
	if n := len(w.groups()); n != 1 || w.count(state.CheckFailed) != 1 {
		t.Errorf("%d runs, %d counted", n, w.count(state.CheckFailed))
	}
}

// F02.
func TestAResetDuringACheckStands(t *testing.T) {
	t.Parallel()
	w := newWorld(t, waiting)
	c := w.start(state.Executor, "codex")
	w.claimed(c)
	checked := c.later("check", nil)
	kit.Eventually(t, "the check runs", func() bool { return len(w.groups()) == 1 })
	if _, err := w.human().Reset(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	kit.Eventually(t, "the commands are gone", func() bool { return !alive(w.groups()[0]) })
	if res := <-checked; res.Code != "lease_lost" || res.State != state.Idle || !strings.Contains(res.Message, "a person reset the task at ") {
		t.Errorf("the waiting call: %s in %s: %s", res.Code, res.State, res.Message)
	}
	if lines := w.history(); lines[len(lines)-1].Event != state.Reset {
		t.Errorf("after the reset: %s", lines[len(lines)-1].Event)
	}
}

func TestNothingOfACheckOutlivesItsServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, waiting)
	c := w.start(state.Executor, "codex")
	w.claimed(c)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { _, _ = c.Call(ctx, "check", nil) }()
	kit.Eventually(t, "the check runs", func() bool { return len(w.groups()) == 1 })
	began := time.Now()
	c.Kill()
	cancel()
	kit.Eventually(t, "the commands are gone", func() bool { return !alive(w.groups()[0]) })
	t.Logf("gone %v after the kill", time.Since(began).Round(time.Millisecond))

	next := w.start(state.Executor, "codex")
	res := next.claim()
	if res.LastCheck == nil || res.LastCheck.Status != state.CheckAbandoned || res.State != state.Executing {
		t.Errorf("the successor gets %+v in %s", res.LastCheck, res.State)
	}
	w.write(w.side+"/go", "")
	w.write("green", "")
	if res := next.call("check", nil); res.Status != "passed" || res.CheckID != "k2" {
		t.Errorf("its own check: %s %s", res.CheckID, res.Status)
	}
}

func TestATakeoverEndsThePredecessorsCheck(t *testing.T) {
	t.Parallel()
	w := newWorld(t, waiting+short)
	a, b := w.start(state.Executor, "codex"), w.start(state.Executor, "qwen")
	w.claimed(a)
	checked := a.later("check", nil)
	kit.Eventually(t, "the check runs", func() bool { return len(w.groups()) == 1 })
	resume := a.stop() // the server sleeps; its check does not
	if res := b.claim(); res.LastCheck == nil || res.LastCheck.Status != state.CheckAbandoned {
		t.Errorf("the successor gets %+v", res.LastCheck)
	}
	resume()
	if res := <-checked; res.Code != "lease_lost" || !strings.Contains(res.Message, "executor:qwen:1 took this work over at ") {
		t.Errorf("the waiting call: %s: %s", res.Code, res.Message)
	}
	if alive(w.groups()[0]) {
		t.Error("the old check lives when its call has returned")
	}
	w.write(w.side+"/go", "")
	if res := b.call("check", nil); res.Status != "failed" || res.CheckID != "k2" || *res.RetriesUsed != 1 {
		t.Errorf("its own check: %s %s", res.CheckID, res.Status)
	}
	if w.count(state.CheckFailed) != 1 {
		t.Errorf("%d results counted", w.count(state.CheckFailed))
	}
}

// F21.
func TestAnExecutorThatDiesInConsultationLosesNothing(t *testing.T) {
	t.Parallel()
	w := repository(t, "[checks]\ncommands = [\"true\"]\n")
	sup, a := w.start(state.Supervisor, "claude"), w.start(state.Executor, "codex")
	w.claimed(a)
	a.call("check", nil)
	a.call("consult", consultation)
	if res := sup.call("wait_for_review", nil); res.Status != "consultation" || !strings.Contains(res.Consultation, "Which?") {
		t.Fatalf("the supervisor is shown %s %q", res.Status, res.Consultation)
	}
	sup.call("respond_consult", args{"response": "The left one."})
	a.Kill()
	b := w.start(state.Executor, "codex")
	if res := b.claim(); res.State != state.Consultation || res.Next != "wait_for_consult" {
		t.Fatalf("claimed in %s, next %s", res.State, res.Next)
	}
	if res := b.call("wait_for_consult", nil); res.Response != "The left one." || res.State != state.Checking || res.Next != "submit" {
		t.Fatalf("told %q in %s, next %s", res.Response, res.State, res.Next)
	}
	b.call("submit", submission)
	if w.count(state.CheckStarted) != 1 {
		t.Error("the green check of the predecessor was not trusted")
	}
}

// F24.
func TestAReviewerThatDiesOrIsSlowDecidesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "[checks]\ncommands = [\"true\"]\n")
	ex := w.start(state.Executor, "codex")
	w.claimed(ex)
	dead, slow := w.start(state.Supervisor, "claude"), w.start(state.Supervisor, "claude")
	ex.call("submit", submission)
	dead.call("review_pending", nil)
	slow.call("review_pending", nil)
	dead.Kill()
	quick := w.start(state.Supervisor, "claude")
	if res := quick.call("wait_for_review", nil); res.Status != "submission" || res.SubmissionID != "s1" {
		t.Fatalf("shown %s %s", res.Status, res.SubmissionID)
	}
	quick.call("reject", args{"notes": "Fix it."})
	if res := ex.claim(); res.Review != "Fix it." {
		t.Errorf("the executor gets %q", res.Review)
	}
	ex.call("submit", submission)
	if res := slow.try("approve", nil); res.Code != "stale_review" || res.Next != "review_pending" || res.State != state.Reviewing {
		t.Fatalf("the slow reviewer: %s, next %s, in %s", res.Code, res.Next, res.State)
	}
	slow.call("review_pending", nil)
	if res := slow.call("approve", nil); res.State != state.Complete {
		t.Errorf("approved in %s", res.State)
	}
}

// TestNoChecksAreSaidToProveNothing: commands = [] is a person's choice, and every result says so.
func TestNoChecksAreSaidToProveNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "[checks]\ncommands = []\n")
	ex := w.start(state.Executor, "codex")
	w.claimed(ex)
	res := ex.call("check", nil)
	if res.Status != "passed" || !strings.Contains(strings.Join(res.Notices, "\n"), "no checks are configured") {
		t.Errorf("%s, notices %q", res.Status, res.Notices)
	}
}
