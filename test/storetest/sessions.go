package storetest

import (
	"context"
	"testing"

	"github.com/google/uuid"

	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/store"
)

// watching waits for changes of another process, and of this one, by a watcher alone.
func watching(t *testing.T, k Kind) {
	p := k.New(t)
	m := k.open(t, p)
	other := start(t, p, "count")
	w := m.Watch()
	defer w.Close()
	until := func(epoch uint64) {
		for view(t, m).Task.Epoch < epoch {
			<-w.C
		}
	}
	for n := range uint64(6) {
		if n%2 == 0 {
			other.must(t, "elsewhere")
		} else {
			apply(t, m, noted("here"))
		}
		until(n + 1)
	}
}

// sessions probes a session of another process through its life.
func sessions(t *testing.T, k Kind) {
	p := k.New(t)
	m := k.open(t, p)
	for _, id := range []string{uuid.NewString(), "../STATE", ""} {
		if got := m.Probe(id); got != lease.Unknown {
			t.Errorf("%q, which nobody announced, is %s", id, got)
		}
	}
	ended, killed := uuid.NewString(), uuid.NewString()
	one, two := start(t, p, "session"), start(t, p, "session")
	for id, proc := range map[string]process{ended: one, killed: two} {
		if got := proc.must(t, id); got != "announced" {
			t.Fatal(got)
		}
		if got := m.Probe(id); got != lease.Alive {
			t.Errorf("a session that lives is %s", got)
		}
		if _, err := m.Announce(id); err == nil {
			t.Error("a session was announced twice")
		}
		if got := m.Probe(id); got != lease.Alive {
			t.Errorf("a session that somebody else tried to announce is %s", got)
		}
	}
	done := m.SessionDone(killed)
	if done == nil {
		t.Fatal("the end of a session cannot be waited for")
	}
	select {
	case <-done:
		t.Error("a session that lives is done")
	default:
	}
	if got := one.must(t, ""); got != "<nil>" {
		t.Error(got)
	}
	if got := m.Probe(ended); got != lease.Gone {
		t.Errorf("a session that was closed is %s", got)
	}
	two.kill()
	<-done
	if got := m.Probe(killed); got != lease.Gone {
		t.Errorf("a session whose process was killed is %s", got)
	}
}

// renewals keep a term until the claim ends.
func renewals(t *testing.T, k Kind) {
	p := k.New(t)
	m := k.open(t, p)
	term := func(n int64) store.Lease {
		return store.Lease{Term: lease.Term{Boot: "b", Clock: "c", DeadlineNS: n, TTLNS: 10}, Until: noon, Heartbeat: noon}
	}
	granted := term(10)
	claimed := apply(t, m, func(now store.Snapshot) (*store.Change, error) {
		c, err := count(now)
		c.Next.ClaimedBy, c.Next.Session, c.Lease = "executor:test:1", "5e55", &granted
		return c, err
	})
	if claimed.Lease != granted {
		t.Errorf("granted %+v", claimed.Lease)
	}
	renewed := term(99)
	snap, err := m.Renew(context.Background(), func(now store.Snapshot) (store.Lease, error) {
		if now.Lease != granted {
			t.Errorf("%+v is to be renewed", now.Lease)
		}
		return renewed, nil
	})
	if err != nil || snap.Lease != renewed || snap.Task.Seq != 1 {
		t.Errorf("%+v, line %d: %v", snap.Lease, snap.Task.Seq, err)
	}
	if got := view(t, k.open(t, p)); got.Lease != renewed {
		t.Errorf("another one sees %+v", got.Lease)
	}
	if got := apply(t, m, noted("and goes on")); got.Lease != renewed {
		t.Errorf("after another event: %+v", got.Lease)
	}
	freed := apply(t, m, func(now store.Snapshot) (*store.Change, error) {
		c, err := count(now)
		c.Next.ClaimedBy, c.Next.Session = "", ""
		return c, err
	})
	if freed.Lease != (store.Lease{}) || view(t, k.open(t, p)).Lease != (store.Lease{}) {
		t.Errorf("a lease without a claim: %+v", freed.Lease)
	}
	if _, err := m.Renew(context.Background(), func(store.Snapshot) (store.Lease, error) { return store.Lease{}, errRefused }); err != errRefused {
		t.Errorf("a renewal that was refused: %v", err)
	}
}
