package postgres

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/postgrestest"
)

// another opens the machine of s as another computer does, which is lost after ttl.
func another(t testing.TB, s *Store, url string, ttl time.Duration) *Store {
	t.Helper()
	m, err := connect(t, url, Options{Node: uuid.New(), Host: "far", TTL: ttl}).Open(t.Context(), s.name, t.TempDir(), Opening{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func takePost(t testing.TB, s *Store) *Post {
	t.Helper()
	p, err := s.TakePost(t.Context(), uuid.NewString())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestOneConductorHasThePost whatever computer it runs on, and of many that try at once.
func TestOneConductorHasThePost(t *testing.T) {
	t.Parallel()
	url := postgrestest.Database(t)
	s := newMachine(t, connect(t, url, Options{}))
	var all []*Store
	for range 6 {
		all = append(all, another(t, s, url, 0))
	}
	for range 5 {
		var mu sync.Mutex
		var got []*Post
		var each sync.WaitGroup
		for _, m := range all {
			each.Go(func() {
				p, err := m.TakePost(t.Context(), uuid.NewString())
				var taken *TakenError
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					got = append(got, p)
				case !errors.As(err, &taken) || taken.Host != "far":
					t.Errorf("the post cannot be taken: %v", err)
				}
			})
		}
		each.Wait()
		if len(got) != 1 {
			t.Fatalf("%d conductors have the post", len(got))
		}
		if err := got[0].Leave(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTheFilesOfATaskHaveOneHome until another computer says that it has them.
func TestTheFilesOfATaskHaveOneHome(t *testing.T) {
	t.Parallel()
	url := postgrestest.Database(t)
	s := newMachine(t, connect(t, url, Options{Host: "near"}))
	m := another(t, s, url, 0)
	p := takePost(t, s)
	if p.Files != (store.Copy{}) {
		t.Errorf("nobody has conducted the task, and %+v", p)
	}
	if err := errors.Join(p.Arrived(t.Context()), p.Leave(t.Context(), "c0ffee")); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the first one ends before it has the files
		p = takePost(t, m)
		if is := view(t, m).Files; p.Files != is || is.Here || is.Host != "near" || is.Commit != "c0ffee" {
			t.Errorf("the files are %+v, %+v", p, is)
		}
		if err := p.Leave(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
	}
	p = takePost(t, m)
	if err := p.Arrived(t.Context()); err != nil || !p.Files.Here {
		t.Fatalf("%+v, %v", p, err)
	}
	if err := p.Leave(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if is := view(t, m).Files; is.Host != "far" || !is.Here || is.Elsewhere() || is.Commit != "" {
		t.Errorf("the files are %+v", is)
	}
	if p, is := takePost(t, s), view(t, s).Files; p.Files != is || is.Here || is.Host != "far" || is.Commit != "" {
		t.Errorf("the files are %+v, %+v", p, is)
	}
}

// TestWhoMakesATreeHasTheFiles also while another computer has the post, and while that one fetches older files: it starts nothing until it has the newest.
func TestWhoMakesATreeHasTheFiles(t *testing.T) {
	t.Parallel()
	url := postgrestest.Database(t)
	s := newMachine(t, connect(t, url, Options{Host: "near"}))
	m := another(t, s, url, 0)
	makes := func(on *Store, set func(next *state.Task)) {
		t.Helper()
		apply(t, on, func(now store.Snapshot) (*store.Change, error) {
			next := now.Task.Clone()
			set(&next)
			return &store.Change{Event: "repair", Next: next}, nil
		})
	}
	tree := func(n int) string { return fmt.Sprintf("%040x", n) }
	begin := func(p *Post) error { return p.Begin(t.Context(), "t-1", "executor-1", uuid.NewString(), []byte("{}")) }
	makes(s, func(next *state.Task) { next.BaseTree = tree(1) })
	p := takePost(t, m)
	if p.Files.Here || p.Files.Host != "near" {
		t.Fatalf("the files that a task begins with are %+v", p)
	}
	for i, set := range []func(*state.Task){
		func(next *state.Task) { next.Check.Tree = tree(2) },
		func(next *state.Task) { next.Submission.Tree = tree(2) },
	} {
		if err := begin(p); !errors.Is(err, ErrFilesElsewhere) || p.Files.Here || p.Files.Host != "near" {
			t.Errorf("%d: a start without the files: %v, %+v", i, err, p)
		}
		makes(s, set)
		if err := p.Arrived(t.Context()); !errors.Is(err, ErrFilesElsewhere) || p.Files.Here {
			t.Errorf("%d: older files have arrived: %v, %+v", i, err, p)
		}
		makes(s, func(next *state.Task) { next.CheckRetries++ }) // it makes no files
		if err := p.Arrived(t.Context()); err != nil || !p.Files.Here {
			t.Errorf("%d: %v, %+v", i, err, p)
		}
		if err := begin(p); err != nil {
			t.Errorf("%d: %v", i, err)
		}
		makes(s, func(next *state.Task) { next.BaseTree = tree(3 + i) })
	}
	if err := p.Look(t.Context()); err != nil || p.Files.Here || p.Files.Host != "near" {
		t.Errorf("%v, %+v", err, p)
	}
	if err := p.Leave(t.Context(), "c0ffee"); err != nil {
		t.Fatal(err)
	}
	if is := view(t, m).Files; is.Host != "near" || is.Commit != "" {
		t.Errorf("files that were not the newest were handed over: %+v", is)
	}
	snap := apply(t, m, claim("s-1"))
	if want := (store.Copy{Host: "far", Here: true, Seq: snap.Task.Seq}); snap.Files != want || view(t, m).Files != want {
		t.Errorf("after a claim: %+v, %+v", snap.Files, view(t, m).Files)
	}
	if is := view(t, s).Files; is.Host != "far" || is.Seq != snap.Task.Seq {
		t.Errorf("after the claim of another computer: %+v", is)
	}
}

// TestALostComputerStartsNothing: when another one has taken its post, its late start is refused, and it knows.
func TestALostComputerStartsNothing(t *testing.T) {
	t.Parallel()
	url := postgrestest.Database(t)
	s := newMachine(t, connect(t, url, Options{}))
	m := another(t, s, url, 2*time.Second)
	old := takePost(t, m)
	if err := errors.Join(old.Arrived(t.Context()), old.Begin(t.Context(), "t-1", "executor-1", uuid.NewString(), []byte("{}"))); err != nil {
		t.Fatal(err)
	}
	if runs, err := s.Runs(t.Context(), "t-1"); err != nil || len(runs) != 1 || !runs[0].Alive || runs[0].Here || runs[0].Host != "far" {
		t.Fatalf("%+v, %v", runs, err)
	}
	if _, err := s.TakePost(t.Context(), uuid.NewString()); err == nil {
		t.Fatal("two conductors have the post")
	}
	// Its computer is not heard of any more, as behind a network that broke.
	m.db.mu.Lock()
	m.db.ours = map[string]ownSession{}
	m.db.mu.Unlock()
	select {
	case <-old.Lost():
	case <-t.Context().Done():
		t.Fatal("it does not know that it is lost")
	}
	lost(t, m)
	p := takePost(t, s)
	if runs, err := s.Runs(t.Context(), "t-1"); err != nil || len(runs) != 1 || runs[0].Alive || runs[0].Over {
		t.Fatalf("%+v, %v", runs, err)
	}
	for what, err := range map[string]error{
		"a start":           old.Begin(t.Context(), "t-1", "executor-2", uuid.NewString(), []byte("{}")),
		"a record":          old.Record(t.Context(), "t-1", "executor-1", true, []byte("{}")),
		"the files":         old.Arrived(t.Context()),
		"the wrong machine": takePost(t, newMachine(t, s.db)).fenced(t.Context(), "change", "update post set files = 'x' where machine = $1 and session = $2 and epoch = $3 + 1"),
	} {
		if !errors.Is(err, ErrPostLost) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := errors.Join(p.Arrived(t.Context()), p.Begin(t.Context(), "t-1", "executor-2", uuid.NewString(), []byte("{}"))); err != nil {
		t.Error(err)
	}
	if err := old.Leave(t.Context(), "stale"); err != nil {
		t.Error(err)
	}
	if posts, err := s.db.Posts(t.Context(), s.name.Project); err != nil || len(posts) != 1 || posts[0].Node != s.db.opts.Node || posts[0].Lost {
		t.Errorf("%+v, %v", posts, err)
	}
}

// TestAConductorThatEndsWithoutAWord is followed at once by one of its own computer, and by another computer after a while: its agents live on until then.
func TestAConductorThatEndsWithoutAWord(t *testing.T) {
	t.Parallel()
	url := postgrestest.Database(t)
	s := newMachine(t, connect(t, url, Options{TTL: time.Second}))
	m := another(t, s, url, time.Second)
	p := takePost(t, m)
	if err := p.life.Close(); err != nil { // as if its process had ended
		t.Fatal(err)
	}
	if _, err := s.TakePost(t.Context(), uuid.NewString()); err == nil {
		t.Error("another computer has taken the post at once")
	}
	p = takePost(t, m)
	if err := p.life.Close(); err != nil {
		t.Fatal(err)
	}
	lost(t, m)
	takePost(t, s)
	var taken *TakenError
	if _, err := m.TakePost(t.Context(), uuid.NewString()); !errors.As(err, &taken) {
		t.Errorf("two conductors have the post: %v", err)
	}
}

// TestAnAgentThatNeverBeganEnds when its computer is back, and another one has the task: that one waits for it. One that has begun, and one
// that the conductor of this computer is about to start, live on.
func TestAnAgentThatNeverBeganEnds(t *testing.T) {
	t.Parallel()
	url := postgrestest.Database(t)
	s := newMachine(t, connect(t, url, Options{}))
	m := another(t, s, url, time.Second)
	old := takePost(t, m)
	if err := old.Arrived(t.Context()); err != nil {
		t.Fatal(err)
	}
	never, begins := uuid.NewString(), uuid.NewString()
	for name, session := range map[string]string{"executor-1": never, "reviewer-1": begins} {
		if err := old.Begin(t.Context(), "t-1", name, session, []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	shim, err := m.sessions.Take(begins)
	if err != nil {
		t.Fatal(err)
	}
	defer shim.Close()
	lives := func(when string, want ...string) {
		t.Helper()
		if err := errors.Join(m.db.heard(t.Context()), m.db.sweep(t.Context())); err != nil {
			t.Fatal(err)
		}
		runs, err := s.Runs(t.Context(), "t-1")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range runs {
			if r.Alive {
				got = append(got, r.Name)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q live, not %q", when, got, want)
		}
	}
	lives("its conductor is there", "executor-1", "reviewer-1")
	if err := old.life.Close(); err != nil { // as if its process had ended
		t.Fatal(err)
	}
	m.db.mu.Lock()
	m.db.ours = map[string]ownSession{}
	m.db.mu.Unlock()
	lost(t, m)
	takePost(t, s)
	lives("another computer has the post", "reviewer-1")
}
