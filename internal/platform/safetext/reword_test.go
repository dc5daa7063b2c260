package safetext

import "testing"

func TestTheFirstExpressionThatATextHasRewordsIt(t *testing.T) {
	pairs := [][2]string{{`^bad (\w+): .*$`, "$1 is wrong"}, {`^bad`, "never"}, {`cat`, "dog"}}
	for text, want := range map[string]string{"bad flag: 7": "flag is wrong", "a cat": "a dog", "neither": "neither", "": ""} {
		if got := Reword(text, pairs); got != want {
			t.Errorf("%q is %q, not %q", text, got, want)
		}
	}
}
