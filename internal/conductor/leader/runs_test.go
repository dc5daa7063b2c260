package leader

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/store/live"
	"github.com/ferrus-go/ferrus/internal/store/postgres"
	"github.com/ferrus-go/ferrus/test/postgrestest"
)

// A computer has a machine of the database, and the runs of its files.
type computer struct {
	t    *testing.T
	url  string
	name postgres.Name
	opts postgres.Options
	m    *postgres.Store
	dir  string
	own  []process.Run
}

// shared returns a machine of a new database as two computers have it, which are lost after ttl.
func shared(t *testing.T, ttl time.Duration) (a, b *computer) {
	t.Helper()
	url, name := postgrestest.Database(t), postgres.Name{Project: uuid.New()}
	var both [2]*computer
	for i, host := range []string{"a", "b"} {
		both[i] = &computer{t: t, url: url, name: name, dir: t.TempDir(), opts: postgres.Options{Node: uuid.New(), Host: host, TTL: ttl, Unsafe: true}}
		both[i].open()
	}
	return both[0], both[1]
}

// open opens the machine as a new process of the computer.
func (c *computer) open() {
	c.t.Helper()
	d, err := postgres.Connect(c.t.Context(), c.url, c.opts)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { d.Close() })
	if err := d.Create(c.t.Context(), c.name, "test"); err != nil {
		c.t.Fatal(err)
	}
	if c.m, err = d.Open(c.t.Context(), c.name, c.dir, postgres.Opening{}); err != nil {
		c.t.Fatal(err)
	}
}

const task = "t-1"

// take makes the computer the one that conducts the task, with its files.
func (c *computer) take() *Post {
	c.t.Helper()
	p, err := Take(c.t.Context(), c.m, project.At(c.dir, ""))
	if err == nil {
		err = p.Arrived(c.t.Context())
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return p
}

func (c *computer) leave(p *Post) {
	c.t.Helper()
	if err := p.Leave(c.t.Context(), ""); err != nil {
		c.t.Fatal(err)
	}
}

// free is the slot of every duty: nobody is in it.
func (c *computer) free(d agents.Duty) process.Slot { return process.Path(c.dir, "", string(d)) }

// runs are those that the conductor of the computer sees.
func (c *computer) runs(p *Post) ([]process.Run, map[agents.Duty]string) {
	c.t.Helper()
	all, elsewhere, err := p.Runs(c.t.Context(), task, c.own, c.free)
	if err != nil {
		c.t.Fatal(err)
	}
	return all, elsewhere
}

// begin starts the next executor of the computer. Its shim names it.
func (c *computer) begin(p *Post) (r process.Run, session string) {
	c.t.Helper()
	all, _ := c.runs(p)
	o := process.Order{Run: process.Run{Duty: agents.Executor, Agent: "command"}, Number: process.Next(all, agents.Executor)}
	if err := p.Begin(c.t.Context(), task, &o, ""); err != nil {
		c.t.Fatal(err)
	}
	return c.run(o.Number), o.Session
}

// ends is begin of one whose shim has recorded its end.
func (c *computer) ends(p *Post) {
	c.t.Helper()
	r, _ := c.begin(p)
	c.own = append(c.own, over(r))
	c.runs(p)
}

// begun counts the runs of all tests: a newer one began later.
var begun atomic.Int64

func (c *computer) run(number int) process.Run {
	started := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(begun.Add(1)) * time.Second)
	name := "executor-" + string(rune('0'+number))
	return process.Run{Name: name, Duty: agents.Executor, Agent: "command", Log: "agent-" + name + ".log", Started: started}
}

// over is a run that has ended, and has used tokens.
func over(r process.Run) process.Run {
	r.Ended, r.Exit, r.Usage.Output = r.Started.Add(time.Second), 1, 100
	return r
}

// names are those of runs, with the computers that have them.
func names(runs []process.Run) (list []string) {
	for _, r := range runs {
		list = append(list, r.Node+" "+r.Name)
	}
	return list
}

// TestARunIsThatOfItsComputer: two computers have runs of the same names, from before the task was shared. All of them count, on both.
func TestARunIsThatOfItsComputer(t *testing.T) {
	t.Parallel()
	a, b := shared(t, 0)
	a.own = []process.Run{over(a.run(1)), over(a.run(2))}
	p := b.take()
	for range 3 {
		b.ends(p)
	}
	b.leave(p)

	p = a.take()
	runs, _ := a.runs(p)
	if diff := cmp.Diff([]string{" executor-1", " executor-2", "b executor-1", "b executor-2", "b executor-3"}, names(runs)); diff != "" {
		t.Errorf("the runs on a (-want +got):\n%s", diff)
	}
	live := a.run(4)
	if diff := cmp.Diff(append(runs, live), All(t.Context(), a.m, task, append(a.own, live))); diff != "" {
		t.Errorf("what a reports (-want +got):\n%s", diff)
	}
	if r, _ := a.begin(p); r.Name != "executor-4" {
		t.Errorf("the next run is %s", r.Name)
	}
	a.leave(p)

	runs, _ = b.runs(b.take())
	if diff := cmp.Diff([]string{"a executor-1", "a executor-2", " executor-1", " executor-2", " executor-3"}, names(runs)); diff != "" {
		t.Errorf("the runs on b (-want +got):\n%s", diff)
	}
	for _, r := range runs {
		if r.Usage.Output != 100 || r.Exit != 1 {
			t.Errorf("the record of another run: %+v", r)
		}
	}
}

// TestALiveAgentElsewhereIsSeen, also when this computer has a run of the same name, and no new run gets that name.
func TestALiveAgentElsewhereIsSeen(t *testing.T) {
	t.Parallel()
	a, b := shared(t, 0)
	a.own = []process.Run{over(a.run(1))}
	p := b.take()
	for range 2 {
		r, session := b.begin(p)
		b.own = append(b.own, r)
		lives, err := live.In(b.dir).Take(session) // as its shim does
		if err != nil {
			t.Fatal(err)
		}
		defer lives.Close()
	}
	b.leave(p)

	p = a.take()
	runs, elsewhere := a.runs(p)
	if elsewhere[agents.Executor] != "b" || !cmp.Equal(names(runs), []string{" executor-1"}) {
		t.Errorf("executors work on b; a sees %v and %q", elsewhere, names(runs))
	}
	if got := names(All(t.Context(), a.m, task, a.own)); !cmp.Equal(got, []string{" executor-1", "b executor-1", "b executor-2"}) {
		t.Errorf("a reports %q", got)
	}
	if r, _ := a.begin(p); r.Name != "executor-3" {
		t.Errorf("the next run is %s", r.Name)
	}
}

// TestARunWithoutARecordCounts: nobody has seen how it ended, so it may have ended by itself. What its computer has seen counts more, later.
func TestARunWithoutARecordCounts(t *testing.T) {
	t.Parallel()
	a, b := shared(t, 2*time.Second)
	p := b.take()
	r, _ := b.begin(p)
	b.own = []process.Run{over(r)} // by its shim; the conductor ends before it looks
	b.m.Database().Close()

	// Until the database takes b for lost.
	conn := postgrestest.Connect(t, a.url)
	if _, err := conn.Exec(t.Context(), "select pg_sleep_until(until) from ferrus.node where id = $1", b.opts.Node); err != nil {
		t.Fatal(err)
	}
	q, err := Take(t.Context(), a.m, project.At(a.dir, ""))
	if err != nil {
		t.Fatal(err)
	}
	first, _ := a.runs(q)
	if len(first) != 1 || !first[0].Over() || first[0].Stopped || first[0].Exit != -1 || first[0].Error != "it ended on b without a record" {
		t.Fatalf("%+v", first)
	}
	if again, _ := a.runs(q); !cmp.Equal(first, again) {
		t.Errorf("its record has changed: %s", cmp.Diff(first, again))
	}
	a.leave(q)

	b.open()
	p = b.take()
	b.runs(p)
	b.leave(p)
	if seen, _ := a.runs(a.take()); len(seen) != 1 || seen[0].Exit != 1 || seen[0].Usage.Output != 100 {
		t.Errorf("b has written what it has seen; a sees %+v", seen)
	}
}
