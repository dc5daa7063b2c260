package state

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/test/golden"
)

const page = "../../docs/state-machine.md"

// TestTheDocumentationIsTheTable: the page of the machine is made from the table, and a stale one fails.
func TestTheDocumentationIsTheTable(t *testing.T) {
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	doc := string(data)
	for name, text := range map[string]string{
		"mermaid": "```mermaid\n" + Mermaid() + "```\n",
		"rules":   Rules(),
		"offers":  Offers(),
	} {
		doc = splice(t, doc, name, text)
	}
	golden.Check(t, page, doc)
}

// splice returns doc with text between the marker of the section and its end.
func splice(t *testing.T, doc, name, text string) string {
	t.Helper()
	head, rest, ok := strings.Cut(doc, "<!-- "+name+" -->\n")
	_, tail, closed := strings.Cut(rest, "<!-- end -->")
	if !ok || !closed {
		t.Fatalf("%s has no section between <!-- %s --> and <!-- end -->", page, name)
	}
	return head + "<!-- " + name + " -->\n\n" + text + "\n<!-- end -->" + tail
}

// The rules name changes and conditions in one word each; the page says what each of the words means.
func TestEveryWordOfTheRulesIsExplained(t *testing.T) {
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, rules, _ := strings.Cut(string(data), "<!-- rules -->")
	_, words, _ := strings.Cut(rules, "<!-- end -->")
	words, _, _ = strings.Cut(words, "<!-- offers -->")
	var need []string
	for name := range allOps() {
		need = append(need, name)
	}
	for _, row := range table {
		for _, m := range row {
			need = append(need, m.when.name, string(m.spend))
		}
	}
	slices.Sort(need)
	for _, w := range slices.Compact(need) {
		if w != "" && !strings.Contains(words, "`"+w+"`") {
			t.Errorf("%s uses %s below <!-- rules --> and explains it nowhere", page, w)
		}
	}
}

// What the diagram draws is what the table says: each way from a state to another stands in exactly one arrow.
func TestTheDiagramDrawsEveryMove(t *testing.T) {
	drawn, gone := map[string]int{}, map[string]bool{}
	for line := range strings.Lines(Mermaid()) {
		arrow, labels, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			continue
		}
		from, to, _ := strings.Cut(arrow, " --> ")
		for _, f := range unboxed(from) {
			for _, to := range unboxed(to) {
				for label := range strings.SplitSeq(labels, ", ") {
					drawn[f+" "+to+" "+label]++
				}
			}
		}
	}
	for _, lim := range []Limits{{1, 1}, {2, 2}} { // a first failure is the last only where one is all there is
		for _, n := range explore(t, lim) {
			for _, a := range legal(n.task) {
				key, ok := way(t, n.task, a, lim)
				if !ok {
					continue
				}
				if drawn[key] == 0 {
					t.Errorf("no arrow is drawn for: %s", key)
				}
				gone[key] = true
			}
		}
	}
	for key, n := range drawn {
		if !gone[key] {
			t.Errorf("an arrow is drawn that nothing goes: %s", key)
		}
		if n > 1 {
			t.Errorf("drawn %d times: %s", n, key)
		}
	}
}

// way names the arrow that an act goes; what stays, starts over or recalls goes none.
func way(t *testing.T, task Task, a act, lim Limits) (string, bool) {
	next, err := does(task, a, lim)
	if err != nil {
		t.Fatal(err)
	}
	if m := table[task.State][a.ev]; a.ev == Reset || m.then == stay || m.then == recall {
		return "", false
	}
	label := string(a.ev)
	if next.State == Failed {
		label += " (last)"
	}
	return strings.Join([]string{string(task.State), string(next.State), label}, " "), true
}

func unboxed(node string) []string {
	if node == string(box) {
		return []string{string(Executing), string(Checking), string(Addressing)}
	}
	return []string{node}
}
