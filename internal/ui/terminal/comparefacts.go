package terminal

import (
	"fmt"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/status/review"
)

// facts are what is said of each attempt, in the order of the screen.
var facts = []struct {
	name   string
	of     func(c *review.Comparison, a review.Attempt) string
	beside bool // only where there is room; below the attempts stands all of the chosen one
}{
	{"agent", func(_ *review.Comparison, a review.Attempt) string { return line(madeBy(a)) }, false},
	{"score", func(c *review.Comparison, a review.Attempt) string {
		switch {
		case !c.Scored:
			return ""
		case a.Best:
			return green.Render(a.Number() + "  best")
		case a.Score == nil && a.Void:
			return "of other work"
		}
		return a.Number()
	}, false},
	{"", func(c *review.Comparison, a review.Attempt) string { return bar(c, a) }, false},
	{"checks", func(_ *review.Comparison, a review.Attempt) string {
		if a.Green {
			return green.Render(a.Judged())
		}
		return a.Judged()
	}, false},
	{"failed", func(_ *review.Comparison, a review.Attempt) string {
		if a.Max == 0 {
			return ""
		}
		return fmt.Sprintf("%d of %d tries", a.Used, a.Max)
	}, false},
	{"review", func(_ *review.Comparison, a review.Attempt) string {
		if a.Verdict == nil {
			return status.StateWords(a.State)
		}
		return a.Verdict.Words()
	}, false},
	{"change", func(_ *review.Comparison, a review.Attempt) string {
		text := format.Count(a.Size.Files, "file", "files") + " " + green.Render(fmt.Sprintf("+%d", a.Size.Added)) + " " + red.Render(fmt.Sprintf("-%d", a.Size.Deleted))
		switch {
		case a.Elsewhere:
			return "on another computer"
		case a.Edited:
			return text + red.Render(" edited since")
		}
		return text
	}, false},
	{"time", func(_ *review.Comparison, a review.Attempt) string { return format.Duration(a.Took) }, false},
	{"spend", func(_ *review.Comparison, a review.Attempt) string { return line(status.Usage(a.Spent.Usage)) }, false},
	{"in words", func(_ *review.Comparison, a review.Attempt) string { return line(a.Said) }, true},
	{"reviewer", func(_ *review.Comparison, a review.Attempt) string { return line(a.Remark) }, true},
}

// madeBy works on an attempt: the agent of its branch with its model, or the one that has handed it in.
func madeBy(a review.Attempt) string {
	agent, model, _ := strings.Cut(a.Agent, ":")
	switch {
	case agent != "":
		return strings.TrimSpace(status.Who(string(state.Executor)+":"+agent+":1") + " " + model)
	case a.Verdict != nil:
		return status.Who(a.Verdict.By)
	}
	return ""
}

// bar draws a score beside the highest one.
func bar(c *review.Comparison, a review.Attempt) string {
	const full = 10
	most := 0.0
	for _, one := range c.Attempts {
		if one.Score != nil {
			most = max(most, *one.Score)
		}
	}
	if a.Score == nil || most <= 0 {
		return ""
	}
	n := max(0, min(full, int(*a.Score/most*full+0.5)))
	return strings.Repeat("▰", n) + strings.Repeat("▱", full-n)
}
