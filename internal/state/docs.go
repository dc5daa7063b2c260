package state

import (
	"fmt"
	"slices"
	"strings"
)

// box is the node of the diagram around the states in which the executor works. A move that leads
// from each of them to one state outside, or back, is drawn once, as an arrow of the box.
const box State = "Working"

// Mermaid returns the machine as a state diagram, with one arrow for each way from a state to
// another. Moves that lead from every state to the same one (reset) are omitted; Rules lists them.
func Mermaid() string {
	var inside, outside strings.Builder
	nodes := append(States(), box)
	for _, from := range nodes {
		for _, to := range nodes {
			labels := drawn(from, to)
			if len(labels) == 0 {
				continue
			}
			b, indent := &outside, "    "
			if from.InHand() && to.InHand() {
				b, indent = &inside, "        "
			}
			fmt.Fprintf(b, "%s%s --> %s: %s\n", indent, from, to, strings.Join(labels, ", "))
		}
	}
	return fmt.Sprintf("stateDiagram-v2\n    [*] --> Idle\n    state %s {\n%s    }\n%s    Complete --> [*]\n",
		box, &inside, &outside)
}

// drawn returns the labels of the arrow between two nodes of the diagram.
func drawn(from, to State) []string {
	switch fromIn, toIn := from.InHand(), to.InHand(); {
	case from == box && !toIn && to != box:
		return common(func(s State) []string { return leads(s, to) })
	case to == box && !fromIn && from != box:
		return common(func(s State) []string { return leads(from, s) })
	case fromIn && !toIn:
		return without(leads(from, to), drawn(box, to))
	case toIn && !fromIn:
		return without(leads(from, to), drawn(from, box))
	}
	return leads(from, to)
}

// leads returns the labels of all moves from one state to another.
func leads(from, to State) []string {
	var labels []string
	for _, ev := range Events() {
		if m, ok := table[from][ev]; ok && ev != Reset {
			labels = append(labels, m.leads(from, ev, to)...)
		}
	}
	return labels
}

// leads returns the labels of the ways in which m goes from one state to another. A move back leads
// to every state in which that pause can start; a budget adds a move to Failed.
func (m move) leads(from State, ev Event, to State) []string {
	var labels []string
	switch m.then.verb {
	case "go", "pause":
		if m.then.to == to {
			labels = append(labels, string(ev))
		}
	case "back":
		for _, p := range table[to] {
			if p.then == pause(from) {
				labels = append(labels, string(ev))
				break
			}
		}
	}
	if m.spend != "" && to == Failed {
		labels = append(labels, string(ev)+" (last)")
	}
	return labels
}

// common returns the elements that f returns for every state in which the executor works.
func common(f func(State) []string) []string {
	all := f(Executing)
	for _, s := range States() {
		if s.InHand() {
			all = slices.DeleteFunc(all, func(l string) bool { return !slices.Contains(f(s), l) })
		}
	}
	return all
}

func without(list, drop []string) []string {
	return slices.DeleteFunc(list, func(l string) bool { return slices.Contains(drop, l) })
}

// String returns the target in the words of the documentation.
func (t target) String() string {
	switch t.verb {
	case "go":
		return "→ " + string(t.to)
	case "pause":
		return "pause → " + string(t.to)
	case "back":
		return "← back"
	case "recall":
		return "→ the named entry"
	}
	return "stays"
}

// Rules returns every row of the table as a Markdown table. States with the same row are listed
// together.
func Rules() string {
	var b strings.Builder
	b.WriteString("| event | by | in | when | leads | spends | changes |\n|---|---|---|---|---|---|---|\n")
	for _, ev := range Events() {
		var rows []string
		in := map[string][]string{}
		for _, s := range States() {
			m, ok := table[s][ev]
			if !ok {
				continue
			}
			row := m.cells()
			if in[row] == nil {
				rows = append(rows, row)
			}
			in[row] = append(in[row], string(s))
		}
		for _, row := range rows {
			by, rest, _ := strings.Cut(row, "\x00")
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", ev, by, everywhere(in[row]), rest)
		}
	}
	return b.String()
}

func (m move) cells() string {
	var by, do []string
	for _, r := range m.by {
		by = append(by, string(r))
	}
	for _, o := range m.do {
		do = append(do, o.name)
	}
	return strings.Join(by, ", ") + "\x00" + strings.Join([]string{m.when.name, m.then.String(), string(m.spend),
		strings.Join(do, ", ")}, " | ")
}

func everywhere(states []string) string {
	switch len(states) {
	case len(States()):
		return "every state"
	case len(States()) - 1:
		if !slices.Contains(states, string(Idle)) {
			return "every state but Idle"
		}
	}
	return strings.Join(states, ", ")
}

// Offers returns the events that each role can raise in each state, as a Markdown table, without
// the events that ferrus raises by itself.
func Offers() string {
	roles := []Role{Supervisor, Executor, Holder, Human}
	var b strings.Builder
	b.WriteString("| state | supervisor | executor without the lease | executor holding it | human |\n|---|---|---|---|---|\n")
	for _, s := range States() {
		fmt.Fprintf(&b, "| %s |", s)
		for _, r := range roles {
			var can []string
			for _, ev := range Events() {
				m, ok := table[s][ev]
				if !ok || !slices.Contains(m.by, r) {
					continue
				}
				can = append(can, strings.TrimSpace(string(ev)+" "+when(m)))
			}
			fmt.Fprintf(&b, " %s |", strings.Join(can, ", "))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func when(m *move) string {
	if m.when.name == "" {
		return ""
	}
	return "(" + m.when.name + ")"
}
