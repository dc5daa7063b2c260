package engine_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"

	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/kit"
)

var problem = engine.Consulting{Problem: "Two ways.", Tried: "Both.", Question: "Which?", Options: []string{"the left one", "the right one"}}

// bases are the states in which the executor works, and how to get there.
var bases = map[state.State]func(t *testing.T, p *enginetest.Machine, ex *engine.Session){
	state.Executing: func(*testing.T, *enginetest.Machine, *engine.Session) {},
	state.Checking: func(t *testing.T, p *enginetest.Machine, ex *engine.Session) {
		enginetest.Check(t, ex, state.CheckGreen)
	},
	state.Addressing: func(t *testing.T, p *enginetest.Machine, ex *engine.Session) {
		p.Write("red", "")
		enginetest.Check(t, ex, state.CheckRed)
	},
}

// S1-06 to S1-08.
func TestEveryPauseReturnsToWhereItCameFrom(t *testing.T) {
	t.Parallel()
	for base, reach := range bases {
		t.Run(string(base), func(t *testing.T) {
			p := enginetest.Plain(t, enginetest.Gate("test ! -e red"))
			sup, ex := p.Begun()
			h := p.Human()
			reach(t, p, ex)
			before := enginetest.WantState(t, ex, base)

			enginetest.Must(ex.AskHuman(t.Context(), "May I?", nil))(t)
			enginetest.WantState(t, ex, state.AwaitingHuman)
			enginetest.Must(h.Answer(t.Context(), "q1", "Yes."))(t)
			enginetest.WantState(t, ex, base)

			enginetest.Must(ex.Consult(t.Context(), problem))(t)
			enginetest.Must(sup.AwaitReview(t.Context(), kit.Patience))(t) // is shown c1
			enginetest.Must(sup.AskHuman(t.Context(), "Left or right?", nil))(t)
			paused := enginetest.WantState(t, ex, state.AwaitingHuman)
			if len(paused.Task.Paused) != 2 || paused.Task.Paused[0].State != base || paused.Task.Paused[1].State != state.Consultation {
				t.Fatalf("the stack is %+v", paused.Task.Paused)
			}
			if by := []string{paused.Task.Paused[0].By, paused.Task.Paused[1].By}; !slices.Equal(by, []string{"executor:codex:1", "supervisor:claude:1"}) {
				t.Errorf("paused by %q", by)
			}
			enginetest.Must(h.Answer(t.Context(), "", "Left."))(t)
			enginetest.WantState(t, ex, state.Consultation)
			got, _ := enginetest.Must2(sup.AwaitAnswer(t.Context(), kit.Patience))(t)
			if got == nil || got.ID != "q2" || got.Answer != "Left." || got.Question != "Left or right?" {
				t.Fatalf("the supervisor gets %+v", got)
			}
			enginetest.Must(sup.Respond(t.Context(), "The left one.", ""))(t)
			done, ok, err := ex.AwaitResponse(t.Context(), kit.Patience)
			if err != nil || !ok {
				t.Fatalf("no response: %v", err)
			}
			if done.Task.State != base || len(done.Task.Paused) != 0 {
				t.Errorf("back in %s with %+v", done.Task.State, done.Task.Paused)
			}
			if c := enginetest.Must(ex.Engine().Answered(done.Snapshot))(t); c.ID != "c1" || c.Response != "The left one." {
				t.Errorf("the executor gets %+v", c)
			}
			if done.Task.CheckRetries != before.Task.CheckRetries || done.Task.Check.ID != before.Task.Check.ID || done.Task.Epoch != before.Task.Epoch {
				t.Errorf("pauses changed more than the state") // S1-20
			}
			again, ok, err := ex.AwaitResponse(t.Context(), kit.Patience) // the client had not heard it
			if err != nil || !ok || !again.Repeated {
				t.Errorf("asked again: %v, repeated %v", err, again.Repeated)
			}
		})
	}
}

func TestAReviewerMayAskToo(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	sup, _ := p.Reviewing()
	enginetest.Must(sup.AskHuman(t.Context(), "Is this wanted?", nil))(t)
	enginetest.WantState(t, sup, state.AwaitingHuman)
	enginetest.Must(p.Human().Answer(t.Context(), "", "It is."))(t)
	enginetest.WantState(t, sup, state.Reviewing)
	enginetest.Must(sup.Approve(t.Context(), "", ""))(t)
}

// F22, F23.
func TestAnAnswerReachesItsAskerAndAnswersNoOtherQuestion(t *testing.T) {
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("true"))
	_, ex := p.Begun()
	h := p.Human()
	enginetest.Must(ex.AskHuman(t.Context(), "Tabs?", nil))(t)
	enginetest.Dies(t, ex)
	enginetest.Must(h.Answer(t.Context(), "", "Spaces."))(t) // while nobody waits
	next := p.Executor("codex")
	got := enginetest.Claim(t, next)
	if d := got.Packet.Decisions; len(d) != 1 || d[0] != (handover.Decision{ID: "q1", Question: "Tabs?", Answer: "Spaces.", By: "human"}) {
		t.Fatalf("the successor gets %+v", d)
	}
	for range 2 { // as often as it likes
		if a, _ := enginetest.Must2(next.AwaitAnswer(t.Context(), enginetest.Brief))(t); a == nil || a.ID != "q1" {
			t.Fatalf("answer %+v", a)
		}
	}
	enginetest.Must(next.AskHuman(t.Context(), "How many?", nil))(t)
	if a, _ := enginetest.Must2(next.AwaitAnswer(t.Context(), enginetest.Brief))(t); a != nil {
		t.Fatalf("the old answer %+v answers the new question", a)
	}
	if p.Exists(".ferrus/ANSWER.md") {
		t.Error("ANSWER.md of the old question is still there")
	}
	enginetest.Refused(t, enginetest.Second(h.Answer(t.Context(), "q1", "Eight.")), refusal.WrongState, "q1 is not open", "q2")
	enginetest.Must(h.Answer(t.Context(), "q2", "Four."))(t)
	if a, _ := enginetest.Must2(next.AwaitAnswer(t.Context(), enginetest.Brief))(t); a == nil || a.ID != "q2" || a.Answer != "Four." {
		t.Fatalf("answer %+v", a)
	}
	enginetest.Refused(t, enginetest.Second(h.Answer(t.Context(), "", "Five.")), refusal.WrongState, "no question is open")
	p2 := enginetest.Must(next.Engine().Packet(t.Context(), engine.AsOf{Snapshot: enginetest.View(t, next)}))(t)
	if len(p2.Decisions) != 2 || p2.Decisions[0].ID != "q2" || p2.Decisions[1].Question != "Tabs?" {
		t.Errorf("decisions %+v", p2.Decisions)
	}
}

func TestAWaiterIsWokenByTheAnswer(t *testing.T) {
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("true"))
	_, ex := p.Begun()
	enginetest.Must(ex.AskHuman(t.Context(), "May I?", []string{"yes", "no"}))(t)
	told := make(chan *handover.Decision)
	go func() {
		a, _, err := ex.AwaitAnswer(t.Context(), kit.Patience)
		if err != nil {
			t.Error(err)
		}
		told <- a
	}()
	enginetest.Must(p.Human().Answer(t.Context(), "", "2"))(t)
	if a := <-told; a == nil || a.Answer != "2. no" {
		t.Errorf("told %+v", a)
	}
}

// F21: what a supervisor answered is not lost with the executor that asked.
func TestASuccessorTakesTheResponseToItsPredecessorsConsultation(t *testing.T) {
	t.Parallel()
	for base, reach := range bases {
		for _, answered := range []string{"before the death", "after the claim"} {
			t.Run(fmt.Sprintf("%s, %s", base, answered), func(t *testing.T) {
				p := enginetest.Plain(t, enginetest.Gate("test ! -e red"))
				sup, ex := p.Begun()
				reach(t, p, ex)
				enginetest.Must(ex.Consult(t.Context(), problem))(t)
				enginetest.Must(sup.AwaitReview(t.Context(), kit.Patience))(t)
				respond := func() { enginetest.Must(sup.Respond(t.Context(), "The left one.", ""))(t) }
				if answered == "before the death" {
					respond()
				}
				enginetest.Dies(t, ex)
				next := p.Executor("qwen")
				if got := enginetest.Claim(t, next); got.Task.State != state.Consultation {
					t.Fatalf("claimed in %s", got.Task.State)
				}
				if answered != "before the death" {
					if _, ok, err := next.AwaitResponse(t.Context(), enginetest.Brief); ok || err != nil {
						t.Fatalf("a response before there is one: %v", err)
					}
					respond()
				}
				done, ok, err := next.AwaitResponse(t.Context(), kit.Patience)
				if err != nil || !ok || done.Task.State != base || done.Task.ClaimedBy != "executor:qwen:1" {
					t.Fatalf("%v, %v, in %s", ok, err, done.Task.State)
				}
				if c := enginetest.Must(next.Engine().Answered(done.Snapshot))(t); c.Response != "The left one." {
					t.Errorf("told %+v", c)
				}
			})
		}
	}
}

func TestOnlyTheHolderWaitsForAResponse(t *testing.T) {
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("true"))
	_, ex := p.Begun()
	enginetest.Must(ex.Consult(t.Context(), problem))(t)
	_, _, err := p.Executor("qwen").AwaitResponse(t.Context(), kit.Patience)
	enginetest.Refused(t, err, refusal.NotClaimed, "claimed by executor:codex:1")
}

// TestAResponseBindsToTheConsultationThatWasShown and to no later one.
func TestAResponseBindsToTheConsultationThatWasShown(t *testing.T) {
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("true"))
	sup, ex := p.Begun()
	enginetest.Must(ex.Consult(t.Context(), problem))(t)
	enginetest.Refused(t, enginetest.Second(sup.Respond(t.Context(), "Left.", "")), refusal.StaleReview, "has not been shown consultation c1")
	enginetest.Must(sup.AwaitReview(t.Context(), kit.Patience))(t)
	enginetest.Must(p.Human().Answer(t.Context(), "c1", "Right."))(t) // a person is quicker
	enginetest.Refused(t, enginetest.Second(sup.Respond(t.Context(), "Left.", "")), refusal.WrongState)
	enginetest.Must2(ex.AwaitResponse(t.Context(), kit.Patience))(t)
	enginetest.Must(ex.Consult(t.Context(), engine.Consulting{Problem: "p", Tried: "t", Question: "And now?"}))(t)
	same := enginetest.Unchanged(t, sup)
	enginetest.Refused(t, enginetest.Second(sup.Respond(t.Context(), "Left.", "")), refusal.StaleReview, "wait_for_review")
	enginetest.Refused(t, enginetest.Second(sup.Respond(t.Context(), "Left.", "c1")), refusal.StaleReview, "c1 is not the present one, c2 is")
	same()
	enginetest.Must(sup.Respond(t.Context(), "Left.", "c2"))(t)
}

// TestARepeatedRequestIsAnsweredAgain, for a client's time-out makes its model repeat itself; and is no repetition
// once something else has happened.
func TestARepeatedRequestIsAnsweredAgain(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	sup, ex := p.Supervisor(), p.Executor("codex")
	h := p.Human()
	twice := func(what string, call func() (engine.Done, error)) {
		t.Helper()
		first := enginetest.Must(call())(t)
		second := enginetest.Must(call())(t)
		if first.Repeated || !second.Repeated || first.Journal != second.Journal {
			t.Errorf("%s: repeated %v, then %v", what, first.Repeated, second.Repeated)
		}
	}
	ctx := t.Context()
	twice("create_task", func() (engine.Done, error) { return sup.CreateTask(ctx, "Build it.", "") })
	enginetest.Refused(t, enginetest.Second(sup.CreateTask(ctx, "Build another.", "")), refusal.WrongState)
	enginetest.Claim(t, ex)
	twice("progress", func() (engine.Done, error) { return ex.Progress(ctx, "Half.") })
	twice("consult", func() (engine.Done, error) { return ex.Consult(ctx, problem) })
	enginetest.Must(sup.AwaitReview(ctx, kit.Patience))(t)
	twice("respond", func() (engine.Done, error) { return sup.Respond(ctx, "Left.", "") })
	twice("take", func() (engine.Done, error) { d, _, err := ex.AwaitResponse(ctx, kit.Patience); return d, err })
	twice("ask", func() (engine.Done, error) { return ex.AskHuman(ctx, "May I?", nil) })
	enginetest.Must(h.Answer(ctx, "", "Yes."))(t)
	if d := enginetest.Must(ex.AskHuman(ctx, "May I?", nil))(t); d.Repeated || d.Task.Top().ID != "q2" {
		t.Errorf("the same question at another time is another: %+v", d.Task.Top())
	}
	enginetest.Must(h.Answer(ctx, "", "Yes."))(t)
	twice("submit", func() (engine.Done, error) {
		s, err := ex.Submit(ctx, enginetest.Work, kit.Patience)
		return s.Done, err
	})
	enginetest.Must2(sup.Review(ctx))(t)
	twice("reject", func() (engine.Done, error) { return sup.Reject(ctx, "No.", "") })
	enginetest.Claim(t, ex)
	enginetest.Submitted(t, ex)
	enginetest.Must2(sup.Review(ctx))(t)
	twice("approve", func() (engine.Done, error) { return sup.Approve(ctx, "", "") })
	enginetest.Refused(t, enginetest.Second(p.Supervisor().Approve(ctx, "", "")), refusal.WrongState) // another session never did
	twice("reopen", func() (engine.Done, error) { return h.Reopen(ctx, "More.") })
	twice("reset", func() (engine.Done, error) { return h.Reset(ctx, "") })
}
