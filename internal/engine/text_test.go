package engine

import "testing"

// TestANumberPicksItsOption: a person may answer by number, whatever lines the question itself has.
func TestANumberPicksItsOption(t *testing.T) {
	const question = "Two ways are open:\n1. the short one\n2. the long one\nWhich?\n\n1. yes, short\n2. no, long\n"
	for answer, want := range map[string]string{"1": "1. yes, short", " 2\n": "2. no, long", "3": "3", "0": "0", "-1": "-1",
		"1. yes": "1. yes", "the second": "the second"} {
		if got := choice(question, answer); got != want {
			t.Errorf("choice(%q) = %q, want %q", answer, got, want)
		}
	}
}
