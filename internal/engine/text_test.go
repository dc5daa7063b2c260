package engine

import (
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// TestANumberPicksItsOption: a person may answer by number, whatever lines the question itself has; a number that no option
// has is no answer. What says more than a number is one, and so is a number where nothing is offered.
func TestANumberPicksItsOption(t *testing.T) {
	t.Parallel()
	const question = "Two ways are open:\n\n1. the short one\n2. the long one\n\nWhich?\n\n1. yes, short\n2. no, long\n"
	consultation, err := Consulting{Problem: "p\n\n1. none of them", Tried: "t", Question: "Which?\n\n1. nor this",
		Options: []string{"yes, short", "no, long"}}.render()
	if err != nil {
		t.Fatal(err)
	}
	unasked, err := Consulting{Problem: "p", Tried: "t", Question: "Which?\n\n1. nor this"}.render()
	if err != nil {
		t.Fatal(err)
	}
	const refused = "a refusal"
	for answer, want := range map[string]string{
		"1": "1. yes, short", " 2\n": "2. no, long", "2.": "2. no, long", "1)": "1. yes, short", "+1": "1. yes, short", "02": "2. no, long",
		"3": refused, "0": refused, "-1": refused, "9.": refused, "99999999999999999999": refused,
		"1. yes": "1. yes", "the second": "the second", "#3": "#3", "option 3": "option 3", "2.5": "2.5", "3 times": "3 times",
	} {
		for _, offered := range []string{question, handover.ConsultationOptions(consultation)} {
			got, err := handover.ChooseOption("q1", offered, answer)
			if err != nil && refusal.CodeOf(err) == refusal.InvalidInput {
				got = refused
			}
			if got != want {
				t.Errorf("%q to %q is %q, not %q", answer, offered, got, want)
			}
		}
		for _, open := range []string{"How many?", "First:\n1. do\n2. check\n\nHow many?", "\n\n1. one\n3. three", handover.ConsultationOptions(unasked)} {
			if got, err := handover.ChooseOption("q1", open, answer); got != answer || err != nil {
				t.Errorf("%q to %q is %q, %v", answer, open, got, err)
			}
		}
	}
}
