package store

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/state"
)

// three makes a machine of three lines and returns what its files were after each.
func three(t *testing.T) (s *Store, after []folder) {
	t.Helper()
	s = fresh(t, still())
	for _, d := range []decision{create, claim, on(state.Consult, state.Holder, text(state.ConsultRequestDoc, "How?\n"))} {
		do(t, s, d)
		after = append(after, pack(t, s.dir))
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

// lay puts files into a new folder and opens it. Syncing is left out: there are many.
func lay(t testing.TB, base string, f folder) *Store {
	t.Helper()
	dir := filepath.Join(base, "m")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	f.unpack(t, dir)
	opts := still()
	opts.disk = (&faults{}).over
	s, err := Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestATornLastLineIsThePreviousState(t *testing.T) {
	_, after := three(t)
	base := quick(t)
	whole, before := after[2][journalFile], after[1][journalFile]
	for n := len(before) + 1; n < len(whole); n++ {
		s := lay(t, base, after[1].with(journalFile, whole[:n]))
		snap, lines, err := sound(s)
		if err != nil || len(lines) != 2 || snap.Task.State != state.Executing {
			t.Fatalf("cut at byte %d: %d lines, %v", n-len(before), len(lines), err)
		}
		if kept := read(t, s.Path(logDir, "torn-"+itoa(len(before)))); kept != whole[len(before):n] {
			t.Fatalf("cut at byte %d: the copy is %q", n-len(before), kept)
		}
		s.Close()
	}
}

func itoa(n int) string { return string(must(json.Marshal(n))) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// flip returns text with one bit of byte n turned.
func flip(text string, n int) string {
	b := []byte(text)
	b[n] ^= 1
	return string(b)
}

func TestAnAlteredLastLineIsNotBelieved(t *testing.T) {
	_, after := three(t)
	base := quick(t)
	whole, before := after[2][journalFile], len(after[1][journalFile])
	for n := before; n < len(whole); n++ {
		s := lay(t, base, after[2].with(journalFile, flip(whole, n)))
		if _, err := s.View(); code(err) != Corrupt {
			t.Fatalf("byte %d of a line that STATE.json shows: %v", n-before, err)
		}
		if _, err := apply(nothing)(s); code(err) != Corrupt {
			t.Fatalf("byte %d of a line that STATE.json shows, Apply: %v", n-before, err)
		}
		if got := read(t, s.Path(journalFile)); got != flip(whole, n) {
			t.Fatalf("byte %d: the evidence was touched", n-before)
		}
		s.Close()
		if n%4 > 0 {
			continue
		}
		s = lay(t, base, after[1].with(journalFile, flip(whole, n)))
		if snap := view(t, s); snap.Task.Seq != 2 {
			t.Fatalf("byte %d of a line that nothing shows: line %d", n-before, snap.Task.Seq)
		}
		s.Close()
	}
}

func TestAnAlteredInnerLineIsFoundByHistory(t *testing.T) {
	_, after := three(t)
	base := quick(t)
	whole := after[2][journalFile]
	for n := len(after[0][journalFile]); n < len(after[1][journalFile]); n++ {
		s := lay(t, base, after[2].with(journalFile, flip(whole, n)))
		var last error
		for _, last = range s.History() {
		}
		if code(last) != Corrupt {
			t.Fatalf("byte %d: %v", n, last)
		}
		if os.Remove(s.Path(stateFile)); n%4 == 0 {
			if _, err := s.View(); code(err) != Corrupt {
				t.Fatalf("byte %d, from the start: %v", n, err)
			}
		}
		s.Close()
	}
}

func TestWhatFollowsTheLastLine(t *testing.T) {
	_, after := three(t)
	whole := after[2][journalFile]
	for name, c := range map[string]struct {
		tail string
		code Code
	}{
		"half a line":                 {`{"v":2,"seq":4`, ""},
		"NULs":                        {strings.Repeat("\x00", 5000), ""},
		"a bad line":                  {"{}\n", ""},
		"an empty line":               {"\n", ""},
		"a bad line and another":      {"{}\n{}\n", Corrupt},
		"the last line once more":     {whole[len(after[1][journalFile]):], ""},
		"a line of a newer ferrus":    {newerLine(t, after[2][journalFile]), StoreError},
		"a torn line after a bad one": {"{}\n{", Corrupt},
	} {
		t.Run(name, func(t *testing.T) {
			s := lay(t, quick(t), after[2].with(journalFile, whole+c.tail))
			snap, err := s.View()
			if code(err) != c.code {
				t.Fatalf("%v, want code %q", err, c.code)
			}
			if got := read(t, s.Path(journalFile)); err != nil && got != whole+c.tail {
				t.Error("the evidence was touched")
			}
			if err == nil && (snap.Task.Seq != 3 || read(t, s.Path(journalFile)) != whole) {
				t.Errorf("it goes on from line %d", snap.Task.Seq)
			}
		})
	}
}

// newerLine returns a sound line of a version to come.
func newerLine(t *testing.T, journal string) string {
	t.Helper()
	top := must(decode([]byte(journal[strings.LastIndex(journal[:len(journal)-1], "\n")+1:]), 0))
	l := &Line{V: LineVersion + 1, Seq: top.Seq + 1, State: top.State, Prev: top.H}
	return string(must(l.encode()))
}

func TestALostOrSpoiledIndexIsMadeAgain(t *testing.T) {
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
			if c.violations > 0 && read(t, s.Path(logDir, editedName(stateFile, 4))) != c.index {
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
	_, after := three(t)
	for _, bytes := range []string{"9223372036854775807", "4611686018427387904", "99999"} {
		s := lay(t, quick(t), after[2].with(stateFile, `{"schema_version":2,"journal":{"bytes":`+bytes+`,"last":1,"h":"x"}}`))
		if _, err := s.View(); code(err) != Corrupt {
			t.Errorf("%s: %v", bytes, err)
		}
	}
}

func TestAnotherSchemaIsRefusedAndNeverOverwritten(t *testing.T) {
	_, after := three(t)
	for _, version := range []string{"1", "3"} {
		foreign := strings.Replace(after[2][stateFile], `"schema_version": 2`, `"schema_version": `+version, 1)
		s := lay(t, quick(t), after[2].with(stateFile, foreign))
		for what, err := range map[string]error{"View": second(s.View()), "Apply": second(apply(claim)(s)), "Renew": second(renew(s))} {
			wantCode(t, err, StoreError, "schema "+version)
			if read(t, s.Path(stateFile)) != foreign || read(t, s.Path(journalFile)) != after[2][journalFile] {
				t.Errorf("%s wrote over schema %s", what, version)
			}
		}
		// Without a journal, as upstream leaves it.
		if err := os.Remove(s.Path(journalFile)); err != nil {
			t.Fatal(err)
		}
		wantCode(t, second(s.View()), StoreError, "schema "+version)
	}
}

func second(_ Snapshot, err error) error { return err }

func TestUnknownKeysAreKept(t *testing.T) {
	s := fresh(t, still())
	do(t, s, create, func(now Snapshot) (*Change, error) {
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
