package state

import (
	"errors"
	"testing"
)

// A refusal says what can be done instead, in the words of the one who was refused; an executor knows of no "holder".
func TestWhatARefusalSays(t *testing.T) {
	for _, c := range []struct {
		in        State
		act       act
		want      string
		forbidden bool
	}{
		{Consultation, act{Holder, Submit},
			"executor cannot submit while the task is in Consultation; allowed now: progress, tell", false},
		{Idle, act{Executor, Claim},
			"executor cannot claim while the task is in Idle; allowed now: nothing", false},
		// S1-11: what the role may never do is another refusal than what it may not do now.
		{Reviewing, act{Executor, Approve},
			"executor cannot approve while the task is in Reviewing; allowed now: nothing", true},
		{Reviewing, act{Supervisor, Submit},
			"supervisor cannot submit while the task is in Reviewing; allowed now: ask_human, approve, reject, tell", true},
		{Executing, act{Supervisor, Approve},
			"supervisor cannot approve while the task is in Executing; allowed now: tell", false},
	} {
		_, err := Step(in(t, c.in), c.act.ev, c.act.by, three)
		var refused *RefusedError
		if !errors.As(err, &refused) {
			t.Errorf("%s in %s: %v, want a refusal", c.act, c.in, err)
			continue
		}
		if refused.Error() != c.want {
			t.Errorf("got  %s\nwant %s", refused, c.want)
		}
		if refused.Forbidden() != c.forbidden {
			t.Errorf("%s: forbidden is %v", c.act, refused.Forbidden())
		}
	}
}

// No agent resets, reopens, answers for a person or accepts a config.
func TestWhatOnlyAPersonDoes(t *testing.T) {
	for _, ev := range []Event{Answer, Reopen, Release, AcceptConfig, RollbackBegun, Rollback, Reset} {
		for _, by := range Roles() {
			if May(by, ev) != (by == Human) {
				t.Errorf("%s may %s: %v", by, ev, May(by, ev))
			}
		}
	}
}
