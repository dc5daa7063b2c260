package postgres

import (
	"context"
	"errors"
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

var directions = map[string]postgrestest.Direction{"to the server": postgrestest.ToServer, "to the client": postgrestest.ToClient}

// TestAnAnswerLostAtAnyByte cuts the connection at each byte of a transition, in each direction. The server is there, so that the
// transition succeeds each time, and has one line.
func TestAnAnswerLostAtAnyByte(t *testing.T) {
	t.Parallel()
	url := postgrestest.Database(t)
	direct := newMachine(t, connect(t, url, Options{}))
	p := postgrestest.NewProxy(t, url)
	d := connect(t, p.URL, Options{Wait: time.Minute})
	d.ringing = true // it rings no more: its bytes would be those of the transition
	s := open(t, d, direct.name)
	step, total, bad := 23, 0, 0
	switch {
	case kit.Full():
		step = 1
	case !kit.Named():
		step = 97
	}
	for name, direction := range directions {
		for after := 0; ; after += step {
			apply(t, s, noted("on a connection that is open"))
			made := p.Cut(direction, after)
			snap, err := s.Apply(t.Context(), noted(note(name, after)))
			p.Heal()
			total++
			if err != nil || snap.Top.Note != note(name, after) {
				bad++
				t.Errorf("cut %s after %d bytes: %v", name, after, err)
			}
			select {
			case <-made:
				continue
			default:
			}
			if after < 250 {
				t.Errorf("a transition has %d bytes %s", after, name)
			}
			break
		}
	}
	for n, lines := range notes(t, direct) {
		if lines != 1 && n != "on a connection that is open" {
			bad++
			t.Errorf("%s: %d lines", n, lines)
		}
	}
	if got := view(t, direct).Task.Seq; got != uint64(2*total) {
		t.Errorf("%d lines after %d transitions", got, 2*total)
	}
	t.Logf("rig: cases=%d bad=%d; a cut each %d bytes", total, bad, step)
}

// TestAnAnswerThatNeverComes cuts the connection and lets nothing through from then on, until Apply has returned. What it says is true: if
// nothing was changed, there is no line, not even a late one.
func TestAnAnswerThatNeverComes(t *testing.T) {
	t.Parallel()
	url := postgrestest.Database(t)
	direct := newMachine(t, connect(t, url, Options{}))
	said, unknown := map[string]error{}, 0
	try := func(name string, direction postgrestest.Direction, after int) {
		p := postgrestest.NewProxy(t, url)
		s := open(t, connect(t, p.URL, Options{}), direct.name)
		s.db.ringing = true
		hurry(s.db, 400*time.Millisecond)
		insist(t, s, noted("before"))
		made, ended := p.Cut(direction, after), make(chan struct{})
		var watching sync.WaitGroup
		watching.Go(func() {
			select {
			case <-made:
				p.Partition()
			case <-ended:
			}
		})
		_, err := s.Apply(t.Context(), noted(note(name, after)))
		close(ended)
		watching.Wait()
		p.Heal()
		said[note(name, after)] = err
		if code(err) == refusal.OutcomeUnknown {
			unknown++
		}
		s.db.Close()
	}
	for name, direction := range directions {
		for after := 0; after < 1400; after += 300 {
			if direction == postgrestest.ToServer || after < 400 {
				try(name, direction, after)
			}
		}
	}
	until(t, postgrestest.Connect(t, url), "select count(*) <= $1 from pg_stat_activity where application_name = 'ferrus' and datname = current_database()",
		direct.db.write.Stat().TotalConns()+direct.db.read.Stat().TotalConns())
	have := notes(t, direct)
	for n, err := range said {
		switch lines := have[n]; {
		case lines > 1, err == nil && lines != 1, err != nil && code(err) != refusal.OutcomeUnknown && lines != 0:
			t.Errorf("%s: %d lines, and Apply said: %v", n, lines, err)
		}
	}
	if unknown == 0 {
		t.Errorf("no outcome of %d was unknown", len(said))
	}
}

// TestTheSameAttemptTwice has one line, also when others have followed it.
func TestTheSameAttemptTwice(t *testing.T) {
	t.Parallel()
	s := newMachine(t, connect(t, postgrestest.Database(t), Options{}))
	first := &transition{s: s, id: uuid.New()}
	for _, round := range []string{"first", "again", "after others"} {
		first.do = writes(s, round)
		if err := first.attempt(t.Context()); err != nil || first.refused != nil {
			t.Fatal(err, first.refused)
		}
		first.lost = &lostAnswer{errors.New("it did not come")} // so that the next round looks for it
		if first.after.Task.Seq != 1 || first.after.Top.Note != "first" {
			t.Errorf("%s: line %d, %q", round, first.after.Task.Seq, first.after.Top.Note)
		}
		if round == "again" {
			apply(t, s, noted("another"))
		}
	}
	if got := notes(t, s); len(got) != 2 || got["first"] != 1 {
		t.Errorf("lines %v", got)
	}
}

// writes is the decision for an event with a note.
func writes(s *Store, text string) decision {
	return func(now store.Snapshot) (*writing, error) {
		c, _ := noted(text)(now)
		l, raw, err := c.Line(now, s.stamp())
		return &writing{before: now, after: c.After(now, l), line: l, raw: raw}, err
	}
}

// TestAnErrorOfTheServerIsNoLostAnswer: it is told at once, and nothing is changed.
func TestAnErrorOfTheServerIsNoLostAnswer(t *testing.T) {
	t.Parallel()
	url := postgrestest.Database(t)
	s := newMachine(t, connect(t, url, Options{Wait: time.Hour}))
	apply(t, s, noted("first"))
	if _, err := postgrestest.Connect(t, url).Exec(t.Context(), "alter table ferrus.journal add check (seq < 2)"); err != nil {
		t.Fatal(err)
	}
	_, err := s.Apply(t.Context(), noted("second"))
	says(t, err, refusal.StoreError, "nothing was changed", "23514")
	if got := notes(t, s); len(got) != 1 {
		t.Errorf("lines %v", got)
	}
}

// TestAFailureAfterALostAnswer does not say that nothing was changed. While the transition decides, the machine is removed by somebody who
// waits for its lock, and gets it when the connection is cut.
func TestAFailureAfterALostAnswer(t *testing.T) {
	t.Parallel()
	url := postgrestest.Database(t)
	direct := newMachine(t, connect(t, url, Options{Wait: time.Minute}))
	conn := postgrestest.Connect(t, url)
	p := postgrestest.NewProxy(t, url)
	s := open(t, connect(t, p.URL, Options{Wait: time.Minute}), direct.name)
	removed := make(started, 1)
	_, err := s.Apply(t.Context(), func(now store.Snapshot) (*store.Change, error) {
		go func() { removed <- direct.db.Remove(context.Background(), direct.name) }()
		until(t, conn, "select count(*) > 0 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()")
		p.Cut(postgrestest.ToServer, 0)
		return noted("lost")(now)
	})
	says(t, err, refusal.OutcomeUnknown, "may or may not be saved")
	if err := <-removed; err != nil {
		t.Error(err)
	}
}

// TestALostConnectionIsNoDamage: nobody is advised to restore a backup because the newest lines could not be fetched.
func TestALostConnectionIsNoDamage(t *testing.T) {
	t.Parallel()
	s := newMachine(t, connect(t, postgrestest.Database(t), Options{}))
	for range 3 {
		apply(t, s, noted("a line"))
	}
	s.seen = &surveyed{snap: view(t, s)} // the connection is lost after the view
	s.db.Close()
	for _, err := range s.Newest(1) {
		if err == nil || code(err) == refusal.Corrupt || strings.Contains(err.Error(), "is missing") {
			t.Errorf("without a connection: %v", err)
		}
	}
}
