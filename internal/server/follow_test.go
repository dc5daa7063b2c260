//go:build unix

package server

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/tools"
)

// A follower is an agent that knows nothing: it calls what next says. It names an id only after a refusal has asked for
// that argument, and then the one that an answer has given it. will are calls of its own accord in the place of a next.
type follower struct {
	*cast
	part  string
	next  string
	will  map[string][]string
	known map[string]any  // ids by the arguments that take them
	asked map[string]bool // arguments that a refusal has asked for
	log   []string
}

func (f *follower) step() tools.Result {
	f.t.Helper()
	name := f.next
	if turn := f.will[name]; len(turn) > 0 {
		name, f.will[name] = turn[0], turn[1:]
	}
	i := slices.IndexFunc(tools.Catalogue(), func(t tools.Tool) bool { return t.Name == name })
	if i < 0 {
		f.t.Fatalf("%s has to call %s; log %v", f.part, name, f.log)
	}
	args := maps.Clone(samples[name])
	if args == nil {
		args = map[string]any{}
	}
	for arg, id := range f.known {
		if f.asked[arg] && takes(tools.Catalogue()[i], arg) {
			args[arg] = id
		}
	}
	r, err := f.try(f.part, name, args)
	f.log = append(f.log, fmt.Sprintf("%s:%s%s%s", name, r.State, r.Status, r.Code))
	if err != nil {
		f.t.Fatalf("%s: %v; log %v", f.part, err, f.log)
	}
	for arg, id := range map[string]string{"claim": r.Claim, "submission": r.SubmissionID, "consultation": r.ConsultationID} {
		if id != "" {
			f.known[arg] = id
		}
		f.asked[arg] = f.asked[arg] || r.Code != "" && strings.Contains(r.Remedy, arg)
	}
	f.next = r.Next
	return r
}

// TestWhoeverFollowsNextGetsThroughOverHTTP, in both eras of the protocol and over SSE, with a consultation, a question to a
// person and a rejection on the way. Nobody tells the agents what to name but the answers.
func TestWhoeverFollowsNextGetsThroughOverHTTP(t *testing.T) {
	for _, way := range ways {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			c := newCast(t, way)
			join := func(part string, will map[string][]string) *follower {
				return &follower{cast: c, part: part, next: "status", will: will, known: map[string]any{}, asked: map[string]bool{}}
			}
			boss := join("supervisor", map[string][]string{"choose": {"reject", "approve"}})
			crew := join("holder", map[string][]string{"check": {"consult", "ask_human"}})
			const most = 80 // a loop takes more
			for steps, last := 0, ""; boss.next != "stop"; steps++ {
				if steps > most {
					t.Fatalf("no end: supervisor %v, executor %v", boss.log, crew.log)
				}
				boss.step()
				if last = string(crew.step().State); last == string(state.AwaitingHuman) {
					if _, err := c.person.Answer(t.Context(), "", "1"); err != nil {
						t.Fatal(err)
					}
				}
			}
			snap, err := c.look.View()
			if err != nil || snap.Task.State != state.Complete || snap.Task.ReviewCycles != 1 || len(snap.Task.Consulted) != 1 || len(snap.Task.Decisions) != 1 {
				t.Errorf("it ends in %+v: %v", snap.Task, err)
			}
			if left := slices.Concat(boss.will["choose"], crew.will["check"]); len(left) > 0 {
				t.Errorf("nobody came to %v", left)
			}
			forgotten := slices.ContainsFunc(slices.Concat(boss.log, crew.log), func(l string) bool {
				return strings.HasSuffix(l, "stale_review") || strings.HasSuffix(l, "not_claimed")
			})
			if forgotten != (way == "modern") {
				t.Errorf("asked for ids: %v; supervisor %v, executor %v", forgotten, boss.log, crew.log)
			}
		})
	}
}
