package store

import (
	"slices"
	"testing"

	"github.com/ferrus-go/ferrus/internal/state"
)

// TestAbandoned goes by what counts in the end.
func TestAbandoned(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		backs []uint64 // of the entries 1, 2 and so on
		left  []uint64
	}{
		{[]uint64{0, 0, 0}, nil},
		{[]uint64{0, 0, 0, 1}, []uint64{2, 3}},
		{[]uint64{0, 0, 0, 1, 3}, []uint64{4}},
		{[]uint64{0, 0, 0, 2, 0, 1}, []uint64{2, 3, 4, 5}},
		{[]uint64{0, 0, 0, 2, 0, 4}, []uint64{3, 5}},
		{[]uint64{0, 1, 2, 3}, nil},
	} {
		var lines []*Line
		for i, back := range c.backs {
			l := &Line{Seq: uint64(i + 1), Back: back}
			if back > 0 {
				l.Event = state.Rollback
			}
			lines = append(lines, l)
		}
		var left []uint64
		for i, is := range Abandoned(lines) {
			if is {
				left = append(left, lines[i].Seq)
			}
		}
		if !slices.Equal(left, c.left) {
			t.Errorf("%v leaves %v behind, not %v", c.backs, left, c.left)
		}
	}
}
