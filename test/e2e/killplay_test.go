//go:build unix

package e2e

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ferrus-go/ferrus/internal/server/mcpclient"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
)

// stormy is the configuration of a storm: its checks are red while there is a file of that name.
const stormy = "[checks]\ncommands = [\"test ! -e red\"]\n[limits]\nmax_check_retries = 3\nmax_review_cycles = 3\nmax_same_failure = 2\n" + stormyRules

// stormyRules are rules of a storm. Those of a reject find the work given away, and then another step.
const stormyRules = `[[rules]]
on = "check_failed"
then = "consult"
[[rules]]
on = "reject"
then = "executor claude-code:opus"
[[rules]]
on = "reject"
then = "consult"
`

// A tempest is many clients of real servers, some of which are killed, and remembers every call with its times.
type tempest struct {
	*world
	began time.Time
	kills atomic.Int64 // still to be made
	calls int          // that a client makes which is not killed

	holder atomic.Pointer[life] // who was last told that it holds the work

	mu    sync.Mutex
	lives []*life
	cut   int // kills in the middle of a call
}

func (s *tempest) now() time.Duration { return time.Since(s.began) }

// born starts a server. Every process has a name of its own, so that the journal tells one from the other.
func (s *tempest) born(role state.Role) (*life, *mcpclient.Client) {
	s.mu.Lock()
	name := fmt.Sprintf("p%d", len(s.lives))
	l := &life{role: role, agent: fmt.Sprintf("%s:%s:1", role, name)}
	s.lives = append(s.lives, l)
	s.mu.Unlock()
	cmd := program(s.t, "serve", "--role", string(role), "--agent-name", name, "--root", s.dir, "--wait", "1")
	cmd.Stderr = io.Discard
	c, err := mcpclient.Start(context.Background(), name, cmd)
	if err != nil {
		s.t.Error(err)
		return nil, nil
	}
	return l, c
}

// inTurn has one client after the other, each in the place of one that was killed, until all kills are made. One that is
// not to be killed makes its calls and leaves.
func (s *tempest) inTurn(n int) {
	rnd := rand.New(rand.NewPCG(uint64(n), uint64(s.began.UnixNano())))
	role := []state.Role{state.Executor, state.Supervisor, state.Executor}[n%3]
	for {
		l, c := s.born(role)
		if c == nil {
			return
		}
		if s.live(l, c, rnd) {
			continue
		}
		l.dying.Store(true)
		l.ends = s.now()
		if err := c.Close(); err != nil {
			s.t.Errorf("%s leaves: %v", l.agent, err)
		}
		l.gone = s.now()
		return
	}
}

// live makes calls until the server is killed, and reports whether it was.
func (s *tempest) live(l *life, c *mcpclient.Client, rnd *rand.Rand) (killed bool) {
	p := &player{s: s, rnd: rnd, role: l.role, next: first[l.role]}
	for n := 0; s.calls == 0 || n < s.calls; n++ {
		var doom <-chan struct{}
		if s.calls == 0 && rnd.IntN(4) == 0 {
			if s.kills.Add(-1) < 0 {
				return false
			}
			// From a quarter of a millisecond to sixteen: calls take as long as that.
			doom = s.doomed(l, c, 250*time.Microsecond<<rnd.IntN(6)+time.Duration(rnd.IntN(8_000_000)))
		} else if s.calls == 0 && s.kills.Load() <= 0 {
			return false
		}
		if rnd.IntN(10) == 0 {
			(&storm{world: s.world}).toggle("red")
		}
		call := p.choose()
		call.life, call.token = l, fmt.Sprintf("token-%s-%d.", l.agent, n)
		if s.make(call, c, doom); call.lost || doom != nil {
			return true
		}
		p.heed(call)
	}
	return false
}

// doomed kills the server after a while. The channel is closed when it has.
func (s *tempest) doomed(l *life, c *mcpclient.Client, after time.Duration) <-chan struct{} {
	struck := make(chan struct{})
	l.killed = true
	time.AfterFunc(after, func() {
		l.dying.Store(true)
		l.ends = s.now()
		_ = c.Process().Kill()
		close(struck)
	})
	return struck
}

// make makes a call, and waits for the end of a server that is doomed.
func (s *tempest) make(call *call, c *mcpclient.Client, doom <-chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), kit.Patience)
	defer cancel()
	var err error
	call.begun = s.now()
	call.res, err = c.Call(ctx, call.name(), call.args())
	call.ended, call.lost = s.now(), err != nil
	l := call.life
	if l.calls = append(l.calls, call); doom != nil {
		<-doom
	}
	if doom != nil || call.lost {
		c.Kill()
		l.gone = s.now()
	}
	switch {
	case call.lost && doom == nil:
		s.t.Errorf("%s: %v", call, err)
	case call.lost:
		call.ended = l.gone
		s.mu.Lock()
		s.cut++
		s.mu.Unlock()
	case !slices.Contains(understandable, call.res.Code):
		s.t.Errorf("%s: %s", call, call.res.Message)
	}
}

// rage lets the storm loose and returns when it is over and every server has ended.
func (s *tempest) rage(players int) {
	s.began = time.Now()
	over := make(chan struct{})
	var beside, all sync.WaitGroup
	beside.Go(func() { s.person(over) })
	for n := range players {
		all.Go(func() { s.inTurn(n) })
	}
	all.Wait()
	close(over)
	beside.Wait()
}
