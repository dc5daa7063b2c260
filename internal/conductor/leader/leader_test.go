package leader

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/store/live"
	"github.com/ferrus-go/ferrus/test/kit"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sql changes the database, as another computer does.
func (c *computer) sql(statement string) {
	c.t.Helper()
	conn, err := pgx.Connect(c.t.Context(), c.url)
	must(c.t, err)
	defer conn.Close(context.Background())
	tag, err := conn.Exec(c.t.Context(), statement)
	if must(c.t, err); tag.RowsAffected() != 1 {
		c.t.Fatalf("%s: %s", statement, tag)
	}
}

// vanishes makes the computer one that was not heard of for too long.
func (c *computer) vanishes() {
	c.t.Helper()
	c.m.Database().Close()
	c.sql("update ferrus.node set until = clock_timestamp() - interval '1 minute' where host = '" + c.opts.Host + "'")
}

// order is one for an executor.
func order(number int) process.Order {
	return process.Order{Run: process.Run{Duty: agents.Executor, Agent: "command"}, Number: number}
}

// TestAMachineInFilesNeedsNoPost: there is none, and what is done with it changes nothing.
func TestAMachineInFilesNeedsNoPost(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	_, err := project.Init(root)
	must(t, err)
	m, err := project.At(root, "").OpenFiles(project.StoreOptions{})
	must(t, err)
	defer m.Close()
	p, err := Take(t.Context(), m, project.At(root, ""))
	if p != nil || err != nil {
		t.Fatalf("%+v, %v", p, err)
	}
	o := order(1)
	must(t, errors.Join(p.Look(t.Context()), p.Arrived(t.Context()), p.Begin(t.Context(), task, &o, "hq.lock"), p.Leave(t.Context(), "")))
	if p.Moved() || o.Session != "" || o.Fence != (process.Fence{}) || o.Number != 1 {
		t.Errorf("moved %v; the order is %+v", p.Moved(), o)
	}
	own := []process.Run{{Name: "executor-1", Duty: agents.Executor, Log: "agent-executor-1.log", Client: "s"}}
	all, elsewhere, err := p.Runs(t.Context(), task, own, nil)
	if !cmp.Equal(all, own) || len(elsewhere) > 0 || err != nil {
		t.Errorf("%+v, %v, %v", all, elsewhere, err)
	}
	if all := All(t.Context(), m, task, own); !cmp.Equal(all, own) {
		t.Errorf("%+v", all)
	}
	if far, err := Elsewhere(t.Context(), m); len(far) > 0 || err != nil || Node(t.Context(), m) != "" {
		t.Errorf("conducted on %v, %v", far, err)
	}
	ctx, end := p.Context(t.Context())
	if ctx.Err() != nil {
		t.Error(ctx.Err())
	}
	end()
	<-ctx.Done()
}

// TestWhoLosesThePostIsStopped: what goes on under it ends with the reason, and nothing is started or recorded any more.
func TestWhoLosesThePostIsStopped(t *testing.T) {
	t.Parallel()
	a, _ := shared(t, time.Second)
	p := a.take()
	ended, end := p.Context(t.Context())
	end()
	<-ended.Done()
	if err := context.Cause(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("what ends by itself ends with %v", err)
	}
	held, end := p.Context(t.Context())
	defer end()
	if held.Err() != nil {
		t.Fatalf("it has the post: %v", context.Cause(held))
	}
	a.sql("update ferrus.post set epoch = epoch + 1")
	select {
	case <-held.Done():
	case <-time.After(kit.Patience):
		t.Fatal("what goes on under a lost post is not ended")
	}
	if err := context.Cause(held); !errors.Is(err, ErrLost) {
		t.Errorf("it ends with %v", err)
	}
	o := order(1)
	for what, err := range map[string]error{"look": p.Look(t.Context()), "start": p.Begin(t.Context(), task, &o, "")} {
		if !errors.Is(err, ErrLost) {
			t.Errorf("%s: %v", what, err)
		}
	}
	a.own = []process.Run{over(a.run(1))}
	if _, _, err := p.Runs(t.Context(), task, a.own, a.free); !errors.Is(err, ErrLost) {
		t.Errorf("the end of a run is recorded: %v", err)
	}
	must(t, p.Leave(t.Context(), ""))
}

// TestNothingIsStartedWithoutTheNewestFiles: they are elsewhere, or nobody knows where, until they have arrived.
func TestNothingIsStartedWithoutTheNewestFiles(t *testing.T) {
	t.Parallel()
	a, b := shared(t, 0)
	b.leave(b.take())
	p, err := Take(t.Context(), a.m, project.At(a.dir, ""))
	must(t, err)
	o := order(1)
	if err := p.Begin(t.Context(), task, &o, ""); !errors.Is(err, ErrFilesElsewhere) || !p.Moved() || p.Files.Host != "b" {
		t.Errorf("moved %v, to %q; %v", p.Moved(), p.Files.Host, err)
	}
	must(t, p.Arrived(t.Context()))
	if p.Moved() {
		t.Error("the files have not arrived")
	}
	must(t, p.Begin(t.Context(), task, &o, ""))
	must(t, p.Look(t.Context()))
	if p.Moved() {
		t.Error("the files have gone")
	}
	a.m.Database().Close()
	if err := p.Arrived(t.Context()); err != nil {
		t.Errorf("what is here arrives again: %v", err)
	}
}

// TestAStartNamesItsFence: an agent that needs a conductor ends with it, and before this computer is taken for lost. Other computers know it by
// a session of its own.
func TestAStartNamesItsFence(t *testing.T) {
	t.Parallel()
	a, _ := shared(t, 20*time.Second)
	p := a.take()
	sessions := map[string]bool{}
	for lock, want := range map[string]process.Fence{
		"":        {},
		"hq.lock": {Heard: live.HeardFile(filepath.Join(a.dir, ".ferrus")), Silence: 16 * time.Second, Conductor: "hq.lock", Alone: 20 * time.Second},
	} {
		o := order(len(sessions) + 1)
		must(t, p.Begin(t.Context(), task, &o, lock))
		if o.Fence != want {
			t.Errorf("with the lock %q the fence is %+v", lock, o.Fence)
		}
		if sessions[o.Session] = true; uuid.Validate(o.Session) != nil {
			t.Errorf("its session is %q", o.Session)
		}
	}
	if len(sessions) != 2 {
		t.Errorf("the sessions are %v", sessions)
	}
}

// TestOthersSeeWhoConducts a task, unless that computer is lost or has left; it does not count itself.
func TestOthersSeeWhoConducts(t *testing.T) {
	t.Parallel()
	a, b := shared(t, 0)
	want := func(when, node string, far map[string]bool) {
		t.Helper()
		got, err := Elsewhere(t.Context(), a.m)
		if host := Node(t.Context(), a.m); host != node || err != nil || !maps.Equal(got, far) {
			t.Errorf("%s: conducted on %q; elsewhere %v, %v", when, host, got, err)
		}
	}
	want("nobody conducts", "", nil)
	p := b.take()
	want("b conducts", "b", map[string]bool{"": true})
	if far, err := Elsewhere(t.Context(), b.m); len(far) > 0 || err != nil || Node(t.Context(), b.m) != "" {
		t.Errorf("b sees itself elsewhere: %v, %v", far, err)
	}
	var taken *TakenError
	if q, err := Take(t.Context(), a.m, project.At(a.dir, "")); q != nil || !errors.As(err, &taken) || taken.Host != "b" {
		t.Errorf("a has %+v, %v", q, err)
	}
	b.leave(p)
	want("b has left", "", nil)
	b.take()
	b.vanishes()
	want("b is lost", "", nil)

	own := []process.Run{over(a.run(1))}
	a.m.Database().Close() // it does not answer
	if _, err := Elsewhere(t.Context(), a.m); err == nil || Node(t.Context(), a.m) != "" {
		t.Errorf("who conducts is known without the database: %v", err)
	}
	if got := All(t.Context(), a.m, task, own); !cmp.Equal(got, own) {
		t.Errorf("without the database a reports %+v", got)
	}
}

// TestAStartThatNobodyCarriedOutEnds: its shim was never there. While a shim is in the slot, it may be only just starting.
func TestAStartThatNobodyCarriedOutEnds(t *testing.T) {
	t.Parallel()
	a, _ := shared(t, 0)
	p := a.take()
	r, _ := a.begin(p)
	slot := string(a.free(agents.Executor))
	must(t, os.MkdirAll(filepath.Dir(slot), 0o700))
	lock, err := filelock.Take(slot)
	must(t, err)
	if runs, elsewhere := a.runs(p); len(runs) != 1 || runs[0].Over() || len(elsewhere) > 0 {
		t.Errorf("a shim is in the slot: %+v, %v", runs, elsewhere)
	}
	must(t, lock.Close())
	for range 2 {
		runs, _ := a.runs(p)
		if len(runs) != 1 || runs[0].Name != r.Name || !runs[0].Over() || !runs[0].Stopped || runs[0].Exit != 0 || runs[0].Error != "it was recorded and not started" {
			t.Fatalf("nobody is in the slot: %+v", runs)
		}
	}
	a.own = []process.Run{over(r)} // a shim that came late
	a.runs(p)
	a.own = nil
	if runs, _ := a.runs(p); len(runs) != 1 || runs[0].Exit != 1 || runs[0].Usage.Output != 100 || runs[0].Stopped {
		t.Errorf("what the shim has seen counts less: %+v", runs)
	}
}

// TestARunIsRecordedOnce: what the database has is not written again, and a line that no ferrus writes is nobody's run.
func TestARunIsRecordedOnce(t *testing.T) {
	t.Parallel()
	a, b := shared(t, 0)
	p := a.take()
	first, second := over(a.run(2)), over(a.run(1))
	second.Started = first.Started
	a.own = []process.Run{first, second}
	a.runs(p)
	must(t, p.Record(t.Context(), task, "executor-9", true, []byte("{}")))
	a.leave(p)
	if runs, _ := a.runs(p); !cmp.Equal(names(runs), []string{" executor-1", " executor-2"}) { // to record is refused now
		t.Errorf("%q", names(runs))
	}

	b.begin(b.take())
	b.vanishes()
	all := All(t.Context(), a.m, task, a.own)
	if !cmp.Equal(names(all), []string{" executor-1", " executor-2", "b executor-3"}) {
		t.Fatalf("%q", names(all))
	}
	if last := all[2]; last.Error != "it ended on b without a record" || last.Exit != -1 || all[0].Error != "" {
		t.Errorf("a reports %+v", all)
	}
}
