package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// A row is a figure with what was measured; a value that was not is missing.
type row struct {
	Figure string                        `json:"figure"`
	How    string                        `json:"how"`
	Ours   map[string]float64            `json:"ours"`
	Limit  map[string]float64            `json:"limit,omitempty"`
	Ratio  float64                       `json:"ratio,omitempty"` // ours by the limit, of the first metric
	Peers  map[string]map[string]float64 `json:"peers,omitempty"`

	metrics []string
	of      figure
}

// rows are the figures of which anything was measured.
func rows(r results, peers []string) (list []row) {
	for _, f := range figures {
		of := func(who string) map[string]float64 {
			var found map[string]float64
			for _, m := range f.Metrics {
				if v, ok := r.value(f.From + " " + who + "-" + m); ok {
					if found == nil {
						found = map[string]float64{}
					}
					found[m] = v
				}
			}
			return found
		}
		line := row{Figure: f.Name, How: f.How, Ours: of(f.Ours), Peers: map[string]map[string]float64{}, metrics: f.Metrics, of: f}
		measured := line.Ours != nil
		if f.Limit != "" {
			line.Limit = of(f.Limit)
		}
		for _, p := range peers {
			if v := of(p); v != nil {
				line.Peers[p], measured = v, true
			}
		}
		if m := f.Metrics[0]; line.Limit[m] > 0 && !strings.HasSuffix(m, "-n") {
			line.Ratio = line.Ours[m] / line.Limit[m]
		}
		if measured {
			list = append(list, line)
		}
	}
	return list
}

// A report is all that is printed.
type report struct {
	Machine machine  `json:"machine"`
	Busy    bool     `json:"busy"` // the machine was not left alone
	Took    string   `json:"took"`
	Peers   []string `json:"peers"`
	Notes   []string `json:"notes"` // what was left out or went wrong
	Rows    []row    `json:"rows"`
}

func (r report) json(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// markdown prints the report for people. An error is one of w.
func (r report) markdown(w io.Writer) error {
	var b strings.Builder
	m := r.Machine
	fmt.Fprintf(&b, "%s, %d processors; kernel %s; %s; %s; %s; took %s; load when it began %s", m.CPU, m.Cores, m.Kernel, m.FileSystem, m.Go, m.Date, r.Took, m.Load)
	if m.Others != "" {
		fmt.Fprintf(&b, "; others used %s %% of the processors", m.Others)
	}
	b.WriteString(".\n")
	if r.Busy {
		b.WriteString("**The machine was busy with other things: these figures are for development only.**\n")
	}
	b.WriteString("Times are the median / the 99th percentile, of all rounds; the ratio is of the medians.\n\n")
	cells := append([]string{"figure", "ferrus", "limit", "ratio"}, r.Peers...)
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	line(append(cells, "measured how"))
	line(append(append([]string{"---"}, repeat("---:", len(cells)-1)...), "---"))
	for _, row := range r.Rows {
		cells := []string{row.Figure, row.cell(row.Ours), row.cell(row.Limit), ""}
		if row.Ratio > 0 {
			cells[3] = significant(row.Ratio)
		}
		for _, p := range r.Peers {
			cells = append(cells, row.cell(row.Peers[p]))
		}
		line(append(cells, row.How))
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "\n- %s", n)
	}
	b.WriteString("\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func repeat(s string, n int) (list []string) {
	for range n {
		list = append(list, s)
	}
	return list
}

// cell shows the values of a row's metrics, "–" for one that was not measured and "" for none.
func (r row) cell(values map[string]float64) string {
	if values == nil {
		return ""
	}
	var parts []string
	for _, m := range r.metrics {
		v, ok := values[m]
		if !ok {
			parts = append(parts, "–")
			continue
		}
		parts = append(parts, show(v, m))
	}
	return strings.Join(parts, " / ")
}

// show shows a value in the unit that its metric ends with.
func show(v float64, metric string) string {
	switch {
	case strings.HasSuffix(metric, "µs"):
		unit, per := "µs", time.Microsecond
		if v >= 1e6 {
			unit, per = "s", time.Second
		} else if v >= 1e3 {
			unit, per = "ms", time.Millisecond
		}
		return significant(v*float64(time.Microsecond)/float64(per)) + " " + unit
	case strings.HasSuffix(metric, "bytes"):
		return grouped(int(v)) + " B"
	case strings.HasSuffix(metric, "MiB"):
		return significant(v) + " MiB"
	case strings.HasSuffix(metric, "per-s"):
		return significant(v) + "/s"
	}
	return grouped(int(v))
}

// significant shows three digits that say something.
func significant(v float64) string {
	if v >= 100 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// grouped shows a number with a comma between thousands.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
