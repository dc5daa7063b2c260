//go:build unix

package tools

import (
	"testing"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// TestACallThatRepeatsItselfGetsItsResultAgain: a client that gives up waiting makes its model repeat itself. The same
// call changes nothing and says so; another session's, or one after somebody else has acted, is judged as it is.
func TestACallThatRepeatsItselfGetsItsResultAgain(t *testing.T) {
	for _, tt := range []struct {
		tool   string
		play   func(*cast) // what leads there
		caller func(*cast) *agent
		field  func(Result) string // tells what the call was about, the second time too
		other  func(*cast)         // somebody else acts
		code   refusal.Code        // then
	}{
		{"create_task", func(*cast) {}, sup, func(r Result) string { return r.TaskID }, func(c *cast) { c.other.do("wait_for_task", nil) }, refusal.WrongState},
		{"progress", working, holder, nil, func(c *cast) {
			done, err := c.person.Release(c.t.Context(), "")
			must(c.t, done, err)
		}, refusal.LeaseLost},
		{"consult", working, holder, func(r Result) string { return r.ConsultationID }, func(c *cast) {
			c.supervisor.do("respond_consult", map[string]any{"response": "r", "consultation": "c1"})
		}, refusal.WrongState},
		{"ask_human", working, holder, func(r Result) string { return r.QuestionID }, func(c *cast) {
			done, err := c.person.Answer(c.t.Context(), "q1", "1")
			must(c.t, done, err)
		}, ""},
		{"ask_human", shown, sup, func(r Result) string { return r.QuestionID }, func(c *cast) {
			done, err := c.person.Answer(c.t.Context(), "", "1")
			must(c.t, done, err)
		}, ""},
		{"submit", checked, holder, func(r Result) string { return r.Status + r.SubmissionID }, func(c *cast) {
			c.supervisor.do("reject", map[string]any{"notes": "n", "submission": "s1"})
		}, refusal.NotClaimed},
		{"respond_consult", asked, sup, func(r Result) string { return r.ConsultationID }, func(c *cast) { c.holder.do("wait_for_consult", nil) }, refusal.WrongState},
		{"wait_for_consult", answered, holder, func(r Result) string { return r.Status + r.Response }, func(c *cast) {
			done, err := c.person.Release(c.t.Context(), "")
			must(c.t, done, err)
		}, refusal.LeaseLost},
		{"reject", shown, sup, func(r Result) string { return r.SubmissionID }, func(c *cast) { c.other.do("wait_for_task", nil) }, refusal.WrongState},
		{"approve", shown, sup, func(r Result) string { return r.SubmissionID }, func(c *cast) {
			done, err := c.person.Reopen(c.t.Context(), "again")
			must(c.t, done, err)
		}, refusal.WrongState},
	} {
		t.Run(tt.tool, func(t *testing.T) {
			t.Parallel()
			c := newCast(t, newWorld)
			tt.play(c)
			a := tt.caller(c)
			first := a.do(tt.tool, nil)
			if first.Repeated {
				t.Error("the first call is called repeated")
			}
			before := c.disk()
			for range 2 {
				again := a.do(tt.tool, nil)
				if !again.Repeated || again.State != first.State || again.Next != first.Next || again.Message != first.Message {
					t.Errorf("again: %+v\nfirst: %+v", again, first)
				}
				if tt.field != nil && (tt.field(again) != tt.field(first) || tt.field(first) == "") {
					t.Errorf("again it is about %q, first about %q", tt.field(again), tt.field(first))
				}
			}
			if c.disk() != before {
				t.Error("a repetition changed the store")
			}
			twin := c.enter(a.role, 1)
			if r := twin.call(tt.tool, nil); r.Repeated || r.Code == "" {
				t.Errorf("another session of the same name: %+v", r)
			}
			tt.other(c)
			if r := a.call(tt.tool, nil); r.Repeated || r.Code != tt.code {
				t.Errorf("after somebody else acted: %q, repeated %v: %s", r.Code, r.Repeated, r.Message)
			}
		})
	}
}

func sup(c *cast) *agent    { return c.supervisor }
func holder(c *cast) *agent { return c.holder }

// TestAnotherArgumentIsAnotherCall, also in a field that is left out.
func TestAnotherArgumentIsAnotherCall(t *testing.T) {
	t.Parallel()
	c := newCast(t, newWorld)
	working(c)
	c.holder.do("consult", nil)
	c.holder.refused(refusal.WrongState, "consult", map[string]any{"problem": "There is one.", "tried": "Much.", "question": "What now?", "options": []string{"a"}})
	c.supervisor.do("wait_for_review", nil)
	c.supervisor.do("respond_consult", nil)
	c.supervisor.refused(refusal.WrongState, "respond_consult", map[string]any{"response": "Do that!"})
}

// TestADecisionBindsToWhatWasShown: what a reviewer has not seen it does not decide, unless it names it.
func TestADecisionBindsToWhatWasShown(t *testing.T) {
	t.Parallel()
	c := newCast(t, repository)
	submitted(c)
	for tool, args := range map[string]map[string]any{"approve": {}, "reject": {"notes": "n"}} {
		if r := c.supervisor.refused(refusal.StaleReview, tool, args); r.Next != "review_pending" {
			t.Errorf("next is %s", r.Next)
		}
	}
	if r := c.supervisor.do("wait_for_review", nil); r.Status != "submission" || r.SubmissionID != "s1" || r.Next != "choose" {
		t.Errorf("shown %+v", r)
	}
	c.supervisor.do("reject", nil)
	c.write("code.txt", "better\n")
	c.holder.do("wait_for_task", nil)
	c.holder.do("submit", nil)
	// Another submission, and another session, have been shown nothing.
	c.supervisor.refused(refusal.StaleReview, "approve", nil)
	c.supervisor.refused(refusal.StaleReview, "approve", map[string]any{"submission": "s1"})
	next := c.enter(state.Supervisor, 1)
	next.refused(refusal.StaleReview, "reject", nil)
	r := next.do("review_pending", nil)
	if r.SubmissionID != "s2" || r.Review != "Not so." || r.Diffstat == "" || r.Patch == "" || *r.ReviewCyclesUsed != 1 || r.Check != "k2 passed" {
		t.Errorf("shown %+v", r)
	}
	c.write("code.txt", "sneaked in\n")
	if r := next.refused(refusal.TreeChanged, "approve", nil); r.Next != "reject" || r.State != state.Reviewing {
		t.Errorf("next is %s", r.Next)
	}
	c.write("code.txt", "better\n")
	c.supervisor.do("approve", map[string]any{"submission": "s2"}) // named, and so it need not be shown
}

// TestAnAnswerBindsToTheConsultationThatWasShown likewise.
func TestAnAnswerBindsToTheConsultationThatWasShown(t *testing.T) {
	t.Parallel()
	c := newCast(t, newWorld)
	working(c)
	c.holder.do("consult", nil)
	if r := c.supervisor.refused(refusal.StaleReview, "respond_consult", nil); r.Next != "wait_for_review" {
		t.Errorf("next is %s", r.Next)
	}
	if r := c.supervisor.do("wait_for_review", nil); r.Status != "consultation" || r.ConsultationID != "c1" || r.Consultation == "" || r.Next != "respond_consult" {
		t.Errorf("shown %+v", r)
	}
	c.supervisor.do("respond_consult", nil)
	c.holder.do("wait_for_consult", nil)
	c.holder.do("consult", nil)
	c.supervisor.refused(refusal.StaleReview, "respond_consult", nil)
	c.supervisor.refused(refusal.StaleReview, "respond_consult", map[string]any{"response": "r", "consultation": "c1"})
	next := c.enter(state.Supervisor, 2)
	next.refused(refusal.StaleReview, "respond_consult", nil)
	next.do("respond_consult", map[string]any{"response": "r", "consultation": "c2"})
	if r := c.holder.do("wait_for_consult", nil); r.ConsultationID != "c2" || r.Response != "r" || r.State != state.Executing {
		t.Errorf("answered %+v", r)
	}
}

// TestAnAnswerOfAPersonIsNeverUsedUp: it is a fact, and any caller with the role may ask for it, in any state.
func TestAnAnswerOfAPersonIsNeverUsedUp(t *testing.T) {
	t.Parallel()
	c := newCast(t, newWorld)
	if r := c.holder.do("wait_for_answer", nil); r.Status != "idle" {
		t.Errorf("nothing was asked: %s", r.Status)
	}
	working(c)
	c.holder.do("ask_human", nil)
	if r := c.holder.do("wait_for_answer", nil); r.Status != "timeout" || r.Next != "wait_for_answer" {
		t.Errorf("no answer yet: %s, next %s", r.Status, r.Next)
	}
	done, err := c.person.Answer(t.Context(), "q1", "2")
	must(t, done, err)
	for _, then := range []func(){
		func() { c.holder.do("submit", nil) },
		func() { c.supervisor.do("approve", map[string]any{"submission": "s1"}) },
		func() {},
	} {
		for _, a := range []*agent{c.holder, c.other} {
			r := a.do("wait_for_answer", nil)
			if r.Status != "answered" || r.QuestionID != "q1" || r.Answer != "2. that" || r.Question == "" {
				t.Errorf("answered %+v", r)
			}
		}
		if r := c.supervisor.do("wait_for_answer", nil); r.Status != "idle" {
			t.Errorf("the supervisor asked nothing: %s", r.Status)
		}
		then()
	}
}
