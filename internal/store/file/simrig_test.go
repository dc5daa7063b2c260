package file

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A simrig cuts the power of a simulated disk at every moment of a scenario, and looks at what is left.
type simrig struct {
	*simcount
	dir     string // a real folder, for the lock
	dice    *rand.Rand
	edits   int               // violations that a scenario is about
	archive map[string]string // what a whole archive of the scenario's task has; nil where there is none
	simsize
}

// A simsize is how much of what could be tried is tried.
type simsize struct {
	left   int // disks that may be left at one moment, by one kind of disk
	deep   int // one in so many is recovered under a second cut
	deeper int // disks that may be left at one moment of a recovery
}

type simcount struct {
	verdict
	nested, alarms, stops atomic.Int64
}

// A step is something that is done to the machine and acknowledged.
type step struct {
	name   string
	act    func(d *simdisk) error
	founds bool // the machine is there for good after it
}

// A moment is the disk after one operation, and what may be found on it.
type moment struct {
	disk  *simdisk
	where string
	legal []outcome
	bare  bool // nothing was acknowledged yet, not even that there is a machine
	acked bool
}

func (r *simrig) opts(d *simdisk) Options {
	opts := still()
	opts.disk = d.over
	return opts
}

// step returns the step that does act.
func (r *simrig) step(name string, act func(*Store) (store.Snapshot, error)) step {
	return step{name, func(d *simdisk) error {
		s, err := Open(r.dir, r.opts(d))
		if err == nil {
			_, err = act(s)
		}
		return err
	}, name != "view"}
}

func (r *simrig) create() step {
	return step{"Create", func(d *simdisk) error { return third(Create(r.dir, r.opts(d))) }, true}
}

func third(_ *Store, _ bool, err error) error { return err }

// live does the steps, each in a process of its own, and returns every moment of it.
func (r *simrig) live(from moment, steps ...step) (list []moment) {
	d := from.disk
	for _, st := range steps {
		begun := len(list)
		note := func(op string) {
			list = append(list, moment{disk: d.clone(), where: from.where + ", " + st.name + " after " + op, bare: from.bare})
		}
		note("nothing")
		d.seen = note
		err := st.act(d)
		d.seen = nil
		after, wrong := r.look(d.clone(), false)
		if err = errors.Join(err, wrong); err != nil {
			r.blame("%s, %s: %v", from.where, st.name, err)
			return nil
		}
		for i := range list[begun:] {
			list[begun+i].legal = append(from.legal[:len(from.legal):len(from.legal)], after)
		}
		from.legal, from.bare = []outcome{after}, from.bare && !st.founds
		list = append(list, moment{d.clone(), from.where + ", " + st.name + " acknowledged", from.legal, from.bare, true})
	}
	return list
}

// look opens the machine as the next process does and says how it stands, having made sure that all is sound and that
// it goes on. bare makes the machine where there is none.
func (r *simrig) look(d *simdisk, bare bool) (o outcome, err error) {
	open := func() (s *Store, err error) {
		if bare {
			s, _, err = Create(r.dir, r.opts(d))
			return s, err
		}
		return Open(r.dir, r.opts(d))
	}
	s, err := open()
	if err != nil {
		return o, err
	}
	first, err := s.View()
	if err != nil {
		return o, err
	}
	snap, lines, err := sound(s)
	if err != nil {
		return o, err
	}
	o = outcomeOf(snap, lines)
	if seen := outcomeOf(first, lines); seen.task != o.task || seen.texts != o.texts {
		return o, fmt.Errorf("it was seen as %s and is %s", seen.task, o.task)
	}
	if err := r.archived(s); err != nil {
		return o, err
	}
	if _, err := apply(repair)(s); err != nil {
		return o, fmt.Errorf("the next event: %w", err)
	}
	if s, err = open(); err != nil {
		return o, err
	}
	if after, ok := s.readFast(); !ok || after.Task.Seq != snap.Task.Seq+1 {
		return o, fmt.Errorf("STATE.json does not follow: line %d after %d", after.Task.Seq, snap.Task.Seq)
	}
	return o, nil
}

var repair = on(state.Repair, state.Human, nil)

// archived says what an archive lacks that is said to be there.
func (r *simrig) archived(s *Store) error {
	for name, want := range r.archive {
		id := "t-20260102-120000-abcd"
		if got, err := slurp(s.disk, archiveDir+"/"+id+"/"+name, maxIndex); archived(s.disk, id) && string(got) != want {
			return fmt.Errorf("the archive's %s is %.40q, %v", name, got, err)
		}
	}
	return nil
}

// cut tries what the power may leave at a moment, or a killed process, and goes on from some of that to more cuts.
func (r *simrig) cut(m moment, known map[string]bool, depth int) {
	if _, ok := r.judge(m, m.disk, gentle, "killed"); ok && depth > 0 && r.dice.IntN(max(1, r.deep/8)) == 0 {
		r.again(m, m.disk, m.legal, "killed", depth)
	}
	limit := r.left
	if depth < maxDepth {
		limit = 2 * r.deeper
	}
	if strings.HasSuffix(m.where, "write "+journalFile) { // the line in the making
		limit *= 12
	}
	for _, ordered := range []bool{true, false} {
		for d, h := range m.disk.cuts(ordered, limit, r.dice) {
			key := fmt.Sprint(d.sum(), h, m.acked, m.bare)
			if known[key] {
				continue
			}
			known[key] = true
			how := map[bool]string{true: "power cut", false: "power cut on a disk without order"}[ordered]
			o, ok := r.judge(m, d, h, how)
			if ok && depth > 0 && h == gentle && r.dice.IntN(r.deep) == 0 {
				r.again(m, d, []outcome{o}, how, depth)
			}
		}
	}
}

// maxDepth is how often the power is cut again while the machine recovers.
const maxDepth = 3

// again lets the next process begin, and the one after it raise an event, and cuts the power at some moment of that.
func (r *simrig) again(m moment, d *simdisk, legal []outcome, how string, depth int) {
	r.nested.Add(1)
	steps := []step{r.step("view", (*Store).View), r.step("repair", apply(repair))}
	if _, err := d.lstat(journalFile); errors.Is(err, fs.ErrNotExist) {
		steps = []step{r.create()}
	}
	list := r.live(moment{d.clone(), m.where + ", " + how, legal, m.bare, false}, steps...)
	known := map[string]bool{}
	for range min(len(list), r.deeper) {
		r.cut(list[r.dice.IntN(len(list))], known, depth-1)
	}
}

// judge looks at one disk that was left.
func (r *simrig) judge(m moment, d *simdisk, h harm, how string) (outcome, bool) {
	r.cases.Add(1)
	if r.dice.IntN(2) == 0 { // the name of the lock file is never synced, and the process that held the lock is gone
		_ = os.Remove(filepath.Join(r.dir, lockFile))
	}
	o, err := r.look(d.clone(), m.bare)
	switch {
	case code(err) == refusal.Corrupt && h == stale:
		r.stops.Add(1) // it guesses at nothing
		return o, false
	case err != nil:
		r.blame("%s, %s: %v", m.where, how, err)
		return o, false
	}
	if o.lease != (store.Lease{}) && o.lease != granted && o.lease != renewed {
		r.blame("%s, %s: nobody was given the term %+v", m.where, how, o.lease)
	}
	for _, want := range m.legal {
		o.lease = want.lease // it may be lost
		if o.is(want) {
			if o.violations != r.edits {
				if h == gentle {
					r.blame("%s, %s: %d violations", m.where, how, o.violations)
					return o, false
				}
				r.alarms.Add(1)
			}
			return o, true
		}
	}
	r.blame("%s, %s: found %+v, want one of %+v", m.where, how, o, m.legal)
	return o, false
}
