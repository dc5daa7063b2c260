package proc

import (
	"slices"
	"testing"
)

func TestTheLastOfEqualNamesIsFound(t *testing.T) {
	env := []string{"A=1", "AB=2", "A=3=4", "C", "D="}
	for name, want := range map[string]string{"A": "3=4", "AB": "2", "B": "", "C": "", "D": ""} {
		if got := Lookup(env, name); got != want {
			t.Errorf("%s is %q, not %q", name, got, want)
		}
	}
}

func TestNothingIsLeftOfWhatMatches(t *testing.T) {
	got := Without([]string{"A=1", "PGHOST=h", "PG=", "APG=2", "PGPASSFILE=/p=q", "=C:=c"}, []string{"B", Database})
	if want := []string{"A=1", "APG=2", "=C:=c"}; !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
	if Without(nil, nil) == nil {
		t.Error("nil")
	}
}

func TestPatternsOfNames(t *testing.T) {
	patterns := []string{"[", "HOME", "XDG_*", "*_TOKEN"}
	for name, want := range map[string]bool{"HOME": true, "HOMEPATH": false, "XDG_": true, "XDG_CACHE_HOME": true, "A_TOKEN": true, "A_TOKENS": false, "[": false} {
		if Matches(patterns, name) != want {
			t.Errorf("%s: not %v", name, want)
		}
	}
}
