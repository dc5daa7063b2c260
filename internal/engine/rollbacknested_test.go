package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/state"
)

// papers are the documents of pauses, as they lie there.
func (p *machine) papers() map[state.Doc]string {
	got := map[state.Doc]string{}
	for _, doc := range []state.Doc{state.ConsultRequestDoc, state.ConsultResponseDoc, state.QuestionDoc, state.AnswerDoc} {
		if name := ".ferrus/" + string(doc); p.exists(name) {
			got[doc] = p.read(name)
		}
	}
	return got
}

// nested has a consultation with a question of the supervisor's on top of it, and another after that, each answered. It
// returns the entries by what was open then, and what the documents were.
func (p *machine) nested(sup, ex, h *Session) (at map[string]uint64, papers map[string]map[state.Doc]string) {
	p.t.Helper()
	ctx := p.t.Context()
	at, papers = map[string]uint64{}, map[string]map[state.Doc]string{}
	note := func(name string) {
		at[name], papers[name] = view(p.t, h).Task.Seq, p.papers()
	}
	for _, round := range []string{"first", "second"} {
		must(ex.Consult(ctx, Consulting{Problem: round, Tried: "Both.", Question: "Which?", Options: []string{"left", "right"}}))(p.t)
		note(round + ": consultation")
		must(sup.AwaitReview(ctx, patience))(p.t)
		must(sup.AskHuman(ctx, round+" question?", nil))(p.t)
		note(round + ": both")
		must(h.Answer(ctx, "", round+" answer."))(p.t)
		note(round + ": question answered")
		must2(sup.AwaitAnswer(ctx, patience))(p.t)
		must(sup.Respond(ctx, round+" response.", ""))(p.t)
		note(round + ": consultation answered")
		must2(ex.AwaitResponse(ctx, patience))(p.t)
		note(round + ": none")
	}
	return at, papers
}

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
	p := plain(t, gate("true"))
	sup, ex := p.begun()
	h := p.human()
	at, papers := p.nested(sup, ex, h)
	cases := []string{"first: both", "second: both", "first: consultation", "second: question answered", "first: question answered",
		"second: consultation", "first: consultation answered", "first: none", "second: consultation answered", "first: both"}
	bad := 0
	for _, name := range cases {
		got := rolled(t, h, at[name]).Task
		is := open{State: got.State, ID: got.Top().ID, Consults: got.Consultation.ID, Answered: got.Consultation.Answered}
		for _, pause := range got.Paused {
			is.Paused = append(is.Paused, pause.State)
		}
		if diff := cmp.Diff(want[name], is) + cmp.Diff(papers[name], p.papers()); diff != "" {
			bad++
			t.Errorf("%s: %s", name, diff)
		}
	}
	t.Logf("rig: cases=%d bad=%d; entries between which a question lay on a consultation, or did not", len(cases), bad)
}

// TestWhatIsOpenAgainIsAnsweredAgain: from the top of the pauses to the bottom, and who asked is told the new answer alone.
func TestWhatIsOpenAgainIsAnsweredAgain(t *testing.T) {
	t.Parallel()
	p := plain(t, gate("true"))
	sup, ex := p.begun()
	h := p.human()
	at, _ := p.nested(sup, ex, h)
	rolled(t, h, at["first: both"])
	refused(t, second(sup.Respond(t.Context(), "Too soon.", "")), refusal.WrongState)
	must(h.Answer(t.Context(), "q1", "Another answer."))(t)
	wantState(t, ex, state.Consultation)
	if got, _ := must2(sup.AwaitAnswer(t.Context(), patience))(t); got == nil || got.Answer != "Another answer." {
		t.Errorf("the supervisor is told %+v", got)
	}
	must(sup.AwaitReview(t.Context(), patience))(t)
	must(sup.Respond(t.Context(), "Another response.", ""))(t)
	claim(t, ex)
	if done, ok := must2(ex.AwaitResponse(t.Context(), patience))(t); !ok || done.Task.State != state.Executing || len(done.Task.Paused) != 0 {
		t.Errorf("%v, and then %+v", ok, done.Task)
	}
	for doc, text := range map[state.Doc]string{state.AnswerDoc: "Another answer.", state.ConsultResponseDoc: "Another response."} {
		if got := p.papers()[doc]; got != text {
			t.Errorf("%s is %q", doc, got)
		}
	}
}
