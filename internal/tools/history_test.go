//go:build unix

package tools

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// numbers are those of a history's entries, with the mark of what was left behind.
func numbers(r Result) string {
	var list []string
	for _, l := range r.History {
		list = append(list, regexp.MustCompile(`^\d+┆?`).FindString(l))
	}
	return strings.Join(list, " ")
}

// TestTheHistoryIsThePresentTasks, page by page, and what a rollback left behind is marked.
func TestTheHistoryIsThePresentTasks(t *testing.T) {
	t.Parallel()
	c := newCast(t, newWorld)
	if r := c.supervisor.do("history", nil); len(r.History) > 0 || !strings.Contains(r.Message, "no task") {
		t.Errorf("without a task: %+v", r)
	}
	working(c) // 1 to 4
	done, err := c.person.Reset(t.Context(), "")
	must(t, done, err)
	c.supervisor.do("create_task", nil) // 6
	c.holder.do("wait_for_task", nil)
	c.holder.do("progress", map[string]any{"note": "two\nlines " + strings.Repeat("long ", 100)})
	c.holder.do("ask_human", nil)
	c.says("1")
	back := func(to uint64) {
		done, err := c.person.Rollback(t.Context(), to, "It went astray.")
		must(t, done, err)
	}
	back(8)  // 11 leaves 9 and 10
	back(10) // 12 leaves 11, and returns to 10 by way of 9
	before := c.disk()
	for _, p := range []struct {
		args map[string]any
		want string
	}{
		{nil, "6 7 8 9 10 11┆ 12"},
		{map[string]any{"limit": 3}, "10 11┆ 12"},
		{map[string]any{"limit": 3, "before": 10}, "7 8 9"},
		{map[string]any{"before": 8}, "6 7"},
		{map[string]any{"before": 6}, ""},
		{map[string]any{"before": 99}, "6 7 8 9 10 11┆ 12"},
	} {
		r := c.supervisor.do("history", p.args)
		if got := numbers(r); got != p.want {
			t.Errorf("%v: %s, not %s", p.args, got, p.want)
		}
		first, _, _ := strings.Cut(p.want, " ")
		if more := strings.Contains(r.Message, "before "+first+"."); more != (first != "" && first != "6") {
			t.Errorf("%v: %s", p.args, r.Message)
		}
	}
	for _, l := range c.supervisor.do("history", nil).History {
		if strings.Contains(l, "\n") || len([]rune(l)) > 220 {
			t.Errorf("not one line: %s", l)
		}
	}
	want := regexp.MustCompile(`^9  \d{4}-\d\d-\d\d \d\d:\d\d:\d\d  executor:test:1  ask_human  Executing → AwaitingHuman  Which of the two\?$`)
	if l := c.supervisor.do("history", nil).History[3]; !want.MatchString(l) {
		t.Error(l)
	}
	for _, args := range []map[string]any{{"limit": 101}, {"limit": "3"}, {"before": 0}} {
		c.supervisor.refused(refusal.InvalidInput, "history", args)
	}
	if c.disk() != before {
		t.Error("looking at it has changed something")
	}
}

// TestALongHistoryIsCutToWhatEveryClientShows.
func TestALongHistoryIsCutToWhatEveryClientShows(t *testing.T) {
	t.Parallel()
	c := newCast(t, newWorld)
	working(c)
	for i := range 60 {
		c.holder.do("progress", map[string]any{"note": fmt.Sprint(i, strings.Repeat(" long", 100))})
	}
	r := c.supervisor.do("history", map[string]any{"limit": 100})
	n := len(r.History)
	if size := len(strings.Join(r.History, "")); size > maxHistory || n < 20 || !strings.HasPrefix(r.History[n-1], "64 ") {
		t.Errorf("%d entries of %d bytes", n, size)
	}
	next := c.supervisor.do("history", map[string]any{"limit": 100, "before": 64 - n + 1})
	if !strings.HasPrefix(next.History[len(next.History)-1], fmt.Sprint(64-n, " ")) {
		t.Errorf("then %s", numbers(next))
	}
}
