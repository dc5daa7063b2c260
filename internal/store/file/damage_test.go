package file

import (
	"fmt"
	"math/bits"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/kit"
)

// A damage counts the cases of one kind of damaged files.
type damage struct {
	*testing.T
	verdict
	base    string
	refused int
}

func newDamage(t *testing.T) *damage { return &damage{T: t, base: quick(t)} }

// end reports, as a rig does.
func (d *damage) end() {
	d.Logf("rig: cases=%d bad=%d; %d were refused and not changed", d.cases.Load(), d.bad.Load(), d.refused)
	if d.bad.Load() > 0 {
		d.Errorf("the first bad case: %s", d.first)
	}
}

// try lays files and lets look judge them.
func (d *damage) try(what string, f folder, look func(s *Store) error) {
	d.cases.Add(1)
	s := lay(d, d.base, f)
	defer s.disk.(*simdisk).real.close() // at the end of the test there would be too many
	if err := look(s); err != nil {
		d.blame("%s: %v", what, err)
	}
}

// grown returns the files of machines after each of their events: one of three short lines, and with -full of every
// scenario.
func grown(t *testing.T) map[string][]folder {
	_, after := three(t)
	list := map[string][]folder{"three lines": after}
	if !kit.Full() {
		return list
	}
	for _, sc := range scenarios() {
		s := fresh(t, still())
		after := []folder{pack(t, s.dir)}
		for _, d := range sc.road {
			do(t, s, d)
			after = append(after, pack(t, s.dir))
		}
		if _, err := sc.act(s); err != nil {
			t.Fatal(err)
		}
		now, before := pack(t, s.dir), after[len(after)-1]
		if strings.Count(now[journalFile], "\n") > 2 && len(now[journalFile]) > len(before[journalFile]) {
			list[sc.name] = append(after, now)
		}
	}
	return list
}

// TestATornLineAtEveryByteIsThePreviousState cuts the newest line at each of its bytes, and has zeros follow, or nothing.
func TestATornLineAtEveryByteIsThePreviousState(t *testing.T) {
	t.Parallel()
	d := newDamage(t)
	defer d.end()
	for name, after := range grown(t) {
		before, whole := after[len(after)-2], after[len(after)-1][journalFile]
		from := len(before[journalFile])
		lines := strings.Count(before[journalFile], "\n")
		for n := from + 1; n < len(whole); n++ {
			if !kit.Full() && n%5 > 0 && n < len(whole)-80 || !kit.Every(4, n) {
				continue
			}
			for how, text := range map[string]string{"": whole[:n], ", zeros": whole[:n] + strings.Repeat("\x00", len(whole)-n)} {
				for views, f := range map[string]folder{"the views before": before, "no STATE.json": before.without(stateFile)} {
					what := fmt.Sprintf("%s cut at byte %d%s, %s", name, n-from, how, views)
					d.try(what, f.with(journalFile, text), func(s *Store) error {
						return isPrevious(s, lines, from, text)
					})
				}
			}
		}
	}
}

// isPrevious requires the machine of so many lines, a copy of what was torn, and that it goes on.
func isPrevious(s *Store, lines, from int, text string) error {
	snap, list, err := sound(s)
	switch {
	case err != nil:
		return err
	case len(list) != lines || int(snap.Journal.Bytes) != from:
		return fmt.Errorf("it has %d lines up to byte %d, not %d up to %d", len(list), snap.Journal.Bytes, lines, from)
	case peek(s, journalFile) != text[:from]:
		return fmt.Errorf("the journal is %q", peek(s, journalFile))
	case peek(s, fmt.Sprintf("%s/torn-%d", logDir, from)) != text[from:]:
		return fmt.Errorf("what was torn is not kept")
	}
	_, err = apply(repair)(s)
	return err
}

// TestAFlippedBitInAnyLineIsFound flips one bit of each byte, with -full each bit of a short machine, and leaves
// out, doubles, swaps and replaces whole lines.
func TestAFlippedBitInAnyLineIsFound(t *testing.T) {
	t.Parallel()
	d := newDamage(t)
	defer d.end()
	for name, after := range grown(t) {
		now, before := after[len(after)-1], after[len(after)-2]
		whole, inner := now[journalFile], len(before[journalFile])
		for what, altered := range shuffled(t, whole) {
			f := now.without(stateFile).with(journalFile, altered)
			d.try(name+", "+what+", no STATE.json", f, func(s *Store) error { return d.found(s, altered, true) })
		}
		for n := range whole {
			if whole[n] != '\n' && !kit.Every(7, n) {
				continue
			}
			for bit := range 8 {
				// A newline in its place or out of it is the worst, and no bit is left out for being harmless.
				usual := bit == n%8 || whole[n] == '\n' || whole[n]^1<<bit == '\n'
				if !usual && !(kit.Full() && name == "three lines") || !kit.Full() && n%3 > 0 && whole[n] != '\n' {
					continue
				}
				flipped := flip(whole, n, bit)
				what := fmt.Sprintf("%s, bit %d of byte %d", name, bit, n)
				d.try(what, now.with(journalFile, flipped), func(s *Store) error { return d.found(s, flipped, n >= inner) })
				if n < inner {
					f := now.without(stateFile).with(journalFile, flipped)
					d.try(what+", no STATE.json", f, func(s *Store) error { return d.found(s, flipped, true) })
				} else if bits.OnesCount(uint(n))%2 == 0 {
					f := before.with(journalFile, flipped)
					d.try(what+", which nobody was shown", f, func(s *Store) error {
						return isPrevious(s, strings.Count(before[journalFile], "\n"), inner, flipped)
					})
				}
			}
		}
	}
}

// shuffled returns the journal with its first lines altered, each sound by itself.
func shuffled(t *testing.T, journal string) map[string]string {
	lines := strings.SplitAfter(journal, "\n")
	rest := strings.Join(lines[2:], "")
	other := fresh(t, still())
	do(t, other, on(state.CreateTask, state.Human, text(state.TaskDoc, "Another.\n")))
	return map[string]string{
		"the first line left out": lines[1] + rest,
		"the first line doubled":  lines[0] + lines[0] + lines[1] + rest,
		"two lines swapped":       lines[1] + lines[0] + rest,
		"another machine's line":  pack(t, other.dir)[journalFile] + lines[1] + rest,
	}
}

// flip returns text with one bit turned.
func flip(text string, n, bit int) string {
	b := []byte(text)
	b[n] ^= 1 << bit
	return string(b)
}

// found requires that a damaged journal is not read to its end, and that nothing is done to it. Where it is read it
// must be refused; an inner line is not read by every event.
func (d *damage) found(s *Store, journal string, read bool) error {
	var last error
	for _, last = range s.History() {
	}
	if code(last) != refusal.Corrupt && strings.HasSuffix(journal, "\n") { // otherwise the line may still be in the writing
		return fmt.Errorf("the history says %v", last)
	}
	for what, err := range map[string]error{"View": second(s.View()), "Apply": second(apply(nothing)(s)), "Renew": second(renew(s))} {
		if read && code(err) != refusal.Corrupt || !read && err != nil {
			return fmt.Errorf("%s says %v", what, err)
		}
	}
	if peek(s, journalFile) != journal {
		return fmt.Errorf("the evidence was touched")
	}
	if read {
		d.refused++
	}
	return nil
}

// TestEveryDamagedStateFileIsMadeAgain cuts STATE.json at every byte, has zeros follow, flips a bit of every byte, and
// takes every older copy and another machine's.
func TestEveryDamagedStateFileIsMadeAgain(t *testing.T) {
	t.Parallel()
	d := newDamage(t)
	defer d.end()
	for name, after := range grown(t) {
		now := after[len(after)-1]
		whole := now[stateFile]
		d.try(name+", missing", now.without(stateFile), d.again(now, 0))
		for i, f := range after[:len(after)-1] {
			d.try(fmt.Sprintf("%s, as of line %d", name, i), now.with(stateFile, f[stateFile]), d.again(now, 0))
		}
		other := fresh(t, still())
		do(t, other, create, on(state.Reset, state.Human, nil, state.TaskDoc))
		d.try(name+", another machine's", now.with(stateFile, pack(t, other.dir)[stateFile]), d.again(now, 1))
		d.try(name+", garbage", now.with(stateFile, "garbage"), d.again(now, 1))
		for n := range len(whole) - 1 {
			if !kit.Full() && n%3 > 0 || !kit.Every(7, n) {
				continue
			}
			violations := 1
			if n == 0 {
				violations = 0 // an empty file is no edit
			}
			d.try(fmt.Sprintf("%s, cut at byte %d", name, n), now.with(stateFile, whole[:n]), d.again(now, violations))
			zeros := whole[:n] + strings.Repeat("\x00", len(whole)-n)
			d.try(fmt.Sprintf("%s, zeros from byte %d", name, n), now.with(stateFile, zeros), d.again(now, 0))
			for bit := range 8 {
				if digit := '0' <= whole[n] && whole[n] <= '9'; bit == n%8 || digit && bit < 3 || kit.Full() {
					what := fmt.Sprintf("%s, bit %d of byte %d", name, bit, n)
					d.try(what, now.with(stateFile, flip(whole, n, bit)), d.again(now, -1))
				}
			}
		}
	}
}

// again requires the machine of now, with so many violations more; -1 is one or none. It may also refuse: a STATE.json
// that says it saw a longer journal, or is of another schema, is not written over.
func (d *damage) again(now folder, violations int) func(s *Store) error {
	return func(s *Store) error {
		found := peek(s, stateFile)
		snap, lines, err := sound(s)
		if c := code(err); violations < 0 && (c == refusal.Corrupt || c == refusal.StoreError) {
			d.refused++
			if peek(s, stateFile) != found || peek(s, journalFile) != now[journalFile] {
				return fmt.Errorf("refused and yet written over: %v", err)
			}
			return nil
		}
		more := len(lines) - strings.Count(now[journalFile], "\n")
		switch {
		case err != nil:
			return err
		case !strings.HasPrefix(peek(s, journalFile), now[journalFile]):
			return fmt.Errorf("the journal is another")
		case more != violations && (violations >= 0 || more != 0 && more != 1):
			return fmt.Errorf("%d violations were journalled, not %d", more, violations)
		case more == 0 && snap.Lease == (store.Lease{}) && strings.Contains(now[stateFile], `"lease"`):
			return nil // the term is nowhere else
		case more == 0 && violations == 0 && peek(s, stateFile) != now[stateFile]:
			return fmt.Errorf("STATE.json is %s", peek(s, stateFile))
		case more > 0 && peek(s, fmt.Sprintf("%s/%s", logDir, editedName(stateFile, snap.Task.Seq))) != found:
			return fmt.Errorf("the copy is not what was found")
		}
		return nil
	}
}
