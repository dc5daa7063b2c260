package state

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/test/golden"
)

func TestTheTableIsWhole(t *testing.T) {
	if got := len(table); got != len(States()) {
		t.Errorf("the table has %d states, %d are listed", got, len(States()))
	}
	made, listed := map[Event]bool{}, Events()
	for _, s := range States() {
		if !s.Known() {
			t.Errorf("%s has no row", s)
		}
		for ev, m := range table[s] {
			made[ev] = true
			if !slices.Contains(listed, ev) {
				t.Errorf("%s in %s is no listed event", ev, s)
			}
			for _, by := range m.by {
				if !slices.Contains(Roles(), by) {
					t.Errorf("%s in %s: %q is no listed role", ev, s, by)
				}
			}
			if len(m.by) == 0 {
				t.Errorf("nobody may %s in %s", ev, s)
			}
			if leads := m.then.verb == "go" || m.then.verb == "pause"; leads != m.then.to.Known() {
				t.Errorf("%s in %s: no target is %+v", ev, s, m.then)
			}
			unique(t, m.by)
		}
	}
	for _, ev := range listed {
		if !made[ev] {
			t.Errorf("%s is listed and made nowhere", ev)
		}
	}
}

// TestAPauseCanAlwaysBeLeft: where a pause leads, something leads back.
func TestAPauseCanAlwaysBeLeft(t *testing.T) {
	paused := map[State]bool{}
	for _, row := range table {
		for _, m := range row {
			if m.then.verb == "pause" {
				paused[m.then.to] = true
			}
		}
	}
	for _, s := range States() {
		var backs []Event
		for ev, m := range table[s] {
			if m.then == back {
				backs = append(backs, ev)
			}
		}
		if paused[s] != (len(backs) == 1) {
			t.Errorf("%s is paused into: %v; its ways back: %v", s, paused[s], backs)
		}
	}
}

// Each state is reached from Idle, and from wherever the machine can come it can come to Complete, without a reset.
func TestEveryStateIsReachedAndLeft(t *testing.T) {
	nodes := explore(t, Limits{2, 2})
	reached := map[State]bool{}
	for _, n := range nodes {
		reached[n.task.State] = true
		if !n.ends {
			t.Errorf("no way to Complete from %s, paused %v, held %v", n.task.State, n.task.Paused, n.task.ClaimedBy != "")
		}
	}
	for _, s := range States() {
		if !reached[s] {
			t.Errorf("%s is never reached", s)
		}
	}
}

// A node is one of the situations that the machine can be in.
type node struct {
	task Task
	from []place
	ends bool // Complete can be reached, without a reset
}

// A place is what of a task the table looks at.
type place struct {
	state          State
	paused         string
	answered, held bool
	checks, cycles int
	open, moving   bool // a delegate, and its files
}

func placeOf(t Task) place {
	var paused []string
	for _, p := range t.Paused {
		paused = append(paused, string(p.State))
	}
	return place{t.State, strings.Join(paused, " "), t.Consultation.Answered, t.ClaimedBy != "",
		t.CheckRetries, t.ReviewCycles, len(t.OpenDelegates()) > 0, t.Returning.Of != ""}
}

// explore goes wherever legal acts lead from a fresh project.
func explore(t fataler, lim Limits) map[place]*node {
	nodes := map[place]*node{placeOf(New()): {task: New()}}
	for todo := []place{placeOf(New())}; len(todo) > 0; todo = todo[1:] {
		task := nodes[todo[0]].task
		for _, a := range legal(task) {
			next, err := does(task, a, lim)
			if err != nil {
				t.Fatalf("%s in %s: %v", a, task.State, err)
			}
			if len(nodes) > 5000 {
				t.Fatalf("there is no end of situations; one of the last is %+v", placeOf(next))
			}
			to := placeOf(next)
			if nodes[to] == nil {
				nodes[to] = &node{task: next}
				todo = append(todo, to)
			}
			if a.ev != Reset {
				nodes[to].from = append(nodes[to].from, todo[0])
			}
		}
	}
	var backward func(n *node)
	backward = func(n *node) {
		if n.ends {
			return
		}
		n.ends = true
		for _, p := range n.from {
			backward(nodes[p])
		}
	}
	for p, n := range nodes {
		if p.state == Complete {
			backward(n)
		}
	}
	return nodes
}

// TestMoves holds the whole table still: a changed rule is a changed line to review.
func TestMoves(t *testing.T) {
	var b strings.Builder
	for _, s := range States() {
		for _, ev := range Events() {
			row, ok := table[s][ev]
			if !ok {
				continue
			}
			for _, by := range Roles() {
				if slices.Contains(row.by, by) {
					m := *row
					if by == Engine {
						m.when = condition{} // none binds it
					}
					fmt.Fprintf(&b, "%-13s %-15s %-10s %s\n", s, ev, by, m)
				}
			}
		}
	}
	golden.Check(t, "testdata/moves.golden", b.String())
}

func (m move) String() string {
	s := m.then.String()
	if m.when.name != "" {
		s = "when " + m.when.name + ": " + s
	}
	if m.spend != "" {
		s += "; spends " + string(m.spend)
	}
	for i, o := range m.do {
		s += []string{"; ", " "}[min(i, 1)] + o.name
	}
	return s
}

// TestEveryTriple asks Step for each event in each state on behalf of each role. The golden file is the judge: what
// stands in it is done and leads where it says, everything else is refused.
func TestEveryTriple(t *testing.T) {
	rules := readMoves(t)
	for _, s := range States() {
		for _, by := range Roles() {
			for _, answered := range []bool{false, true} {
				for _, leased := range []bool{false, true} {
					task := Task{SchemaVersion: SchemaVersion, State: s, Consultation: Consulting{ID: "c1", Answered: answered}}
					if s.Frozen() {
						task.Paused = []Pause{{ID: "q1", Kind: AskHuman, State: Checking}}
					}
					if leased {
						task.ClaimedBy = "executor:codex:1"
					}
					everyEvent(t, task, by, rules)
					task.Delegates = []Delegate{{ID: "d1", Ended: DelegateFailed}, {ID: "d2"}}
					everyEvent(t, task, by, rules)
				}
			}
		}
	}
}

func everyEvent(t *testing.T, task Task, by Role, rules map[triple]rule) {
	var can []Event
	for _, ev := range Events() {
		want, ok := rules[triple{task.State, ev, by}]
		if ok && want.holds(task) {
			can = append(can, ev)
		}
	}
	if got := Allowed(task, by); !slices.Equal(got, can) {
		t.Errorf("in %s %s is allowed %v, want %v", task.State, by, got, can)
	}
	for _, ev := range Events() {
		next, err := Step(task, ev, by, Limits{10, 10})
		if slices.Contains(can, ev) {
			if to := rules[triple{task.State, ev, by}].leads(task); err != nil || next.State != to {
				t.Errorf("%s %s in %s: got %s, %v; want %s", by, ev, task.State, next.State, err, to)
			}
			continue
		}
		var refused *RefusedError
		if !errors.As(err, &refused) {
			t.Errorf("%s %s in %s: got %s, %v; want a refusal", by, ev, task.State, next.State, err)
			continue
		}
		if want := (RefusedError{Event: ev, Role: by, State: task.State, Allowed: can}); !reflect.DeepEqual(*refused, want) {
			t.Errorf("got the refusal %+v, want %+v", *refused, want)
		}
		if diff := cmp.Diff(task, next); diff != "" {
			t.Errorf("a refusal changed the task: %s", diff)
		}
	}
}

type triple struct {
	in State
	ev Event
	by Role
}

// A rule is what a line of the golden file says of a triple.
type rule struct{ when, verb, to string }

func (r rule) holds(t Task) bool {
	return map[string]bool{
		"":           true,
		"answered":   t.Consultation.Answered,
		"unanswered": !t.Consultation.Answered,
		"leased":     t.ClaimedBy != "",

		"delegating": slices.ContainsFunc(t.Delegates, func(d Delegate) bool { return d.Ended == "" }),
		"alone":      !slices.ContainsFunc(t.Delegates, func(d Delegate) bool { return d.Ended == "" }),
		"fetching":   t.Returning.Of != "",
	}[r.when]
}

func (r rule) leads(t Task) State {
	switch r.verb {
	case "back":
		return t.PausedFrom()
	case "stays":
		return t.State
	}
	return State(r.to)
}

func readMoves(t *testing.T) map[triple]rule {
	data, err := os.ReadFile("testdata/moves.golden")
	if err != nil {
		t.Fatal(err)
	}
	rules := map[triple]rule{}
	for line := range strings.Lines(string(data)) {
		w := strings.Fields(line)
		var r rule
		rest := strings.TrimSpace(line[strings.Index(line, w[2])+len(w[2]):])
		if cond, ok := strings.CutPrefix(rest, "when "); ok {
			r.when, rest, _ = strings.Cut(cond, ": ")
		}
		rest, _, _ = strings.Cut(rest, ";")
		switch to, ok := strings.CutPrefix(strings.TrimPrefix(rest, "pause "), "→ "); {
		case rest == "← back":
			r.verb = "back"
		case rest == "stays", rest == "→ the named entry": // Step leaves a rollback to the caller
			r.verb = "stays"
		case ok && State(to).Known():
			r.to = to
		default:
			t.Fatalf("illegible: %s", line)
		}
		rules[triple{State(w[0]), Event(w[1]), Role(w[2])}] = r
	}
	return rules
}
