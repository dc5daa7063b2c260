package file

import (
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/kit"
)

// run tries a scenario from each start.
func (r *simrig) run(t *testing.T, sc scenario) {
	t.Helper()
	if sc.edited != nil {
		r.edits = 1
	}
	for _, from := range r.starts(t, sc) {
		old, err := r.look(from.disk.clone(), false)
		if err != nil {
			t.Fatalf("%s: %v", from.where, err)
		}
		from.legal = []outcome{old}
		known := map[string]bool{}
		for _, m := range r.live(from, r.step(sc.name, sc.act)) {
			r.cut(m, known, maxDepth)
		}
	}
}

// starts returns the moments that a scenario begins at.
func (r *simrig) starts(t *testing.T, sc scenario) []moment {
	t.Helper()
	torn, restless := along(t, sc, r.dir)
	settled := restless.clone()
	if sc.edit(settled); sc.edited != nil {
		return []moment{{disk: settled, where: "an edit"}}
	}
	// What a cut in the middle of a long line leaves, and views that lag by one event.
	torn.settle()
	torn.put(stateFile+".tmp", "{")
	torn.put(journalFile, settled.peek(journalFile)+`{"v":2,"seq":`+strings.Repeat("x", 6*sector))
	return []moment{{disk: settled, where: "all durable"}, {disk: restless, where: "nothing durable but what was synced"},
		{disk: torn, where: "a torn line"}}
}

func newSimrig(t *testing.T, count *simcount, name string) *simrig {
	h := fnv.New64()
	h.Write([]byte(name))
	r := &simrig{simcount: count, dir: filepath.Join(quick(t), ".ferrus"), dice: rand.New(rand.NewPCG(1, h.Sum64()))}
	r.simsize = simsize{left: 4, deep: 100, deeper: 1}
	if kit.Full() {
		r.simsize = simsize{left: 80, deep: 200, deeper: 4}
	}
	return r
}

// TestAPowerCutOfASimulatedDiskLosesNothing cuts the power at every moment of everything that the store does.
func TestAPowerCutOfASimulatedDiskLosesNothing(t *testing.T) {
	count := &simcount{}
	t.Run("all", func(t *testing.T) {
		for i, sc := range scenarios() {
			if !kit.Sampled(9, i) { // what a named test tries notices every mutant of test/faults
				continue
			}
			t.Run(sc.name, func(t *testing.T) {
				t.Parallel()
				newSimrig(t, count, sc.name).run(t, sc)
			})
		}
		t.Run("Create", func(t *testing.T) {
			t.Parallel()
			r := newSimrig(t, count, "Create")
			r.deep, r.left = 12, 3*r.left
			d := newSimdisk(t, r.dir)
			idle := must(r.look(d.clone(), true))
			known := map[string]bool{}
			for _, m := range r.live(moment{d, "Create", []outcome{idle}, true, false}, r.create()) {
				r.cut(m, known, maxDepth)
			}
		})
		t.Run("Archive", func(t *testing.T) {
			t.Parallel()
			r := newSimrig(t, count, "Archive")
			r.left *= 3
			sc := scenario{name: "Archive", road: scenarioOf(t, "reopen").road, act: func(s *Store) (store.Snapshot, error) {
				snap, err := s.View()
				return snap, errors.Join(err, archive(s.disk, s, snap))
			}}
			d := r.starts(t, sc)[0].disk
			r.archive = map[string]string{"TASK.md": "Build it.\n", "SUBMISSION.md": "Built.\n", journalFile: d.peek(journalFile)}
			r.run(t, sc)
		})
	})
	t.Logf("rig: cases=%d bad=%d; %d recoveries cut again, %d false alarms and %d stops on disks without order or with garbage",
		count.cases.Load(), count.bad.Load(), count.nested.Load(), count.alarms.Load(), count.stops.Load())
	if count.bad.Load() > 0 {
		t.Errorf("the first bad case: %s", count.first)
	}
	if count.nested.Load() == 0 {
		t.Error("no recovery was cut")
	}
}
