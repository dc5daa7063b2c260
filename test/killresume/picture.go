//go:build linux

package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The size of a picture, and of the place of its curves.
const (
	width, height         = 640, 300
	left, right, top, low = 60, 470, 20, 250
)

// A curve is the line of one system: a step at each point.
type curve struct {
	name   string
	points []point
}

type point struct{ x, y float64 }

// An axis maps values to a picture, with marks.
type axis struct {
	title string
	max   float64
	marks []float64
	log   bool // of values from 0.01 on
}

// at is where on the axis a value is, from 0 to 1.
func (a axis) at(v float64) float64 {
	if a.log {
		return math.Log10(max(v, 0.01)/0.01) / math.Log10(a.max/0.01)
	}
	return v / a.max
}

// pictures writes the survival over kills and the time from a kill to a new agent as SVG.
func pictures(dir string, all []result) error {
	var survival, resume []curve
	most := 1
	for _, group := range grouped(all) {
		if !group[0].Kills {
			continue
		}
		survival = append(survival, curve{group[0].System, surviving(group)})
		var times []float64
		for _, r := range group {
			times, most = append(times, r.Resumed...), max(most, r.kills())
		}
		slices.Sort(times)
		c := curve{name: group[0].System}
		for i, t := range times {
			c.points = append(c.points, point{t, float64(i+1) / float64(len(times))})
		}
		resume = append(resume, c)
	}
	share := []float64{0, 0.25, 0.5, 0.75, 1}
	var kills []float64
	for n := range 5 {
		kills = append(kills, math.Round(float64(most*n)/4))
	}
	for name, text := range map[string]string{
		"kill-survival.svg": drawing("Runs without a fault, after so many kills", axis{title: "kills", max: float64(most), marks: kills}, share, 1, survival),
		"kill-resume.svg":   drawing("Kills after which a new agent works, within so many seconds", axis{title: "seconds", max: 100, marks: []float64{0.01, 0.1, 1, 10, 100}, log: true}, share, 0, resume),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// surviving is the Kaplan-Meier estimate of the share of runs that had no fault yet, by the number of kills: a run that ended without one
// counts as long as it went.
func surviving(runs []result) (points []point) {
	share, last := 1.0, 0
	for _, r := range runs {
		last = max(last, r.kills())
	}
	for n := range last + 1 {
		at, faults := 0, 0
		for _, r := range runs {
			if r.Sound >= n {
				at++
			}
			if r.Broken && r.Sound == n {
				faults++
			}
		}
		if at > 0 && faults > 0 {
			share *= 1 - float64(faults)/float64(at)
			points = append(points, point{float64(n), share})
		}
	}
	return append(points, point{float64(last), share})
}

// dashes tell the curves apart, without colours too.
var dashes = []struct{ colour, dash string }{{"#0b6e4f", ""}, {"#1d4e89", "8 3"}, {"#7b2d8b", "2 3"}, {"#c0392b", "10 3 2 3"}, {"#b9770e", "5 5"}, {"#5d6d7e", "1 2"}, {"#117a8b", "12 4"}, {"#943126", "3 1"}}

// drawing draws the curves, each from y at the left.
func drawing(title string, x axis, marks []float64, y float64, curves []curve) string {
	var b strings.Builder
	px := func(v float64) float64 { return left + (right-left)*x.at(v) }
	py := func(v float64) float64 { return low - (low-top)*v }
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\" role=\"img\" aria-label=%q>\n", width, height, title)
	fmt.Fprintf(&b, "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", width, height)
	for _, m := range marks {
		fmt.Fprintf(&b, "<path d=\"M%d %.1fH%d\" stroke=\"#ddd\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.0f %%</text>\n", left, py(m), right, left-6, py(m)+4, 100*m)
	}
	for _, m := range x.marks {
		fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n", px(m), low+18, m)
	}
	fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", (left+right)/2, low+38, x.title)
	for i, c := range curves {
		style := dashes[i%len(dashes)]
		path := fmt.Sprintf("M%d %.1f", left, py(y))
		for _, p := range c.points {
			path += fmt.Sprintf("H%.1fV%.1f", px(p.x), py(p.y))
		}
		if y == 0 {
			path += fmt.Sprintf("H%d", right)
		}
		fmt.Fprintf(&b, "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\"/>\n", path, style.colour, style.dash)
		line := top + 10 + 20*i
		fmt.Fprintf(&b, "<path d=\"M%d %dh24\" stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\"/><text x=\"%d\" y=\"%d\">%s</text>\n", right+16, line, style.colour, style.dash, right+46, line+4, c.name)
	}
	return b.String() + "</svg>\n"
}
