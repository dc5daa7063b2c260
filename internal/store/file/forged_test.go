package file

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// forge returns the newest line of a journal after something was done to it, with hashes that are right.
func forge(t testing.TB, journal string, spoil func(l *store.Line)) string {
	t.Helper()
	off := strings.LastIndex(journal[:len(journal)-1], "\n") + 1
	top := must(store.Decode([]byte(journal[off:]), int64(off)))
	l := &store.Line{V: top.V, Seq: top.Seq + 1, At: top.At, Actor: top.Actor, Event: state.Progress, From: top.To, To: top.To, Epoch: top.Epoch,
		State: top.State.Clone(), Prev: top.H, Off: int64(len(journal))}
	l.State.Seq = l.Seq
	spoil(l)
	return string(must(l.Encode()))
}

// forgeries are fields with values that ferrus does not write. All of those of a task stand in the tests of package state.
var forgeries = map[string]func(l *store.Line){
	"task_id":          func(l *store.Line) { l.State.TaskID = "../../x*" },
	"check.log":        func(l *store.Line) { l.State.Check.Log = "../../x.log" },
	"submission.patch": func(l *store.Line) { l.State.Submission.Patch = "/etc/passwd" },
	"branch":           func(l *store.Line) { l.State.Branch = "../.." },
	"session":          func(l *store.Line) { l.State.Session = "../../x" },
	"base_tree":        func(l *store.Line) { l.State.BaseTree = "--output=x" },
	"set_up_tree":      func(l *store.Line) { l.State.SetUpTree = "--output=x" },
	"check_retries":    func(l *store.Line) { l.State.CheckRetries = -1 },
	"v":                func(l *store.Line) { l.V = 0 },
	"actor.role":       func(l *store.Line) { l.Actor.Role = "../x" },
	"actor.agent":      func(l *store.Line) { l.Actor.Agent = "a\nb" },
	"actor.session":    func(l *store.Line) { l.Actor.Session = "../../x" },
	"event":            func(l *store.Line) { l.Event = "Progress!" },
	"from":             func(l *store.Line) { l.From = "Pondering" },
	"to":               func(l *store.Line) { l.To = state.Complete },
	"seq":              func(l *store.Line) { l.State.Seq++ },
	"epoch":            func(l *store.Line) { l.Epoch++ },
	"back":             func(l *store.Line) { l.Back = l.Seq },
	"req":              func(l *store.Line) { l.Req = strings.Repeat("a", 4<<20+1) },
	"note":             func(l *store.Line) { l.Note = strings.Repeat("a", 4<<20+1) },
	"docs":             func(l *store.Line) { l.Docs = map[state.Doc]string{"../x": "y"} },
	"docs.TASK.md":     func(l *store.Line) { l.Docs = map[state.Doc]string{state.TaskDoc: strings.Repeat("a", maxView+1)} },
	"state.docs.TASK.md.off": func(l *store.Line) {
		l.State.Docs[state.TaskDoc] = state.Ref{Off: l.Off + 1, SHA256: store.Digest(nil)}
	},
	"state.pin.off":      func(l *store.Line) { l.State.Pin.Off = 1 << 40 },
	"state.progress.off": func(l *store.Line) { l.State.Progress = []state.Record{{Off: l.Off + 1}} },
}

// TestAForgedLineIsCorrupt, with right hashes, wherever it stands: at the end, where a torn line would be cut, and before
// others. The error names the field, and nothing is put right over it.
func TestAForgedLineIsCorrupt(t *testing.T) {
	t.Parallel()
	_, after := three(t)
	whole, cases := after[2], 0
	for field, spoil := range forgeries {
		bad := whole[journalFile] + forge(t, whole[journalFile], spoil)
		for name, journal := range map[string]string{
			"at the end":          bad,
			"before another":      bad + forge(t, whole[journalFile], func(*store.Line) {}),
			"after it a torn one": bad + `{"v":2,"seq"`,
		} {
			for _, index := range []string{whole[stateFile], ""} {
				if len(bad) > 1<<20 && (name != "at the end" || index == "") {
					continue // large ones once
				}
				cases++
				s := lay(t, t.TempDir(), whole.with(journalFile, journal).with(stateFile, index))
				_, err := s.View()
				wantCode(t, err, refusal.Corrupt, "its field "+field+" ")
				_, err = s.Apply(context.Background(), progress)
				wantCode(t, err, refusal.Corrupt, "its field "+field+" ")
				var last error
				for _, err := range s.History() {
					last = err
				}
				wantCode(t, last, refusal.Corrupt, "its field "+field+" ")
				_, err = s.LineAt(int64(len(whole[journalFile])))
				wantCode(t, err, refusal.Corrupt, "its field "+field+" ")
				if peek(s, journalFile) != journal {
					t.Errorf("%s %s: the journal was touched", field, name)
				}
				s.Close()
			}
		}
	}
	t.Logf("rig: cases=%d bad=0", cases)
}

// TestAnOffsetBeyondTheJournalIsNoPanic: wherever an offset of somebody else's leads.
func TestAnOffsetBeyondTheJournalIsNoPanic(t *testing.T) {
	t.Parallel()
	s, _ := three(t)
	for _, off := range []int64{-1, -1 << 62, 1, 1 << 40, 1<<63 - 1} {
		_, err := s.LineAt(off)
		wantCode(t, err, refusal.Corrupt)
		for _, err := range s.HistoryFrom(off) {
			wantCode(t, err, refusal.Corrupt)
		}
	}
}

// TestNothingUnreadableIsWritten: what decode would refuse, commit refuses.
func TestNothingUnreadableIsWritten(t *testing.T) {
	t.Parallel()
	s, _ := three(t)
	before := read(t, s.Path(journalFile))
	for name, c := range map[string]struct {
		want  refusal.Code
		spoil func(*store.Change)
	}{
		"a field":   {refusal.InvalidInput, func(c *store.Change) { c.Next.TaskID = "../x" }},
		"its actor": {refusal.InvalidInput, func(c *store.Change) { c.Actor.Session = "../x" }},
		"a long line": {refusal.TooLarge, func(c *store.Change) {
			c.Next.Extra = map[string]json.RawMessage{"x": json.RawMessage(`"` + strings.Repeat("a", store.MaxLine) + `"`)}
		}},
	} {
		_, err := s.Apply(context.Background(), func(now store.Snapshot) (*store.Change, error) {
			change, err := progress(now)
			if err == nil {
				c.spoil(change)
			}
			return change, err
		})
		if code(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if read(t, s.Path(journalFile)) != before {
		t.Error("the journal was touched")
	}
	do(t, s, progress)
}

// TestAForgedIndexIsMadeAgain: STATE.json is only a hint where the newest line is.
func TestAForgedIndexIsMadeAgain(t *testing.T) {
	t.Parallel()
	_, after := three(t)
	good := after[2]
	for _, c := range []struct{ old, new string }{
		{`"task_id": "`, `"task_id": "../../x*`},
		{`"epoch": `, `"epoch": -`},
		{`"bytes": `, `"bytes": -`},
		{`"last": `, `"last": 9`},
		{`"last": `, `"last": -9`},
		{`"state": "`, `"state": "Pondering`},
		{`"worktree"`, `"submission":{"patch":"/etc/passwd"},"worktree"`},
		{`"seq": `, `"branch": "../..", "seq": `},
	} {
		s := lay(t, t.TempDir(), good.with(stateFile, strings.Replace(good[stateFile], c.old, c.new, 1)))
		snap, err := s.View()
		if err != nil || snap.Task.Seq < 3 || snap.Task.TaskID != "t-20260102-120000-abcd" {
			t.Errorf("%s: %v, %v", c.new, snap.Task, err)
		}
		do(t, s, progress)
		if text := peek(s, stateFile); strings.Contains(text, "../") || strings.Contains(text, "passwd") || strings.Contains(text, "Pondering") {
			t.Errorf("%s: STATE.json is\n%s", c.new, text)
		}
		s.Close()
	}
}

// TestALargeFileIsNotSlurped: a control file of 5 GB that has no data is refused, whichever it is.
func TestALargeFileIsNotSlurped(t *testing.T) {
	for _, name := range []string{stateFile, journalFile, lockFile, string(state.TaskDoc), string(state.ReviewDoc), liveDir + "/s.lock"} {
		t.Run(name, func(t *testing.T) {
			s := fresh(t, still())
			do(t, s, create)
			f, err := os.OpenFile(s.Path(filepath.FromSlash(name)), os.O_RDWR|os.O_CREATE, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(f.Truncate(5<<30), f.Close()); err != nil {
				t.Skip(err)
			}
			allocated := allocation(func() {
				_, _ = s.View() // which looks at no document
				_, err = s.Apply(context.Background(), claim)
				for range s.History() {
				}
			})
			harmless := name == lockFile || strings.HasPrefix(name, liveDir)
			if harmless != (err == nil) || err != nil && !strings.Contains(err.Error(), name) {
				t.Errorf("the error is %v", err)
			}
			if allocated > 600<<20 {
				t.Errorf("%d MB were allocated", allocated>>20)
			}
		})
	}
}

// allocation is how many bytes do allocates.
func allocation(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
