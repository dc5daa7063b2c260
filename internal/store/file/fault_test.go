package file

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/kit"
)

// A verdict counts the cases of a rig.
type verdict struct {
	cases, bad, unknown atomic.Int64
	mu                  sync.Mutex
	hit                 map[string]bool // operations that a fault struck
	first               string          // the first bad case
}

func (v *verdict) strike(op string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.hit[op] = true
}

func (v *verdict) blame(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.bad.Add(1) == 1 {
		v.first = fmt.Sprintf(format, args...)
	}
}

var allFaults = []fault{eio, enospc, short, full, broken, crash, powercut, halfsync}

// A rig puts every fault at every operation of a scenario, each from every start.
type rig struct {
	faults []fault
	lies   map[string]bool
	stride int // of the operations; 1 is all
	*verdict
}

func newRig(faults ...fault) rig {
	return rig{faults: faults, stride: 1, verdict: &verdict{hit: map[string]bool{}}}
}

func (r rig) run(t testing.TB, sc scenario) {
	t.Helper()
	dir := filepath.Join(quick(t), ".ferrus")
	first := 0 // of the operations that are struck: the next fault's is one later, so that a stride passes over none
	for _, st := range starts(t, sc, dir) {
		old, _, _ := r.attempt(dir, sc, st, &faults{}, (*Store).View)
		next, ops, err := r.attempt(dir, sc, st, &faults{}, sc.act)
		if err != nil {
			t.Fatalf("%s from %s: %v", sc.name, st.name, err)
		}
		for _, kind := range r.faults {
			for n := 1 + first; n <= len(ops)+1; n += r.stride {
				if !kind.strikes(append(ops, "end")[n-1]) {
					continue
				}
				r.strikeAt(dir, sc, st, &faults{kind: kind, at: n, lies: r.lies}, old, next)
			}
			first = (first + 1) % r.stride
		}
	}
}

// strikeAt runs one case and judges it.
func (r rig) strikeAt(dir string, sc scenario, st start, f *faults, old, next outcome) {
	r.cases.Add(1)
	got, ops, err := r.attempt(dir, sc, st, f, sc.act)
	if f.at <= len(ops) {
		r.strike(ops[f.at-1])
	}
	where := fmt.Sprintf("%s from %s, %s at operation %d of %v", sc.name, st.name, f.kind, f.at, ops)
	if got.wrong != nil {
		r.blame("%s: %v", where, got.wrong)
		return
	}
	killed := (f.kind == crash || f.kind == powercut) && f.at <= len(ops) // nobody heard what it answered
	isOld, isNew := got.is(old), got.is(next)
	if got.lease == (store.Lease{}) && old.lines < next.lines { // the term is volatile: a view that is rebuilt has none
		got.lease = next.lease
		isNew = got.is(next)
	}
	if (f.kind == powercut && killed || f.kind == halfsync && err != nil) && got.lines < old.lines && st.loose {
		isOld = true // the last line was there and unsynced, and was never acknowledged
	}
	switch {
	case killed:
		if !isOld && !isNew {
			r.blame("%s: neither old nor new: %+v", where, got)
		}
	case err == nil && !isNew:
		r.blame("%s: acknowledged and not there: %+v, want %+v", where, got, next)
	case code(err) == refusal.OutcomeUnknown:
		r.unknown.Add(1)
		if !isOld && !isNew {
			r.blame("%s: %v: neither old nor new: %+v", where, err, got)
		}
	case err != nil && code(err) != refusal.StoreError:
		r.blame("%s: an error without a fitting code: %v", where, err)
	case err != nil && !isOld:
		r.blame("%s: %v: and yet not old: %+v, want %+v", where, err, got, old)
	}
}

// An outcome is a machine as it is found after a case. Violations are counted beside it.
type outcome struct {
	task       string // everything but the place in the journal, the time, and violations
	texts      string
	lease      store.Lease
	lines      int
	head       string // the hash of the newest of them
	violations int
	wrong      error
}

func (o outcome) is(p outcome) bool {
	return o.task == p.task && o.texts == p.texts && o.lease == p.lease && o.lines == p.lines &&
		(o.head == p.head || o.violations+p.violations > 0) // a violation's note may differ
}

// attempt runs act under the faults on a copy of the start, and then looks with a disk that works.
func (r rig) attempt(dir string, sc scenario, st start, f *faults, act func(*Store) (store.Snapshot, error)) (outcome, []string, error) {
	f.under = st.disk.clone()
	opts := still()
	opts.disk = f.over
	s, err := Open(dir, opts)
	if err == nil {
		_, err = act(s)
	}
	ops := f.ops
	if (f.kind == powercut || f.kind == halfsync) && !f.dead {
		f.die()
	}
	got, wrong := find(dir, f.under, sc)
	got.wrong = wrong
	return got, ops, err
}

// find opens the folder again and says how it stands, having made sure that all is sound and that it goes on.
func find(dir string, d *simdisk, sc scenario) (o outcome, err error) {
	opts := still()
	opts.disk = d.over
	s, err := Open(dir, opts)
	if err != nil {
		return o, err
	}
	snap, lines, err := sound(s)
	if err != nil {
		return o, err
	}
	o = outcomeOf(snap, lines)
	switch {
	case sc.edited == nil && o.violations > 0:
		return o, errors.New("a violation was journalled and nobody edited anything")
	case sc.edited != nil && o.violations != 1:
		return o, fmt.Errorf("%d violations were journalled", o.violations)
	}
	after, err := apply(on(state.Repair, state.Human, nil))(s)
	if err == nil && after.Task.Seq != snap.Task.Seq+1 {
		err = errors.New("it added more than one line")
	}
	if err != nil {
		return o, fmt.Errorf("the next event: %w", err)
	}
	return o, nil
}

func outcomeOf(snap store.Snapshot, lines []*store.Line) outcome {
	o := outcome{lease: snap.Lease}
	for _, l := range lines {
		if l.Event == state.Violation {
			o.violations++
		} else {
			o.lines, o.head = o.lines+1, l.H
		}
	}
	for _, doc := range state.Docs() {
		o.texts += fmt.Sprintf("%s=%q ", doc, textIn(lines, doc, snap.Task.Docs[doc]))
	}
	o.texts += textIn(lines, store.GateDoc, state.Ref(snap.Task.Pin))
	task := snap.Task
	task.Seq, task.Docs, task.Pin, task.Violations, task.UpdatedAt = 0, nil, state.Pin{}, 0, time.Time{}
	raw, _ := json.Marshal(task)
	o.task = string(raw)
	return o
}

// TestEveryFaultLeavesTheOldStateOrTheNew strikes every operation of every event with every fault.
func TestEveryFaultLeavesTheOldStateOrTheNew(t *testing.T) {
	r := newRig(allFaults...)
	if !kit.Full() {
		r.stride = 7
		if !kit.Named() {
			r.stride = 11
		}
	}
	covered := map[state.Event]bool{state.Violation: true}
	t.Run("all", func(t *testing.T) {
		for _, sc := range scenarios() {
			for _, ev := range state.Events() {
				covered[ev] = covered[ev] || len(sc.name) >= len(ev) && sc.name[:len(ev)] == string(ev)
			}
			t.Run(sc.name, func(t *testing.T) {
				t.Parallel()
				r.run(t, sc)
			})
		}
	})
	t.Logf("rig: cases=%d bad=%d; %d outcomes unknown and said to be", r.cases.Load(), r.bad.Load(), r.unknown.Load())
	if r.bad.Load() > 0 {
		t.Errorf("the first bad case: %s", r.first)
	}
	if r.unknown.Load() == 0 {
		t.Error("no fault was so late that the outcome was unknown")
	}
	for _, op := range []string{"open", "create", "rename", "exchange", "remove", "lstat", "mkdir", "read", "write", "stat", "truncate", "close", "datasync", "syncdir"} {
		if !r.hit[op] {
			t.Errorf("no fault struck %q", op)
		}
	}
	for _, ev := range state.Events() {
		if !covered[ev] {
			t.Errorf("no scenario for %s", ev)
		}
	}
}

// TestTheRigSeesADiskThatLies shows that the rig bites.
func TestTheRigSeesADiskThatLies(t *testing.T) {
	t.Parallel()
	for op, kind := range map[string]fault{"datasync": powercut, "truncate": eio} {
		r := newRig(kind)
		r.lies = map[string]bool{op: true}
		r.run(t, scenarios()[0])
		if r.bad.Load() == 0 {
			t.Errorf("a disk lied at %s and none of %d cases was bad", op, r.cases.Load())
		}
	}
}

// TestCreateCanBeRepeatedAfterAnyFault strikes the making of a machine.
func TestCreateCanBeRepeatedAfterAnyFault(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(quick(t), ".ferrus")
	for _, kind := range allFaults {
		for n, ended := 1, false; !ended; n++ {
			f := &faults{kind: kind, at: n, under: newSimdisk(t, dir)}
			opts := still()
			opts.disk = f.over
			if _, _, err := Create(dir, opts); err != nil && code(err) != refusal.StoreError {
				t.Errorf("%s at %d of %v: %v", kind, n, f.ops, err)
			}
			ended = n > len(f.ops)
			opts.disk = f.under.over
			s, _, err := Create(dir, opts)
			if err != nil {
				t.Fatalf("%s at %d of %v: and again: %v", kind, n, f.ops, err)
			}
			if _, _, err := sound(s); err != nil {
				t.Errorf("%s at %d of %v: %v", kind, n, f.ops, err)
			}
		}
	}
}

// quick returns a new folder, in memory where there is such: the rig models the disk itself.
func quick(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "ferrus")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
