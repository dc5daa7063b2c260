package postgres

import (
	"bytes"
	"context"
	"crypto/md5"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/postgrestest"
)

// What 1,000 nodes with ten branches each need of one database. Everything else is measured.
const (
	scaleNodes    = 1_000
	scaleBranches = 10_000
	scaleBeat     = 2 * time.Second  // of Options.TTL, a fifth
	scaleRenewal  = 30 * time.Second // lease.heartbeat_interval_secs
	scaleEvent    = 30 * time.Second // assumed: between two events of a branch
	scalePush     = 10 * time.Minute // assumed: between two pushes of a branch
	scaleStart    = 10 * time.Second // assumed: in which all branches have a conductor after a start of everything
	defaultConns  = 100              // max_connections, where nobody changes it
	link          = 125e6            // bytes a second, of a network of 1 Gbit/s
)

// perSecond is how often something comes that each of n does once in a time.
func perSecond(n int, every time.Duration) float64 { return float64(n) / every.Seconds() }

// A scale is a database with nodes, and machines with leases and sessions.
type scale struct {
	bench
	nodes, branches int
	span            time.Duration // of a measurement
	workers         []*Database   // each with connections of its own
	machines        [][]*Store    // of each worker
}

// BenchmarkScale measures what one server can do with the tables of 10,000 branches (-short: 1,000) by the statements of this package. Each
// figure "server" stands beside "need", which is what 1,000 nodes need; both are of the whole server in a second where nothing else is said.
func BenchmarkScale(b *testing.B) {
	f := newScale(b)
	f.sizes()
	f.figure("beats", rate, perSecond(scaleNodes, scaleBeat), f.capacity(f.beat))
	f.figure("beats-process", rate, perSecond(scaleBranches, scaleBeat), f.capacity(f.beatAndSweep))
	f.figure("renewals", rate, perSecond(scaleBranches, scaleRenewal), f.capacity(f.renew))
	f.figure("reads", rate, perSecond(scaleBranches, tick), f.capacity(f.view))
	f.figure("claims", rate, perSecond(scaleBranches, scaleStart), f.claims())
	f.figure("events", rate, perSecond(scaleBranches, scaleEvent), f.capacity(f.event))
	f.connections()
	f.rings()
	f.git()
	f.reads()
}

// The metrics of figures.
const (
	rate        = "per-s"
	connections = "connections"
	byteCount   = "bytes"
)

// figure reports what is needed and what the server can do.
func (f scale) figure(name, metric string, need, server float64) {
	f.values(name, metric, map[string]float64{"need": need, "server": server})
}

// values reports values as a benchmark of that name.
func (f scale) values(name, metric string, all map[string]float64) {
	f.Run(name, func(b *testing.B) {
		b.ReportMetric(0, "ns/op")
		for who, v := range all {
			b.ReportMetric(v, who+"-"+metric)
		}
	})
}

// newScale makes the database.
func newScale(b *testing.B) scale {
	b.Helper()
	settings := map[string]string{"max_connections": "1300"}
	for name, value := range usual {
		settings[name] = value
	}
	server := postgrestest.NewServer(b, postgrestest.Options{Durable: true, Settings: settings})
	f := scale{bench: newDatabase(b, server).with(10), nodes: scaleNodes, branches: scaleBranches, span: 3 * time.Second}
	if testing.Short() {
		f.nodes, f.branches, f.span = 100, 1_000, time.Second
	}
	first := f.imported()
	// The machines of branches are copies of the first one, in which an executor works.
	f.exec(fmt.Sprintf(`
		insert into machine (project, branch) select project, 'b' || n from machine, generate_series(1, %[1]d) n where branch = '';
		insert into head select m.id, seq, epoch, bytes, last, h from head, machine m where m.branch <> '';
		insert into lease select m.id, epoch, 'postgres', '', 0, 0, now(), now() from lease, machine m where m.branch <> '';
		insert into journal select m.id, seq, off, gen_random_uuid(), line from journal, machine m where m.branch <> '';
		insert into node select md5(n::text)::uuid, 'node-' || n, now() + interval '10 s' from generate_series(0, %[2]d - 1) n;
		insert into session select md5(m.id::text), md5((m.id %% %[2]d)::text)::uuid, m.id, null from machine m where m.branch <> ''`, f.branches, f.nodes))
	f.settled()
	name := first.name()
	for i := range crowd {
		d := sure(Connect(b.Context(), f.url, Options{Node: here, Host: "here", Log: quiet}))
		b.Cleanup(func() { d.Close() })
		var own []*Store
		for n := i; n < f.branches; n += crowd {
			name.Branch = fmt.Sprint("b", n+1)
			own = append(own, sure(d.Open(b.Context(), name, "", Opening{})))
		}
		f.workers, f.machines = append(f.workers, d), append(f.machines, own)
	}
	return f
}

// exec executes statements on the tables.
func (f scale) exec(sql string) {
	f.Helper()
	conn := postgrestest.Connect(f, f.url)
	if _, err := conn.PgConn().Exec(context.Background(), "set search_path = "+searchPath+";"+sql).ReadAll(); err != nil {
		f.Fatal(err)
	}
}

// number asks for a number.
func (f scale) number(sql string) (n float64) {
	f.Helper()
	sure(0, f.db.read.QueryRow(context.Background(), sql).Scan(&n))
	return n
}

// capacity returns how often a second the workers together do something. do gets the worker and how often it has done it.
func (f scale) capacity(do func(worker, n int) error) float64 {
	f.Helper()
	var done atomic.Int64
	began := time.Now()
	f.each(func(worker int) error {
		for n := 0; time.Since(began) < f.span; n++ {
			if err := do(worker, n); err != nil {
				return err
			}
			done.Add(1)
		}
		return nil
	})
	return float64(done.Load()) / time.Since(began).Seconds()
}

// each lets all workers do something.
func (f scale) each(do func(worker int) error) {
	f.Helper()
	var all sync.WaitGroup
	errs := make([]error, len(f.workers))
	for i := range f.workers {
		all.Go(func() { errs[i] = do(i) })
	}
	all.Wait()
	for _, err := range errs {
		sure(0, err)
	}
}

// beat says that a node is there.
func (f scale) beat(worker, n int) error {
	d := f.workers[worker]
	d.opts.Node = md5.Sum([]byte(strconv.Itoa((worker + n*crowd) % f.nodes))) // as md5()::uuid
	return d.heard(context.Background())
}

// beatAndSweep is what each process with a session does.
func (f scale) beatAndSweep(worker, n int) error {
	if err := f.beat(worker, n); err != nil {
		return err
	}
	return f.workers[worker].sweep(context.Background())
}

func (f scale) machine(worker, n int) *Store {
	own := f.machines[worker]
	return own[n%len(own)]
}

func (f scale) view(worker, n int) error {
	return viewed(f.machine(worker, n))
}

func (f scale) event(worker, n int) error {
	_, err := f.machine(worker, n).Apply(context.Background(), progress)
	return err
}

func (f scale) renew(worker, n int) error {
	s := f.machine(worker, n)
	_, err := s.Renew(context.Background(), func(store.Snapshot) (store.Lease, error) {
		return store.Lease{Term: lease.Grant(s.Clock(), time.Minute)}, nil
	})
	return err
}

// claims measures how many branches get a conductor in a second.
func (f scale) claims() float64 {
	began := time.Now()
	f.each(func(worker int) error {
		for _, s := range f.machines[worker] {
			p := &Post{s: s, session: uuid.NewString()}
			if err := s.db.change(context.Background(), "take the post", func(tx pgx.Tx) error { return p.take(context.Background(), tx) }); err != nil {
				return err
			}
		}
		return nil
	})
	return float64(f.branches) / time.Since(began).Seconds()
}

// sizes reports how many bytes the tables have.
func (f scale) sizes() {
	var rows, per float64
	for _, table := range []string{"machine", "head", "lease", "session"} {
		rows += f.number(fmt.Sprintf("select pg_total_relation_size('%s.%s')::float8", searchPath, table))
	}
	per = f.number(fmt.Sprintf("select pg_total_relation_size('%s.journal')::float8 / count(*) from journal", searchPath))
	line := f.number("select avg(length(line))::float8 from journal")
	f.values("branch", byteCount, map[string]float64{"rows": rows / float64(f.branches)})
	f.values("line", byteCount, map[string]float64{"stored": per, "length": line})
	f.values("day", "MiB", map[string]float64{"growth": per * perSecond(scaleBranches, scaleEvent) * 86400 / (1 << 20)})
}

// connections reports how many connections a process has, and needs at most.
func (f scale) connections() {
	const ours = "select count(*)::float8 from pg_stat_activity where datname = current_database()"
	before := f.number(ours)
	d := sure(Connect(f.Context(), f.url, Options{Node: here, Host: "here", Log: quiet}))
	defer d.Close()
	s := sure(d.Open(f.Context(), Name{f.machines[0][0].name.Project, "b1"}, f.TempDir(), Opening{}))
	c := sure(s.Announce("5e55ca1e"))
	w := s.Watch()
	for range 2 { // ticks
		<-w.C
		sure(s.View())
		sure(0, d.heard(f.Context()))
	}
	rest := f.number(ours) - before
	w.Close()
	sure(0, c.Close())
	most := float64(1 + d.write.Config().MaxConns + d.read.Config().MaxConns)
	f.figure("connections", connections, scaleNodes*most, defaultConns)
	f.figure("connections-rest", connections, scaleNodes*rest, defaultConns)
	f.figure("connections-process", connections, scaleBranches*rest, defaultConns)
}

// rings lets all nodes listen, and measures how many rings a second reach all of them, alone and behind events.
func (f scale) rings() {
	var heard atomic.Int64
	var all sync.WaitGroup
	ctx, cancel := context.WithCancel(f.Context())
	defer all.Wait()
	defer cancel()
	var pids []uint32
	for range f.nodes {
		conn := sure(pgx.Connect(ctx, f.url))
		sure(conn.Exec(ctx, "listen "+channel))
		pids = append(pids, conn.PgConn().PID())
		all.Go(func() {
			for {
				if _, err := conn.WaitForNotification(ctx); err != nil {
					return
				}
				heard.Add(1)
			}
		})
	}
	if mib, ok := private(pids); ok {
		f.values("memory", "MiB", map[string]float64{"idle": mib})
	}
	began := time.Now()
	rung := f.capacity(func(worker, n int) error {
		d := f.workers[worker]
		d.mu.Lock()
		d.due[f.machine(worker, n).id], d.ringing = true, true
		d.mu.Unlock()
		d.ring()
		return nil
	})
	f.waitUntilHeard(&heard, int64(rung*f.span.Seconds()*float64(f.nodes)))
	deliveries := float64(heard.Load()) / time.Since(began).Seconds()
	f.figure("rings", rate, perSecond(scaleBranches, scaleEvent), deliveries/scaleNodes)
	f.figure("rings-process", rate, perSecond(scaleBranches, scaleEvent), deliveries/scaleBranches)
	f.figure("events-heard", rate, perSecond(scaleBranches, scaleEvent), f.capacity(f.event))
}

// waitUntilHeard returns when about that many notifications have arrived, or none for a second.
func (f scale) waitUntilHeard(heard *atomic.Int64, want int64) {
	for before := int64(-1); heard.Load() < want && heard.Load() > before; time.Sleep(time.Second) {
		before = heard.Load()
	}
}

// private returns the memory that only one of these processes has, in MiB on the average; false where the system does not tell.
func private(pids []uint32) (mib float64, ok bool) {
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			return 0, false
		}
		for line := range strings.Lines(string(text)) {
			var kib float64
			if _, err := fmt.Sscanf(line, "Private_Dirty: %f kB", &kib); err == nil {
				mib += kib / 1024
			}
		}
	}
	return mib / float64(len(pids)), true
}

// reads measures one reader, beside one of a database with two machines.
func (f scale) reads() {
	f.Run("view", func(b *testing.B) {
		alone := newDatabase(b, f.server).with(usualHistory)
		few, _, _ := alone.machines()
		alone.settled()
		many := f.machines[0][0]
		compare(b, &contender{name: "many", run: func() error { return viewed(many) }}, &contender{name: "few", run: func() error { return viewed(few) }})
	})
}

// git reports how many bytes of refs a push is told, with a ref for each branch as package remote names them.
func (f scale) git() {
	dir := filepath.Join(f.TempDir(), "refs.git")
	run := func(input string, args ...string) []byte {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=bench", "-c", "user.email=bench@example.com"}, args...)...)
		cmd.Stdin = strings.NewReader(input)
		return sure(cmd.Output())
	}
	sure(0, os.Mkdir(dir, 0o700))
	run("", "init", "-q", "--bare")
	tree := strings.TrimSpace(string(run("", "mktree")))
	commit := strings.TrimSpace(string(run("", "commit-tree", "-m", "base", tree)))
	var refs bytes.Buffer
	project := uuid.NewString()
	for n := range scaleBranches {
		fmt.Fprintf(&refs, "create refs/ferrus/%s/t-20260102-120000-%04x/1 %s\n", project, n, commit)
	}
	run(refs.String(), "update-ref", "--stdin")
	all := float64(len(run("", "receive-pack", "--http-backend-info-refs", dir)))
	hidden := float64(len(run("", "-c", "receive.hideRefs=refs/ferrus", "receive-pack", "--http-backend-info-refs", dir)))
	f.values("git", byteCount, map[string]float64{"all": all, "hidden": hidden})
	f.figure("git-traffic", byteCount, all*perSecond(scaleBranches, scalePush), link)
}
