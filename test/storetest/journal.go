package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

var (
	noon       = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	errRefused = errors.New("refused")
)

// written makes a machine with some lines, one of which has a document.
func written(t testing.TB, k Kind) (Place, store.Machine) {
	p := k.New(t)
	m := k.open(t, p)
	for n := range 9 {
		apply(t, m, func(now store.Snapshot) (*store.Change, error) {
			c, err := noted(fmt.Sprint("line ", n+1))(now)
			if n == 3 {
				c.Docs = map[state.Doc]string{state.TaskDoc: "Build \"it\" — <well> & soon.\n"}
			}
			return c, err
		})
	}
	return p, m
}

// export reads the bytes of a journal.
func export(t testing.TB, m store.Machine) []byte {
	t.Helper()
	r, err := m.Bytes(0, view(t, m).Journal.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	raw, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// exports carries a journal to another machine: the bytes are the same, and so is everything that is read.
func exports(t *testing.T, k Kind) {
	p, m := written(t, k)
	raw := export(t, m)
	to, err := p.Import(t, raw)
	if err != nil {
		t.Fatal(err)
	}
	copied := k.open(t, to)
	if again := export(t, copied); !bytes.Equal(again, raw) {
		t.Errorf("%d bytes, again %d, not the same", len(raw), len(again))
	}
	if one, two := view(t, m), view(t, copied); one.Journal != two.Journal || one.Task.Seq != two.Task.Seq || len(history(t, copied)) != 9 {
		t.Errorf("%+v and %+v", one.Journal, two.Journal)
	}
	apply(t, copied, noted("and goes on"))
	history(t, copied)
	if _, err := m.Bytes(0, 0); err != nil {
		t.Errorf("no bytes: %v", err)
	}
	part, err := m.Bytes(history(t, m)[2].Off, history(t, m)[4].Off)
	if err != nil {
		t.Fatal(err)
	}
	defer part.Close()
	if got, err := io.ReadAll(part); err != nil || !bytes.Equal(got, raw[history(t, m)[2].Off:history(t, m)[4].Off]) {
		t.Errorf("a part: %d bytes, %v", len(got), err)
	}
}

// altered changes a byte of each line in turn. Whoever reads the line says so.
func altered(t *testing.T, k Kind) {
	p, m := written(t, k)
	raw := export(t, m)
	lines := history(t, m)
	m.Close()
	for n, l := range lines {
		p.Alter(t, l.Off)
		m, err := k.Open(p.Address)
		if err == nil {
			if _, err = m.LineAt(l.Off); code(err) != refusal.Corrupt {
				t.Errorf("line %d was altered and is read: %v", l.Seq, err)
			}
			err = nil
			seen := 0
			for _, err = range m.History() {
				if err == nil {
					seen++
				}
			}
			if seen != n {
				t.Errorf("line %d was altered, and %d lines of the history are read", l.Seq, seen)
			}
			m.Close()
		}
		if code(err) != refusal.Corrupt {
			t.Errorf("line %d was altered: %v", l.Seq, err)
		}
		p.Alter(t, l.Off)
	}
	for _, bad := range [][]byte{raw[:len(raw)-1], bytes.Replace(raw, []byte("line 5"), []byte("line 6"), 1), append(bytes.Clone(raw), "{}\n"...)} {
		to, err := p.Import(t, bad)
		if err == nil {
			var again store.Machine
			if again, err = k.Open(to.Address); err == nil {
				for _, err = range again.History() {
				}
				again.Close()
			}
		}
		if code(err) != refusal.Corrupt && len(bad) >= len(raw) {
			t.Errorf("%d bytes of %d were imported: %v", len(bad), len(raw), err)
		}
	}
}

// texts keeps large and strange ones.
func texts(t *testing.T, k Kind) {
	p := k.New(t)
	m := k.open(t, p)
	for _, text := range []string{strings.Repeat("a", store.MaxDoc), "a\n\tb  c\n\n", "\u65e5\u672c \U0001F600 \\u0000 \\\\ \"", "null", "'; drop table journal; --"} {
		apply(t, m, func(now store.Snapshot) (*store.Change, error) {
			c, err := count(now)
			c.Docs = map[state.Doc]string{state.TaskDoc: text}
			return c, err
		})
		got, err := store.Text(k.open(t, p), view(t, m), state.TaskDoc)
		if err != nil || got != text {
			t.Errorf("%.20q became %.20q: %v", text, got, err)
		}
	}
	history(t, m)
}

// refused tries what no journal may have. Nothing is written.
func refused(t *testing.T, k Kind) {
	m := k.open(t, k.New(t))
	apply(t, m, noted("first"))
	for name, spoil := range map[string]func(*store.Change){
		"an unknown state":         func(c *store.Change) { c.Next.State = "asleep" },
		"a pause of another state": func(c *store.Change) { c.Next.Paused = []state.Pause{{ID: "q1", State: "asleep"}} },
		"the name of a path":       func(c *store.Change) { c.Next.TaskID = "../x" },
		"the session of a path":    func(c *store.Change) { c.Actor.Session = "../x" },
	} {
		_, err := m.Apply(context.Background(), func(now store.Snapshot) (*store.Change, error) {
			c, err := count(now)
			spoil(c)
			return c, err
		})
		if code(err) != refusal.InvalidInput {
			t.Errorf("%v for %s", err, name)
		}
	}
	// What is no text is stored without what is none.
	apply(t, m, noted("a\x00b\xffc\u202ed"))
	lines := history(t, m)
	if len(lines) != 2 || strings.ContainsAny(lines[1].Note, "\x00\u202e") || !utf8.ValidString(lines[1].Note) {
		t.Errorf("%d lines, the last with the note %q", len(lines), lines[len(lines)-1].Note)
	}
}

// decideFails returns errors and nil changes.
func decideFails(t *testing.T, k Kind) {
	m := k.open(t, k.New(t))
	before := apply(t, m, noted("first"))
	if _, err := m.Apply(context.Background(), func(store.Snapshot) (*store.Change, error) { return nil, errRefused }); err != errRefused {
		t.Errorf("an error: %v", err)
	}
	snap, err := m.Apply(context.Background(), func(now store.Snapshot) (*store.Change, error) {
		if now.Journal != before.Journal {
			t.Errorf("decides at %+v", now.Journal)
		}
		return nil, nil
	})
	if err != nil || snap.Journal != before.Journal || len(history(t, m)) != 1 {
		t.Errorf("no change: %+v, %v", snap.Journal, err)
	}
	apply(t, m, noted("second"))
}

// decideReads lets decisions read the machine and probe sessions, more at a time than any store has connections.
func decideReads(t *testing.T, k Kind) {
	p := k.New(t)
	done := make(chan error)
	const machines = 12
	for range machines {
		m := k.open(t, p)
		go func() {
			_, err := m.Apply(context.Background(), func(now store.Snapshot) (*store.Change, error) {
				m.Probe("5e55")
				if now.Top != nil {
					if l, err := m.LineAt(now.Journal.Last); err != nil || l.H != now.Journal.H {
						return nil, fmt.Errorf("the newest line: %v", err)
					}
				}
				return count(now)
			})
			done <- err
		}()
	}
	for range machines {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// finding reads lines by their numbers, places and properties.
func finding(t *testing.T, k Kind) {
	p, m := written(t, k)
	lines := history(t, m)
	for _, l := range lines {
		at, err := m.LineAt(l.Off)
		of, err2 := m.LineOf(l.Seq)
		first, err3 := m.First(func(x *store.Line) bool { return x.Seq >= l.Seq })
		if errors.Join(err, err2, err3) != nil || at.H != l.H || of.H != l.H || first.H != l.H {
			t.Errorf("line %d: %v, %v, %v", l.Seq, err, err2, err3)
		}
		from := l.Seq
		for x, err := range m.HistoryFrom(l.Off) {
			if err != nil || x.Seq != from {
				t.Fatalf("from line %d: %v, %v", l.Seq, x, err)
			}
			from++
		}
		if from != uint64(len(lines)+1) {
			t.Errorf("from line %d: ended before %d", l.Seq, from)
		}
	}
	for n := range 12 {
		want := lines[max(0, len(lines)-n):]
		for l, err := range m.Newest(n) {
			if err != nil || len(want) == 0 || l.H != want[0].H {
				t.Fatalf("the newest %d: %v, %v", n, l, err)
			}
			want = want[1:]
		}
		if len(want) != 0 {
			t.Errorf("the newest %d lack %d", n, len(want))
		}
	}
	for _, seq := range []uint64{0, 10, 1 << 62} {
		if l, err := m.LineOf(seq); l != nil || err != nil {
			t.Errorf("line %d: %v, %v", seq, l, err)
		}
	}
	if l, err := m.First(func(*store.Line) bool { return false }); l != nil || err != nil {
		t.Errorf("a line that is not there: %v, %v", l, err)
	}
	for _, off := range []int64{1, lines[8].End, 1 << 40, -1} {
		if l, err := m.LineAt(off); err == nil {
			t.Errorf("a line at byte %d: %v", off, l)
		}
	}
	last, ok := m.Last()
	if again := view(t, k.open(t, p)); !ok || last.Journal != again.Journal || !m.InPlace() || m.Locks() == "" {
		t.Errorf("last %+v, again %+v", last.Journal, again.Journal)
	}
	empty := k.open(t, k.New(t))
	for l, err := range empty.History() {
		t.Errorf("a journal without lines: %v, %v", l, err)
	}
	if snap := view(t, empty); snap.Top != nil || snap.Task.Seq != 0 || snap.Task.State != state.New().State {
		t.Errorf("a machine without events: %+v", snap)
	}
}

// cancelled calls change nothing.
func cancelled(t *testing.T, k Kind) {
	m := k.open(t, k.New(t))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := m.Apply(ctx, count); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if got := view(t, m); got.Task.Seq != 0 {
		t.Errorf("it wrote %d lines", got.Task.Seq)
	}
	ctx, cancel = context.WithCancel(context.Background())
	defer cancel()
	snap, err := m.Apply(ctx, func(now store.Snapshot) (*store.Change, error) {
		cancel()
		return count(now)
	})
	if wrote := len(history(t, m)); err == nil && (wrote != 1 || snap.Task.Seq != 1) || err != nil && (wrote != 0 || !errors.Is(err, context.Canceled)) {
		t.Errorf("cancelled while it decides: %d lines, %v", wrote, err)
	}
}

// reopened reads a machine that another one has written.
func reopened(t *testing.T, k Kind) {
	p, m := written(t, k)
	snap := view(t, m)
	other := k.open(t, p)
	if _, ok := other.Last(); ok {
		t.Error("it has read the machine without being asked")
	}
	if got := view(t, other); got.Journal != snap.Journal || got.Top == nil || got.Top.H != snap.Top.H {
		t.Errorf("%+v, want %+v", got.Journal, snap.Journal)
	}
	apply(t, other, noted("other"))
	if got := apply(t, m, noted("and this")); got.Task.Seq != 11 {
		t.Errorf("line %d", got.Task.Seq)
	}
}
