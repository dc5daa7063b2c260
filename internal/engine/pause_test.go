package engine

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ferrus-go/ferrus/internal/packet"
	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/state"
)

var problem = Consulting{Problem: "Two ways.", Tried: "Both.", Question: "Which?", Options: []string{"the left one", "the right one"}}

// bases are the states in which the executor works, and how to get there.
var bases = map[state.State]func(t *testing.T, p *machine, ex *Session){
	state.Executing: func(*testing.T, *machine, *Session) {},
	state.Checking:  func(t *testing.T, p *machine, ex *Session) { check(t, ex, state.CheckGreen) },
	state.Addressing: func(t *testing.T, p *machine, ex *Session) {
		p.write("red", "")
		check(t, ex, state.CheckRed)
	},
}

// S1-06 to S1-08.
func TestEveryPauseReturnsToWhereItCameFrom(t *testing.T) {
	t.Parallel()
	for base, reach := range bases {
		t.Run(string(base), func(t *testing.T) {
			p := plain(t, gate("test ! -e red"))
			sup, ex := p.begun()
			h := p.human()
			reach(t, p, ex)
			before := wantState(t, ex, base)

			must(ex.AskHuman(t.Context(), "May I?", nil))(t)
			wantState(t, ex, state.AwaitingHuman)
			must(h.Answer(t.Context(), "q1", "Yes."))(t)
			wantState(t, ex, base)

			must(ex.Consult(t.Context(), problem))(t)
			must(sup.AwaitReview(t.Context(), patience))(t) // is shown c1
			must(sup.AskHuman(t.Context(), "Left or right?", nil))(t)
			paused := wantState(t, ex, state.AwaitingHuman)
			if len(paused.Task.Paused) != 2 || paused.Task.Paused[0].State != base || paused.Task.Paused[1].State != state.Consultation {
				t.Fatalf("the stack is %+v", paused.Task.Paused)
			}
			if by := []string{paused.Task.Paused[0].By, paused.Task.Paused[1].By}; !slices.Equal(by, []string{"executor:codex:1", "supervisor:claude:1"}) {
				t.Errorf("paused by %q", by)
			}
			must(h.Answer(t.Context(), "", "Left."))(t)
			wantState(t, ex, state.Consultation)
			got, _ := must2(sup.AwaitAnswer(t.Context(), patience))(t)
			if got == nil || got.ID != "q2" || got.Answer != "Left." || got.Question != "Left or right?" {
				t.Fatalf("the supervisor is told %+v", got)
			}
			must(sup.Respond(t.Context(), "The left one.", ""))(t)
			done, ok, err := ex.AwaitResponse(t.Context(), patience)
			if err != nil || !ok {
				t.Fatalf("no response: %v", err)
			}
			if done.Task.State != base || len(done.Task.Paused) != 0 {
				t.Errorf("back in %s with %+v", done.Task.State, done.Task.Paused)
			}
			if c := must(ex.e.Answered(done.Snapshot))(t); c.ID != "c1" || c.Response != "The left one." {
				t.Errorf("the executor is told %+v", c)
			}
			if done.Task.CheckRetries != before.Task.CheckRetries || done.Task.Check.ID != before.Task.Check.ID || done.Task.Epoch != before.Task.Epoch {
				t.Errorf("pauses changed more than the state") // S1-20
			}
			again, ok, err := ex.AwaitResponse(t.Context(), patience) // the client had not heard it
			if err != nil || !ok || !again.Repeated {
				t.Errorf("asked again: %v, repeated %v", err, again.Repeated)
			}
		})
	}
}

func TestAReviewerMayAskToo(t *testing.T) {
	t.Parallel()
	p := repository(t, gate("true"))
	sup, _ := p.reviewing()
	must(sup.AskHuman(t.Context(), "Is this wanted?", nil))(t)
	wantState(t, sup, state.AwaitingHuman)
	must(p.human().Answer(t.Context(), "", "It is."))(t)
	wantState(t, sup, state.Reviewing)
	must(sup.Approve(t.Context(), "", ""))(t)
}

// F22, F23.
func TestAnAnswerReachesItsAskerAndAnswersNoOtherQuestion(t *testing.T) {
	t.Parallel()
	p := plain(t, gate("true"))
	_, ex := p.begun()
	h := p.human()
	must(ex.AskHuman(t.Context(), "Tabs?", nil))(t)
	dies(t, ex)
	must(h.Answer(t.Context(), "", "Spaces."))(t) // while nobody waits
	next := p.executor("codex")
	got := claim(t, next)
	if d := got.Packet.Decisions; len(d) != 1 || d[0] != (packet.Decision{ID: "q1", Question: "Tabs?", Answer: "Spaces.", By: "human"}) {
		t.Fatalf("the successor is told %+v", d)
	}
	for range 2 { // as often as it likes
		if a, _ := must2(next.AwaitAnswer(t.Context(), brief))(t); a == nil || a.ID != "q1" {
			t.Fatalf("answer %+v", a)
		}
	}
	must(next.AskHuman(t.Context(), "How many?", nil))(t)
	if a, _ := must2(next.AwaitAnswer(t.Context(), brief))(t); a != nil {
		t.Fatalf("the old answer %+v answers the new question", a)
	}
	if p.exists(".ferrus/ANSWER.md") {
		t.Error("ANSWER.md of the old question is still there")
	}
	refused(t, second(h.Answer(t.Context(), "q1", "Eight.")), refusal.WrongState, "q1 is not open", "q2")
	must(h.Answer(t.Context(), "q2", "Four."))(t)
	if a, _ := must2(next.AwaitAnswer(t.Context(), brief))(t); a == nil || a.ID != "q2" || a.Answer != "Four." {
		t.Fatalf("answer %+v", a)
	}
	refused(t, second(h.Answer(t.Context(), "", "Five.")), refusal.WrongState, "no question is open")
	p2 := must(next.e.packet(t.Context(), AsOf{Snapshot: view(t, next)}))(t)
	if len(p2.Decisions) != 2 || p2.Decisions[0].ID != "q2" || p2.Decisions[1].Question != "Tabs?" {
		t.Errorf("decisions %+v", p2.Decisions)
	}
}

func TestAWaiterIsWokenByTheAnswer(t *testing.T) {
	t.Parallel()
	p := plain(t, gate("true"))
	_, ex := p.begun()
	must(ex.AskHuman(t.Context(), "May I?", []string{"yes", "no"}))(t)
	told := make(chan *packet.Decision)
	go func() {
		a, _, err := ex.AwaitAnswer(t.Context(), patience)
		if err != nil {
			t.Error(err)
		}
		told <- a
	}()
	must(p.human().Answer(t.Context(), "", "2"))(t)
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
				p := plain(t, gate("test ! -e red"))
				sup, ex := p.begun()
				reach(t, p, ex)
				must(ex.Consult(t.Context(), problem))(t)
				must(sup.AwaitReview(t.Context(), patience))(t)
				respond := func() { must(sup.Respond(t.Context(), "The left one.", ""))(t) }
				if answered == "before the death" {
					respond()
				}
				dies(t, ex)
				next := p.executor("qwen")
				if got := claim(t, next); got.Task.State != state.Consultation {
					t.Fatalf("claimed in %s", got.Task.State)
				}
				if answered != "before the death" {
					if _, ok, err := next.AwaitResponse(t.Context(), brief); ok || err != nil {
						t.Fatalf("a response before there is one: %v", err)
					}
					respond()
				}
				done, ok, err := next.AwaitResponse(t.Context(), patience)
				if err != nil || !ok || done.Task.State != base || done.Task.ClaimedBy != "executor:qwen:1" {
					t.Fatalf("%v, %v, in %s", ok, err, done.Task.State)
				}
				if c := must(next.e.Answered(done.Snapshot))(t); c.Response != "The left one." {
					t.Errorf("told %+v", c)
				}
			})
		}
	}
}

func TestOnlyTheHolderWaitsForAResponse(t *testing.T) {
	t.Parallel()
	p := plain(t, gate("true"))
	_, ex := p.begun()
	must(ex.Consult(t.Context(), problem))(t)
	_, _, err := p.executor("qwen").AwaitResponse(t.Context(), patience)
	refused(t, err, refusal.NotClaimed, "claimed by executor:codex:1")
}

// TestAResponseBindsToTheConsultationThatWasShown and to no later one.
func TestAResponseBindsToTheConsultationThatWasShown(t *testing.T) {
	t.Parallel()
	p := plain(t, gate("true"))
	sup, ex := p.begun()
	must(ex.Consult(t.Context(), problem))(t)
	refused(t, second(sup.Respond(t.Context(), "Left.", "")), refusal.StaleReview, "has not been shown consultation c1")
	must(sup.AwaitReview(t.Context(), patience))(t)
	must(p.human().Answer(t.Context(), "c1", "Right."))(t) // a person is quicker
	refused(t, second(sup.Respond(t.Context(), "Left.", "")), refusal.WrongState)
	must2(ex.AwaitResponse(t.Context(), patience))(t)
	must(ex.Consult(t.Context(), Consulting{Problem: "p", Tried: "t", Question: "And now?"}))(t)
	same := unchanged(t, sup)
	refused(t, second(sup.Respond(t.Context(), "Left.", "")), refusal.StaleReview, "wait_for_review")
	refused(t, second(sup.Respond(t.Context(), "Left.", "c1")), refusal.StaleReview, "c1 is not the present one, c2 is")
	same()
	must(sup.Respond(t.Context(), "Left.", "c2"))(t)
}

// TestARepeatedRequestIsAnsweredAgain, for a client's time-out makes its model repeat itself; and is no repetition
// once something else has happened.
func TestARepeatedRequestIsAnsweredAgain(t *testing.T) {
	t.Parallel()
	p := repository(t, gate("true"))
	sup, ex := p.supervisor(), p.executor("codex")
	h := p.human()
	twice := func(what string, call func() (Done, error)) {
		t.Helper()
		first := must(call())(t)
		second := must(call())(t)
		if first.Repeated || !second.Repeated || first.Journal != second.Journal {
			t.Errorf("%s: repeated %v, then %v", what, first.Repeated, second.Repeated)
		}
	}
	ctx := t.Context()
	twice("create_task", func() (Done, error) { return sup.CreateTask(ctx, "Build it.", "") })
	refused(t, second(sup.CreateTask(ctx, "Build another.", "")), refusal.WrongState)
	claim(t, ex)
	twice("progress", func() (Done, error) { return ex.Progress(ctx, "Half.") })
	twice("consult", func() (Done, error) { return ex.Consult(ctx, problem) })
	must(sup.AwaitReview(ctx, patience))(t)
	twice("respond", func() (Done, error) { return sup.Respond(ctx, "Left.", "") })
	twice("take", func() (Done, error) { d, _, err := ex.AwaitResponse(ctx, patience); return d, err })
	twice("ask", func() (Done, error) { return ex.AskHuman(ctx, "May I?", nil) })
	must(h.Answer(ctx, "", "Yes."))(t)
	if d := must(ex.AskHuman(ctx, "May I?", nil))(t); d.Repeated || d.Task.Top().ID != "q2" {
		t.Errorf("the same question at another time is another: %+v", d.Task.Top())
	}
	must(h.Answer(ctx, "", "Yes."))(t)
	twice("submit", func() (Done, error) { s, err := ex.Submit(ctx, work, patience); return s.Done, err })
	must2(sup.Review(ctx))(t)
	twice("reject", func() (Done, error) { return sup.Reject(ctx, "No.", "") })
	claim(t, ex)
	submitted(t, ex)
	must2(sup.Review(ctx))(t)
	twice("approve", func() (Done, error) { return sup.Approve(ctx, "", "") })
	refused(t, second(p.supervisor().Approve(ctx, "", "")), refusal.WrongState) // another session never did
	twice("reopen", func() (Done, error) { return h.Reopen(ctx, "More.") })
	twice("reset", func() (Done, error) { return h.Reset(ctx, "") })
}
