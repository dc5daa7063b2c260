package state

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestScenarios(t *testing.T) {
	two := Limits{CheckRetries: 2, ReviewCycles: 2}
	for _, c := range []struct {
		name   string
		from   State
		lim    Limits
		script string
	}{
		// S1-03, S1-09, S1-11: the way of a task that meets no trouble.
		{"the straight road", Idle, three, `
			supervisor create_task Executing check_retries=0 review_cycles=0 holder=
			executor claim Executing epoch=1 holder=executor:codex:1
			holder check_started Executing check=running
			engine check_passed Checking check=passed
			holder submit Reviewing holder=
			supervisor approve Complete`},

		// S1-04: checking again from Addressing works, red and green.
		{"red, red, green", Executing, three, `
			engine check_failed Addressing check_retries=1
			holder check_started Addressing check=running
			engine check_failed Addressing check_retries=2
			engine check_passed Checking check_retries=0`},

		// S1-05: with a limit of three the first two failures lead to Addressing and the third to Failed.
		{"the third failure is the last", Executing, three, `
			engine check_failed Addressing check_retries=1 failure=false
			engine check_failed Addressing check_retries=2 failure=false
			engine check_failed Failed check_retries=3 failure=true holder=
			engine check_failed refused`},

		// S1-05: the smallest budget allows no failure at all.
		{"a budget of one", Executing, Limits{1, 1}, `
			engine check_failed Failed check_retries=1`},

		// S1-13: with a limit of two the first rejection leads to Addressing and the second to Failed.
		{"the second rejection is the last", Reviewing, two, `
			supervisor reject Addressing review_cycles=1 failure=false
			executor claim Addressing
			engine check_passed Checking
			holder submit Reviewing
			supervisor reject Failed review_cycles=2 failure=true`},

		// S1-13: the same with a limit of three; a person's rejection counts as a supervisor's.
		{"the third rejection is the last", Reviewing, three, `
			supervisor reject Addressing review_cycles=1
			executor claim Addressing
			engine check_passed Checking
			holder submit Reviewing
			human reject Addressing review_cycles=2
			executor claim Addressing
			engine check_passed Checking
			holder submit Reviewing
			supervisor reject Failed review_cycles=3`},

		// S1-17: only failures in a row count.
		{"a green check forgives", Executing, three, `
			engine check_failed Addressing check_retries=1
			engine check_failed Addressing check_retries=2
			engine check_passed Checking check_retries=0
			engine check_failed Addressing check_retries=1`},

		// S1-12, S1-18: whatever was spent on the way to the review, a rejection starts anew.
		{"a rejection zeroes check_retries", Executing, three, `
			engine check_failed Addressing check_retries=1
			engine check_failed Addressing check_retries=2
			engine check_passed Checking
			holder submit Reviewing
			supervisor reject Addressing check_retries=0 review_cycles=1
			executor claim Addressing
			engine check_failed Addressing check_retries=1 review_cycles=1
			engine check_failed Addressing check_retries=2
			engine check_failed Failed check_retries=3`},

		// S1-18: nothing but a new task, a reset or a person gives review cycles back.
		{"review cycles outlast the checks", Reviewing, three, `
			supervisor reject Addressing review_cycles=1
			executor claim Addressing review_cycles=1
			engine check_passed Checking review_cycles=1
			holder consult Consultation review_cycles=1
			supervisor respond_consult Consultation review_cycles=1
			holder take_response Checking review_cycles=1
			holder ask_human AwaitingHuman review_cycles=1
			human answer Checking review_cycles=1
			holder submit Reviewing review_cycles=1`},

		// S1-20: questions neither spend nor refund.
		{"to ask costs nothing", Executing, three, `
			engine check_failed Addressing check_retries=1
			holder consult Consultation check_retries=1
			supervisor ask_human AwaitingHuman check_retries=1
			human answer Consultation check_retries=1
			supervisor respond_consult Consultation check_retries=1
			holder take_response Addressing check_retries=1
			holder ask_human AwaitingHuman check_retries=1
			human answer Addressing check_retries=1`},

		// S1-21: a gate that could not run has judged nothing, so it spends nothing and keeps what was won.
		{"no verdict, no cost", Checking, three, `
			holder check_started Checking check=running
			engine check_void Checking check_retries=0
			engine check_failed Addressing check_retries=1
			engine check_void Addressing check_retries=1`},

		// S1-02: a complete task needs no reset before the next one, and leaves it nothing but the epoch.
		{"one task after another", Reviewing, three, `
			supervisor reject Addressing
			executor claim Addressing epoch=2
			engine check_passed Checking
			holder submit Reviewing
			supervisor approve Complete review_cycles=1
			supervisor create_task Executing review_cycles=0 check_retries=0 epoch=2 check= holder=`},

		// S1-02: a task under way is not overwritten.
		{"one task at a time", Executing, three, `
			supervisor create_task refused
			human create_task refused`},

		// S1-14: in Failed no agent can do anything; a person resets or reopens.
		{"failed is the person's", Failed, three, `
			supervisor create_task refused
			executor claim refused
			holder check_started refused
			human reopen Addressing check_retries=0 review_cycles=0 failure=false
			executor claim Addressing
			engine check_failed Addressing check_retries=1`},

		// A reopened task has both budgets whole, also where the reviews had spent one.
		{"reopened after the last rejection", Reviewing, Limits{3, 1}, `
			supervisor reject Failed review_cycles=1
			human reopen Addressing review_cycles=0 failure=false`},

		// Work that was approved too early goes on under the same task.
		{"reopened after the approval", Complete, three, `
			human reopen Addressing holder=
			executor claim Addressing`},

		// S1-24: a claim ends the epoch of the one before, and with it the check that still ran.
		{"a claim abandons a running check", Executing, three, `
			holder check_started Executing check=running epoch=1
			executor claim Executing check=abandoned epoch=2`},

		// A verdict that has been reached is no property of the holder.
		{"a claim keeps a finished check", Checking, three, `
			executor claim Checking check=passed`},

		// S1-24: the epoch goes up with each holder and never down, not by a reset and not by a new task.
		{"the epoch never falls", Executing, three, `
			executor claim Executing epoch=2
			human release Executing epoch=3 holder=
			human release refused
			human rollback Executing epoch=4
			human reset Idle epoch=5
			supervisor create_task Executing epoch=5
			executor claim Executing epoch=6`},

		// A release ends the running check like a claim does.
		{"a release abandons a running check", Executing, three, `
			holder check_started Executing
			human release Executing check=abandoned holder=`},

		// A successor takes over a consultation with its question and its answer.
		{"a successor takes the answer", Consultation, three, `
			executor claim Consultation paused=1
			supervisor respond_consult Consultation
			executor claim Consultation
			holder take_response Executing paused=0`},

		// The response is taken once it is there, and not before.
		{"no response before it is given", Consultation, three, `
			holder take_response refused
			human respond_consult Consultation
			supervisor respond_consult refused
			human respond_consult refused
			supervisor ask_human refused
			holder take_response Executing`},

		// The next consultation is unanswered, however the last one ended.
		{"each consultation has its own answer", Consultation, three, `
			supervisor respond_consult Consultation
			holder take_response Executing
			holder consult Consultation
			holder take_response refused
			supervisor respond_consult Consultation`},

		// The engine asks by itself where a gate cannot run.
		{"the engine asks", Addressing, three, `
			engine ask_human AwaitingHuman paused=1
			human answer Addressing paused=0`},
	} {
		t.Run(c.name, func(t *testing.T) { play(t, in(t, c.from), c.lim, c.script) })
	}
}

// S1-06: three states to consult in, three different restores.
func TestAConsultationReturnsToWhereItWasAsked(t *testing.T) {
	for _, work := range []State{Executing, Checking, Addressing} {
		play(t, in(t, work), three, fmt.Sprintf(`
			holder consult Consultation paused=1
			supervisor respond_consult Consultation paused=1
			holder take_response %s paused=0`, work))
	}
}

// S1-07: a person's answer restores each state in which somebody can ask.
func TestAnAnswerReturnsToWhereItWasAsked(t *testing.T) {
	for s, asker := range map[State]Role{
		Executing: Holder, Checking: Holder, Addressing: Holder, Consultation: Supervisor, Reviewing: Supervisor,
	} {
		before := in(t, s)
		after := play(t, before, three, fmt.Sprintf(`
			%s ask_human AwaitingHuman paused=%d
			human answer %s paused=%d`, asker, len(before.Paused)+1, s, len(before.Paused)))
		if after.PausedFrom() != before.PausedFrom() {
			t.Errorf("%s: after the answer the task returns to %q, before it to %q", s, after.PausedFrom(), before.PausedFrom())
		}
		play(t, after, three, "human answer refused")
	}
}

// S1-08: a question inside a consultation returns into the consultation, and that one to the work. With one slot for
// the paused state, the second pause would forget where the first one came from.
func TestAPauseInsideAPause(t *testing.T) {
	for _, work := range []State{Executing, Checking, Addressing} {
		play(t, in(t, work), three, fmt.Sprintf(`
			holder consult Consultation paused=1
			supervisor ask_human AwaitingHuman paused=2
			human answer Consultation paused=1
			supervisor ask_human AwaitingHuman paused=2
			human answer Consultation paused=1
			supervisor respond_consult Consultation paused=1
			holder take_response %s paused=0`, work))
	}
}

// S1-12, S1-18: submitted work has no red check behind it that still counts, but a task that was rolled back into its
// review may have.
func TestARejectionZeroesCheckRetries(t *testing.T) {
	task := in(t, Reviewing)
	task.CheckRetries = 2
	play(t, task, three, "supervisor reject Addressing check_retries=0 review_cycles=1")
}

// A pause remembers what kind it is and where it came from, innermost last.
func TestWhatAPauseRemembers(t *testing.T) {
	task := play(t, in(t, Checking), three, `
		holder consult Consultation
		supervisor ask_human AwaitingHuman`)
	want := []Pause{
		{Kind: Consult, State: Checking, By: "holder"},
		{Kind: AskHuman, State: Consultation, By: "supervisor"},
	}
	if diff := cmp.Diff(want, task.Paused); diff != "" {
		t.Error(diff)
	}
	if task.Top() != want[1] || task.PausedFrom() != Consultation {
		t.Errorf("the innermost pause is %+v from %s", task.Top(), task.PausedFrom())
	}
	if fresh := New(); fresh.Top() != (Pause{}) || fresh.PausedFrom() != "" {
		t.Errorf("a task that is not paused has the pause %+v from %q", fresh.Top(), fresh.PausedFrom())
	}
}

// A lost pause is an error. To guess Idle would lose the task.
func TestAPauseWithNothingToReturnToIsAnError(t *testing.T) {
	for s, a := range map[State]act{AwaitingHuman: {Human, Answer}, Consultation: {Holder, TakeResponse}} {
		task := in(t, s)
		task.Paused, task.Consultation.Answered = nil, true
		next, err := Step(task, a.ev, a.by, three)
		if err == nil || errors.As(err, new(*RefusedError)) {
			t.Errorf("%s in %s: got %s, %v; want an error that is no refusal", a, s, next.State, err)
		}
		if diff := cmp.Diff(task, next); diff != "" {
			t.Errorf("%s changed the task: %s", a, diff)
		}
	}
}

// S1-14, S1-15: a person can always begin anew; nothing of the task is left in the state, and its holder is fenced off.
func TestResetFromEachState(t *testing.T) {
	for _, s := range States() {
		before := in(t, s)
		if s == Idle {
			play(t, before, three, "human reset refused")
			continue
		}
		before.Seq, before.Branch = 41, "main"
		after := play(t, before, three, "human reset Idle")
		want := New()
		want.Seq, want.Branch, want.Epoch = 41, "main", before.Epoch+1
		if diff := cmp.Diff(want, after); diff != "" {
			t.Errorf("reset from %s: %s", s, diff)
		}
	}
}

// Where nobody works, nobody holds the work: the next phase belongs to the agent that claims it.
func TestTheLeaseIsDroppedWhereNobodyWorks(t *testing.T) {
	held := func(s State) bool { t := in(t, s); return t.ClaimedBy != "" && t.Session != "" }
	for _, s := range []State{Executing, Checking, Addressing, Consultation, AwaitingHuman} {
		if !held(s) {
			t.Errorf("%s has lost its holder", s)
		}
	}
	for _, s := range []State{Idle, Reviewing, Complete, Failed} {
		if task := in(t, s); task.ClaimedBy != "" || task.Session != "" {
			t.Errorf("in %s the work is still held by %q, session %q", s, task.ClaimedBy, task.Session)
		}
	}
}

// An answered consultation is over for the supervisor: to answer again would change words that were perhaps read.
func TestAnAnsweredConsultationIsOver(t *testing.T) {
	task := in(t, Consultation)
	for _, ev := range []Event{RespondConsult, AskHuman} {
		if !slices.Contains(Allowed(task, Supervisor), ev) {
			t.Errorf("an open consultation offers no %s", ev)
		}
	}
	task = play(t, task, three, "supervisor respond_consult Consultation")
	if can := Allowed(task, Supervisor); !slices.Equal(can, []Event{Tell}) {
		t.Errorf("an answered consultation still offers the supervisor %v", can)
	}
	if can := Allowed(task, Human); slices.Contains(can, RespondConsult) {
		t.Errorf("an answered consultation still offers a person %v", can)
	}
}

// The reason stands where the next reader looks, with both numbers and the key that sets the limit.
func TestTheReasonOfAFailure(t *testing.T) {
	checks := in(t, Failed)
	if want := "checks failed 3 times in a row; limits.max_check_retries is 3"; checks.FailureReason != want {
		t.Errorf("got %q, want %q", checks.FailureReason, want)
	}
	reviews := play(t, in(t, Reviewing), Limits{3, 1}, "supervisor reject Failed")
	if want := "the review rejected the work; limits.max_review_cycles is 1"; reviews.FailureReason != want {
		t.Errorf("got %q, want %q", reviews.FailureReason, want)
	}
	once := play(t, in(t, Checking), Limits{1, 3}, "engine check_failed Failed")
	if want := "checks failed; limits.max_check_retries is 1"; once.FailureReason != want {
		t.Errorf("got %q, want %q", once.FailureReason, want)
	}
}

// A live holder's lease stands still exactly where the task waits for somebody's answer.
func TestWhereALeaseStandsStill(t *testing.T) {
	for _, s := range States() {
		if want := s == Consultation || s == AwaitingHuman; s.Frozen() != want {
			t.Errorf("%s: frozen is %v", s, s.Frozen())
		}
	}
	if State("Pondering").Known() || State("").Known() {
		t.Error("a state that is not in the table is known")
	}
}
