package postgres

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/postgrestest"
)

// A ledger is what clients were told of their events.
type ledger struct {
	mu     sync.Mutex
	moved  chan struct{}
	told   map[string]string // by note
	epochs map[string]uint64 // by note
	count  map[string]int    // by what was said
	by     map[string]int    // acknowledged, by client
}

func newLedger() *ledger {
	return &ledger{moved: make(chan struct{}, 1), told: map[string]string{}, epochs: map[string]uint64{}, count: map[string]int{}, by: map[string]int{}}
}

// hears returns what gets the events of a client.
func (l *ledger) hears(name string) func(said string, epoch uint64, note string) {
	return func(said string, epoch uint64, note string) {
		l.mu.Lock()
		l.told[note], l.epochs[note] = said, epoch
		l.count[said]++
		if said == acknowledged {
			l.by[name]++
		}
		l.mu.Unlock()
		ring(l.moved)
	}
}

func (l *ledger) said(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count[what]
}

// await waits until something is true of the ledger.
func (l *ledger) await(t testing.TB, what string, done func() bool) {
	t.Helper()
	for end := time.After(kit.Patience); ; {
		l.mu.Lock()
		ok := done()
		l.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-l.moved:
		case <-end:
			t.Fatalf("never: %s", what)
		}
	}
}

// audit compares a machine with what the clients were told of its events, and returns what does not fit. The chain was verified.
func (l *ledger) audit(t testing.TB, s *Store, clients []string) (bad []string) {
	t.Helper()
	have := notes(t, s)
	lines := map[string]*store.Line{}
	epoch := uint64(0)
	for line, err := range s.History() {
		if err != nil {
			t.Fatal(err)
		}
		if lines[line.Note] = line; line.Epoch < epoch {
			bad = append(bad, fmt.Sprintf("line %d goes back to epoch %d", line.Seq, line.Epoch))
		}
		epoch = line.Epoch
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	holders, split := map[uint64]string{}, map[uint64]bool{} // by epoch
	lost := 0
	for n, told := range l.told {
		who, _, _ := strings.Cut(n, "-")
		if !slices.Contains(clients, who) {
			continue
		}
		switch {
		case have[n] > 1:
			bad = append(bad, fmt.Sprintf("%s has %d lines", n, have[n]))
		case told == acknowledged && have[n] == 0:
			lost++
		case told == unchanged && have[n] != 0:
			bad = append(bad, n+" changed nothing, and has a line")
		case told == acknowledged && lines[n].Epoch != l.epochs[n]:
			bad = append(bad, fmt.Sprintf("%s was acknowledged in epoch %d, and is of %d", n, l.epochs[n], lines[n].Epoch))
		}
		if e := l.epochs[n]; told == acknowledged && e > 0 {
			if other := holders[e]; other != "" && other != who {
				split[e] = true
			}
			holders[e] = who
		}
	}
	if lost > 0 {
		bad = append(bad, fmt.Sprintf("%d acknowledged and lost", lost))
	}
	if len(split) > 0 {
		bad = append(bad, fmt.Sprintf("%d epochs were acknowledged to two holders", len(split)))
	}
	return bad
}

// An ending is what happens to the old primary.
type ending struct {
	name string
	// before is done before the standby is promoted, after when clients are with the new primary.
	before, after func(r *failover)
	detached      string // how the commits that wait are ended after the standby was detached; "" for no such thing
}

// endings are the rounds of the rig, in turn.
var endings = []ending{
	{"killed", func(r *failover) { r.old.Kill(r.t) }, nil, "pg_cancel_backend"},
	{"frozen", func(r *failover) { r.old.Stop(r.t) }, func(r *failover) { r.old.Cont(r.t) }, "pg_terminate_backend"},
	{"cut off", func(r *failover) { r.proxies[r.old].Partition() }, func(r *failover) { r.proxies[r.old].Heal() }, "pg_cancel_backend"},
	{"alive", func(*failover) {}, func(r *failover) {
		before := r.said(unknown)
		r.await(r.t, "a client of the old primary gives up", func() bool { return r.count[unknown] > before })
	}, ""},
}

// A failover is the rig: a pair, the proxies that clients use, and the clients.
type failover struct {
	*ledger
	t        testing.TB
	pair     *postgrestest.Pair
	proxies  map[*postgrestest.Server]*postgrestest.Proxy
	machines int
	clients  []*client
	old      *postgrestest.Server
}

// waits returns when a query says that commits of so many machines wait for the standby. Where commits do not wait, it returns when some were acknowledged.
func (r *failover) waits(on *pgx.Conn, machines int, query string, args ...any) {
	r.t.Helper()
	before := r.said(acknowledged)
	for end := time.Now().Add(kit.Patience); ask[int](r.t, on, query, args...) < machines; {
		if r.said(acknowledged) > before+100 {
			return
		}
		if time.Now().After(end) {
			r.t.Fatal("no commits wait for the standby")
		}
	}
}

// waiters counts the commits that wait for the standby. Each question takes a moment, so that the server has time for them.
const waiters = "select count(*) from pg_stat_activity, pg_sleep(0.005) where wait_event = 'SyncRep'"

// others is waiters without those of the time before, of which it ends each by a function.
const others = "select count(*) filter (where xact_start > $1) + 0 * count(%s(pid)) filter (where xact_start <= $1) from pg_stat_activity, pg_sleep(0.005) where wait_event = 'SyncRep'"

// round makes one failover, and lets the clients write.
func (r *failover) round(e ending, events int) {
	r.t.Helper()
	r.old = r.pair.Primary
	if e.detached != "" {
		on := r.old.Superuser(r.t)
		r.pair.Detach(r.t)
		r.waits(on, r.machines, waiters)
		now := ask[time.Time](r.t, on, "select clock_timestamp()")
		r.waits(on, r.machines, fmt.Sprintf(others, e.detached), now) // what was looked up is on no standby
	}
	e.before(r)
	r.pair.Promote(r.t)
	if e.after != nil {
		if e.detached != "" {
			r.waits(r.pair.Primary.Superuser(r.t), 1, waiters)
		}
		e.after(r)
	}
	r.pair.Rebuild(r.t)
	r.mu.Lock()
	was, goal := maps.Clone(r.by), r.count[acknowledged]+events
	r.mu.Unlock()
	r.await(r.t, "clients write after "+e.name, func() bool {
		for _, c := range r.clients {
			if r.by[c.name] < was[c.name]+5 {
				return false
			}
		}
		return r.count[acknowledged] >= goal
	})
}

// TestFailoversLoseNothing lets processes write to machines of their own, and rivals claim one machine, while the servers of a synchronous pair change
// places. The old primary is killed, frozen, cut off or simply alive. In most rounds it has committed what the standby lacks, and the clients have seen it.
func TestFailoversLoseNothing(t *testing.T) {
	kit.Long(t, "of one change: TestReadsWhileServersChangePlaces and TestNothingIsAcknowledgedWithoutTheStandby")
	t.Parallel()
	rounds, events, writers := 3, 40, 2
	rivals := []string{"rival0", "rival1"}
	if kit.Full() {
		rounds, events, writers = 14, 1600, 4
		rivals = append(rivals, "rival2")
	}
	r := &failover{ledger: newLedger(), t: t, pair: postgrestest.NewPair(t, postgrestest.Options{Durable: true, TCP: true}), proxies: map[*postgrestest.Server]*postgrestest.Proxy{}}
	url := postgrestest.WithoutPassword(t, r.pair.Database(t))
	var through []string
	for _, s := range []*postgrestest.Server{r.pair.Primary, r.pair.Standby} {
		p := postgrestest.NewProxy(t, s.URL(databaseOf(t, url)))
		r.proxies[s] = p
		through = append(through, p.URL)
	}
	d, err := Connect(t.Context(), url, Options{Node: there, Log: quiet, Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })

	machines := map[*Store][]string{}
	add := func(role string, names ...string) {
		s := newMachine(t, d)
		r.machines++
		machines[s] = names
		for _, name := range names {
			c, start := prepareClient(t, role, postgrestest.WithoutPassword(t, postgrestest.Join(through...)), s, name, r.hears(name))
			if err := start(); err != nil {
				t.Fatal(err)
			}
			r.clients = append(r.clients, c)
		}
	}
	for n := range writers {
		add("writer", note("writer", n))
	}
	add("rival", rivals...)
	r.await(t, "all clients write", func() bool { return len(r.by) == len(r.clients) })

	lived := 0
	for n := range rounds {
		e := endings[n%len(endings)]
		if r.round(e, events); e.after != nil {
			lived++
		}
	}
	for _, c := range r.clients {
		c.stop(t)
	}
	bad := 0
	for s, names := range machines {
		for _, what := range r.audit(t, s, names) {
			bad++
			t.Error(what)
		}
	}
	t.Logf("rig: cases=%d bad=%d; acknowledged in %d failovers, in %d of which the old primary lived on; %d outcomes unknown, %d refused",
		r.said(acknowledged), bad, rounds, lived, r.said(unknown), r.said(unchanged))
}

// TestAPartitionOfTheNetwork cuts a holder off, which is in a network namespace with the server and writes all the time. Another one takes over by the
// socket. When the network is back, the old holder writes nothing, and all that it was told stands.
func TestAPartitionOfTheNetwork(t *testing.T) {
	t.Parallel()
	network := postgrestest.NewNetwork(t)
	server := postgrestest.NewServer(t, postgrestest.Options{Durable: true, Network: network})
	far := postgrestest.WithoutPassword(t, server.Database(t))
	socket := server.Superuser(t).Config()
	d, err := Connect(t.Context(), fmt.Sprintf("postgres://ferrus@/%s?host=%s&port=%d&sslmode=disable", databaseOf(t, far), socket.Host, socket.Port),
		Options{Node: there, Log: quiet, Wait: 8 * time.Second}) // less than keepalives need: the silence of a transaction ends it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	s := newMachine(t, d)
	told := newLedger()
	c, start := prepareClient(t, "holder", far, s, "holder", told.hears("holder"))
	if err := network.Do(start); err != nil {
		t.Fatal(err)
	}
	told.await(t, "the holder writes", func() bool { return told.by["holder"] > 50 })
	network.Cut(t)
	taken := apply(t, s, claim("successor"))
	told.await(t, "the holder is told that it is cut off", func() bool { return told.count[unknown]+told.count[unchanged] > 0 })
	network.Restore(t)
	told.await(t, "the holder sees its successor", func() bool { return told.count[refused] > 0 })
	c.stop(t)
	for _, what := range told.audit(t, s, []string{"holder"}) {
		t.Error(what)
	}
	if now := view(t, s); now.Task.Seq != taken.Task.Seq {
		t.Errorf("%d lines after those of the successor", now.Task.Seq-taken.Task.Seq)
	}
}
