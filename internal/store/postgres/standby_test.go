package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/postgrestest"
)

// TestNothingIsAcknowledgedWithoutTheStandby lets commits wait for a standby that is frozen, and ends their waiting in every way that
// PostgreSQL has. None is an acknowledgement: Apply goes on to wait, and returns when the standby has what it says.
func TestNothingIsAcknowledgedWithoutTheStandby(t *testing.T) {
	t.Parallel()
	p, s := pair(t, Options{Wait: time.Minute})
	super := p.Primary.Superuser(t)
	apply(t, s, noted("first"))
	for _, end := range []string{"pg_cancel_backend", "pg_terminate_backend"} {
		p.Standby.Stop(t)
		done := begin(s, noted(end))
		pid := waitsForStandby(t, super, done, 0)
		ask[bool](t, super, "select "+end+"($1)", pid)
		waitsForStandby(t, super, done, pid)
		p.Standby.Cont(t)
		if err := <-done; err != nil {
			t.Errorf("%s: %v", end, err)
		}
	}
	have := notes(t, s)
	if have["pg_cancel_backend"] != 1 || have["pg_terminate_backend"] != 1 {
		t.Errorf("lines %v", have)
	}

	// One that is not acknowledged in time is seen by readers, and still nobody says that it stands.
	hasty := open(t, connect(t, s.db.config.ConnString(), Options{}), s.name)
	hurry(hasty.db, 500*time.Millisecond)
	insist(t, hasty, noted("in time"))
	p.Standby.Stop(t)
	_, err := hasty.Apply(t.Context(), noted("late"))
	says(t, err, refusal.OutcomeUnknown, "may or may not be saved")
	for view(t, s).Top.Note != "late" { // pgx asks the server to cancel it
	}
	_, err = hasty.Apply(t.Context(), nothing)
	says(t, err, refusal.OutcomeUnknown)
	_, err = hasty.Renew(t.Context(), func(now store.Snapshot) (store.Lease, error) { return now.Lease, nil })
	if err != nil {
		t.Errorf("a renewal, which waits for no standby: %v", err)
	}
	err = hasty.Fork(t.Context(), store.Branch{Name: "b", Draft: t.TempDir(), Dir: t.TempDir() + "/b"}, view(t, s).Journal.Bytes, noted("forked"))
	says(t, err, refusal.OutcomeUnknown)
	says(t, hasty.db.Create(t.Context(), newName(), "test"), refusal.OutcomeUnknown)
	says(t, hasty.db.Remove(t.Context(), s.name), refusal.OutcomeUnknown)
	p.Standby.Cont(t)
}

// TestRingsAndBeatsDoNotWaitForTheStandby: a standby that is away for longer than the computers may be silent makes none of them lost.
func TestRingsAndBeatsDoNotWaitForTheStandby(t *testing.T) {
	t.Parallel()
	p, s := pair(t, Options{})
	c := make(chan struct{}, 1)
	s.db.watch(s.id, c)
	rung(t, c) // it listens
	other := connect(t, s.db.config.ConnString(), Options{Node: there, Wait: kit.Patience})
	if err := other.heard(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.Standby.Stop(t)
	defer p.Standby.Cont(t)
	other.changed(s.id)
	rung(t, c)
	super := postgrestest.Connect(t, s.db.config.ConnString())
	was := ask[time.Time](t, super, "select until from ferrus.node where id = $1", there)
	ctx, cancel := context.WithTimeout(t.Context(), kit.Patience/4)
	defer cancel()
	if err := other.heard(ctx); err != nil {
		t.Fatal(err)
	}
	until(t, super, "select until > $2 from ferrus.node where id = $1", there, was)
}

// TestReadsWhileServersChangePlaces succeed, whether the old primary was killed or is silent.
func TestReadsWhileServersChangePlaces(t *testing.T) {
	t.Parallel()
	p := postgrestest.NewPair(t, postgrestest.Options{})
	url := p.Database(t)
	s, far := newMachine(t, connect(t, url, Options{Wait: 8 * time.Second})), connect(t, url, Options{Wait: 8 * time.Second})
	nobody := func(string, string) bool { return false }
	want := ""
	for _, end := range []func(testing.TB){p.Primary.Kill, p.Standby.Stop} { // the standby is the primary by then
		want += "x"
		apply(t, s, noted(want))
		if _, err := far.Working(t.Context(), s.name.Project, nobody); err != nil {
			t.Error(err)
		}
		end(t)
		p.Promote(t)
		if busy, err := far.Working(t.Context(), s.name.Project, nobody); len(busy) != 0 || err != nil {
			t.Errorf("at work: %v, %v", busy, err)
		}
		if got := view(t, s); got.Top.Note != want {
			t.Errorf("read %q, want %q", got.Top.Note, want)
		}
		p.Rebuild(t)
	}
	apply(t, s, noted("last"))
	if err := s.db.Close(); err != nil {
		t.Error(err)
	}
}

// TestAServerThatIsDown is named as the cause, with what to do.
func TestAServerThatIsDown(t *testing.T) {
	t.Parallel()
	server := postgrestest.NewServer(t, postgrestest.Options{})
	url := server.Database(t)
	s := newMachine(t, connect(t, url, Options{}))
	hurry(s.db, 300*time.Millisecond)
	insist(t, s, noted("first"))
	server.Kill(t)
	const remedy = "nothing was changed: check that the server runs and can be reached, then try again"
	_, err := s.View()
	says(t, err, refusal.StoreError, remedy)
	_, err = s.Apply(t.Context(), noted("second"))
	says(t, err, refusal.StoreError, remedy)
	_, err = s.Announce("5e55")
	says(t, err, refusal.StoreError, remedy)
	_, err = Connect(t.Context(), url, options(Options{}))
	says(t, err, refusal.StoreError, remedy)
	server.Start(t)
	insist(t, s, noted("second"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Connect(ctx, url, options(Options{})); err == nil {
		t.Error("a connection of a call that was cancelled")
	}
}
