package file

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// FuzzDecodeLine: a line that is read matches its hash, has only valid fields, and comes back as it is.
func FuzzDecodeLine(f *testing.F) {
	l := &store.Line{V: store.LineVersion, Seq: 1, Event: state.CreateTask, Docs: text(state.TaskDoc, "Build it.\n"), State: state.New(), Prev: store.Genesis}
	raw := must(l.Encode())
	f.Add(raw)
	f.Add(raw[:len(raw)-1])
	for _, spoil := range forgeries {
		bad := &store.Line{V: store.LineVersion, Seq: 1, Event: state.CreateTask, State: state.New(), Prev: store.Genesis}
		bad.State.Docs = map[state.Doc]state.Ref{}
		if spoil(bad); len(bad.Note)+len(bad.Req)+len(bad.Docs) < 1000 {
			f.Add(must(bad.Encode()))
		}
	}
	f.Add([]byte("{}\n"))
	f.Add([]byte("\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		l, err := store.Decode(raw, 7)
		if err != nil {
			return
		}
		if err := errors.Join(l.State.Valid(), l.Valid()); err != nil {
			t.Fatalf("it is taken: %v", err)
		}
		l.State.Offsets(func(field string, off int64) {
			if off < 0 || off > l.Off {
				t.Fatalf("%s is %d", field, off)
			}
		})
		if l.End != 7+int64(len(raw)) {
			t.Fatalf("%d bytes end at %d", len(raw), l.End)
		}
		sum := sha256.Sum256(raw[:bytes.LastIndex(raw, []byte(`,"h":"`))])
		if l.H != hex.EncodeToString(sum[:]) {
			t.Fatalf("%q is taken with a hash that is not its own", raw)
		}
		if again, err := store.Decode(must(l.Encode()), 7); err != nil || again.Seq != l.Seq || again.State.State != l.State.State {
			t.Fatalf("it does not come back: %v", err)
		}
	})
}

// FuzzStateFile puts anything in place of STATE.json: no acknowledged line may be lost over it.
func FuzzStateFile(f *testing.F) {
	base, err := os.MkdirTemp("", "ferrus")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { os.RemoveAll(base) })
	s := must2(Create(filepath.Join(base, ".ferrus"), still()))
	do(f, s, create)
	f.Add([]byte(read(f, s.Path(stateFile))))
	do(f, s, claim)
	files := pack(f, s.dir)
	s.Close()
	for _, seed := range []string{files[stateFile], "", "{}", `{"schema_version":2,"journal":{"bytes":9e18,"last":1}}`,
		`{"schema_version":2,"journal":{"bytes":-1,"last":-2}}`, `{"schema_version":3}`, `[1]`, "\x00"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s := lay(t, base, files.with(stateFile, string(raw)))
		defer s.Close()
		snap, err := s.View()
		switch {
		case err == nil && (snap.Task.Seq < 2 || snap.Task.Epoch != 1):
			t.Fatalf("%q: line %d is the newest", raw, snap.Task.Seq)
		case err != nil && code(err) != refusal.Corrupt && !errors.As(err, new(*state.SchemaError)):
			t.Fatalf("%q: %v", raw, err)
		}
		if now := peek(s, journalFile); now[:len(files[journalFile])] != files[journalFile] {
			t.Fatalf("%q: the journal was touched", raw)
		}
	})
}

func must2[T any](v T, _ bool, err error) T { return must(v, err) }
