//go:build unix

package notify

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/project/agreement"
)

var eight = time.Date(2026, 1, 2, 8, 0, 0, 0, time.UTC)

// kept says of each item of a record whether its message is still to be sent.
func kept(r record) string {
	var all []string
	for _, e := range r.Entries {
		all = append(all, fmt.Sprintf("%s %v", e.ID, e.Message != nil))
	}
	return strings.Join(all, ", ")
}

// TestNoItemIsDroppedUntried: a newer one of its subject replaces an item that was tried over any channel, whatever came of that, and no other one.
func TestNoItemIsDroppedUntried(t *testing.T) {
	refused := errors.New("out of order")
	for name, c := range map[string]struct {
		before func(r *record)
		want   string
	}{
		"untried":                     {func(*record) {}, "q1 true, q2 true"},
		"sent":                        {func(r *record) { r.mark("q1", "a", nil, eight) }, "q1 false, q2 true"},
		"refused":                     {func(r *record) { r.mark("q1", "a", refused, eight) }, "q1 false, q2 true"},
		"sent once and refused once":  {func(r *record) { r.mark("q1", "a", nil, eight); r.mark("q1", "b", refused, eight) }, "q1 false, q2 true"},
		"of another subject, refused": {func(r *record) { r.Entries[0].Subject = "other"; r.mark("q1", "a", refused, eight) }, "q1 true, q2 true"},
	} {
		var r record
		if !r.put(item("q1"), eight) || r.put(item("q1"), eight) {
			t.Errorf("%s: the item is put twice, or never", name)
		}
		c.before(&r)
		if r.put(item("q2"), eight); kept(r) != c.want {
			t.Errorf("%s: %s, not %s", name, kept(r), c.want)
		}
	}
}

// TestARecordHasAnEnd: the oldest items are forgotten, and no newer ones.
func TestARecordHasAnEnd(t *testing.T) {
	var r record
	for n := range maxEntries + 2 {
		r.put(item(fmt.Sprint("q", n)), eight)
		if len(r.Entries) != min(n+1, maxEntries) {
			t.Fatalf("it has %d items after %d", len(r.Entries), n+1)
		}
	}
	if first, last := r.Entries[0].ID, r.Entries[maxEntries-1].ID; first != "q2" || last != fmt.Sprint("q", maxEntries+1) {
		t.Errorf("it has %s to %s", first, last)
	}
}

// TestALargeRecordIsReadAgain: the oldest items are forgotten if all of them do not fit.
func TestALargeRecordIsReadAgain(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".ferrus"), 0o700); err != nil {
		t.Fatal(err)
	}
	b := OpenOutbox(dir)
	put := func(n int) {
		err := b.update(func(r *record) bool {
			long := item(fmt.Sprint("q", n))
			long.Message.Text = strings.Repeat("x", maxRecord/4)
			return r.put(long, eight)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for n := range 6 {
		put(n)
		r, err := b.read()
		if err != nil {
			t.Fatal(err)
		}
		if last := r.Entries[len(r.Entries)-1].ID; last != fmt.Sprint("q", n) {
			t.Errorf("after %d the newest is %s", n, last)
		}
	}
}

// TestAnItemIsOwedUntilItIsOldOrTriedOften over each channel by itself, the oldest item first.
func TestAnItemIsOwedUntilItIsOldOrTriedOften(t *testing.T) {
	refused, list := errors.New("out of order"), []Channel{{Name: "a"}, {Name: "b"}}
	due := func(r *record, after time.Duration) string {
		if e := r.due(list, eight.Add(after)); e != nil {
			return e.ID
		}
		return ""
	}
	var r record
	r.put(item("q1"), eight)
	other := item("q2")
	other.Subject = "other"
	r.put(other, eight.Add(time.Hour))
	for after, want := range map[time.Duration]string{0: "q1", stale - 1: "q1", stale: "q2", stale + time.Hour - 1: "q2", stale + time.Hour: ""} {
		if got := due(&r, after); got != want {
			t.Errorf("after %v %q is due, not %q", after, got, want)
		}
	}
	r.mark("q1", "a", nil, eight)
	r.settle("q1", list)
	if got := due(&r, 0); got != "q1" {
		t.Errorf("sent over one channel, and %q is due", got)
	}
	for n := range maxTries {
		if got := due(&r, 0); got != "q1" {
			t.Fatalf("after %d tries %q is due", n, got)
		}
		r.mark("q1", "b", errCut, eight) // which is tried again at once
		r.settle("q1", list)
	}
	if kept(r) != "q1 false, q2 true" || due(&r, 0) != "q2" {
		t.Errorf("after the last try: %s", kept(r))
	}
	r.mark("q2", "a", refused, eight)
	if got := r.Entries[1].Tries["a"]; got.Count != 1 || !got.Next.Equal(eight.Add(firstRetry)) {
		t.Errorf("%+v", got)
	}
	if r.mark("q3", "a", refused, eight); len(r.Entries[0].Tries) != 0 || len(r.Entries[1].Tries) != 1 {
		t.Errorf("a try of no item counts: %+v", r.Entries)
	}
	r.mark("q1", "a", refused, eight)
	if len(r.Entries[0].Tries) != 0 {
		t.Error("a try of what is not to be sent counts")
	}
}

// TestWarningsNameWhatFailed when it was used last, if it is still used, with what tries it again. A record that cannot be read is one, too.
func TestWarningsNameWhatFailed(t *testing.T) {
	up, down, dir := newService(t), newService(t), project(t)
	urls := []string{up.urls().URLs[0], down.urls().URLs[1]}
	configured := func(urls ...string) {
		configure(t, dir, fmt.Sprintf("[notify]\nurls = [\"%s\"]\n", strings.Join(urls, `", "`)))
		must(t, agreement.Agree(dir))
	}
	warnings := func() []string {
		record, err := trust.Open(dir)
		must(t, err)
		return Warnings(dir, record, "exit 1")
	}
	configured(urls...)
	if list := warnings(); len(list) != 0 {
		t.Errorf("nothing was sent: %q", list)
	}
	down.answer(http.StatusServiceUnavailable)
	must(t, OpenOutbox(dir).Tell(t.Context(), Channels{Command: "exit 1", Dir: dir, URLs: urls}, item("q1")))
	list := warnings()
	if len(list) != 2 || !strings.HasPrefix(list[0], "notify: command failed at ") || !strings.HasPrefix(list[1], "notify: ntfy ") ||
		!strings.Contains(list[1], " failed at ") || !strings.HasSuffix(list[1], "; ferrus notify --test tries every channel") {
		t.Errorf("%q", list)
	}
	configured(urls[0])
	if list := warnings(); len(list) != 1 || !strings.HasPrefix(list[0], "notify: command failed") {
		t.Errorf("a channel that is not used any more: %q", list)
	}
	path := filepath.Join(dir, ".ferrus", "live", recordFile)
	must(t, os.WriteFile(path, []byte("{"), 0o600))
	if list := warnings(); len(list) != 1 || !strings.HasPrefix(list[0], "notify: ") || !strings.HasSuffix(list[0], "; remove "+path) {
		t.Errorf("the record is damaged: %q", list)
	}
}

// TestAWriteThatChangesNothingIsNone: who withdraws nothing makes no file, and leaves the record as it is.
func TestAWriteThatChangesNothingIsNone(t *testing.T) {
	s, dir := newService(t), project(t)
	b := OpenOutbox(dir)
	must(t, b.Withdraw("task"))
	must(t, b.Send(t.Context(), s.urls()))
	if entries, err := os.ReadDir(filepath.Join(dir, ".ferrus")); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
	must(t, b.Tell(t.Context(), s.urls(), item("q1")))
	path := filepath.Join(dir, ".ferrus", "live", recordFile)
	was, err := os.Stat(path)
	must(t, err)
	must(t, b.Withdraw("task")) // it is sent
	must(t, b.Tell(t.Context(), s.urls(), item("q1")))
	if is, err := os.Stat(path); err != nil || !os.SameFile(was, is) || !is.ModTime().Equal(was.ModTime()) || is.Mode().Perm() != 0o600 {
		t.Errorf("the record was written again: %v", err)
	}
}

// TestASenderThatCannotBeSaysSo, also to a caller that has posted the item beside its work. The item is sent by the next one.
func TestASenderThatCannotBeSaysSo(t *testing.T) {
	s, dir := newService(t), project(t)
	b, lock := OpenOutbox(dir), filepath.Join(dir, ".ferrus", "live", sendingLock)
	must(t, os.MkdirAll(lock, 0o700))
	for _, err := range []error{b.Tell(t.Context(), s.urls(), item("q1")), b.Send(t.Context(), s.urls())} {
		if err == nil || !strings.Contains(err.Error(), sendingLock) {
			t.Errorf("%v", err)
		}
	}
	s.want(t)
	must(t, os.Remove(lock))
	must(t, b.Send(t.Context(), s.urls()))
	s.want(t, "hook q1", "topic q1")
}

// TestAnItemHasTheIDOfItsEvent: a repetition is known by it, and what came before or after is another item.
func TestAnItemHasTheIDOfItsEvent(t *testing.T) {
	if got, want := TaskID("t-1", "question", "q2", eight.Add(time.Nanosecond).Local()), "t-1 question q2 2026-01-02T08:00:00.000000001Z"; got != want {
		t.Errorf("%q", got)
	}
	if got, want := TaskID("t-1", "failed", "", eight), "t-1 failed 2026-01-02T08:00:00Z"; got != want {
		t.Errorf("%q", got)
	}
	if got := TaskSubject("") + "|" + TaskSubject("a"); got != "branch |branch a" {
		t.Errorf("%q", got)
	}
}
