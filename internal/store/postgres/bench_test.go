package postgres

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/store/file"
	"github.com/ferrus-go/ferrus/test/postgrestest"
)

// usual are settings of the server as PostgreSQL has them where nobody changes them, instead of those of small tests.
var usual = map[string]string{"shared_buffers": "128MB", "max_wal_size": "1GB"}

// A contender is one of several things measured in turn, so that they share the load of the machine.
type contender struct {
	name string
	run  func() error
	took []time.Duration
}

// turns is how often each contender runs in one iteration of a benchmark.
const turns = 25

// compare runs each contender, a few times at a turn, and reports its quantiles.
func compare(b *testing.B, list ...*contender) {
	b.Helper()
	for b.Loop() {
		compareOnce(b, list)
	}
	report(b, list)
}

// compareOnce gives each contender one turn.
func compareOnce(b *testing.B, list []*contender) {
	b.Helper()
	for _, c := range list {
		for range turns {
			began := time.Now()
			if err := c.run(); err != nil {
				b.Fatalf("%s: %v", c.name, err)
			}
			c.took = append(c.took, time.Since(began))
		}
	}
}

// report reports the quantiles of all contenders.
func report(b *testing.B, list []*contender) {
	b.Helper()
	b.ReportMetric(0, "ns/op")
	for _, c := range list {
		quantiles(b, c.name, c.took)
	}
}

func quantiles(b *testing.B, name string, took []time.Duration) {
	slices.Sort(took)
	micros := func(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
	b.ReportMetric(micros(took[len(took)/2]), name+"-p50-µs")
	b.ReportMetric(micros(took[len(took)*99/100]), name+"-p99-µs")
}

// history is how many lines a long journal has. With -short it has a tenth.
func history() int {
	if testing.Short() {
		return 10_000
	}
	return 100_000
}

// usualHistory is how many lines the database has where the length of a journal is not what is measured.
const usualHistory = 10_000

// A bench has machines with the same journal: in files, in a database, and in rows of that database for raw transactions.
type bench struct {
	*testing.B
	server  *postgrestest.Server
	url     string
	db      *Database
	journal string // the file of the journal
	line    string // a file with its newest line
}

// newBench makes a database on a server that syncs its files, with a machine that has a long journal, and returns a bench of machines with 10
// lines and one of machines with as many as the long one, in the same database. In one that has only some rows the server would read whole tables.
func newBench(b *testing.B, lines int) (short, long bench) {
	b.Helper()
	r := newDatabase(b, postgrestest.NewServer(b, postgrestest.Options{Durable: true, Settings: usual}))
	long = r.with(lines)
	long.imported()
	long.settled()
	return r.with(10), long
}

// newDatabase makes a database on a server. The bench has no journal yet.
func newDatabase(b *testing.B, server *postgrestest.Server) bench {
	b.Helper()
	r := bench{B: b, server: server, url: server.Database(b)}
	r.db = sure(Connect(b.Context(), r.url, Options{Node: here, Host: "here", Log: quiet}))
	b.Cleanup(func() { r.db.Close() })
	return r
}

// with is the bench of machines with that many lines.
func (r bench) with(lines int) bench {
	r.Helper()
	s, _, err := file.Create(filepath.Join(r.TempDir(), ".ferrus"), file.Options{Log: quiet})
	if err != nil {
		r.Fatal(err)
	}
	var snap store.Snapshot
	for _, decide := range []func(store.Snapshot) (*store.Change, error){
		on(state.CreateTask, state.Supervisor, map[state.Doc]string{state.TaskDoc: "Build it.\n"}), on(state.Claim, state.Executor, nil), progress} {
		snap = sure(s.Apply(r.Context(), decide))
	}
	r.journal = s.Path("journal.jsonl")
	sure(0, s.Close())
	r.lengthen(*snap.Top, lines-3)
	return r
}

// lengthen adds lines to the journal at once.
func (r *bench) lengthen(l store.Line, lines int) {
	r.Helper()
	f := sure(os.OpenFile(r.journal, os.O_WRONLY|os.O_APPEND, 0))
	w := bufio.NewWriterSize(f, 1<<20)
	var text []byte
	for range lines {
		l.Prev, l.Off = l.H, l.End
		l.Seq++
		l.State.Seq++
		text = sure(l.Encode())
		sure(w.Write(text))
	}
	sure(0, w.Flush())
	sure(0, f.Sync())
	sure(0, f.Close())
	r.line = filepath.Join(r.TempDir(), "line")
	sure(0, os.WriteFile(r.line, text, 0o600))
}

// files copies the machine in files, and returns the way to it.
func (r bench) files() string {
	dir := filepath.Join(r.TempDir(), ".ferrus")
	sure(0, os.Mkdir(dir, 0o700))
	sure(0, os.WriteFile(filepath.Join(dir, "journal.jsonl"), sure(os.ReadFile(r.journal)), 0o600))
	return "file " + dir
}

// postgres imports the journal as a new machine, and returns the way to it.
func (r bench) postgres() string {
	return "postgres " + r.imported().String()
}

func (r bench) imported() address {
	a := address{r.url, uuid.NewString(), "", r.TempDir()}
	sure(0, r.db.AddProject(context.Background(), a.arrival(func() (io.ReadCloser, error) { return os.Open(r.journal) })))
	return a
}

// raw imports the journal as a new machine that only raw transactions change, and returns the way to it.
func (r bench) raw() string {
	s := sure(r.db.Open(context.Background(), r.imported().name(), "", Opening{}))
	return fmt.Sprint("raw ", r.url, " ", s.id, " ", r.line)
}

// append returns the way to a file with lines.
func (r bench) append() string { return "append " + filepath.Join(r.TempDir(), "lines") + " " + r.line }

// settled lets the server write down what was made and look at it, so that it does not do so in between.
func (r bench) settled() {
	r.Helper()
	sure(postgrestest.Connect(r, r.url).Exec(context.Background(), "vacuum analyze"))
	r.server.Exec(r, "checkpoint")
}

// BenchmarkMachineApply measures a transition in PostgreSQL and in files, after a short history and after a long one. Beside it, it
// measures a raw transaction with the same bytes on the same server, and the same bytes appended with one fdatasync.
func BenchmarkMachineApply(b *testing.B) {
	short, long := newBench(b, history())
	list := []*contender{
		{name: "postgres", run: opened(b, short.postgres())},
		{name: "raw", run: opened(b, short.raw())},
		{name: "file", run: opened(b, short.files())},
		{name: "append", run: opened(b, short.append())},
		{name: "postgres-long", run: opened(b, long.postgres())},
		{name: "file-long", run: opened(b, long.files())},
	}
	short.settled()
	compare(b, list...)
}

// opened opens a way in this process, and commits by it what is made once.
func opened(b *testing.B, text string) func() error {
	b.Helper()
	w := sure(openWay(text))
	sure(0, w.commit())
	return w.commit
}

// machines opens the same journal in PostgreSQL, in files and for raw transactions.
func (r bench) machines() (store.Machine, store.Machine, *rawWay) {
	a := r.imported()
	inFiles := sure(file.Open(strings.TrimPrefix(r.files(), "file "), file.Options{Log: quiet}))
	r.Cleanup(func() { inFiles.Close() })
	return sure(r.db.Open(context.Background(), a.name(), a.dir, Opening{})), inFiles, sure(connectRaw(strings.Split(r.raw(), " ")[1:]))
}

// BenchmarkMachineView measures a read of the machine, beside the read of a row by its key on one connection.
func BenchmarkMachineView(b *testing.B) {
	short, long := newBench(b, history())
	ours, inFiles, raw := short.machines()
	old, _, _ := long.machines()
	viewing := func(m store.Machine) func() error { return func() error { return viewed(m) } }
	short.settled()
	compare(b, &contender{name: "postgres", run: viewing(ours)}, &contender{name: "raw", run: raw.view},
		&contender{name: "file", run: viewing(inFiles)}, &contender{name: "postgres-long", run: viewing(old)})
}

func viewed(m store.Machine) error {
	_, err := m.View()
	return err
}

// BenchmarkMachineRenew measures the renewal of a lease, beside a raw transaction that updates one row and does not wait for the disk.
func BenchmarkMachineRenew(b *testing.B) {
	r, _ := newBench(b, usualHistory)
	ours, inFiles, raw := r.machines()
	renewing := func(m store.Machine) func() error {
		return func() error {
			_, err := m.Renew(context.Background(), func(store.Snapshot) (store.Lease, error) {
				now := time.Now()
				return store.Lease{Term: lease.Grant(m.Clock(), time.Minute), Until: now.Add(time.Minute), Heartbeat: now}, nil
			})
			return err
		}
	}
	compare(b, &contender{name: "postgres", run: renewing(ours)}, &contender{name: "raw", run: raw.renew}, &contender{name: "file", run: renewing(inFiles)})
}

// BenchmarkMachineWake measures how soon this process has read an event of another process: from the call of Apply, and from its
// return. Beside it: raw transactions, a notification after each, a bare LISTEN, a read of one row.
func BenchmarkMachineWake(b *testing.B) {
	r, _ := newBench(b, usualHistory)
	a, dir, raw := r.imported(), r.files(), strings.Split(r.raw(), " ")
	seen := map[string]func(){ // returns when this process has read another event
		"postgres": watching(b, sure(r.db.Open(b.Context(), a.name(), a.dir, Opening{}))),
		"file":     watching(b, sure(file.Open(strings.TrimPrefix(dir, "file "), file.Options{Log: quiet}))),
		"raw":      listening(b, raw),
	}
	others := map[string]committer{"postgres": startCommitter(b, "postgres "+a.String()), "file": startCommitter(b, dir),
		"raw": startCommitter(b, "raw-ring "+strings.Join(raw[1:], " "))}
	names := slices.Sorted(maps.Keys(seen))
	for _, name := range names {
		seen[name]() // the first event of each
	}
	whole, acked := map[string][]time.Duration{}, map[string][]time.Duration{}
	after := map[string]string{"postgres": "postgres-acked", "file": "file-acked", "raw": "raw-acked"}
	for b.Loop() {
		for _, name := range names {
			for range turns {
				sawAt := make(chan time.Time)
				go func() {
					seen[name]()
					sawAt <- time.Now()
				}()
				began, ends, _, err := others[name].commit(1)
				if err != nil {
					b.Fatal(err)
				}
				saw := <-sawAt
				whole[name], acked[name] = append(whole[name], saw.Sub(began)), append(acked[name], max(0, saw.Sub(ends[0])))
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	for _, name := range names {
		quantiles(b, name, whole[name])
		quantiles(b, after[name], acked[name])
	}
}

// watching returns what waits for an event that this process has not read yet.
func watching(b *testing.B, m store.Machine) func() {
	w := m.Watch()
	b.Cleanup(w.Close)
	last := uint64(10) // what the journal had
	return func() {
		for {
			if now := sure(m.View()).Task.Seq; now > last {
				last = now
				return
			}
			<-w.C
		}
	}
}

// listening is watching for raw transactions.
func listening(b *testing.B, args []string) func() {
	listener := sure(connectRaw(args[1:]))
	reader := sure(connectRaw(args[1:]))
	sure(listener.conn.Exec(b.Context(), "listen "+pgx.Identifier{rawChannel}.Sanitize()))
	return func() {
		sure(listener.conn.WaitForNotification(b.Context()))
		sure(0, reader.view())
	}
}

// crowd is how many processes write at once, and each how many events each has to commit in a round.
const crowd, each = 32, 10

// BenchmarkMachineWriters lets 32 processes commit at once: to one machine, and each to its own. Each way has its own round.
func BenchmarkMachineWriters(b *testing.B) {
	for _, c := range []struct {
		name string
		own  bool
	}{{"one", false}, {"many", true}} {
		b.Run(c.name, func(b *testing.B) {
			r, _ := newBench(b, usualHistory)
			names := []string{"postgres", "raw", "file", "append"}
			makes := map[string]func() string{"postgres": r.postgres, "raw": r.raw, "file": r.files, "append": r.append}
			writers := map[string][]committer{}
			for _, name := range names {
				to := makes[name]()
				for i := range crowd {
					if c.own && i > 0 {
						to = makes[name]()
					}
					writers[name] = append(writers[name], startCommitter(b, to))
				}
			}
			took, whole := map[string][]time.Duration{}, map[string]time.Duration{}
			for b.Loop() {
				for _, name := range names {
					began := time.Now()
					took[name] = append(took[name], together(b, writers[name])...)
					whole[name] += time.Since(began)
				}
			}
			b.ReportMetric(0, "ns/op")
			for _, name := range names {
				b.ReportMetric(float64(len(took[name]))/whole[name].Seconds(), name+"-per-s")
				quantiles(b, name, took[name])
			}
		})
	}
}

// together lets all of them commit at once, and returns how long each event took.
func together(b *testing.B, writers []committer) []time.Duration {
	var mu sync.Mutex
	var all []time.Duration
	var work sync.WaitGroup
	for i, w := range writers {
		work.Go(func() {
			_, _, took, err := w.commit(each)
			mu.Lock()
			defer mu.Unlock()
			if all = append(all, took...); err != nil {
				b.Error("writer "+strconv.Itoa(i), err)
			}
		})
	}
	work.Wait()
	if b.Failed() {
		b.FailNow()
	}
	return all
}
