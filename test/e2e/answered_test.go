//go:build unix

package e2e

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/tools"
	"github.com/ferrus-go/ferrus/test/kit"
)

// storms is how long TestEveryCallIsAnswered goes on; for 0 it makes one short round.
var storms = flag.Duration("storm", 0, "how long TestEveryCallIsAnswered goes on, such as 1h; it takes 16 servers and real checks")

// TestEveryCallIsAnswered lets servers be called by several goroutines each, with whatever tool and in whatever state, some
// of which give up, while a person resets, answers and releases and checks run. A call that is not answered, or that the
// watchdog answers, is a bug. For an hour of it, in rounds of a minute on a project each:
//
//	go test ./test/e2e -run TestEveryCallIsAnswered -storm 1h -timeout 2h -v
func TestEveryCallIsAnswered(t *testing.T) {
	t.Parallel()
	if *storms == 0 {
		r := newRound(t, bare, rounds(4, 16), 1)
		r.blow(func() bool {
			return r.answered.Load() >= int64(rounds(100, 5000)) && r.resets.Load() > 1 && r.checks.Load() > 1
		})
		t.Logf("rig: cases=%d bad=%d; %d checks, %d resets by a person", r.answered.Load(), r.bad.Load(), r.checks.Load(), r.resets.Load())
		return
	}
	var all, bad int64
	for began, n := time.Now(), 1; time.Since(began) < *storms; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			r := newRound(t, repository, 16, uint64(n))
			over := time.Now().Add(time.Minute)
			r.blow(func() bool { return time.Now().After(over) })
			all, bad = all+r.answered.Load(), bad+r.bad.Load()
			t.Logf("after %v: %d calls answered, %d not; this round %d, with %d checks and %d resets by a person",
				time.Since(began).Round(time.Second), all, bad, r.answered.Load(), r.checks.Load(), r.resets.Load())
		})
	}
	t.Logf("rig: cases=%d bad=%d", all, bad)
}

// turns are the roles of the servers.
var turns = []state.Role{state.Executor, state.Supervisor, state.Executor}

// A round is a storm on one project.
type round struct {
	*world
	seed                          uint64
	clients                       []*client
	answered, bad, checks, resets atomic.Int64
	over                          chan struct{}
}

// unanswered is how long a call may take: the server's own watchdog is quicker than the longer one.
func unanswered() time.Duration {
	if *storms > 0 {
		return 4 * time.Minute
	}
	return kit.Patience
}

func newRound(t *testing.T, in func(testing.TB, string) *world, servers int, seed uint64) *round {
	r := &round{seed: seed, over: make(chan struct{}), world: in(t, `[checks]
commands = ["test ! -e red", "test ! -e slow || sleep 0.$(od -An -N1 -tu1 /dev/urandom | tr -d ' ')"]
[limits]
max_check_retries = 5
[server]
wait_timeout_secs = 1
[lease]
ttl_secs = 3
heartbeat_interval_secs = 1
`)}
	for i := range servers {
		role := turns[i%len(turns)]
		r.clients = append(r.clients, r.start(role, fmt.Sprint("agent-", i), "--wait", "0"))
	}
	return r
}

// blow lets it blow until enough says so.
func (r *round) blow(enough func() bool) {
	var all sync.WaitGroup
	all.Go(r.person)
	for i, c := range r.clients {
		role := turns[i%len(turns)]
		for k := range 3 {
			all.Go(func() { r.caller(c, role, uint64(3*i+k)) })
		}
	}
	every := time.NewTicker(20 * time.Millisecond)
	defer every.Stop()
	for !enough() && r.bad.Load() == 0 {
		<-every.C
	}
	close(r.over)
	all.Wait()
	for _, c := range r.clients {
		_ = c.Close()
	}
	if r.bad.Load() > 0 {
		r.logs()
	}
}

func (r *round) ended() bool {
	select {
	case <-r.over:
		return true
	default:
		return false
	}
}

// caller calls tools of the role, half of them the one that was named next.
func (r *round) caller(c *client, role state.Role, id uint64) {
	rnd := rand.New(rand.NewPCG(r.seed, id))
	var own []string
	for _, t := range tools.Catalogue() {
		if t.For(role) && t.Name != "queue_task" {
			own = append(own, t.Name)
		}
	}
	next := "status"
	for n := 0; !r.ended(); n++ {
		tool := own[rnd.IntN(len(own))]
		switch {
		case rnd.IntN(2) == 0 && next != "stop" && next != "choose":
			tool = next
		case role == state.Executor && rnd.IntN(2) == 0:
			tool = "check"
		}
		ctx, cancel := context.WithTimeout(context.Background(), unanswered())
		gaveUp := rnd.IntN(20) == 0
		if gaveUp {
			time.AfterFunc(time.Duration(rnd.IntN(int(time.Second))), cancel)
		}
		res, err := c.Call(ctx, tool, arguments(tool, fmt.Sprintf("call %d of %d", n, id), nil))
		cancel()
		switch {
		case err != nil && gaveUp:
		case err != nil:
			r.wrong("%s was not answered: %v", tool, err)
			return
		case res.Code == refusal.InternalTimeout:
			r.wrong("%s: %s", tool, res.Message)
			return
		default:
			r.answered.Add(1)
			next = res.Next
			if tool == "check" && res.CheckID != "" {
				r.checks.Add(1)
			}
		}
	}
}

func (r *round) wrong(format string, args ...any) {
	r.bad.Add(1)
	r.t.Errorf(format, args...)
}

// person brings work, resets it at any moment, answers, takes the work away, and changes what the checks find.
func (r *round) person() {
	h, rnd := r.human(), rand.New(rand.NewPCG(r.seed, 1000))
	s := &storm{world: r.world}
	for n := 0; !r.ended(); n++ {
		ctx, text := context.Background(), fmt.Sprint("word ", n)
		snap, err := h.Engine().View()
		if err != nil {
			r.wrong("the person: %v", err)
			return
		}
		switch t := snap.Task; {
		case t.State == state.Idle || t.State == state.Complete:
			_, _ = h.CreateTask(ctx, text, "")
		case t.State == state.AwaitingHuman && rnd.IntN(2) == 0:
			_, _ = h.Answer(ctx, t.Top().ID, text)
		case t.State == state.Failed || rnd.IntN(12) == 0:
			if _, err := h.Reset(ctx, text); err == nil {
				r.resets.Add(1)
			}
		case rnd.IntN(12) == 0:
			_, _ = h.Release(ctx, text)
		case rnd.IntN(2) == 0:
			s.toggle("red")
		default:
			s.toggle("slow")
		}
		select {
		case <-r.over:
		case <-time.After(time.Duration(rnd.IntN(100)) * time.Millisecond):
		}
	}
}

// logs shows what the servers have logged of calls that did not end.
func (r *round) logs() {
	_ = filepath.WalkDir(r.path(".ferrus/logs"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		data, _ := os.ReadFile(path)
		for line := range strings.Lines(string(data)) {
			if strings.Contains(line, `"a call`) || strings.Contains(line, `"goroutines"`) {
				r.t.Logf("%s: %s", filepath.Base(path), strings.ReplaceAll(line, `\n`, "\n"))
			}
		}
		return nil
	})
}
