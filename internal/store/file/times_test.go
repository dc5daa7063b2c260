package file

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// TestATimeIsWrittenWithThreeDigits, in the journal and in STATE.json; and a line of an older ferrus, which left trailing
// zeros out, is read and verified as it is.
func TestATimeIsWrittenWithThreeDigits(t *testing.T) {
	t.Parallel()
	when := time.Date(2026, 1, 2, 3, 4, 5, 100e6, time.UTC)
	l := &store.Line{V: store.LineVersion, Seq: 1, At: when, Actor: store.Actor{Role: state.Human, Agent: "human"}, Event: state.Violation, From: state.Idle, To: state.Idle,
		Note: `"at":"2026-01-02T03:04:05Z","actor":`, State: state.New(), Prev: store.Genesis}
	l.State.Seq, l.State.UpdatedAt, l.State.Since = 1, when, when.Truncate(time.Second)
	raw, err := l.Encode()
	if err != nil {
		t.Fatal(err)
	}
	times := regexp.MustCompile(`"(at|since|updated_at|lease_until)": ?"2026-01-02T03:04:05\.\d{3}Z"`)
	if n := len(times.FindAll(raw, -1)); n != 3 || !bytes.Contains(raw, []byte(`\"at\":\"2026-01-02T03:04:05Z\"`)) {
		t.Errorf("%d times in %s", n, raw)
	}
	if back, err := store.Decode(raw, 0); err != nil || !back.At.Equal(when) || back.Note != l.Note {
		t.Errorf("read back: %+v, %v", back, err)
	}
	snap := store.At(l)
	snap.Lease.Until = when
	if idx, err := indexOf(snap); err != nil || len(times.FindAll(idx.raw, -1)) != 3 {
		t.Errorf("STATE.json: %v\n%s", err, idx.raw)
	}
	// As an older ferrus wrote it.
	old := strings.NewReplacer("05.100Z", "05.1Z", "05.000Z", "05Z").Replace(string(raw))
	head := old[:len(old)-len(`,"h":"`)-64-len("\"}\n")]
	old = head + `,"h":"` + store.Digest([]byte(head)) + "\"}\n"
	dir := t.TempDir()
	s, _, err := Create(dir+"/.ferrus", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := os.WriteFile(s.Path(journalFile), []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, err := range s.History() {
		if err != nil || !line.At.Equal(when) {
			t.Errorf("an older line: %+v, %v", line, err)
		}
	}
	now, err := s.View()
	if kept, _ := os.ReadFile(s.Path(journalFile)); err != nil || now.Task.Seq != 1 || string(kept) != old {
		t.Errorf("an older journal: %+v, %v\n%s", now.Task, err, kept)
	}
}
