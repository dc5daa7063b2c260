package conductor

import (
	"fmt"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/project/records"
)

// overBudget returns which budget of the whole task is used up, "" when none is.
func (f Facts) overBudget() string { return OverBudget(f.Gate.Limits, f.Spent) }

// OverBudget returns which budget is used up, "" when none is.
func OverBudget(limits config.Limits, spent records.Spend) string {
	for _, b := range []struct {
		limit, used float64
		text        string
	}{
		{float64(limits.MaxTaskMinutes), spent.Time.Minutes(), fmt.Sprintf("The agents of this task have run for %.0f minutes of %d.",
			spent.Time.Minutes(), limits.MaxTaskMinutes)},
		{float64(limits.MaxTaskTokens), float64(spent.Usage.Tokens()), fmt.Sprintf("The agents of this task have used %d tokens of %d.",
			spent.Usage.Tokens(), limits.MaxTaskTokens)},
		{float64(limits.MaxTaskDollars), spent.Usage.Dollars, fmt.Sprintf("The agents of this task have cost %.2f dollars of %d.",
			spent.Usage.Dollars, limits.MaxTaskDollars)},
	} {
		if b.limit > 0 && b.used >= b.limit {
			return b.text
		}
	}
	return ""
}

// byDay reports whether an act waits for the end of a limit of the day.
func byDay(f Facts, act Act) bool {
	return act.Do == park && f.Day.Text != "" && act.Until.Equal(f.Day.Until)
}
