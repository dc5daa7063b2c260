package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/postgrestest"
)

var errRefused = errors.New("refused")

// newName is the name of a project's machine.
func newName() Name { return Name{Project: uuid.New()} }

// newMachine makes a machine without events and opens it.
func newMachine(t testing.TB, d *Database) *Store {
	t.Helper()
	name := newName()
	if err := d.Create(t.Context(), name, "test"); err != nil {
		t.Fatal(err)
	}
	return open(t, d, name)
}

// open opens a machine in a folder of its own, as on another computer.
func open(t testing.TB, d *Database, name Name) *Store {
	t.Helper()
	s, err := d.Open(t.Context(), name, t.TempDir(), Opening{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// noted is a decision for an event with a note.
func noted(note string) func(store.Snapshot) (*store.Change, error) {
	return func(now store.Snapshot) (*store.Change, error) {
		return &store.Change{Event: "repair", Next: now.Task.Clone(), Note: note}, nil
	}
}

// claim is a decision to take the work from whoever has it, in a new epoch.
func claim(session string) func(store.Snapshot) (*store.Change, error) {
	return func(now store.Snapshot) (*store.Change, error) {
		next := now.Task.Clone()
		next.Epoch++
		next.ClaimedBy, next.Session = "executor:test:1", session
		return &store.Change{Event: "claim", Next: next, Note: session}, nil
	}
}

// nothing is a decision to leave the machine as it is.
func nothing(store.Snapshot) (*store.Change, error) { return nil, nil }

// apply applies a change.
func apply(t testing.TB, s *Store, decide func(store.Snapshot) (*store.Change, error)) store.Snapshot {
	t.Helper()
	snap, err := s.Apply(t.Context(), decide)
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// view reads a machine.
func view(t testing.TB, s *Store) store.Snapshot {
	t.Helper()
	snap, err := s.View()
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// notes reads all lines, which it verifies, and returns how many there are with each note.
func notes(t testing.TB, s *Store) map[string]int {
	t.Helper()
	count, lines := map[string]int{}, uint64(0)
	var last *store.Line
	for l, err := range s.History() {
		if err != nil {
			t.Fatal(err)
		}
		lines++
		count[l.Note]++
		last = l
	}
	if snap := view(t, s); snap.Task.Seq != lines || last != nil && (last.H != snap.Journal.H || last.End != snap.Journal.Bytes) {
		t.Fatalf("%d lines, the machine is at line %d", lines, snap.Task.Seq)
	}
	return count
}

// code returns the code of a store's error, "" for another.
func code(err error) refusal.Code {
	var e *refusal.RefusedError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// says checks the code of an error, and that its text has some words.
func says(t testing.TB, err error, want refusal.Code, words ...string) {
	t.Helper()
	if code(err) != want {
		t.Errorf("%v, want %s", err, want)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%v does not say %q", err, w)
		}
	}
}

// ask returns the answer to a query with one value.
func ask[T any](t testing.TB, conn *pgx.Conn, query string, args ...any) (answer T) {
	t.Helper()
	if err := conn.QueryRow(context.Background(), query, args...).Scan(&answer); err != nil {
		t.Fatalf("%v in %s", err, query)
	}
	return answer
}

// until asks until the answer is true.
func until(t testing.TB, conn *pgx.Conn, query string, args ...any) {
	t.Helper()
	for end := time.Now().Add(kit.Patience); !ask[bool](t, conn, query, args...); ask[string](t, conn, "select pg_sleep(0.002)::text") {
		if time.Now().After(end) {
			t.Fatalf("never: %s", query)
		}
	}
}

// lost waits until the database takes the computer of a machine for lost.
func lost(t testing.TB, m *Store) {
	t.Helper()
	conn := postgrestest.Connect(t, m.db.config.ConnString())
	const left = "select coalesce(extract(epoch from max(until) - clock_timestamp()), 0)::float8 from ferrus.node where id = $1"
	for wait := 0.001; wait > 0; wait = ask[float64](t, conn, left, m.db.opts.Node) {
		ask[string](t, conn, "select pg_sleep($1)::text", wait)
	}
}

// rung waits for a notification.
func rung(t testing.TB, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(kit.Patience / 2):
		t.Fatal("nobody rings")
	}
}

// waitsForStandby returns the process of a call's commit that waits for the standby, which is not that of an earlier commit.
func waitsForStandby(t testing.TB, conn *pgx.Conn, call started, but int) int {
	t.Helper()
	for {
		if pid := ask[int](t, conn, "select coalesce(max(pid), 0) from pg_stat_activity where wait_event = 'SyncRep' and pid <> $1", but); pid != 0 {
			return pid
		}
		call.still(t, "its commit does not wait for the standby")
	}
}

// hurry lets the calls of a database wait less long than it waited when it connected. It has made no transition yet. Its connections are made anew.
func hurry(d *Database, wait time.Duration) {
	d.opts.Wait = wait
	d.reconnect()
}

// insist applies until that succeeds: on a busy computer a hurried call has too little time.
func insist(t testing.TB, s *Store, decide func(store.Snapshot) (*store.Change, error)) store.Snapshot {
	t.Helper()
	for {
		snap, err := s.Apply(t.Context(), decide)
		if err == nil {
			return snap
		}
		if t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
}

// databaseOf is the name of the database in a URL.
func databaseOf(t testing.TB, url string) string {
	t.Helper()
	conf, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	return conf.Database
}

// started is what a call in the background has returned.
type started chan error

// begin applies in the background.
func begin(s *Store, decide func(store.Snapshot) (*store.Change, error)) started {
	done := make(started, 1)
	go func() {
		_, err := s.Apply(context.Background(), decide)
		done <- err
	}()
	return done
}

// still fails the test if the call has ended.
func (c started) still(t testing.TB, what string) {
	t.Helper()
	select {
	case err := <-c:
		t.Fatalf("%s, and it has returned: %v", what, err)
	default:
	}
}

// pair starts a primary and its standby with a machine. Calls wait for as long as a test may take.
func pair(t testing.TB, o Options) (*postgrestest.Pair, *Store) {
	t.Helper()
	p := postgrestest.NewPair(t, postgrestest.Options{})
	return p, newMachine(t, connect(t, p.Database(t), o))
}

func note(n ...any) string { return fmt.Sprint(n...) }
