package safetext

import (
	"strings"
	"testing"
)

func TestAFormHoldsANameToItsCharactersAndItsLength(t *testing.T) {
	form := NewForm(`^t-[0-9a-z]*$`, 3, 5)
	for name, want := range map[string]bool{"t-a": true, "t-abc": true, "t-": false, "t-abcd": false, "x-a": false, "t-A": false, "t-a\n": false,
		"": false, "t-" + strings.Repeat("a", 1<<16): false} {
		if form.MatchString(name) != want {
			t.Errorf("MatchString(%.10q) = %v", name, !want)
		}
	}
}
