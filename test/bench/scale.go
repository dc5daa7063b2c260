package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// scaleNodes is how many nodes the figures of BenchmarkScale are for.
const scaleNodes = 1000

// firstLimits says at how many nodes a database reaches its limits, the first one first; "" where they were not measured. What is needed grows with the
// number of nodes, and with its square where each event reaches every node.
func firstLimits(list []row) string {
	var limits []row
	for _, r := range list {
		if strings.HasPrefix(r.of.From, "Scale/") && r.of.Limit == "server" && r.Ratio > 0 {
			limits = append(limits, r)
		}
	}
	slices.SortStableFunc(limits, func(a, b row) int { return cmp.Compare(reach(a), reach(b)) })
	var parts []string
	for _, r := range limits {
		parts = append(parts, fmt.Sprintf("%s: %s", r.Figure, grouped(reach(r))))
	}
	if parts == nil {
		return ""
	}
	return "nodes with ten branches each at which one database reaches its limits, the first one first: " + strings.Join(parts, "; ")
}

// squared are the figures of events that reach every node.
var squared = []string{"Scale/rings", "Scale/rings-process", "Scale/events-heard"}

// reach is at how many nodes a limit is reached.
func reach(r row) int {
	share := 1 / r.Ratio
	if slices.Contains(squared, r.of.From) {
		share = math.Sqrt(share)
	}
	return int(scaleNodes * share)
}
