package delegate

import (
	"testing"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// TestAWaitIsOverWhenADelegateNeedsSomething: with an id that one, which may also have ended; without one the first that waits for a decision.
func TestAWaitIsOverWhenADelegateNeedsSomething(t *testing.T) {
	child := func(id string, phase Phase, on string) Child {
		return Child{Delegate: state.Delegate{ID: id}, Phase: phase, On: on}
	}
	works, submitted, asks, ended, decided := child("d1", Working, ""), child("d2", Submitted, "s1"), child("d3", Asking, "c1"), child("d4", Submitted, "s1"), child("d5", Submitted, "s2")
	ended.Ended, decided.Decided.On = state.DelegateFailed, "s2"
	for name, c := range map[string]struct {
		list     []Child
		id, want string // "" for none
		code     refusal.Code
	}{
		"nobody":                {nil, "", "", ""},
		"all work":              {[]Child{works, ended, decided}, "", "", ""},
		"one has submitted":     {[]Child{works, ended, submitted, asks}, "", "d2", ""},
		"one asks":              {[]Child{decided, asks}, "", "d3", ""},
		"it works":              {[]Child{works, submitted}, "d1", "", ""},
		"it has submitted":      {[]Child{asks, submitted}, "d2", "d2", ""},
		"it is decided":         {[]Child{decided, submitted}, "d5", "", ""},
		"it has ended":          {[]Child{submitted, ended}, "d4", "d4", ""},
		"there is none of them": {[]Child{submitted}, "d9", "", refusal.InvalidInput},
	} {
		got, err := meant(c.list, c.id)
		if refusal.CodeOf(err) != c.code || (got == nil) != (c.want == "") || got != nil && got.ID != c.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
