package format

import (
	"strings"
	"testing"
)

// TestMetricsAreWrittenAsPrometheusReadsThem: buckets count all that is smaller, and a label may have any text.
func TestMetricsAreWrittenAsPrometheusReadsThem(t *testing.T) {
	bounds := []float64{0.5, 10}
	var s, more Spread
	for _, v := range []float64{0.25, 0.5, 0.75} {
		s.Observe(v, bounds)
	}
	more.Observe(11, bounds)
	s.Join(more)
	var empty Spread
	empty.Join(s)
	spread := Metric{Name: "took_seconds", Type: "histogram", Help: "Time."}
	spread.AddSpread(empty, bounds, "of", "x")
	spread.AddSpread(Spread{}, bounds)
	plain := Metric{Name: "n_total", Type: "counter", Help: "Number."}
	plain.Add(1e9, "a", "q\"u\\o\nte", "b", "2")
	plain.Add(0.5)
	tenth := 0.1
	plain.Add(tenth+tenth+tenth, "c", "3")
	var b strings.Builder
	if err := WriteMetrics(&b, []Metric{spread, {Name: "none", Type: "gauge", Help: "None."}, plain}); err != nil {
		t.Fatal(err)
	}
	want := `# HELP took_seconds Time.
# TYPE took_seconds histogram
took_seconds_bucket{of="x",le="0.5"} 2
took_seconds_bucket{of="x",le="10"} 3
took_seconds_bucket{of="x",le="+Inf"} 4
took_seconds_sum{of="x"} 12.5
took_seconds_count{of="x"} 4
took_seconds_bucket{le="0.5"} 0
took_seconds_bucket{le="10"} 0
took_seconds_bucket{le="+Inf"} 0
took_seconds_sum 0
took_seconds_count 0
# HELP n_total Number.
# TYPE n_total counter
n_total{a="q\"u\\o\nte",b="2"} 1e+09
n_total 0.5
n_total{c="3"} 0.3
`
	if b.String() != want {
		t.Errorf("got\n%s", b.String())
	}
}
