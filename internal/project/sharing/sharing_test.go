package sharing

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/queue"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/store/postgres"
	"github.com/ferrus-go/ferrus/test/postgrestest"
)

// TestWhatIsAtWorkInFilesIsNamed: each thing with the command that ends it, and nothing is left in the database.
func TestWhatIsAtWorkInFilesIsNamed(t *testing.T) {
	url := postgrestest.DurableDatabase(t)
	conn := postgrestest.Connect(t, url)
	for name, c := range map[string]struct {
		lock string
		says []string
	}{
		"a conductor":              {"live/hq.lock", []string{"the conductor", "ferrus stop"}},
		"a conductor of a branch":  {"branches/side/live/hq.lock", []string{"the conductor of side", "ferrus stop --branch side"}},
		"an agent":                 {"branches/side/live/agent-side-supervisor.lock", []string{"the agent supervisor of side", "ferrus stop --branch side"}},
		"a server":                 {"live/" + uuid.NewString() + ".lock", []string{"the server of an agent", "end the client of the agent"}},
		"a check":                  {"live/check-by-hand.lock", []string{"a check", "ferrus stop, or end the command ferrus check"}},
		"a merge":                  {"live/merge.lock", []string{"a merge", "wait until it has ended"}},
		"a fleet":                  {"parallel/live/hq.lock", []string{"a run with --parallel, or a node", "ferrus stop"}},
		"a branch that is made":    {"branches/.new.lock", []string{"what makes the branch new"}},
		"a pipeline":               {"pipeline-tmp/run-1/workers/.conductor.lock", []string{"the pipeline run run-1", "ferrus pipeline cancel run-1"}},
		"a worker of a pipeline":   {"pipeline-tmp/run-1/workers/one.lock", []string{"the pipeline run run-1"}},
		"a delegate's decision":    {"live/delegates.lock", []string{"a decision about a delegate"}},
		"a set-up of a work tree":  {"branches/side/live/setup.lock", []string{"the set-up of a work tree of side"}},
		"another move of the same": {"live/move.lock", []string{"another process moves the project"}},
	} {
		t.Run(name, func(t *testing.T) {
			root := newProject(t, "a")
			path := filepath.Join(root, ".ferrus", filepath.FromSlash(c.lock))
			must(t, os.MkdirAll(filepath.Dir(path), 0o700))
			lock, err := filelock.Take(path)
			must(t, err)
			_, err = Move(t.Context(), root, url, time.Now())
			wantError(t, err, c.says...)
			if err := writes(root, ""); err != nil || project.At(root, "").InDatabase() {
				t.Errorf("the files are not as they were: %v", err)
			}
			must(t, lock.Close())
			if n := projects(t, conn, root); n != 0 {
				t.Errorf("%d projects are left in the database", n)
			}
		})
	}
	root := newProject(t, "a")
	must(t, claims(root, "side", uuid.NewString()))
	for range 2 {
		_, err := Move(t.Context(), root, url, time.Now())
		wantError(t, err, "executor:test:1 works on the task of side", "ferrus stop --branch side or ferrus release --branch side")
	}
	if n := projects(t, conn, root); n != 0 {
		t.Errorf("%d projects are left in the database", n)
	}
}

// TestWhatBeginsWhileTheFilesFreezeIsRefused, and the files are used as before.
func TestWhatBeginsWhileTheFilesFreezeIsRefused(t *testing.T) {
	root, url := newProject(t, "a"), postgrestest.DurableDatabase(t)
	var lock *filelock.Lock
	ctx := context.WithValue(t.Context(), hook{}, func(step string) {
		if step == "frozen" {
			var err error
			lock, err = filelock.Take(project.At(root, "side").Path("live", "hq.lock"))
			must(t, err)
		}
	})
	_, err := Move(ctx, root, url, time.Now())
	wantError(t, err, "the conductor of side")
	must(t, lock.Close())
	must(t, writes(root, ""))
	must(t, writes(root, "side"))
	must(t, second(Move(t.Context(), root, url, time.Now())))
	_, err = Import(t.Context(), project.At(root, ""), strings.NewReader(""))
	wantError(t, err, "the project is in a database", "then ferrus store move")
}

// TestAMoveWhoseEndIsNotKnownSaysSo: what an earlier call has sent may still arrive, so the files are not used, whatever keeps the next call from ending it.
func TestAMoveWhoseEndIsNotKnownSaysSo(t *testing.T) {
	root, url := newProject(t, "a"), postgrestest.DurableDatabase(t)
	cut := make(chan struct{})
	go func() {
		defer close(cut)
		_, _ = Move(context.WithValue(t.Context(), hook{}, func(step string) {
			if step == "frozen" {
				runtime.Goexit()
			}
		}), root, url, time.Now())
	}()
	<-cut
	_, err := Join(t.Context(), root, url, "", time.Now())
	wantError(t, err, "ferrus store move finishes")
	path := project.At(root, "side").Path(store.JournalName)
	_, err = Move(context.WithValue(t.Context(), hook{}, func(step string) {
		if step == "sends side" {
			must(t, os.Rename(path, path+".away"))
		}
	}), root, "", time.Now())
	if refusal.CodeOf(err) != refusal.OutcomeUnknown {
		t.Errorf("%v", err)
	}
	wantError(t, err, "may or may not be in the database", "ferrus store move finishes the move, ferrus store move --files gives it up")
	must(t, os.Rename(path+".away", path))
	if err := writes(root, ""); err == nil {
		t.Error("the files are used")
	}
	must(t, second(Move(t.Context(), root, "", time.Now())))
}

// TestWhatIsAtWorkOnAnyComputerIsNamed with its computer, before the project leaves the database.
func TestWhatIsAtWorkOnAnyComputerIsNamed(t *testing.T) {
	url := postgrestest.DurableDatabase(t)
	a, b := newProject(t, "a"), newFolder(t, "b")
	must(t, second(Move(t.Context(), a, url, time.Now())))
	must(t, second(Join(t.Context(), b, url, "", time.Now())))
	m, err := project.At(b, "side").Open(project.StoreOptions{})
	must(t, err)
	s := m.(*postgres.Store)
	host, _ := os.Hostname()
	refused := func(texts ...string) {
		t.Helper()
		_, err := Return(t.Context(), a)
		wantError(t, err, texts...)
		must(t, writes(a, ""))
	}
	session := uuid.NewString()
	life, err := s.Announce(session)
	must(t, err)
	refused("a node, or the server of an agent of side on "+host, "on "+host+": ferrus stop --branch side, or end the client")
	must(t, claims(b, "side", session))
	refused("executor:test:1 works on the task of side on " + host)
	must(t, life.Close())
	refused("executor:test:1 works on the task of side", "ferrus release --branch side")
	must(t, apply(b, "side", func(now store.Snapshot) (*store.Change, error) {
		next := now.Task.Clone()
		next.ClaimedBy, next.Session = "", ""
		return &store.Change{Event: "repair", Next: next}, nil
	}))
	post, err := s.TakePost(t.Context(), uuid.NewString())
	must(t, err)
	refused("the conductor of side on "+host, "on "+host+": ferrus stop --branch side")
	must(t, post.Leave(t.Context(), ""))
	own, err := project.At(a, "side").Open(project.StoreOptions{})
	must(t, err)
	post, err = own.(*postgres.Store).TakePost(t.Context(), uuid.NewString())
	must(t, err)
	for _, name := range []string{"", "side"} { // what only the folders know is named beside what the database has
		lock, err := filelock.Take(project.At(a, name).Path("live", "check-1.lock"))
		must(t, err)
		refused("the conductor of side; ", strings.TrimSpace("a check of " + name)[:len("a check")])
		must(t, lock.Close())
	}
	must(t, post.Leave(t.Context(), ""))
	it, err := queue.Find(filepath.Join(b, ".ferrus"), "a")
	must(t, err)
	c, err := queue.Take(t.Context(), it)
	must(t, err)
	refused("what takes the task a from the queue on " + host)
	must(t, c.Close())
	// The claim was made on b: the newest files of side are there.
	refused("the newest files of the task are on "+host, "ferrus branch --fetch side", "ferrus store move --files on the computer that has them")
	must(t, second(Return(t.Context(), b)))
	wantError(t, second(Return(t.Context(), a)), "moved into the files of "+b)
	if left, _ := filepath.Glob(filepath.Join(a, ".ferrus", "*.import")); len(left) > 0 {
		t.Errorf("a computer that cannot have the project has received %v", left)
	}
	if _, err := s.TakePost(t.Context(), uuid.NewString()); err == nil {
		t.Error("a task is conducted whose project has left the database")
	}
	_, err = s.View()
	wantError(t, err, "moved into the files of "+b, "end this server or command; then start it again")
}

// TestAServerIsToldWhereTheProjectIs: one that has the machines open while they move, at each step of a move there and back, what happens and what to do. It is
// never told of another version of ferrus.
func TestAServerIsToldWhereTheProjectIs(t *testing.T) {
	url := postgrestest.DurableDatabase(t)
	root := newProject(t, "a")
	var open []store.Machine
	begin := func(look bool) {
		for _, branch := range []string{"", "side"} {
			m, err := project.At(root, branch).Open(project.StoreOptions{ReadOnly: look})
			must(t, err)
			t.Cleanup(func() { m.Close() })
			open = append(open, m)
		}
	}
	steps := map[string]int{}
	told := func(step string, texts ...string) {
		t.Helper()
		steps[step]++
		for _, m := range open {
			_, err := m.View()
			if len(texts) == 0 {
				must(t, err)
				continue
			}
			wantError(t, err, texts...)
			if text := fmt.Sprint(err); strings.Contains(text, "newer") || strings.Contains(text, "schema") {
				t.Errorf("%s: a server is told of another version: %s", step, text)
			}
		}
	}
	begin(false)
	begin(true)
	must(t, second(Move(context.WithValue(t.Context(), hook{}, func(step string) {
		switch {
		case step == "announced":
			told(step)
		case step == "frozen", step == "arrived", strings.HasPrefix(step, "sends "):
			told(step, "is being moved into the database at "+url, "wait until that has ended, then end this server or command and start it again",
				"if it was cut off, ferrus store move finishes it")
		case step == "shared", step == "queue moved", strings.HasPrefix(step, "set aside"):
			told(step, "the project was moved into the database at "+url+"; end this server or command and start it again")
		}
	}), root, url, time.Now())))
	told("moved", "the project was moved into the database at "+url+"; end this server or command and start it again")
	open = nil
	begin(false)
	must(t, second(Return(context.WithValue(t.Context(), hook{}, func(step string) {
		if strings.HasPrefix(step, "received ") {
			told(step)
			return
		}
		told(step, "the project was moved into the files of "+root, "end this server or command; then start it again", "if the move was cut off, ferrus store move --files finishes it")
	}), root)))
	told("returned", "the project was moved into the files of "+root, "start it again")
	if len(steps) < 18 {
		t.Errorf("the steps were %v", steps)
	}
}

// TestAFolderThatJoinsLosesNoTask: one that its agents make at this moment, nor that of a branch.
func TestAFolderThatJoinsLosesNoTask(t *testing.T) {
	url := postgrestest.DurableDatabase(t)
	a := newProject(t, "a")
	must(t, second(Move(t.Context(), a, url, time.Now())))
	b := newFolder(t, "b")
	must(t, second(project.CreateFiles(project.At(b, "side"), project.StoreOptions{})))
	must(t, writes(b, "side"))
	_, err := Join(t.Context(), b, url, "", time.Now())
	wantError(t, err, "has tasks of its own")
	if project.At(b, "").InDatabase() {
		t.Error("it has joined all the same")
	}
	c := newFolder(t, "c")
	ctx := context.WithValue(t.Context(), hook{}, func(step string) {
		if step == "joining" {
			must(t, writes(c, ""))
		}
	})
	_, err = Join(ctx, c, url, "", time.Now())
	wantError(t, err, "has tasks of its own")
	if got := journal(t, c, ""); !strings.Contains(got, "a line") {
		t.Error("the line is lost")
	}
}

// TestALeftoverIsRemoved from the database, and nothing that somebody uses.
func TestALeftoverIsRemoved(t *testing.T) {
	url := postgrestest.DurableDatabase(t)
	a, b, c := newProject(t, "a"), newFolder(t, "b"), newFolder(t, "c")
	must(t, second(Move(t.Context(), a, url, time.Now())))
	at := &project.Shared{URL: url, Root: c}
	d, err := at.Database(t.Context(), nil)
	must(t, err)
	t.Cleanup(func() { at.Close() })
	ghost, used := uuid.New(), uuid.New() // as an older ferrus made them
	for _, id := range []uuid.UUID{ghost, used} {
		must(t, d.Create(t.Context(), postgres.Name{Project: id}, filepath.Base(a)))
	}
	s, err := d.Open(t.Context(), postgres.Name{Project: used}, c, postgres.Opening{})
	must(t, err)
	must(t, second(s.Announce(uuid.NewString())))
	conn := postgrestest.Connect(t, url)
	must(t, second(conn.Exec(t.Context(), "delete from ferrus.member where project = $1", used)))
	_, err = Join(t.Context(), b, url, "", time.Now())
	wantError(t, err, "several such projects", "ferrus store remove ID")
	live, err := project.At(a, "").Shared()
	must(t, err)
	_, err = Discard(t.Context(), a, url, live.Project.String())
	wantError(t, err, "this folder belongs to it", "store move --files")
	_, err = Discard(t.Context(), c, url, live.Project.String())
	wantError(t, err, fmt.Sprintf("%s on", a), "has joined it")
	_, err = Discard(t.Context(), c, url, used.String())
	wantError(t, err, "a computer has worked on it")
	must(t, second(Discard(t.Context(), c, url, ghost.String())))
	_, err = d.Open(t.Context(), postgres.Name{Project: ghost}, c, postgres.Opening{})
	wantError(t, err, "the project was removed from the database on")
	must(t, writes(a, ""))
	if n := projects(t, conn, a); n != 2 {
		t.Errorf("the database has %d projects", n)
	}
}

// TestAMoveThatWasCutOffIsGivenUp: the files are used again, and what was sent cannot arrive later.
func TestAMoveThatWasCutOffIsGivenUp(t *testing.T) {
	url := postgrestest.DurableDatabase(t)
	conn := postgrestest.Connect(t, url)
	a := newProject(t, "a")
	_, killed, err := process(t, "move", a, url, 5) // announced, froze side, froze the project, frozen, sends
	if !killed {
		t.Fatal(err)
	}
	wantError(t, writes(a, ""), "is being moved into the database at", "ferrus store move finishes it")
	_, err = Return(t.Context(), a)
	wantError(t, err, "was given up", "it is in the files of "+a)
	must(t, writes(a, ""))
	must(t, writes(a, "side"))
	must(t, second(Move(t.Context(), a, url, time.Now())))
	if n := projects(t, conn, a); n != 1 {
		t.Errorf("the database has %d projects", n)
	}
}

func second[T any](_ T, err error) error { return err }
