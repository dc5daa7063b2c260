package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/postgrestest"
	"github.com/ferrus-go/ferrus/test/storetest"
)

// TestSessionsOfAnotherComputer are alive, lost and alive again with their computer, and gone when it says so.
func TestSessionsOfAnotherComputer(t *testing.T) {
	t.Parallel()
	url := postgrestest.Database(t)
	s := newMachine(t, connect(t, url, Options{}))
	far := func() (*Database, *Store) {
		d := connect(t, url, Options{Node: there, TTL: 2 * time.Second})
		m, err := d.Open(t.Context(), s.name, t.TempDir(), Opening{})
		if err != nil {
			t.Fatal(err)
		}
		return d, m
	}
	d, m := far()
	closed, left := uuid.NewString(), uuid.NewString()
	own, err := m.Announce(closed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Announce(left); err != nil {
		t.Fatal(err)
	}
	if got := s.Probe(closed); got != lease.Alive {
		t.Errorf("a session that was announced is %s", got)
	}
	if done := s.SessionDone(closed); done != nil {
		t.Error("the end of a session elsewhere can be waited for")
	}
	if _, err := s.Announce(closed); err == nil {
		t.Error("it was announced here as well")
	}
	if err := own.Close(); err != nil {
		t.Error(err)
	}
	if got := s.Probe(closed); got != lease.Gone {
		t.Errorf("a session that was closed is %s", got)
	}
	conn := postgrestest.Connect(t, url)
	heard := ask[time.Time](t, conn, "select until from ferrus.node where id = $1", there)
	until(t, conn, "select until > $2 from ferrus.node where id = $1", there, heard) // again and again

	d.Close()
	until(t, conn, "select until < clock_timestamp() from ferrus.node where id = $1", there)
	if got := s.Probe(left); got != lease.Lost {
		t.Errorf("a session of a computer that is lost is %s", got)
	}
	if got := s.Probe(closed); got != lease.Gone {
		t.Errorf("a session that was closed is %s when its computer is lost", got)
	}
	_, m = far()
	if _, err := m.Announce(uuid.NewString()); err != nil {
		t.Fatal(err)
	}
	if got := s.Probe(left); got != lease.Alive {
		t.Errorf("a session of a computer that was heard of again is %s", got)
	}
}

// TestAKilledSessionIsToldToOthers, by a process of its computer that waits for its end, and by one that has a session of its own and waits
// for nothing.
func TestAKilledSessionIsToldToOthers(t *testing.T) {
	t.Parallel()
	announces := func(m *Store) {
		if _, err := m.Announce(uuid.NewString()); err != nil {
			t.Error(err)
		}
	}
	for name, notice := range map[string]func(m *Store, session string){
		"waited for": func(m *Store, session string) { <-m.SessionDone(session) },
		"swept":      func(m *Store, _ string) { announces(m) },
		"swept by a process that has another machine": func(m *Store, _ string) {
			d := connect(t, m.db.config.ConnString(), Options{TTL: time.Second, Folder: func(branch string) string {
				if branch == m.name.Branch {
					return m.sessions.Folder()
				}
				return ""
			}})
			announces(newMachine(t, d))
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := kind(postgrestest.Database(t)).New(t)
			session := uuid.NewString()
			killed := storetest.StartSession(t, p, session) // here
			a := parse(p.Address)
			elsewhere := open(t, connect(t, a.url, Options{Node: there}), a.name())
			m, err := connect(t, a.url, Options{TTL: time.Second}).Open(t.Context(), a.name(), a.dir, Opening{})
			if err != nil {
				t.Fatal(err)
			}
			if got := elsewhere.Probe(session); got != lease.Alive {
				t.Errorf("a session that lives is %s", got)
			}
			w := elsewhere.Watch()
			defer w.Close()
			killed()
			notice(m, session)
			for elsewhere.Probe(session) != lease.Gone {
				<-w.C
			}
		})
	}
}

// TestASessionThatIsNotAnnounced leaves nothing that others would believe.
func TestASessionThatIsNotAnnounced(t *testing.T) {
	t.Parallel()
	server := postgrestest.NewServer(t, postgrestest.Options{})
	s := newMachine(t, connect(t, server.Database(t), Options{}))
	hurry(s.db, 300*time.Millisecond)
	server.Kill(t)
	_, err := s.Announce("5e55")
	says(t, err, refusal.StoreError, "nothing was changed")
	if got := s.Probe("5e55"); got == lease.Alive {
		t.Error("it is alive")
	}
	if got := s.Probe("elsewhere"); got != lease.Unknown {
		t.Errorf("a session of which the database does not tell is %s", got)
	}
	server.Start(t)
	insist(t, s, noted("it is there"))
	own, err := s.Announce("5e55")
	if err != nil {
		t.Fatal(err)
	}
	s.db.Close()
	if err := own.Close(); err != nil { // its lock tells as much
		t.Error(err)
	}
	if got := s.Probe("5e55"); got != lease.Gone {
		t.Errorf("a session that ended after its database is %s", got)
	}
	if _, err := s.Apply(context.Background(), noted("late")); err == nil {
		t.Error("a closed database is written")
	}
}
