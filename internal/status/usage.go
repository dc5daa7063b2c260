package status

import (
	"fmt"
	"strings"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project/records"
)

// Usage is what an agent has used, "" when it does not say.
func Usage(u agents.Usage) string {
	var parts []string
	if n := u.Tokens(); n > 0 {
		parts = append(parts, Tokens(n)+" tokens")
	}
	if u.Dollars > 0 {
		parts = append(parts, fmt.Sprintf("$%.2f", u.Dollars))
	}
	return strings.Join(parts, ", ")
}

// Cost is what a task has used, in a line.
func Cost(s records.Spend) string {
	if s.Runs == 0 {
		return ""
	}
	text := format.Count(s.Runs, "run", "runs") + ", " + format.Duration(s.Time)
	if u := Usage(s.Usage); u != "" {
		text += ", " + u
	}
	return text
}

// Tokens is a number of tokens, short.
func Tokens(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%.0fk", float64(n)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1_000_000)
}
