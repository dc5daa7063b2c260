package trust

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// TestALargeRecordIsReadAgain: the oldest agreements go when all of them do not fit, and what does not fit alone is not written.
func TestALargeRecordIsReadAgain(t *testing.T) {
	root, _ := place(t)
	values := func(n int) []Value {
		return []Value{{"checks.commands", fmt.Sprint(n, strings.Repeat("x", 13<<19)), "runs"}}
	}
	for n := range 3 {
		if err := open(t, root).Agree(values(n)); err != nil {
			t.Fatal(err)
		}
	}
	agreed(t, open(t, root), values(2), true)
	agreed(t, open(t, root), values(1), true)
	agreed(t, open(t, root), values(0), false)
	large := []Value{{"checks.commands", strings.Repeat("x", maxRecord), "runs"}}
	var e *refusal.RefusedError
	if err := open(t, root).Agree(large); !errors.Is(err, rootfs.ErrUnreadable) || !errors.As(err, &e) || e.Remedy == "" {
		t.Errorf("%.200v", err)
	}
	agreed(t, open(t, root), values(2), true)
}
