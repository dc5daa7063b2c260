//go:build unix

package tools

import (
	"slices"
	"strings"
	"testing"
)

// TestAReviewerSeesTheNoticesThatStopARule: review_pending has those of engine.Notices, on which rules go, and no others.
func TestAReviewerSeesTheNoticesThatStopARule(t *testing.T) {
	t.Parallel()
	c := newCast(t, repository)
	working(c)
	c.write(".gitignore", "hidden\n")
	c.write("hidden", "")
	c.write("ferrus.toml", "[cheques]\n")
	c.write("new", "new\n")
	c.holder.do("submit", map[string]any{"summary": "I did this.", "verification": "I looked at it."})
	got := c.supervisor.do("review_pending", nil).Notices
	now, err := c.supervisor.s.Engine().View()
	if err != nil {
		t.Fatal(err)
	}
	want := c.supervisor.s.Engine().Notices(t.Context(), now)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the reviewer sees %q\nand a rule goes by %q", got, want)
	}
	for _, kind := range []string{"config_broken: ", "unseen: newly ignored"} {
		if !strings.Contains(strings.Join(got, "\n"), kind) {
			t.Errorf("no %q in %q", kind, got)
		}
	}
}
