package postgres

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/postgrestest"
)

// other is the change of a text.
func other([]byte) ([]byte, error) { return []byte("Other."), nil }

// enqueue adds a task of a name to the queue of a machine's project.
func enqueue(t testing.TB, s *Store, name string) string {
	t.Helper()
	got, err := s.db.Enqueue(t.Context(), s.name.Project, named(name))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func named(name string) Entry {
	return Entry{Text: []byte("Do " + name + "."), Source: uuid.New(), Name: func(n int) string {
		if n > 1 {
			return fmt.Sprintf("%s-%d", name, n)
		}
		return name
	}}
}

// claimed claims a task that nobody else claims.
func claimed(t testing.TB, s *Store, name string) *Claim {
	t.Helper()
	c, err := s.ClaimQueued(t.Context(), name, false)
	if err != nil || c == nil {
		t.Fatalf("%s cannot be claimed: %+v, %v", name, c, err)
	}
	return c
}

// waiting returns the names of the tasks that wait.
func waiting(t testing.TB, s *Store) (names []string) {
	t.Helper()
	list, in, err := s.db.Queue(t.Context(), s.name.Project)
	if err != nil || !in {
		t.Fatal(in, err)
	}
	for _, q := range list {
		if !q.Taken {
			names = append(names, q.Name)
		}
	}
	return names
}

// forkOf makes a branch without lines, as one that is made of a task of the queue.
func forkOf(t testing.TB, s *Store, name string) error {
	t.Helper()
	dir := t.TempDir()
	return s.Fork(t.Context(), store.Branch{Name: name, Draft: dir + "/draft", Dir: dir + "/" + name}, 0, noted("forked"))
}

// TestATaskIsTakenByOneComputer of all that try at once, once.
func TestATaskIsTakenByOneComputer(t *testing.T) {
	t.Parallel()
	url := postgrestest.Database(t)
	s := newMachine(t, connect(t, url, Options{}))
	const tasks = 8
	for i := range tasks {
		enqueue(t, s, strconv.Itoa(i))
	}
	var mu sync.Mutex
	took, holders := map[string]int{}, map[string]int{}
	var each sync.WaitGroup
	for i := range 6 {
		m := another(t, s, url, 0)
		each.Go(func() {
			for {
				left := waiting(t, m)
				if len(left) == 0 {
					return
				}
				name := left[i%len(left)]
				c, err := m.ClaimQueued(t.Context(), name, false)
				if err != nil {
					t.Error(err)
					return
				}
				if c == nil {
					continue
				}
				mu.Lock()
				holders[name]++
				if holders[name] > 1 {
					t.Errorf("%s is claimed by two", name)
				}
				mu.Unlock()
				// Every second one gives up: then the task waits on.
				mu.Lock()
				done := took[name] > 0 || i%2 == 0
				holders[name]--
				if done {
					took[name]++
				}
				mu.Unlock()
				if done {
					err = c.Done(t.Context())
				}
				if err := errors.Join(err, c.Close(t.Context())); err != nil {
					t.Error(err)
				}
			}
		})
	}
	each.Wait()
	for i := range tasks {
		if n := took[strconv.Itoa(i)]; n != 1 {
			t.Errorf("task %d was taken %d times", i, n)
		}
	}
	t.Logf("rig: cases=%d bad=0; six computers take tasks at once", tasks)
}

// TestAClaimEndsWithItsProcess on the same computer, on another one, and when that is lost.
func TestAClaimEndsWithItsProcess(t *testing.T) {
	t.Parallel()
	url := postgrestest.Database(t)
	s := newMachine(t, connect(t, url, Options{Host: "near"}))
	m := another(t, s, url, time.Second)
	enqueue(t, s, "a")
	c := claimed(t, s, "a")
	for _, far := range []*Store{s, m} {
		if got, err := far.ClaimQueued(t.Context(), "a", false); got != nil || err != nil {
			t.Fatalf("two claim the task: %v", err)
		}
	}
	says(t, s.Requeue(t.Context(), "a", other), refusal.LockBusy, "ferrus queue")
	says(t, s.Dequeue(t.Context(), "a"), refusal.LockBusy)
	c.life.Close() // as if its process had ended
	c = claimed(t, s, "a")
	if c.Since.IsZero() {
		t.Error("a process of this computer had begun")
	}
	c.life.Close()
	if _, err := m.ClaimQueued(t.Context(), "a", true); code(err) != refusal.LockBusy {
		t.Errorf("what another computer has begun counts as not begun: %v", err)
	}
	if c = claimed(t, m, "a"); !c.Since.IsZero() {
		t.Error("no process of that computer had begun")
	}
	// It is not heard of any more, as behind a network that broke.
	m.db.mu.Lock()
	m.db.ours = map[string]ownSession{}
	m.db.mu.Unlock()
	lost(t, m)
	late := claimed(t, s, "a")
	if err := errors.Join(late.Done(t.Context()), late.Close(t.Context()), c.Done(t.Context())); err != nil {
		t.Error(err)
	}
	if c, err := s.ClaimQueued(t.Context(), "a", false); c != nil || err != nil {
		t.Errorf("a task that was taken is claimed again: %v", err)
	}
}

// TestTheBranchOfATaskIsMadeByItsClaimant: a process that has lost the claim makes none, and the next one learns of a branch without its task.
func TestTheBranchOfATaskIsMadeByItsClaimant(t *testing.T) {
	t.Parallel()
	url := postgrestest.Database(t)
	s := newMachine(t, connect(t, url, Options{}))
	m := another(t, s, url, 0)
	for _, name := range []string{"a", "b"} {
		enqueue(t, s, name)
	}
	old := claimed(t, m, "a")
	says(t, forkOf(t, s, "a"), refusal.LockBusy, "another computer")
	old.life.Close()
	c := claimed(t, s, "a")
	if c.Branch {
		t.Error("nobody has made a branch")
	}
	says(t, forkOf(t, m, "a"), refusal.LockBusy)
	if err := forkOf(t, s, "a"); err != nil {
		t.Fatal(err)
	}
	c.life.Close()
	if c = claimed(t, m, "a"); !c.Branch {
		t.Error("there is a branch")
	}
	if err := s.db.Remove(t.Context(), Name{s.name.Project, "a"}); err != nil {
		t.Fatal(err)
	}
	c.life.Close()
	if c = claimed(t, m, "a"); c.Branch {
		t.Error("the branch was removed")
	}
	if err := forkOf(t, s, "b"); err != nil { // which nobody claims: a person makes it
		t.Error(err)
	}
	if c = claimed(t, s, "b"); c.Branch {
		t.Error("the branch is not of the task")
	}
}

// TestANameOfTheQueueIsUsedOnce, and an entry makes one task.
func TestANameOfTheQueueIsUsedOnce(t *testing.T) {
	t.Parallel()
	s := newMachine(t, connect(t, postgrestest.Database(t), Options{}))
	if err := forkOf(t, s, "a-2"); err != nil {
		t.Fatal(err)
	}
	e := named("a")
	for range 2 {
		if got, err := s.db.Enqueue(t.Context(), s.name.Project, e); got != "a" || err != nil {
			t.Fatalf("%s, %v", got, err)
		}
	}
	c := claimed(t, s, "a")
	if err := errors.Join(c.Done(t.Context()), c.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	if got := enqueue(t, s, "a"); got != "a-3" {
		t.Errorf("the name is %s", got)
	}
	e = named("a-2")
	e.Keep = true
	if got, err := s.db.Enqueue(t.Context(), s.name.Project, e); got != "a-2" || err != nil {
		t.Errorf("the name of its branch became %s, %v", got, err)
	}
	if got := waiting(t, s); !slices.Equal(got, []string{"a-3", "a-2"}) {
		t.Errorf("%q wait", got)
	}
	if err := errors.Join(s.Requeue(t.Context(), "a-3", other), s.Dequeue(t.Context(), "a-2")); err != nil {
		t.Fatal(err)
	}
	says(t, s.Dequeue(t.Context(), "a-2"), refusal.InvalidInput, "ferrus queue")
	if c = claimed(t, s, "a-3"); string(c.Text) != "Other." {
		t.Errorf("the text is %q", c.Text)
	}
	// Nothing is added to a project that was moved to files.
	if err := retired(t.Context(), s, map[string]store.Position{"": view(t, s).Journal, "a-2": {H: "x"}}); err == nil {
		t.Fatal("a journal that ends elsewhere was retired")
	}
	branch := view(t, open(t, s.db, Name{s.name.Project, "a-2"}))
	ends := map[string]store.Position{"": view(t, s).Journal, "a-2": branch.Journal}
	if err := retired(t.Context(), s, ends); err == nil || !strings.Contains(err.Error(), "takes the task a-3 from the queue") {
		t.Errorf("while a task is taken: %v", err)
	}
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := retired(t.Context(), s, ends); err != nil {
		t.Fatal(err)
	}
	_, err := s.db.Enqueue(t.Context(), s.name.Project, named("b"))
	says(t, err, refusal.NotInitialised, "store move --files finishes")
	says(t, c.Done(t.Context()), refusal.NotInitialised)
}

// TestTasksOfOneInstantHaveOneOrder, which no change of one of them and no computer changes: their names.
func TestTasksOfOneInstantHaveOneOrder(t *testing.T) {
	t.Parallel()
	url := postgrestest.Database(t)
	s := newMachine(t, connect(t, url, Options{}))
	now := time.Now()
	for _, name := range []string{"b", "B", "c", "a"} {
		e := named(name)
		e.Added = now
		if _, err := s.db.Enqueue(t.Context(), s.name.Project, e); err != nil {
			t.Fatal(err)
		}
	}
	enqueue(t, s, "0")
	early := named("z")
	early.Added = now.Add(-time.Microsecond)
	if _, err := s.db.Enqueue(t.Context(), s.name.Project, early); err != nil {
		t.Fatal(err)
	}
	if err := s.Requeue(t.Context(), "a", other); err != nil {
		t.Fatal(err)
	}
	for _, m := range []*Store{s, another(t, s, url, 0)} {
		list, in, err := m.db.Waiting(t.Context(), m.name.Project, 100)
		if err != nil || !in {
			t.Fatal(in, err)
		}
		var names []string
		for _, q := range list {
			names = append(names, q.Name)
		}
		if want := []string{"z", "B", "a", "b", "c", "0"}; !slices.Equal(names, want) || !slices.Equal(waiting(t, m), want) {
			t.Errorf("%q and %q wait", names, waiting(t, m))
		}
	}
}

// TestAnAnswerOfTheQueueLostAtAnyByte: the task is added once, taken once and removed once.
func TestAnAnswerOfTheQueueLostAtAnyByte(t *testing.T) {
	t.Parallel()
	url := postgrestest.Database(t)
	direct := newMachine(t, connect(t, url, Options{}))
	p := postgrestest.NewProxy(t, url)
	d := connect(t, p.URL, Options{Wait: time.Minute})
	d.ringing = true // it rings no more: its bytes would be those of the change
	s := open(t, d, direct.name)
	step, total := 97, 0
	if kit.Full() {
		step = 1
	}
	for name, direction := range directions {
		for after, over := 0, false; !over; after += step {
			task := fmt.Sprintf("%s-%d", name[len("to the "):], after)
			over = true
			for _, do := range []func() error{
				func() error { _, err := d.Enqueue(t.Context(), s.name.Project, named(task)); return err },
				func() error { return s.Requeue(t.Context(), task, other) },
				func() error { return s.Dequeue(t.Context(), task) },
			} {
				made := p.Cut(direction, after)
				err := do()
				p.Heal()
				total++
				if err != nil {
					t.Errorf("cut %s after %d bytes: %v", name, after, err)
				}
				select {
				case <-made:
					over = false
				default:
				}
			}
		}
	}
	if got := waiting(t, direct); len(got) > 0 {
		t.Errorf("%q wait", got)
	}
	t.Logf("rig: cases=%d bad=0; connections cut at each %d bytes", total, step)
}

// TestAChangeOfTheQueueRings on other computers, and has another sign.
func TestAChangeOfTheQueueRings(t *testing.T) {
	t.Parallel()
	url := postgrestest.Database(t)
	s := newMachine(t, connect(t, url, Options{}))
	m := another(t, s, url, 0)
	c := make(chan struct{}, 1) // has rings alone, and no ticks
	m.db.watch(m.id, c)
	rung(t, c)
	was := ""
	changed := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		rung(t, c)
		signs, err := m.db.Signs(t.Context(), m.name.Project)
		if err != nil || signs[QueueSign] == was {
			t.Errorf("%s: the sign is %q still, %v", what, was, err)
		}
		was = signs[QueueSign]
	}
	enqueue(t, s, "a")
	changed("added", nil)
	enqueue(t, s, "b")
	changed("another", nil)
	changed("replaced", s.Requeue(t.Context(), "a", other))
	changed("removed", s.Dequeue(t.Context(), "b"))
	enqueue(t, s, "b")
	changed("added again", nil)
	changed("taken", claimed(t, s, "a").Done(t.Context()))
	conn := postgrestest.Connect(t, url)
	if n := ask[int](t, conn, "select count(*)::int from ferrus.queue where taken is null"); n != 1 {
		t.Errorf("%d wait", n)
	}
}
