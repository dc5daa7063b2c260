package state

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A long night fills no line of the journal: the newest records stay, in their order, and the list they came from is
// left alone.
func TestRemember(t *testing.T) {
	var list []Record
	for i := range MaxRecords + 8 {
		before := slices.Clone(list)
		next := Remember(list, Record{ID: fmt.Sprint("q", i+1), Off: int64(i)})
		if diff := cmp.Diff(before, list); diff != "" {
			t.Fatal(diff)
		}
		list = next
	}
	if len(list) != MaxRecords || list[0].ID != "q9" || list[MaxRecords-1].ID != "q40" {
		t.Errorf("%d records are left, from %s to %s", len(list), list[0].ID, list[len(list)-1].ID)
	}
	shared := slices.Grow([]Record{{ID: "q1"}}, 4)
	a, b := Remember(shared, Record{ID: "a"}), Remember(shared, Record{ID: "b"})
	if a[1].ID != "a" || b[1].ID != "b" {
		t.Errorf("two memories of one past are %v and %v", a, b)
	}
}

// Docs and Roles are lists that others range over: nothing may be missing or stand in them twice.
func TestListsHaveNoDoubles(t *testing.T) {
	unique(t, States())
	unique(t, Events())
	unique(t, Roles())
	unique(t, Docs())
	unique(t, VolatileKeys())
	for _, d := range Docs() {
		if !strings.HasSuffix(string(d), ".md") {
			t.Errorf("%s is no document", d)
		}
	}
}

func unique[E comparable](t *testing.T, list []E) {
	t.Helper()
	seen := map[E]bool{}
	for _, e := range list {
		if seen[e] {
			t.Errorf("%v stands in the list twice", e)
		}
		seen[e] = true
	}
}
