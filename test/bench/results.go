package main

import (
	"slices"
	"strings"
	"time"
)

// Results are values by name: the benchmark, a space, who was measured, and the metric, whose end says what it counts:
// "Transition apply-p50-µs". There is one value a round.
type results map[string][]float64

func (r results) add(name string, value float64) { r[name] = append(r[name], value) }

// value is that of all rounds: their sum where things were counted, else their median.
func (r results) value(name string) (v float64, ok bool) {
	list := slices.Sorted(slices.Values(r[name]))
	if len(list) == 0 {
		return 0, false
	}
	if strings.HasSuffix(name, "-n") {
		for _, x := range list {
			v += x
		}
		return v, true
	}
	return (list[(len(list)-1)/2] + list[len(list)/2]) / 2, true
}

// Samples are times by name, of all rounds.
type samples map[string][]time.Duration

// enough is how many samples there must be before their 99th percentile says something.
const enough = 100

// quantiles lays the quantiles of the samples over the results.
func (s samples) quantiles(r results) {
	for name, list := range s {
		slices.Sort(list)
		micros := func(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
		r[name+"-p50-µs"] = []float64{micros(list[len(list)/2])}
		if len(list) >= enough {
			r[name+"-p99-µs"] = []float64{micros(list[len(list)*99/100])}
		}
	}
}
