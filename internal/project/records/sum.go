package records

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
)

// A Line is the sum of some runs.
type Line struct {
	Name string // of the group; "" for all
	Spend
	Priced  int // how many of the runs report dollars
	Counted int // how many of them report tokens

	Incomplete bool // a run reports tokens and no dollars, so that the dollars are not all
}

// MarshalJSON writes the time as seconds, and no dollars where no run reports any.
func (l Line) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Name       string       `json:"name,omitempty"`
		Runs       int          `json:"runs"`
		Seconds    float64      `json:"seconds"`
		Usage      agents.Usage `json:"usage"`
		Incomplete bool         `json:"incomplete,omitempty"`
	}{l.Name, l.Runs, l.Time.Seconds(), l.Usage, l.Incomplete})
}

// Sum returns the sum of runs.
func Sum(runs []Run) (l Line) {
	for _, r := range runs {
		l.Spend = l.Spend.Plus(Spend{1, r.Time, r.Usage})
		if r.Usage.Dollars > 0 {
			l.Priced++
		}
		if r.Usage.Tokens() > 0 {
			l.Counted++
			l.Incomplete = l.Incomplete || r.Usage.Dollars == 0
		}
	}
	return l
}

// groups are the ways to group runs, with the name of the group of a run.
var groups = map[string]func(Run, *time.Location) string{
	"task":    func(r Run, _ *time.Location) string { return strings.TrimPrefix(r.Branch+" "+r.Task, " ") },
	"role":    func(r Run, _ *time.Location) string { return r.Role },
	"agent":   func(r Run, _ *time.Location) string { return r.Agent },
	"model":   func(r Run, _ *time.Location) string { return strings.TrimSuffix(r.Agent+":"+r.Model, ":") },
	"day":     func(r Run, zone *time.Location) string { return r.Started.In(zone).Format(time.DateOnly) },
	"project": func(r Run, _ *time.Location) string { return r.Project },
}

// Groups are the names of the ways to group runs.
func Groups() []string { return []string{"task", "role", "agent", "model", "day", "project"} }

// GroupBy returns the sums of runs by one of [Groups], in the order of their names; those of tasks in the order of their first starts.
func GroupBy(runs []Run, by string, zone *time.Location) []Line {
	all, first := map[string][]Run{}, map[string]time.Time{}
	for _, r := range runs {
		name := groups[by](r, zone)
		if at, ok := first[name]; !ok || r.Started.Before(at) {
			first[name] = r.Started
		}
		all[name] = append(all[name], r)
	}
	lines := make([]Line, 0, len(all))
	for name, list := range all {
		l := Sum(list)
		l.Name = name
		lines = append(lines, l)
	}
	slices.SortFunc(lines, func(a, b Line) int {
		order := 0
		if by == "task" {
			order = first[a.Name].Compare(first[b.Name])
		}
		return cmp.Or(order, cmp.Compare(a.Name, b.Name))
	})
	return lines
}
