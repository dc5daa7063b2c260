package postgres

import (
	"os/exec"
	"strconv"
	"testing"

	"github.com/ferrus-go/ferrus/test/postgrestest"
)

// TestRingsThatAreLost are made good by the next connection of the listener, and by the tick.
func TestRingsThatAreLost(t *testing.T) {
	t.Parallel()
	url := postgrestest.Database(t)
	writer := newMachine(t, connect(t, url, Options{}))
	d := connect(t, url, Options{})
	s := open(t, d, writer.name)
	c := make(chan struct{}, 1) // has rings alone, and no ticks
	d.watch(s.id, c)
	rung(t, c)
	apply(t, writer, noted("rings"))
	rung(t, c)
	conn := postgrestest.Connect(t, url)
	const listener = "select coalesce(max(pid), 0) from pg_stat_activity where datname = current_database() and query like 'listen%'"
	for range 3 {
		if !ask[bool](t, conn, "select pg_terminate_backend($1)", ask[int](t, conn, listener)) {
			t.Fatal("nobody listens")
		}
		rung(t, c)
	}
	d.unwatch(s.id, c)
	until(t, conn, "select ("+listener+") = 0")

	w := s.Watch()
	defer w.Close()
	rung(t, w.C)
	until(t, conn, "select ("+listener+") > 0")
	deaf := strconv.Itoa(ask[int](t, conn, listener))
	signal(t, "STOP", deaf)
	defer signal(t, "CONT", deaf)
	for _, text := range []string{"one", "two", "three"} {
		apply(t, writer, noted(text))
		rung(t, w.C)
	}
}

// signal sends a signal to a process.
func signal(t testing.TB, name, pid string) {
	t.Helper()
	if text, err := exec.Command("kill", "-"+name, pid).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

// TestACloseEndsWhatIsAtWork, and what comes later does nothing.
func TestACloseEndsWhatIsAtWork(t *testing.T) {
	t.Parallel()
	d := connect(t, postgrestest.Database(t), Options{})
	s := newMachine(t, d)
	w := s.Watch()
	own, err := s.Announce("5e55")
	if err != nil {
		t.Fatal(err)
	}
	s.SessionDone("5e55")
	apply(t, s, noted("first"))
	d.Close()
	s.Watch().Close()
	s.SessionDone("5e55")
	s.db.changed(s.id)
	own.Close()
	w.Close()
	w.Close()
	d.Close()
}

// TestAFullPoolDoesNotWaitForItself: as many decisions as there are connections read at the same moment.
func TestAFullPoolDoesNotWaitForItself(t *testing.T) {
	t.Parallel()
	d := connect(t, postgrestest.Database(t), Options{})
	most := int(d.write.Stat().MaxConns())
	var machines []*Store
	for range most {
		machines = append(machines, newMachine(t, d))
	}
	deciding, read := make(chan struct{}, most), make(chan struct{})
	var calls []started
	for _, s := range machines {
		first := true
		calls = append(calls, begin(s, reading(s, func() {
			if first {
				first = false
				deciding <- struct{}{}
				<-read
			}
		})))
	}
	for range most {
		<-deciding
	}
	if got := d.write.Stat().AcquiredConns(); int(got) != most {
		t.Errorf("%d connections are at work, want all %d", got, most)
	}
	close(read)
	for _, c := range calls {
		if err := <-c; err != nil {
			t.Error(err)
		}
	}
}
