package postgres

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/postgrestest"
)

// announce announces a session of a node.
func announce(t testing.TB, s *Store) (session string, life io.Closer) {
	t.Helper()
	session = uuid.NewString()
	life, err := s.Announce(session)
	if err != nil {
		t.Fatal(err)
	}
	return session, life
}

// TestATroubleIsSeenWhileItIsTrue: from every computer, of a branch and of a task of the queue, until it is over, somebody conducts the task, the task is gone, or
// the node that has said so is.
func TestATroubleIsSeenWhileItIsTrue(t *testing.T) {
	t.Parallel()
	url := postgrestest.Database(t)
	s := newMachine(t, connect(t, url, Options{Host: "near"}))
	m := another(t, s, url, time.Second)
	if err := errors.Join(forkOf(t, s, "one"), forkOf(t, s, "two")); err != nil {
		t.Fatal(err)
	}
	enqueue(t, s, "waits")
	session, life := announce(t, m)
	other, end := announce(t, s)
	note := func(by *Store, session, name, text string) {
		t.Helper()
		if err := by.NoteTrouble(t.Context(), session, name, text); err != nil {
			t.Fatal(err)
		}
	}
	sign := ""
	want := func(what string, all ...string) {
		t.Helper()
		signs, err := s.db.Signs(t.Context(), s.name.Project)
		if err != nil {
			t.Fatal(err)
		}
		if what != "" && signs["one"] == sign {
			t.Errorf("%s: the sign of the branch is as it was", what)
		}
		sign = signs["one"]
		for _, by := range []*Store{s, m} {
			var got []string
			list, err := by.db.Troubles(t.Context(), s.name.Project)
			for _, w := range list {
				got = append(got, fmt.Sprintf("%s on %s (here %v): %s", w.Name, w.Host, w.Here == (by == s), w.Text))
			}
			if err != nil || !slices.Equal(got, all) {
				t.Errorf("%s: %q, %v; not %q", what, got, err, all)
			}
		}
	}
	want("")
	note(m, session, "one", "no agent")
	note(m, session, "waits", "not a task")
	note(m, session, "gone", "no such branch")
	note(s, other, "one", "no files")
	one, waits := []string{"one on far (here false): no agent", "one on near (here true): no files"}, "waits on far (here false): not a task"
	want("noted", append(one, waits)...)
	branch := open(t, s.db, Name{s.name.Project, "one"})
	list, err := branch.Troubles(t.Context())
	if err != nil || len(list) != 2 {
		t.Errorf("of the branch: %+v, %v", list, err)
	}
	since := list[0].Since
	note(m, session, "one", "no agent")
	if again, err := branch.Troubles(t.Context()); err != nil || len(again) != 2 || !again[0].Since.Equal(since) {
		t.Errorf("said again: %+v, %v", again, err)
	}
	v, err := s.db.Survey(t.Context(), s.name.Project)
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range map[string]int{"": 0, "one": 2, "two": 0} {
		if list, err := v.Open(Name{s.name.Project, name}, t.TempDir(), Opening{}).Troubles(t.Context()); len(list) != n || err != nil {
			t.Errorf("of %q an overview has %+v, %v", name, list, err)
		}
	}

	note(m, session, "waits", "")
	want("", one...)
	if err := end.Close(); err != nil {
		t.Fatal(err)
	}
	want("", one[:1]...)
	post := takePost(t, branch)
	want("conducted")
	if err := post.Leave(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	want("left", one[:1]...)
	if err := s.db.Remove(t.Context(), Name{s.name.Project, "one"}); err != nil {
		t.Fatal(err)
	}
	note(m, session, "two", "no agent")
	two := "two on far (here false): no agent"
	want("removed", two)
	// The node is not heard of any more.
	m.db.mu.Lock()
	m.db.ours = map[string]ownSession{}
	m.db.mu.Unlock()
	for end := time.Now().Add(kit.Patience / 4); ; {
		list, err := s.db.Troubles(t.Context(), s.name.Project)
		if err != nil || time.Now().After(end) {
			t.Fatalf("a lost node says still: %+v, %v", list, err)
		}
		if len(list) == 0 {
			break
		}
	}
	_ = life.Close()
}

// TestEveryComputerThatTakesPartIsListed, with its folder and when it was last there, whether or not it has worked.
func TestEveryComputerThatTakesPartIsListed(t *testing.T) {
	t.Parallel()
	url := postgrestest.Database(t)
	s := newMachine(t, connect(t, url, Options{Host: "build", Root: "/srv/site"}))
	idle := connect(t, url, Options{Node: uuid.New(), Host: "laptop", Root: "/home/me/site"})
	for _, d := range []*Database{s.db, idle} {
		if err := d.Join(t.Context(), s.name.Project); err != nil {
			t.Fatal(err)
		}
	}
	_, life := announce(t, s)
	_, far := announce(t, another(t, s, url, 0)) // of an older ferrus: it is no member
	for range 2 {
		list, err := idle.Nodes(t.Context(), s.name.Project)
		if err != nil || len(list) != 3 {
			t.Fatalf("%+v, %v", list, err)
		}
		build, old, laptop := list[0], list[1], list[2]
		if build.Host != "build" || build.Root != "/srv/site" || build.Joined.IsZero() || build.Heard.IsZero() || build.Lost {
			t.Errorf("%+v", build)
		}
		if old.Host != "far" || old.Root != "" || !old.Joined.IsZero() || old.Heard.IsZero() || old.Sessions != 1 {
			t.Errorf("%+v", old)
		}
		if laptop.Host != "laptop" || laptop.Root != "/home/me/site" || laptop.Joined.IsZero() || !laptop.Heard.IsZero() || laptop.Sessions != 0 || laptop.Lost {
			t.Errorf("%+v", laptop)
		}
		if alive := build.Sessions == 1; alive != (life != nil) {
			t.Errorf("%d sessions", build.Sessions)
		}
		if life != nil {
			_ = life.Close()
			life = nil
		}
	}
	_ = far.Close()
}

// TestAURLWithAnotherPasswordFileIsTheSame, and none that differs otherwise.
func TestAURLWithAnotherPasswordFileIsTheSame(t *testing.T) {
	const url = "postgres://ferrus@db.example.com/team?sslmode=verify-full"
	for other, same := range map[string]bool{
		url: true, url + "&passfile=%2Fhome%2Fme%2F.pgpass": true, "postgres://ferrus@db.example.com/team?passfile=x&sslmode=verify-full": true,
		"postgres://ferrus@db2.example.com/team?sslmode=verify-full": false, "postgres://ferrus@db.example.com/other?sslmode=verify-full": false,
		"postgres://ferrus@db.example.com/team": false, "": false, "%": false,
	} {
		if SameURL(url, other) != same || SameURL(other, url) != same {
			t.Errorf("%s: %v", other, !same)
		}
	}
}
