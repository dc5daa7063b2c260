//go:build linux

package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/server/mcpclient"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/tools"
	"github.com/ferrus-go/ferrus/test/kit"
)

// A desk is where one agent works: when it is killed, another takes its place and knows nothing.
type desk struct {
	*soak
	id    int
	role  state.Role
	over  *post // the server over HTTP; nil for one of its own
	lasts bool  // its server is never killed

	mu     sync.Mutex
	client *mcpclient.Client
	stderr *said
	killed bool // since it was started
}

// sit starts the client of an agent.
func (d *desk) sit() (*mcpclient.Client, error) {
	name := fmt.Sprint("agent-", d.id)
	ctx, cancel := context.WithTimeout(context.Background(), kit.Patience)
	defer cancel()
	var c *mcpclient.Client
	var err error
	stderr := &said{}
	if d.over != nil {
		c, err = mcpclient.Dial(ctx, name, d.over.address(), d.secret[d.role])
	} else {
		cmd := program(d.t, "serve", "--role", string(d.role), "--agent-name", name, "--root", d.dir, "--wait", "2")
		cmd.Stderr = stderr
		c, err = mcpclient.Start(ctx, name, cmd)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.client, d.stderr, d.killed = c, stderr, false
	return c, err
}

// kill kills the agent with its server, or, where the server is not its own, lets it be forgotten by all.
func (d *desk) kill() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.client == nil || d.lasts || d.killed {
		return
	}
	d.killed = true
	d.kills.Add(1)
	if d.over == nil {
		_ = d.client.Process().Kill()
	}
}

func (d *desk) gone() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.killed
}

// work makes calls, mostly those that the last result says come next, until it is over.
func (d *desk) work(over <-chan struct{}) {
	a := &sitter{desk: d, rnd: rand.New(rand.NewPCG(uint64(d.id), 2)), c: d.client, last: tools.Result{Next: "status"}, known: args{}}
	for n := 0; ; n++ {
		select {
		case <-over:
			if a.c != nil && !d.lasts {
				a.c.Kill()
			}
			return
		default:
		}
		if (a.c == nil || d.gone()) && !a.succeeded() {
			time.Sleep(10 * time.Millisecond) // its server is being killed
			continue
		}
		a.act(fmt.Sprintf("token-%d-%d.", d.id, n))
	}
}

// A sitter is the agent that sits at a desk now.
type sitter struct {
	*desk
	rnd   *rand.Rand
	c     *mcpclient.Client
	last  tools.Result
	known args // what an agent over HTTP has to name
}

// succeeded reports whether somebody has taken the place of one who is gone.
func (a *sitter) succeeded() bool {
	if a.c != nil {
		a.c.Kill()
	}
	var err error
	if a.c, err = a.sit(); err != nil {
		a.c = nil
		if a.over == nil || a.over == a.lasting {
			a.t.Errorf("agent %d: %v", a.id, err)
		}
		return false
	}
	a.last, a.known = tools.Result{Next: "status"}, args{}
	return true
}

// act makes one call, and remembers what it was told.
func (a *sitter) act(token string) {
	tool, limit := pick(a.rnd, a.last), kit.Patience
	if a.rnd.IntN(20) == 0 { // one that gives up
		limit = time.Duration(10+a.rnd.IntN(300)) * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	res, err := a.c.Call(ctx, tool, arguments(tool, token, a.known))
	late := ctx.Err() != nil
	cancel()
	if err != nil {
		if !late && !a.gone() && a.over != a.mortal {
			a.t.Errorf("agent %d, %s: %v", a.id, tool, err)
		}
		if !late {
			a.c.Kill()
			a.c = nil
		}
		a.last = tools.Result{Next: "status"}
		return
	}
	a.answered.Add(1)
	seen := res
	if a.over != nil && tool == "wait_for_task" {
		seen.Status = "" // the journal has only a digest of its claim
	}
	a.note(tool, token, seen)
	for name, value := range map[string]string{"claim": res.Claim, "submission": res.SubmissionID, "consultation": res.ConsultationID} {
		if value != "" {
			a.known[name] = value
		}
	}
	switch {
	case a.rnd.IntN(60) == 0:
		a.toggle("red")
	case res.Status == "failed":
		_ = os.Remove(a.path("red")) // it fixes what the check says
	}
	a.last = res
}

// pick picks a tool: mostly what leads to the end of the task, at times another that is allowed.
func pick(rnd *rand.Rand, last tools.Result) string {
	if slices.Contains(last.Allowed, "approve") && rnd.IntN(4) > 0 {
		return "approve"
	}
	if last.Next != "stop" && last.Next != "choose" && rnd.IntN(6) > 0 {
		return last.Next
	}
	if len(last.Allowed) == 0 {
		return "status"
	}
	return last.Allowed[rnd.IntN(len(last.Allowed))]
}

// look asks for the status, beside what the agent does.
func (d *desk) look(times int) {
	d.mu.Lock()
	c := d.client
	d.mu.Unlock()
	for range times {
		if c == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), kit.Patience)
		_, err := c.Call(ctx, "status", nil)
		cancel()
		if err != nil && d.lasts {
			d.t.Errorf("status: %v", err)
		}
		if err != nil {
			return
		}
	}
}
