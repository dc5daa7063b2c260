package engine_test

import (
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/enginetest"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/kit"
)

// TestARollbackOfAPauseTakesWhatLiesOnItAlong: what was open on top of a pause at an entry is open again with it, and nothing
// that came later is; the documents are those of the entry, not of their later answers. S2-14.
func TestARollbackOfAPauseTakesWhatLiesOnItAlong(t *testing.T) {
	t.Parallel()
	type open struct {
		State    state.State
		Paused   []state.State
		ID       string // of the question that is open
		Consults string // the consultation that is open or was last
		Answered bool
	}
	on, both := []state.State{state.Executing}, []state.State{state.Executing, state.Consultation}
	want := map[string]open{
		"first: consultation":           {state.Consultation, on, "c1", "c1", false},
		"first: both":                   {state.AwaitingHuman, both, "q1", "c1", false},
		"first: question answered":      {state.Consultation, on, "c1", "c1", false},
		"first: consultation answered":  {state.Consultation, on, "c1", "c1", true},
		"first: none":                   {state.Executing, nil, "", "c1", true},
		"second: consultation":          {state.Consultation, on, "c2", "c2", false},
		"second: both":                  {state.AwaitingHuman, both, "q2", "c2", false},
		"second: question answered":     {state.Consultation, on, "c2", "c2", false},
		"second: consultation answered": {state.Consultation, on, "c2", "c2", true},
	}
	p := enginetest.Plain(t, enginetest.Gate("true"))
	sup, ex := p.Begun()
	h := p.Human()
	at, papers := p.Nested(sup, ex, h)
	cases := []string{"first: both", "second: both", "first: consultation", "second: question answered", "first: question answered",
		"second: consultation", "first: consultation answered", "first: none", "second: consultation answered", "first: both"}
	bad := 0
	for _, name := range cases {
		got := enginetest.Rolled(t, h, at[name]).Task
		is := open{State: got.State, ID: got.Top().ID, Consults: got.Consultation.ID, Answered: got.Consultation.Answered}
		for _, pause := range got.Paused {
			is.Paused = append(is.Paused, pause.State)
		}
		if diff := cmp.Diff(want[name], is) + cmp.Diff(papers[name], p.Papers()); diff != "" {
			bad++
			t.Errorf("%s: %s", name, diff)
		}
	}
	t.Logf("rig: cases=%d bad=%d; entries between which a question lay on a consultation, or did not", len(cases), bad)
}

// TestWhatIsOpenAgainIsAnsweredAgain: from the top of the pauses to the bottom, and who asked gets the new answer alone.
func TestWhatIsOpenAgainIsAnsweredAgain(t *testing.T) {
	enginetest.InFiles(t, "it reads the documents in the folder")
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("true"))
	sup, ex := p.Begun()
	h := p.Human()
	at, _ := p.Nested(sup, ex, h)
	enginetest.Rolled(t, h, at["first: both"])
	enginetest.Refused(t, enginetest.Second(sup.Respond(t.Context(), "Too soon.", "")), refusal.WrongState)
	enginetest.Must(h.Answer(t.Context(), "q1", "Another answer."))(t)
	enginetest.WantState(t, ex, state.Consultation)
	if got, _ := enginetest.Must2(sup.AwaitAnswer(t.Context(), kit.Patience))(t); got == nil || got.Answer != "Another answer." {
		t.Errorf("the supervisor gets %+v", got)
	}
	enginetest.Must(sup.AwaitReview(t.Context(), kit.Patience))(t)
	enginetest.Must(sup.Respond(t.Context(), "Another response.", ""))(t)
	enginetest.Claim(t, ex)
	if done, ok := enginetest.Must2(ex.AwaitResponse(t.Context(), kit.Patience))(t); !ok || done.Task.State != state.Executing || len(done.Task.Paused) != 0 {
		t.Errorf("%v, and then %+v", ok, done.Task)
	}
	for doc, text := range map[state.Doc]string{state.AnswerDoc: "Another answer.", state.ConsultResponseDoc: "Another response."} {
		if got := p.Papers()[doc]; got != text {
			t.Errorf("%s is %q", doc, got)
		}
	}
}
