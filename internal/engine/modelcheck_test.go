package engine

import (
	"cmp"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
)

// newStage has sessions of a real engine. Whatever is decided is decided by them; nothing is stored.
func newStage(t testing.TB) *stage {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, config.FileName), []byte("[checks]\ncommands = [\"true\"]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := project.Init(dir); err != nil {
		t.Fatal(err)
	}
	day := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	e, err := Open(project.At(dir, ""), Options{Log: slog.New(slog.DiscardHandler), Clock: func() lease.Instant { return instant },
		Now: func() time.Time { return day }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	twin := Caller{Role: state.Executor, Agent: "executor:codex:1"}
	g := &stage{e: e, ex: [2]*Session{e.Session(twin), e.Session(twin)}, sup: e.Session(Caller{Role: state.Supervisor}),
		hum: e.Session(Caller{Role: state.Human, TTY: true}), bug: e.Session(Caller{Role: state.Engine, Agent: itself})}
	for i, id := range exIDs {
		g.ex[i].ID = id
	}
	e.probe = g.probe
	conf := config.Default().Gate()
	conf.Limits.MaxDelegates = state.MaxDelegates
	conf.Limits.MaxCheckRetries, conf.Limits.MaxReviewCycles = modelLimits.CheckRetries, modelLimits.ReviewCycles
	for _, sum := range gatesOf {
		e.settings.Know(sum, conf)
	}
	return g
}

// A step is how a situation was first come to.
type step struct {
	from  int
	trick string
}

// A search goes wherever tricks lead, breadth first.
type search struct {
	*stage
	tricks []trick
	steps  []step
	seen   map[string]bool
	known  map[string]bool
	did    map[string]bool
	edges  int
	bad    []string
}

// road tells how a situation is come to.
func (q *search) road(n int, last string) string {
	words := []string{last}
	for ; n > 0; n = q.steps[n].from {
		words = append([]string{q.steps[n].trick}, words...)
	}
	return strings.Join(words, ", ")
}

// from goes one step on in all directions, and adds the situations that are new.
func (q *search) from(n int, s situation, add func(situation)) {
	for _, t := range q.tricks {
		next := s
		q.at(&next)
		if !t.do(q.stage) {
			continue
		}
		q.edges++
		q.did[t.form()] = true
		k := next.settle()
		if len(q.faults) == 0 && !q.seen[k] {
			q.seen[k] = true
			q.steps = append(q.steps, step{n, t.name})
			add(next)
			q.at(&next)
			q.standing()
			if len(q.faults) == 0 && !q.finishes(next, q.known) {
				q.faults = append(q.faults, "there is no way to the end")
			}
		}
		for _, f := range q.faults {
			q.bad = append(q.bad, f+": "+q.road(n, t.name))
		}
		q.faults = nil
	}
}

// A region is what may happen in one search, and for how many situations it is followed: 0 is to the end.
type region struct {
	kinds       kind
	usual, most int
}

var regions = map[string]region{
	"who holds the work":         {core | hang | death | harm | person | anew | other, 0, 0},
	"who waits for whom":         {core | hang | death | talk | person | anew | other, 0, 0},
	"what holds through a pause": {core | hang | death | harm | talk | other, 800, 0},
	"what may be submitted":      {core | gated | red | edit, 800, 0},
	"what is judged by which":    {core | gated | edit | pin, 800, 0},
	"whose check counts":         {core | gated | person | other, 800, far},
	"what a rule does":           {core | gated | red | edit | pin | ruled, 800, far},
	"a rule takes the work":      {core | hang | talk | other | ruled, 800, far},
	"the next task":              {core | gated | rival | anew, 4000, 0},
	"what a score is of":         {core | gated | edit | pin | anew | scores, 800, far},
	"who decides":                {core | gated | red | edit | rival | person, 800, far},
	"a review that is paused":    {core | gated | talk | edit, 800, far},
	"who works for whom":         {core | hang | death | person | anew | other | family, 800, far},
	"what is submitted of all":   {core | gated | red | talk | family, 800, far},
	"everything":                 {^kind(0), 800, far},
}

const far = 500_000

// TestNoRoadOfTheModelBreaksAPromise follows every road that two executors, a supervisor, a person and bad luck may
// take, breadth first, and holds every step and every situation to the promises. The rules that decide are those of the
// table, of the lease and of the engine themselves.
func TestNoRoadOfTheModelBreaksAPromise(t *testing.T) {
	t.Parallel()
	did := map[string]bool{}
	var cases, bad, found int
	for _, name := range slices.Sorted(maps.Keys(regions)) {
		t.Run(name, func(t *testing.T) {
			q := regions[name].explore(t, did)
			cases, bad, found = cases+q.edges, bad+len(q.bad), found+len(q.seen)
		})
	}
	t.Logf("rig: cases=%d bad=%d; %d situations in %d regions", cases, bad, found, len(regions))
	for _, trick := range tricks() {
		if !did[trick.form()] && !t.Failed() {
			t.Errorf("never happened: %s", trick.name)
		}
	}
}

// plain are the situations of a task to which nothing happens but what should: a search begins at all of them, or it would
// hardly come to the last.
func (q *search) plain() (list []situation) {
	s := begin()
	for q.seen[s.settle()] = true; ; q.seen[s.settle()] = true {
		list, q.steps = append(list, s), append(q.steps, step{len(list) - 1, "as it should be"})
		if q.at(&s); s.task.State == state.Complete || !q.onwards() {
			return list
		}
	}
}

// explore is one search. It ends at the first promise that is broken.
func (r region) explore(t *testing.T, did map[string]bool) *search {
	most := r.usual
	switch {
	case kit.Full():
		most = r.most
	case !kit.Named():
		most = cmp.Or(most, 2000) / 2
	}
	q := &search{stage: newStage(t), seen: map[string]bool{}, known: map[string]bool{}, did: did}
	for _, trick := range tricks() {
		if trick.kind&^r.kinds == 0 {
			q.tricks = append(q.tricks, trick)
		}
	}
	wave, number, depth := q.plain(), 0, 0
	for ; len(wave) > 0 && (most == 0 || len(q.seen) < most) && len(q.bad) == 0; depth++ {
		var next []situation
		for _, s := range wave {
			if q.from(number, s, func(s situation) { next = append(next, s) }); len(q.bad) > 0 {
				break
			}
			number++
		}
		wave = next
	}
	for _, b := range q.bad {
		t.Error(b)
	}
	end := fmt.Sprintf("depth %d", depth)
	if len(wave) == 0 {
		end = fmt.Sprintf("all there are, depth %d", depth-1)
	}
	t.Logf("%d situations, %d edges, %s", len(q.seen), q.edges, end)
	return q
}
