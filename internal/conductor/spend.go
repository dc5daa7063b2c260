package conductor

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/config"
)

// Spend is what the agents of a task have used.
type Spend struct {
	Runs  int
	Time  time.Duration
	Usage agents.Usage
}

// Plus returns the sum of both.
func (s Spend) Plus(more Spend) Spend {
	return Spend{s.Runs + more.Runs, s.Time + more.Time, s.Usage.Plus(more.Usage)}
}

// MarshalJSON writes the time as seconds.
func (s Spend) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Runs    int          `json:"runs"`
		Seconds float64      `json:"seconds"`
		Usage   agents.Usage `json:"usage"`
	}{s.Runs, s.Time.Seconds(), s.Usage})
}

// SpendOf returns the sum of runs.
func SpendOf(runs []process.Run, now time.Time) Spend {
	var s Spend
	for _, r := range runs {
		if !r.Began() {
			continue
		}
		s.Runs++
		s.Time += r.Lasted(now)
		s.Usage = s.Usage.Plus(r.Usage)
	}
	return s
}

// overBudget returns which budget of the whole task is used up, "" when none is.
func (f Facts) overBudget() string { return OverBudget(f.Gate.Limits, f.Spent) }

// OverBudget returns which budget is used up, "" when none is.
func OverBudget(limits config.Limits, spent Spend) string {
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
