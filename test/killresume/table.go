//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// rows are the lines of the table.
var rows = []struct {
	name  string
	value func(result) []float64
}{
	{"kills", func(r result) []float64 { return one(r.kills()) }},
	{"tasks right", func(r result) []float64 { return one(r.Right) }},
	{"said to be done, and wrong", func(r result) []float64 { return one(r.Wrong) }},
	{"failed or asking, by name", func(r result) []float64 { return one(r.Failed) }},
	{"lost", func(r result) []float64 { return one(r.Lost) }},
	{"begun again after done", func(r result) []float64 { return one(r.Twice) }},
	{"two agents at one task", func(r result) []float64 { return one(r.Overlaps) }},
	{"done without a check of the bytes", func(r result) []float64 { return one(r.Unchecked) }},
	{"lines of the person lost", func(r result) []float64 { return one(r.Edits) }},
	{"silent stalls", func(r result) []float64 { return one(r.Stalls) }},
	{"acts of a person", func(r result) []float64 { return one(r.Acts) }},
	{"restarts of the main program", func(r result) []float64 { return one(r.Restarts) }},
	{"starts of agents", func(r result) []float64 { return one(r.Starts) }},
	{"tokens wasted", func(r result) []float64 { return one(r.Wasted) }},
	{"seconds for all tasks", func(r result) []float64 { return []float64{r.Seconds} }},
	{"seconds from a kill to a new agent", func(r result) []float64 { return r.Resumed }},
}

func one(n int) []float64 { return []float64{float64(n)} }

// table is the results in Markdown: for each system without kills and with them, the mean of a run and its 95 % interval over the seeds.
func table(all []result) string {
	groups := grouped(all)
	var b strings.Builder
	b.WriteString("| a run |")
	for _, g := range groups {
		fmt.Fprintf(&b, " %s%s |", g[0].System, map[bool]string{true: ", kills"}[g[0].Kills])
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(groups)) + "\n")
	for _, row := range rows {
		fmt.Fprintf(&b, "| %s |", row.name)
		for _, g := range groups {
			var values []float64
			for _, r := range g {
				values = append(values, row.value(r)...)
			}
			if i := slices.IndexFunc(adapters, func(a adapter) bool { return a.name == g[0].System }); i >= 0 && slices.Contains(adapters[i].without, row.name) {
				values = nil
			}
			fmt.Fprintf(&b, " %s |", spread(values))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// grouped are the runs of each system without kills, and with them, in their order.
func grouped(all []result) (groups [][]result) {
	for _, r := range all {
		i := slices.IndexFunc(groups, func(g []result) bool { return g[0].System == r.System && g[0].Kills == r.Kills })
		if i < 0 {
			groups = append(groups, nil)
			i = len(groups) - 1
		}
		groups[i] = append(groups[i], r)
	}
	return groups
}

// spread is a mean and the 95 % interval of it by drawing the values again a thousand times; the same values give the same interval.
func spread(values []float64) string {
	if len(values) == 0 {
		return "-"
	}
	mean := func(pick func(int) float64) float64 {
		sum := 0.0
		for i := range values {
			sum += pick(i)
		}
		return sum / float64(len(values))
	}
	m := mean(func(i int) float64 { return values[i] })
	draw := rand.New(rand.NewPCG(1, 1))
	var means []float64
	for range 1000 {
		means = append(means, mean(func(int) float64 { return values[draw.IntN(len(values))] }))
	}
	slices.Sort(means)
	if low, high := means[25], means[974]; low != high {
		return fmt.Sprintf("%.4g [%.3g, %.3g]", m, low, high)
	}
	return fmt.Sprintf("%.4g", m)
}

func median(all []sample, value func(sample) int) float64 {
	var values []int
	for _, s := range all {
		values = append(values, value(s))
	}
	slices.Sort(values)
	return float64(values[len(values)/2])
}
