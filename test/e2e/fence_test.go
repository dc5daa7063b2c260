//go:build unix

package e2e

import (
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/ferrus-go/ferrus/internal/state"
)

// short is a lease that runs out within a test.
const short = "[lease]\nttl_secs = 2\nheartbeat_interval_secs = 1\n"

// stop stops the server's process, and returns what lets it go on. It has stopped when stop returns.
func (c *client) stop() (resume func()) {
	c.t.Helper()
	send := func(sig syscall.Signal) {
		c.t.Helper()
		if err := c.Process().Signal(sig); err != nil {
			c.t.Fatal(err)
		}
	}
	send(syscall.SIGSTOP)
	return func() { send(syscall.SIGCONT) }
}

// S1-24, F20: two processes of one name are two holders, and the one that slept through its lease changes nothing.
func TestAHolderThatWasStoppedIsFenced(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "[checks]\ncommands = [\"true\"]\n"+short)
	a, b := w.start(state.Executor, "codex"), w.start(state.Executor, "codex")
	first := w.claimed(a)
	if first.ClaimedBy != "executor:codex:1" {
		t.Fatalf("held by %q", first.ClaimedBy)
	}
	if res := b.try("progress", args{"note": "Mine."}); res.Code != "not_claimed" || !strings.Contains(res.Message, "claimed by executor:codex:1") {
		t.Errorf("the twin: %s %s", res.Code, res.Message)
	}
	resume := a.stop()
	second := b.claim() // waits for the lease to run out: the process of a lives
	resume()
	if second.ClaimedBy != first.ClaimedBy || second.Epoch != first.Epoch+1 || second.Claim == first.Claim {
		t.Errorf("%s holds under epoch %d after %d", second.ClaimedBy, second.Epoch, first.Epoch)
	}
	if notices := strings.Join(second.Notices, "\n"); !strings.Contains(notices, "stale_process: executor:codex:1") {
		t.Errorf("the successor is not warned: %q", notices)
	}
	before := len(w.history())
	who := regexp.MustCompile(`executor:codex:1 took this work over at \d\d:\d\d:\d\d because its lease ran out`)
	for tool, a0 := range map[string]args{"check": nil, "submit": submission, "consult": consultation, "progress": {"note": "Mine."},
		"ask_human": {"question": "May I?"}, "wait_for_consult": nil, "heartbeat": nil} {
		res := a.try(tool, a0)
		if res.Code != "lease_lost" || !who.MatchString(res.Message) || res.Next != "wait_for_task" {
			t.Errorf("%s: %s %q, next %s", tool, res.Code, res.Message, res.Next)
		}
	}
	if lines := w.history(); len(lines) != before {
		t.Errorf("the stale holder wrote %s", lines[len(lines)-1].Event)
	}
	b.call("progress", args{"note": "Going on."})
}

func TestALiveHolderKeepsTheWorkWhateverItWaitsFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "[checks]\ncommands = [\"until test -e SIDE/go; do sleep 0.05; done\"]\n"+short)
	a, b := w.start(state.Executor, "codex"), w.start(state.Executor, "qwen", "--wait", "3")
	w.claimed(a)
	checked := a.later("check", nil)
	if res := b.call("wait_for_task", nil); res.Status != "timeout" { // longer than the lease: S1-25
		t.Fatalf("the work was taken over during a check: %s", res.Status)
	}
	w.write(w.side+"/go", "")
	if res := <-checked; res.Status != "passed" || res.State != state.Checking {
		t.Errorf("the check: %s in %s, %s", res.Status, res.State, res.Message)
	}
	a.call("submit", submission)
}

func TestAnAnswerReachesItsAskerAfterAReconnect(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "[checks]\ncommands = [\"true\"]\n")
	h := w.human()
	a := w.start(state.Executor, "codex")
	w.claimed(a)
	a.call("check", nil)
	q1 := a.call("ask_human", args{"question": "Tabs?"}).QuestionID
	waits := a.later("wait_for_answer", nil)
	if _, err := h.Answer(t.Context(), q1, "Spaces."); err != nil {
		t.Fatal(err)
	}
	if res := <-waits; res.Answer != "Spaces." || res.QuestionID != q1 || res.State != state.Checking {
		t.Fatalf("told %q in %s", res.Answer, res.State)
	}
	if err := a.Close(); err != nil { // the client leaves: it had not heard it
		t.Logf("leaving: %v", err)
	}
	b := w.start(state.Executor, "codex")
	if res := b.claim(); len(res.Decisions) != 1 || res.Decisions[0].Answer != "Spaces." || res.State != state.Checking {
		t.Fatalf("the packet has %+v in %s", res.Decisions, res.State)
	}
	if res := b.call("wait_for_answer", nil); res.Answer != "Spaces." || res.QuestionID != q1 {
		t.Fatalf("told %+v", res)
	}
	q2 := b.call("ask_human", args{"question": "How many?"}).QuestionID
	again := b.later("wait_for_answer", nil)
	if _, err := h.Answer(t.Context(), q2, "Four."); err != nil {
		t.Fatal(err)
	}
	if res := <-again; res.Answer != "Four." || res.QuestionID != q2 || res.Question != "How many?" {
		t.Errorf("told %q to %q", res.Answer, res.Question)
	}
}
