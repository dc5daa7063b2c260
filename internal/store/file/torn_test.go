package file

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// three makes a machine of three lines and returns what its files were after each.
func three(t *testing.T) (s *Store, after []folder) {
	t.Helper()
	s = fresh(t, still())
	for _, d := range []decision{create, claim, on(state.Consult, state.Holder, text(state.ConsultRequestDoc, "How?\n"))} {
		do(t, s, d)
		after = append(after, pack(t, s.dir))
		if n := strings.Count(after[len(after)-1][journalFile], "\n"); n != len(after) {
			t.Fatalf("%d events are %d lines", len(after), n)
		}
	}
	return s, after
}

func (f folder) with(name, text string) folder {
	g := folder{}
	for n, t := range f {
		g[n] = t
	}
	g[name] = text
	return g
}

func (f folder) without(name string) folder {
	g := f.with(name, "")
	delete(g, name)
	return g
}

// lay puts files onto a disk in memory, durably, and opens it. base is for the lock.
func lay(t testing.TB, base string, f folder) *Store {
	t.Helper()
	d := newSimdisk(t, filepath.Join(base, "m"))
	for name, text := range f {
		if name != lockFile {
			d.put(name, text)
		}
	}
	d.settle()
	opts := still()
	opts.disk = d.over
	s, err := Open(filepath.Join(base, "m"), opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// peek reads a file of a store on a disk in memory.
func peek(s *Store, name string) string { return s.disk.(*simdisk).peek(name) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestWhatFollowsTheLastLine(t *testing.T) {
	t.Parallel()
	_, after := three(t)
	whole := after[2][journalFile]
	for name, c := range map[string]struct {
		tail string
		code refusal.Code
	}{
		"half a line":                 {`{"v":2,"seq":4`, ""},
		"NULs":                        {strings.Repeat("\x00", 5000), ""},
		"a bad line":                  {"{}\n", ""},
		"an empty line":               {"\n", ""},
		"a bad line and another":      {"{}\n{}\n", refusal.Corrupt},
		"the last line once more":     {whole[len(after[1][journalFile]):], ""},
		"a line of a newer ferrus":    {newerLine(t, after[2][journalFile]), refusal.StoreError},
		"a torn line after a bad one": {"{}\n{", refusal.Corrupt},
	} {
		t.Run(name, func(t *testing.T) {
			s := lay(t, quick(t), after[2].with(journalFile, whole+c.tail))
			snap, err := s.View()
			if code(err) != c.code {
				t.Fatalf("%v, want code %q", err, c.code)
			}
			if got := peek(s, journalFile); err != nil && got != whole+c.tail {
				t.Error("the evidence was touched")
			}
			if err == nil && (snap.Task.Seq != 3 || peek(s, journalFile) != whole) {
				t.Errorf("it goes on from line %d", snap.Task.Seq)
			}
		})
	}
}

// newerLine returns a sound line of a version to come.
func newerLine(t *testing.T, journal string) string {
	t.Helper()
	off := strings.LastIndex(journal[:len(journal)-1], "\n") + 1
	top := must(store.Decode([]byte(journal[off:]), int64(off)))
	l := &store.Line{V: store.LineVersion + 1, Seq: top.Seq + 1, State: top.State, Prev: top.H}
	return string(must(l.Encode()))
}

func TestALostOrSpoiledIndexIsMadeAgain(t *testing.T) {
	t.Parallel()
	_, after := three(t)
	whole := after[2][stateFile]
	for name, c := range map[string]struct {
		index      string
		violations int
	}{
		"empty":      {"", 0},
		"NULs":       {strings.Repeat("\x00", len(whole)), 0},
		"older":      {after[1][stateFile], 0},
		"the oldest": {after[0][stateFile], 0},
		"truncated":  {whole[:len(whole)/2], 1},
		"garbage":    {"garbage", 1},
		"a machine that was never": {`{"schema_version":2,"state":"Idle","updated_at":"2026-01-02T12:00:00Z",
			"journal":{"bytes":0,"last":0,"h":""}}`, 1},
		"unknown state": {strings.Replace(whole, `"Consultation"`, `"Dreaming"`, 1), 1},
		"other state":   {strings.Replace(whole, `"Consultation"`, `"Complete"`, 1), 1},
		"a foreign key": {strings.Replace(whole, "{", `{"mine":1,`, 1), 1},
		"another hash":  {strings.Replace(whole, `"h": "`, `"h": "0`, 1), 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := lay(t, quick(t), after[2].with(stateFile, c.index))
			snap, lines, err := sound(s)
			if err != nil {
				t.Fatal(err)
			}
			if len(lines) != 3+c.violations || snap.Task.State != state.Consultation {
				t.Errorf("%d lines, %s", len(lines), snap.Task.State)
			}
			if c.violations > 0 && peek(s, logDir+"/"+editedName(stateFile, 4)) != c.index {
				t.Error("the copy is not what was found")
			}
		})
	}
	missing := after[2].with(stateFile, "")
	delete(missing, stateFile)
	if _, lines, err := sound(lay(t, quick(t), missing)); err != nil || len(lines) != 3 {
		t.Errorf("missing: %d lines, %v", len(lines), err)
	}
}

func TestAPositionBeyondTheJournalIsRefused(t *testing.T) {
	t.Parallel()
	_, after := three(t)
	for _, bytes := range []string{"9223372036854775807", "4611686018427387904", "99999"} {
		s := lay(t, quick(t), after[2].with(stateFile, `{"schema_version":2,"journal":{"bytes":`+bytes+`,"last":1,"h":"x"}}`))
		if _, err := s.View(); code(err) != refusal.Corrupt {
			t.Errorf("%s: %v", bytes, err)
		}
	}
}

func TestAnotherSchemaIsRefusedAndNeverOverwritten(t *testing.T) {
	t.Parallel()
	_, after := three(t)
	for _, version := range []string{"1", "3"} {
		foreign := strings.Replace(after[2][stateFile], `"schema_version": 2`, `"schema_version": `+version, 1)
		s := lay(t, quick(t), after[2].with(stateFile, foreign))
		for what, err := range map[string]error{"View": second(s.View()), "Apply": second(apply(claim)(s)), "Renew": second(renew(s))} {
			wantCode(t, err, refusal.StoreError, "schema "+version)
			if peek(s, stateFile) != foreign || peek(s, journalFile) != after[2][journalFile] {
				t.Errorf("%s wrote over schema %s", what, version)
			}
		}
		// Without a journal, as upstream leaves it.
		if err := s.disk.remove(journalFile); err != nil {
			t.Fatal(err)
		}
		wantCode(t, second(s.View()), refusal.StoreError, "schema "+version)
	}
}

func second(_ store.Snapshot, err error) error { return err }

func TestUnknownKeysAreKept(t *testing.T) {
	t.Parallel()
	s := fresh(t, still())
	do(t, s, create, func(now store.Snapshot) (*store.Change, error) {
		c, err := claim(now)
		c.Next.Extra = map[string]json.RawMessage{"later": json.RawMessage(`{"a":[1]}`)}
		return c, err
	})
	do(t, s, progress, on(state.Consult, state.Holder, text(state.ConsultRequestDoc, "How?\n")))
	again := do(t, reopen(t, s), on(state.Reset, state.Human, nil, state.TaskDoc, state.ConsultRequestDoc))
	if diff := cmp.Diff(`{"a":[1]}`, string(again.Task.Extra["later"])); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(read(t, s.Path(stateFile)), `"later": {`) {
		t.Error("STATE.json does not show it")
	}
}

func TestHistoryFromALine(t *testing.T) {
	t.Parallel()
	s := fresh(t, still())
	do(t, s, create, claim, progress)
	var all []*store.Line
	for l, err := range s.History() {
		all = append(all, must(l, err))
	}
	for i, from := range all {
		var seqs []uint64
		for l, err := range s.HistoryFrom(from.Off) {
			seqs = append(seqs, must(l, err).Seq)
		}
		if len(seqs) != len(all)-i || seqs[0] != from.Seq {
			t.Errorf("from line %d: %v", from.Seq, seqs)
		}
	}
	for l, err := range s.HistoryFrom(all[1].Off + 1) {
		if code(err) != refusal.Corrupt {
			t.Errorf("from the middle of a line: %v, %v", l, err)
		}
	}
}
