//go:build unix

package tools

import (
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// TestAnEmptySubmissionIsConfirmed by its executor, and the reviewer gets a notice first.
func TestAnEmptySubmissionIsConfirmed(t *testing.T) {
	t.Parallel()
	c := newCast(t, repository)
	checked(c)
	hand := map[string]any{"summary": "Nothing.", "verification": "None."}
	r := c.holder.call("submit", hand)
	if r.Code != refusal.InvalidInput || r.Next != "submit" || r.State != state.Checking || !strings.Contains(r.Remedy, "no_change") {
		t.Fatalf("without a word: %+v", r)
	}
	hand["no_change"] = "The typo is in another repository."
	c.holder.do("submit", hand)
	r = c.supervisor.do("review_pending", nil)
	if !strings.HasPrefix(r.Message, "s1 changes no file: ") || len(r.Notices) == 0 || !strings.HasPrefix(r.Notices[0], "empty: ") ||
		!strings.Contains(r.Submission, "The typo is in another repository.") {
		t.Errorf("the reviewer gets %+v", r)
	}
	c.supervisor.do("reject", map[string]any{"notes": "It is in this one."})
	c.holder.do("wait_for_task", nil)
	c.write("new", "new\n")
	delete(hand, "no_change")
	c.holder.do("submit", hand)
	if r = c.supervisor.do("review_pending", nil); !strings.HasPrefix(r.Message, "Review s2: ") || len(r.Notices) > 0 {
		t.Errorf("of a change the reviewer gets %+v", r)
	}
}
