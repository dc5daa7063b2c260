package postgres

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/postgrestest"
)

// reading is a decision that reads the machine in every way after a function has returned.
func reading(s *Store, ready func()) func(store.Snapshot) (*store.Change, error) {
	return func(now store.Snapshot) (*store.Change, error) {
		ready()
		s.Probe("5e55")
		if _, err := s.View(); err != nil {
			return nil, err
		}
		if _, err := s.LineOf(1); err != nil {
			return nil, err
		}
		return noted("reads")(now)
	}
}

// TestALateWriterOfAnOldEpoch writes nothing: its connection is silent while it decides, another one takes the work over, and then all that it
// sent arrives.
func TestALateWriterOfAnOldEpoch(t *testing.T) {
	t.Parallel()
	url := postgrestest.Database(t)
	successor := newMachine(t, connect(t, url, Options{}))
	for n := range 3 {
		p := postgrestest.NewProxy(t, url)
		old := open(t, connect(t, p.URL, Options{}), successor.name)
		hurry(old.db, 600*time.Millisecond) // its transaction may be silent for half of it
		epoch := insist(t, old, claim(note("old", n))).Task.Epoch
		silent := make(chan struct{})
		late := begin(old, func(now store.Snapshot) (*store.Change, error) {
			if now.Task.Epoch != epoch || now.Task.Session != note("old", n) {
				return nil, errRefused
			}
			p.Partition()
			close(silent)
			return noted(note("late", n))(now)
		})
		<-silent
		apply(t, successor, claim(note("new", n)))
		says(t, <-late, refusal.OutcomeUnknown)
		p.Heal()
		for err := error(nil); err != errRefused; { // a call has little time
			_, err = old.Apply(t.Context(), func(now store.Snapshot) (*store.Change, error) {
				if now.Task.Epoch != epoch {
					return nil, errRefused
				}
				return noted(note("late", n))(now)
			})
			if err == nil {
				t.Fatal("the old holder writes when its network is back")
			}
		}
		old.db.Close()
		if have := notes(t, successor); have[note("late", n)] != 0 || have[note("new", n)] != 1 {
			t.Errorf("lines %v", have)
		}
	}
}

// TestTheHeadIsAFenceWithoutTheLock: a write of what was read before another one changes nothing.
func TestTheHeadIsAFenceWithoutTheLock(t *testing.T) {
	t.Parallel()
	s := newMachine(t, connect(t, postgrestest.Database(t), Options{}))
	before := apply(t, s, claim("old"))
	old := head{seq: 1, epoch: 1, h: hash(before.Top)}
	apply(t, s, claim("new"))
	conn, err := s.db.write.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	for _, do := range []decision{writes(s, "late"), func(now store.Snapshot) (*writing, error) {
		after := now
		after.Lease.Until = time.Unix(1, 0)
		return &writing{before: now, after: after}, nil
	}} {
		w, err := do(before)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(t.Context(), "begin"); err != nil {
			t.Fatal(err)
		}
		if err := (&transition{s: s}).write(conn.Conn(), old, w); err == nil || !transient(err) {
			t.Errorf("a write of an old head: %v", err)
		}
	}
	if have := notes(t, s); len(have) != 2 || view(t, s).Lease.Until.Equal(time.Unix(1, 0)) {
		t.Errorf("lines %v", have)
	}
}

// TestARestoredBackup: who has read newer lines goes on from the older machine, and does not take it for its own.
func TestARestoredBackup(t *testing.T) {
	t.Parallel()
	url := postgrestest.Database(t)
	s := newMachine(t, connect(t, url, Options{}))
	fresh := open(t, connect(t, url, Options{}), s.name)
	apply(t, s, noted("first"))
	apply(t, s, claim("saved"))
	conn := postgrestest.Connect(t, url)
	execute := func(sql string) {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	execute("create schema backup; create table backup.head as table ferrus.head; create table backup.lease as table ferrus.lease; create table backup.journal as table ferrus.journal")
	apply(t, s, claim("holder"))
	apply(t, s, noted("lost with the disk"))
	view(t, fresh)
	execute("delete from ferrus.journal; delete from ferrus.head; delete from ferrus.lease;" +
		"insert into ferrus.head table backup.head; insert into ferrus.lease table backup.lease; insert into ferrus.journal table backup.journal")

	for _, m := range []*Store{s, fresh} {
		now := view(t, m)
		last, _ := m.Last()
		if now.Task.Seq != 2 || now.Task.Session != "saved" || last.Journal != now.Journal {
			t.Errorf("at line %d of %s; Last has line %d", now.Task.Seq, now.Task.Session, last.Task.Seq)
		}
	}
	// The same epoch once more, and another session.
	if got := apply(t, fresh, claim("other")); got.Task.Epoch != 2 {
		t.Errorf("epoch %d", got.Task.Epoch)
	}
	_, err := s.Apply(t.Context(), func(now store.Snapshot) (*store.Change, error) {
		if now.Task.Epoch == 2 && now.Task.Session != "holder" {
			return nil, errRefused
		}
		return noted("by the old holder")(now)
	})
	if err != errRefused {
		t.Errorf("the holder of lost lines: %v", err)
	}
	apply(t, s, noted("goes on"))
	if have := notes(t, s); len(have) != 4 || have["goes on"] != 1 {
		t.Errorf("lines %v", have)
	}

	// A database from which the machine is missing, as from an older backup.
	execute("delete from ferrus.journal; delete from ferrus.head; delete from ferrus.lease; delete from ferrus.post; delete from ferrus.machine")
	_, err = s.View()
	says(t, err, refusal.StoreGone)
	_, err = s.Apply(t.Context(), noted("gone"))
	says(t, err, refusal.StoreGone)
}

// TestAMachineThatWasRemoved is gone for all who have it open, also when another one has its name.
func TestAMachineThatWasRemoved(t *testing.T) {
	t.Parallel()
	d := connect(t, postgrestest.Database(t), Options{})
	s := newMachine(t, d)
	apply(t, s, noted("first"))
	if err := d.Remove(t.Context(), s.name); err != nil || s.InPlace() {
		t.Fatal("it is in its place: ", err)
	}
	_, err := d.Open(t.Context(), s.name, t.TempDir(), Opening{})
	says(t, err, refusal.NotInitialised, "ferrus branches")
	if err := d.Create(t.Context(), s.name, "test"); err != nil {
		t.Fatal(err)
	}
	_, err = s.View()
	says(t, err, refusal.StoreGone, "was removed", "ferrus branches")
	_, err = s.Apply(t.Context(), noted("gone"))
	says(t, err, refusal.StoreGone)
	_, err = s.Renew(t.Context(), func(now store.Snapshot) (store.Lease, error) { return now.Lease, nil })
	says(t, err, refusal.StoreGone)
	if snap := view(t, open(t, d, s.name)); snap.Task.Seq != 0 || s.InPlace() {
		t.Errorf("the new machine is at line %d", snap.Task.Seq)
	}

	// The journal of the old one is there.
	r, err := s.Bytes(0, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if raw, err := io.ReadAll(r); err != nil || !strings.Contains(string(raw), "first") {
		t.Errorf("%d bytes: %v", len(raw), err)
	}
}

// TestAProjectThatWasMoved is closed: nothing is written there, and no branch is made. A branch that is being made is not left behind.
func TestAProjectThatWasMoved(t *testing.T) {
	t.Parallel()
	url := postgrestest.Database(t)
	s := newMachine(t, connect(t, url, Options{}))
	apply(t, s, noted("first"))
	conn, making := postgrestest.Connect(t, url), postgrestest.Connect(t, url)
	if _, err := making.Exec(t.Context(), "set search_path = "+searchPath); err != nil {
		t.Fatal(err)
	}
	tx, err := making.Begin(t.Context())
	if err == nil {
		_, err = s.db.insertMachine(t.Context(), tx, Name{s.name.Project, "b"})
	}
	if err != nil {
		t.Fatal(err)
	}
	ends := map[string]store.Position{"": view(t, s).Journal}
	moving := make(started, 1)
	go func() { moving <- retired(context.Background(), s, ends) }()
	for !ask[bool](t, conn, "select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock')") {
		moving.still(t, "a branch is being made")
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	says(t, <-moving, refusal.StoreError, "meanwhile", "stop the agents")
	apply(t, s, noted("second"))

	ends = map[string]store.Position{"": view(t, s).Journal, "b": {H: ""}}
	if err := retired(t.Context(), s, ends); err != nil {
		t.Fatal(err)
	}
	says(t, forkOf(t, s, "c"), refusal.NotInitialised, "store move --files finishes")
	_, err = s.Apply(t.Context(), noted("late"))
	says(t, err, refusal.StoreGone)
	_, err = s.View()
	says(t, err, refusal.StoreGone)
	if err := retired(t.Context(), s, ends); err != nil { // by a move that was cut off
		t.Error(err)
	}
}

// retired moves the project of a machine to files of this computer. What is at work is an error.
func retired(ctx context.Context, s *Store, ends map[string]store.Position) error {
	alive := func(branch, session string) bool { return s.sessions.Probe(session) == lease.Alive }
	busy, err := s.db.Retire(ctx, s.name.Project, ends, alive)
	if len(busy) > 0 {
		err = fmt.Errorf("at work: %+v", busy)
	}
	return err
}
