package evidence

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/store"
)

// TestAFolderIsWrittenAnewOnlyIfItIsOurs, and of the same task; what others put there stays.
func TestAFolderIsWrittenAnewOnlyIfItIsOurs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	write := func(task string, names ...string) error {
		t.Helper()
		files := map[string][]byte{}
		for _, n := range names {
			files[n] = []byte(n + "\n")
		}
		_, err := Write(dir, task, files)
		return err
	}
	there := func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	}
	if err := write("t-1", "one", "sub/two"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mine"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := write("t-1", "one"); err != nil || !there("one") || there("sub/two") || !there("mine") {
		t.Errorf("%v; two there %v, mine there %v", err, there("sub/two"), there("mine"))
	}
	if err := write("t-2", "one"); !unfit(err) {
		t.Errorf("that of another task: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, sums)); err != nil {
		t.Fatal(err)
	}
	if err := write("t-1", "three"); !unfit(err) || there("three") {
		t.Errorf("one that is not ours: %v", err)
	}
	// One that was cut off before it was done is ours.
	if err := os.WriteFile(filepath.Join(dir, sums), []byte(sumsMark("t-1")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := write("t-1", "three"); err != nil {
		t.Error(err)
	}
	if err := writeOver(t, filepath.Join(dir, "three")); !unfit(err) {
		t.Errorf("a file: %v", err)
	}
}

// unfit reports whether Write refused a folder.
func unfit(err error) bool {
	var folder *FolderError
	return errors.As(err, &folder)
}

func writeOver(t *testing.T, path string) error {
	t.Helper()
	_, err := Write(path, "t-1", nil)
	return err
}

// TestAPathIsRelativeWhereverItStands, and no other name is touched.
func TestAPathIsRelativeWhereverItStands(t *testing.T) {
	for text, want := range map[string]string{
		"in /a/p.":                    "in ..",
		"/a/p/x:3 /a/p/y":             "./x:3 ./y",
		"/a/p:/a/p":                   ".:.",
		"/a/pq /a/p-2 /a/p_ /b/a/p":   "/a/pq /a/p-2 /a/p_ /b/a/p",
		`{"worktree":"/a/p","x":"é"}`: `{"worktree":".","x":"é"}`,
	} {
		if got := string(relative([]byte(text), "/a/p")); got != want {
			t.Errorf("%q is %q, not %q", text, got, want)
		}
	}
	if got := string(relative([]byte(`{"x":"C:\\p\\q"} C:\p\r`), `C:\p`)); got != `{"x":".\\q"} .\r` {
		t.Errorf("%s", got)
	}
	if got := string(relative([]byte("/x"), "/")); got != "/x" {
		t.Errorf("%s", got)
	}
}

// TestWhatAnAgentWritesIsNotObeyedByAForge: no table, no tag, nobody who is notified.
func TestWhatAnAgentWritesIsNotObeyedByAForge(t *testing.T) {
	got := cell("a|b <img> @you [x](y) `c`\n# d \x1b[31m")
	if strings.ContainsAny(got, "\n\x1b<") || strings.Contains(got, "@you") || strings.Contains(got, "a|b") || strings.Contains(got, "[x") && !strings.Contains(got, `\[x`) {
		t.Errorf("%q", got)
	}
	for line := range strings.Lines(literal("one\n\n## two\n@you\n")) {
		if line != "\n" && !strings.HasPrefix(line, "    ") {
			t.Errorf("%q", line)
		}
	}
}

// TestTimesAreThoseOfNoPlace: two people have the same evidence.
func TestTimesAreThoseOfNoPlace(t *testing.T) {
	was := time.Local
	time.Local = time.FixedZone("there", 9*60*60)
	defer func() { time.Local = was }()
	if got := stamp(time.Date(2026, 1, 2, 3, 4, 5, 6, time.Local)); got != "2026-01-01 18:04:05Z" {
		t.Error(got)
	}
}

// TestEachCheckHasTheVerdictOfItsOwnEnd: one that was given up is abandoned, and a rollback to before its end changes it
// no more.
func TestEachCheckHasTheVerdictOfItsOwnEnd(t *testing.T) {
	event := func(ev state.Event, id string, is state.CheckStatus) status.Event {
		return status.Event{Line: &store.Line{Event: ev, State: state.Task{Check: state.Check{ID: id, Status: is}}}}
	}
	got := checksOf([]status.Event{
		event(state.Claim, "", ""),
		event(state.CheckStarted, "k1", state.CheckRunning), event(state.CheckFailed, "k1", state.CheckRed),
		event(state.CheckStarted, "k2", state.CheckRunning), event(state.Progress, "k2", state.CheckRunning),
		event(state.CheckPassed, "k2", state.CheckGreen), event(state.Rollback, "k1", state.CheckRed),
		event(state.CheckStarted, "k3", state.CheckRunning), event(state.Claim, "k3", state.CheckAbandoned),
		event(state.CheckStarted, "k4", state.CheckRunning), event(state.Rollback, "k2", state.CheckGreen),
		event(state.CheckStarted, "k5", state.CheckRunning),
	})
	want := map[string]state.CheckStatus{"k1": state.CheckRed, "k2": state.CheckGreen, "k3": state.CheckAbandoned, "k4": state.CheckAbandoned,
		"k5": state.CheckRunning}
	if len(got) != len(want) {
		t.Errorf("%+v", got)
	}
	for _, c := range got {
		if c.verdict != want[c.id] {
			t.Errorf("%s is %s, not %s", c.id, c.verdict, want[c.id])
		}
	}
}

// TestNothingThatFollowsMovesTheEndOfATask: not the merge of another branch, nor the reset that clears it away.
func TestNothingThatFollowsMovesTheEndOfATask(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 1, 2, 3, minute, 0, 0, time.UTC) }
	began := &store.Line{Event: state.CreateTask, To: state.Executing}
	approved := &store.Line{Event: state.Approve, From: state.Reviewing, To: state.Complete}
	merged := &store.Line{Event: state.Merge, From: state.Complete, To: state.Complete}
	reopened := &store.Line{Event: state.Reopen, From: state.Complete, To: state.Addressing}
	reset := &store.Line{Event: state.Reset, To: state.Idle}
	for name, c := range map[string]struct {
		events []*store.Line
		last   state.State
		want   int // the event whose time is the end
	}{
		"approved":           {[]*store.Line{began, approved}, state.Complete, 1},
		"a branch is merged": {[]*store.Line{began, approved, merged, merged}, state.Complete, 1},
		"a reset follows":    {[]*store.Line{began, approved, merged, reset}, state.Complete, 1},
		"reopened":           {[]*store.Line{began, approved, merged, reopened, approved, merged}, state.Complete, 4},
		"given up":           {[]*store.Line{began, reset}, state.Executing, 1},
		"under way":          {[]*store.Line{began, approved, reopened}, state.Addressing, 2},
	} {
		d := &Report{last: store.Snapshot{Task: state.Task{State: c.last}}}
		for i, l := range c.events {
			timed := *l
			timed.At = at(i)
			d.events = append(d.events, status.Event{Line: &timed})
		}
		if got := d.ended(); !got.Equal(at(c.want)) {
			t.Errorf("%s: it ended at %v, not %v", name, got, at(c.want))
		}
	}
}
