//go:build linux

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/drive"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/tokens"
	"github.com/ferrus-go/ferrus/internal/tools"
)

// TestNothingWearsOut keeps sixteen agents at work on task after task, half of them over stdio and half over HTTP,
// while agents and servers are killed at random. What was acknowledged is in the journal once, the work goes on at the
// end as fast as at the beginning, and of the servers that live through it all the memory, the descriptors and the
// goroutines do not grow.
func TestNothingWearsOut(t *testing.T) {
	agents, lasts := rounds(8, 16, 16), time.Duration(rounds(4, 9, 600))*time.Second
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
	if tasks == 0 || s.kills.Load() == 0 || *full && tasks < 200 {
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
	s := &soak{secret: map[state.Role]string{}, storm: &storm{acked: map[string]state.Event{}, calls: map[string]int{}, codes: map[engine.Code]int{},
		world: newWorld(t, "[checks]\ncommands = [\"test ! -e red\"]\n[limits]\nmax_check_retries = 3\nmax_same_failure = 2\n[lease]\nttl_secs = 3\nheartbeat_interval_secs = 1\nmax_silence_secs = 1\n")}}
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

// A post is a server over HTTP, and its successors.
type post struct {
	*soak
	mu     sync.Mutex
	cmd    *exec.Cmd
	stderr *said
	url    string
}

var listens = regexp.MustCompile(`msg=listening .*url=(http://\S+)`)

func (p *post) begin() {
	cmd, stderr := program(p.t, "serve", "--root", p.dir, "--http", "127.0.0.1:0", "--wait", "2"), &said{}
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		p.t.Error(err)
		return
	}
	p.t.Cleanup(func() { _ = cmd.Process.Kill() })
	var url string
	eventually(p.t, "the server listens", func() bool {
		if m := listens.FindStringSubmatch(stderr.String()); m != nil {
			url = m[1]
		}
		return url != ""
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cmd, p.stderr, p.url = cmd, stderr, url
}

func (p *post) end() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

func (p *post) address() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.url
}

// said is what a process has written to its standard error.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// A desk is where one agent works: when it is killed, another takes its place and knows nothing.
type desk struct {
	*soak
	id    int
	role  state.Role
	over  *post // the server over HTTP; nil for one of its own
	lasts bool  // its server is never killed

	mu     sync.Mutex
	client *drive.Client
	stderr *said
	killed bool // since it was seated
}

// sit seats an agent.
func (d *desk) sit() (*drive.Client, error) {
	name := fmt.Sprint("agent-", d.id)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var c *drive.Client
	var err error
	stderr := &said{}
	if d.over != nil {
		c, err = drive.Dial(ctx, name, d.over.address(), d.secret[d.role])
	} else {
		cmd := program(d.t, "serve", "--role", string(d.role), "--agent-name", name, "--root", d.dir, "--wait", "2")
		cmd.Stderr = stderr
		c, err = drive.Start(ctx, name, cmd)
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
	rnd := rand.New(rand.NewPCG(uint64(d.id), 2))
	c := d.client // of one that is seated already
	last := tools.Result{Next: "status"}
	known := args{} // what an agent over HTTP has to name
	for n := 0; ; n++ {
		select {
		case <-over:
			if c != nil && !d.lasts {
				c.Kill()
			}
			return
		default:
		}
		if c == nil || d.gone() {
			if c != nil {
				c.Kill()
			}
			var err error
			if c, err = d.sit(); err != nil {
				c = nil
				if d.over == nil || d.over == d.lasting {
					d.t.Errorf("agent %d: %v", d.id, err)
				}
				time.Sleep(10 * time.Millisecond) // its server is being killed
				continue
			}
			last, known = tools.Result{Next: "status"}, args{}
		}
		tool, token := pick(rnd, last), fmt.Sprintf("token-%d-%d.", d.id, n)
		limit := patience
		if rnd.IntN(20) == 0 { // one that gives up
			limit = time.Duration(10+rnd.IntN(300)) * time.Millisecond
		}
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		res, err := c.Call(ctx, tool, arguments(tool, token, known))
		late := ctx.Err() != nil
		cancel()
		if err != nil {
			if !late && !d.gone() && d.over != d.mortal {
				d.t.Errorf("agent %d, %s: %v", d.id, tool, err)
			}
			if !late {
				c.Kill()
				c = nil
			}
			last = tools.Result{Next: "status"}
			continue
		}
		d.answered.Add(1)
		if seen := res; d.over != nil && tool == "wait_for_task" {
			seen.Status = "" // the journal has only a digest of its claim
			d.note(tool, token, seen)
		} else {
			d.note(tool, token, res)
		}
		for name, value := range map[string]string{"claim": res.Claim, "submission": res.SubmissionID, "consultation": res.ConsultationID} {
			if value != "" {
				known[name] = value
			}
		}
		switch {
		case rnd.IntN(60) == 0:
			d.toggle("red")
		case res.Status == "failed":
			_ = os.Remove(d.path("red")) // it mends what the check says
		}
		last = res
	}
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

// naming are the tools that may have to name what they mean.
var naming = map[string]string{"approve": "submission", "reject": "submission", "respond_consult": "consultation"}

func arguments(tool, token string, known args) args {
	a := args{}
	if r, ok := raises[tool]; ok {
		a[r.arg] = token
	}
	switch tool {
	case "consult":
		a["problem"], a["tried"] = "p", "t"
	case "submit":
		a["verification"] = "v"
	}
	name, ok := naming[tool]
	if !ok && !slices.Contains([]string{"create_task", "status", "wait_for_review", "review_pending"}, tool) {
		name = "claim"
	}
	if value, ok := known[name]; ok {
		a[name] = value
	}
	return a
}

// watch lets it last, kills agents and the mortal server, and looks at the others.
func (s *soak) watch(lasts time.Duration, desks []*desk) (list samples) {
	rnd := rand.New(rand.NewPCG(3, 3))
	for until := time.Now().Add(lasts); time.Now().Before(until); {
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

// look asks for the status, beside what the agent does.
func (d *desk) look(times int) {
	d.mu.Lock()
	c := d.client
	d.mu.Unlock()
	for range times {
		if c == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		_, err := c.Call(ctx, "status", nil)
		cancel()
		if err != nil && !d.gone() && (d.lasts || d.over == d.lasting) && ctx.Err() == nil {
			d.t.Errorf("status: %v", err)
		}
		if err != nil {
			return
		}
	}
}

// usages are what the servers use that live through it all.
func (s *soak) usages(desks []*desk) []usage {
	return []usage{usageOf(s.t, s.lasting.cmd.Process.Pid, s.lasting.stderr),
		usageOf(s.t, desks[0].client.Process().Pid, desks[0].stderr), usageOf(s.t, desks[1].client.Process().Pid, desks[1].stderr)}
}

// goroutines are told by a test's server when it is asked by a signal.
var goroutines = regexp.MustCompile(`goroutines (\d+)\n`)

func usageOf(t testing.TB, pid int, stderr *said) usage {
	before := strings.Count(stderr.String(), "goroutines ")
	if err := syscall.Kill(pid, syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it tells its goroutines", func() bool { return strings.Count(stderr.String(), "goroutines ") > before })
	all := goroutines.FindAllStringSubmatch(stderr.String(), -1)
	return readUsage(t, pid, all[len(all)-1][1])
}
