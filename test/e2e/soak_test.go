//go:build linux

package e2e

import (
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/server/tokens"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/kit"
)

// TestNothingWearsOut keeps sixteen agents at work on task after task, half of them over stdio and half over HTTP,
// while agents and servers are killed at random. What was acknowledged is in the journal once, the work goes on at the
// end as fast as at the beginning, and of the servers that live through it all the memory, the descriptors and the
// goroutines do not grow.
func TestNothingWearsOut(t *testing.T) {
	t.Parallel()
	agents, lasts := rounds(8, 16), time.Duration(rounds(2, 600))*time.Second
	s := newSoak(t)
	var desks []*desk
	for i := range agents {
		desks = append(desks, &desk{soak: s, id: i, role: []state.Role{state.Supervisor, state.Executor}[i%2],
			over: []*post{nil, s.lasting, nil, s.mortal}[i/2%4], lasts: i == 0 || i == 1})
	}
	for _, d := range desks[:2] {
		if _, err := d.sit(); err != nil {
			t.Fatal(err)
		}
	}
	fresh := s.usages(desks)
	began := time.Now()
	over, reads := make(chan struct{}), 0
	var beside, work sync.WaitGroup
	beside.Go(func() { s.person(over) })
	beside.Go(func() { reads = s.reader(over) })
	for _, d := range desks {
		work.Go(func() { d.work(over) })
	}
	samples := s.watch(lasts, desks)
	close(over)
	work.Wait()
	beside.Wait()
	bad := s.settled(fresh, desks)
	for _, d := range desks[:2] {
		d.client.Kill()
	}
	for _, p := range []*post{s.lasting, s.mortal} {
		p.end()
	}
	lines := s.history()
	tasks := s.count(state.Approve)
	t.Logf("%d agents, %v: %d kills, %d tasks approved, %d events, %d reads of STATE.json; %v %v", agents, time.Since(began).Round(time.Second),
		s.kills.Load(), tasks, len(lines), reads, s.calls, s.codes)
	s.sound(lines)
	s.found(lines)
	bad += s.flat(samples)
	if tasks == 0 || s.kills.Load() == 0 || kit.Full() && tasks < 200 {
		t.Errorf("%d tasks, %d kills: too little happened to say anything", tasks, s.kills.Load())
	}
	t.Logf("rig: cases=%d bad=%d; %d tasks, %d agents and servers killed in %v; %s", len(lines), bad, tasks, s.kills.Load(), lasts, samples)
}

// A soak is a storm that lasts, and its servers.
type soak struct {
	*storm
	secret          map[state.Role]string
	lasting, mortal *post // servers over HTTP: one is never killed
	kills           atomic.Int64
	answered        atomic.Int64 // calls
}

func newSoak(t *testing.T) *soak {
	s := &soak{secret: map[state.Role]string{}, storm: &storm{acked: map[string]state.Event{}, calls: map[string]int{}, codes: map[refusal.Code]int{},
		world: newWorld(t, "[checks]\ncommands = [\"test ! -e red\"]\n[limits]\nmax_check_retries = 3\nmax_same_failure = 2\n[lease]\nttl_secs = 3\nheartbeat_interval_secs = 1\nmax_silence_secs = 2\n")}}
	book := tokens.Open(filepath.Join(s.dir, ".ferrus"))
	for _, role := range []state.Role{state.Supervisor, state.Executor} {
		secret, _, err := book.New(role, "remote", time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		s.secret[role] = secret
	}
	s.lasting, s.mortal = &post{soak: s}, &post{soak: s}
	s.lasting.begin()
	s.mortal.begin()
	return s
}

// watch lets it last, and until something has happened at all, kills agents and the mortal server, and looks at the
// others.
func (s *soak) watch(lasts time.Duration, desks []*desk) (list samples) {
	rnd := rand.New(rand.NewPCG(3, 3))
	for began := time.Now(); time.Since(began) < lasts || time.Since(began) < lasts+kit.Patience && (s.kills.Load() == 0 || s.approved() == 0); {
		time.Sleep(time.Duration(100+rnd.IntN(400)) * time.Millisecond)
		desks[rnd.IntN(len(desks))].kill()
		if rnd.IntN(10) == 0 {
			s.mortal.end()
			s.kills.Add(1)
			s.mortal.begin()
		}
		for _, d := range desks[:4] { // what each look leaves behind adds up
			d.look(10)
		}
		list = append(list, sample{calls: s.answered.Load(), servers: s.usages(desks)})
	}
	return list
}

// approved is how many approvals were acknowledged.
func (s *soak) approved() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ev := range s.acked {
		if ev == state.Approve {
			n++
		}
	}
	return n
}
