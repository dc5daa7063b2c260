package format

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// A Metric is a family of the text format of Prometheus, version 0.0.4: one name, and a sample for each combination of its labels.
type Metric struct {
	Name    string   `json:"name"`
	Type    string   `json:"type"` // counter, gauge or histogram
	Help    string   `json:"help"`
	Samples []Sample `json:"samples"`
}

// A Sample is one number of a family. Its name is that of the family, with a suffix for a part of a histogram.
type Sample struct {
	Suffix string   `json:"suffix,omitempty"` // such as _sum
	Labels []string `json:"labels,omitempty"` // a name and its value, by turns
	Value  float64  `json:"value"`
}

// Add adds a sample with labels, each a name and its value.
func (m *Metric) Add(value float64, labels ...string) {
	m.Samples = append(m.Samples, Sample{Labels: labels, Value: value})
}

// AddSpread adds the samples of a histogram with labels.
func (m *Metric) AddSpread(s Spread, bounds []float64, labels ...string) {
	with := func(name, value string) []string { return append(slices.Clone(labels), name, value) }
	sum := 0
	for i, bound := range bounds {
		if i < len(s.Counts) {
			sum += s.Counts[i]
		}
		m.Samples = append(m.Samples, Sample{"_bucket", with("le", strconv.FormatFloat(bound, 'g', -1, 64)), float64(sum)})
	}
	m.Samples = append(m.Samples, Sample{"_bucket", with("le", "+Inf"), float64(s.Count)},
		Sample{"_sum", labels, s.Sum}, Sample{"_count", labels, float64(s.Count)})
}

// A Spread counts values by the first of some bounds that is at least as large.
type Spread struct {
	Counts []int   `json:"counts"` // by bound; larger ones are in Count alone
	Count  int     `json:"count"`
	Sum    float64 `json:"sum"`
}

// Observe counts a value. The bounds ascend, and are the same for each value of a Spread.
func (s *Spread) Observe(value float64, bounds []float64) {
	if s.Counts == nil {
		s.Counts = make([]int, len(bounds))
	}
	if i, _ := slices.BinarySearch(bounds, value); i < len(s.Counts) {
		s.Counts[i]++
	}
	s.Count++
	s.Sum += value
}

// Join adds what another Spread of the same bounds has counted.
func (s *Spread) Join(other Spread) {
	for len(s.Counts) < len(other.Counts) {
		s.Counts = append(s.Counts, 0)
	}
	for i, n := range other.Counts {
		s.Counts[i] += n
	}
	s.Count += other.Count
	s.Sum += other.Sum
}

// WriteMetrics writes families as Prometheus reads them. Those without a sample are left out.
func WriteMetrics(w io.Writer, all []Metric) error {
	var b strings.Builder
	for _, m := range all {
		if len(m.Samples) == 0 {
			continue
		}
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", m.Name, m.Help, m.Name, m.Type)
		for _, s := range m.Samples {
			b.WriteString(m.Name + s.Suffix)
			for i := 0; i+1 < len(s.Labels); i += 2 {
				fmt.Fprintf(&b, "%s%s=\"%s\"", map[bool]string{true: "{", false: ","}[i == 0], s.Labels[i], labelText.Replace(s.Labels[i+1]))
			}
			if len(s.Labels) > 0 {
				b.WriteByte('}')
			}
			b.WriteString(" " + strconv.FormatFloat(steady(s.Value), 'g', -1, 64) + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// steady rounds to twelve digits. A sum of decimal numbers has errors behind them that change with the order of its parts, and a counter that falls
// by such an error is one that was restarted, to Prometheus.
func steady(v float64) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 12, 64), 64) // it is a number
	return rounded
}

// labelText writes the value of a label.
var labelText = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
