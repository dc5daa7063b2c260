package web

import (
	"fmt"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/status"
)

// A graph is the phases of a run as a picture: a column for each phase with its workers, an arrow from phase to phase where they follow
// each other, and one from worker to worker where one reads what the other writes.
// The graph of the queue has no phases.
type graph struct {
	Width, Height int
	Phases        []box
	Workers       []box
	Arrows        []string // as paths of SVG
	Words         string   // the same for who does not see it
}

// A box is a rectangle with a title, and its state below.
type box struct {
	X, Y, W, H   int
	Title, State string
}

// Sizes of a graph, in pixels.
const (
	boxWidth, boxHeight   = 190, 46
	headHeight, boxMargin = 30, 12
	phaseGap              = 56
	boxLetters            = 22 // of a title
)

// drawn is the graph of a run.
func drawn(l *status.RunStatus) graph {
	var g graph
	at := map[string]box{} // by role
	var words []string
	for i, p := range l.Status.Phases {
		frame := box{X: i * (boxWidth + 2*boxMargin + phaseGap), W: boxWidth + 2*boxMargin, Title: format.Clip(p.ID, boxLetters+3), State: string(p.Status)}
		frame.H = headHeight + len(p.Workers)*(boxHeight+boxMargin)
		g.Width, g.Height = frame.X+frame.W, max(g.Height, frame.H)
		if i > 0 && l.InOrder() {
			g.Arrows = append(g.Arrows, arrow(frame.X-phaseGap, headHeight/2, frame.X, headHeight/2))
		}
		g.Phases = append(g.Phases, frame)
		var roles []string
		for j, k := range p.Workers {
			one := box{frame.X + boxMargin, headHeight + j*(boxHeight+boxMargin), boxWidth, boxHeight, format.Clip(k.Role, boxLetters), string(k.Status)}
			g.Workers, at[k.Role] = append(g.Workers, one), one
			roles = append(roles, k.Role+" "+string(k.Status))
		}
		words = append(words, fmt.Sprintf("%s %s: %s", p.ID, p.Status, strings.Join(roles, ", ")))
	}
	for _, d := range l.Dependencies() {
		if from, to := at[d.Writer], at[d.Reader]; from.W > 0 && from.X < to.X {
			g.Arrows = append(g.Arrows, arrow(from.X+from.W, from.Y+from.H/2, to.X, to.Y+to.H/2))
		}
	}
	g.Words = strings.Join(words, "; ")
	return g
}

// needed is the graph of the tasks in the queue: a column for each step from those that need nothing. It is nil where no task needs another one.
func needed(tasks status.Graph) *graph {
	if !tasks.Arrows() {
		return nil
	}
	var g graph
	at, rows := map[string]box{}, map[int]int{}
	var words []string
	for _, t := range tasks.Tasks {
		state := "in the queue"
		switch {
		case t.Blocked:
			state = "blocked"
		case !t.Queued:
			state = "not in the queue"
		case t.Waits != "":
			state = "waits"
		}
		one := box{t.Level * (boxWidth + phaseGap), rows[t.Level] * (boxHeight + boxMargin), boxWidth, boxHeight, format.Clip(format.Line(t.Name), boxLetters), state}
		rows[t.Level]++
		g.Width, g.Height = max(g.Width, one.X+one.W), max(g.Height, one.Y+one.H)
		g.Workers, at[t.Name] = append(g.Workers, one), one
		word := t.Name + " " + state
		if len(t.Needs) > 0 {
			word += ", needs " + strings.Join(t.Needs, " and ")
		}
		words = append(words, word)
	}
	for _, t := range tasks.Tasks {
		for _, need := range t.Needs {
			if from, to := at[need], at[t.Name]; from.X < to.X { // not in a circle
				g.Arrows = append(g.Arrows, arrow(from.X+from.W, from.Y+from.H/2, to.X, to.Y+to.H/2))
			}
		}
	}
	g.Words = strings.Join(words, "; ")
	return &g
}

// arrow is a curve from one point to another, which lies to its right.
func arrow(x1, y1, x2, y2 int) string {
	half := (x2 - x1) / 2
	return fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x1, y1, x1+half, y1, x2-half, y2, x2, y2)
}
