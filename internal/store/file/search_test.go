package file

import (
	"testing"

	"github.com/ferrus-go/ferrus/internal/store"
)

// TestASearchReadsFewLines counts what is read of a journal a hundred times as long.
func TestASearchReadsFewLines(t *testing.T) {
	t.Parallel()
	searched := func(lines int) (bytes int) {
		s := long(t, lines)
		s.disk = &countingDisk{disk: s.disk, read: &bytes}
		for seq := uint64(1); seq <= uint64(lines); seq += uint64(lines / 10) {
			l, err := s.First(func(l *store.Line) bool { return l.Seq >= seq })
			if err != nil || l == nil || l.Seq != seq {
				t.Fatalf("line %d is %v: %v", seq, l, err)
			}
		}
		if l, err := s.First(func(*store.Line) bool { return false }); l != nil || err != nil {
			t.Errorf("found line %v: %v", l, err)
		}
		return bytes
	}
	short, long := searched(30), searched(3000)
	t.Logf("%d bytes of 30 lines, %d of 3,000", short, long)
	if short == 0 || long > 4*short {
		t.Errorf("a search reads %d bytes of 30 lines and %d of 3,000", short, long)
	}
}
