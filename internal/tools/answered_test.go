//go:build unix

package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/platform/clock"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// events are what happens to a check from outside while it runs.
var events = []struct {
	name string
	do   func(s *scene) error
}{
	{"nothing", func(*scene) error { return nil }},
	{"reset", (*scene).reset},
	{"release", func(s *scene) error { _, err := s.person().Release(context.Background(), ""); return err }},
	{"rollback", func(s *scene) error { _, err := s.person().Rollback(context.Background(), 1, "Again."); return err }},
	{"takeover", func(s *scene) error {
		e, err := engine.Open(project.At(s.dir, ""), engine.Options{Clock: func() lease.Instant {
			now := clock.Read()
			now.Nanos += int64(24 * time.Hour)
			return now
		}})
		if err != nil {
			return err
		}
		defer e.Close()
		_, _, err = e.Session(engine.Caller{Role: state.Executor, Agent: "executor:test:2"}).AwaitTask(context.Background(), kit.Patience, false)
		return err
	}},
	{"client gives up", func(s *scene) error { s.giveUp(); return nil }},
	{"server ends", func(s *scene) error { return s.a.s.Engine().Close() }},
}

// TestACheckIsAnsweredWhateverHappens: the call that began it, another that joined it, and a heartbeat. Afterwards neither a
// process nor a goroutine of it is left. With TestACheckIsAnsweredAtEachPoint it happens at each lock and channel.
func TestACheckIsAnsweredWhateverHappens(t *testing.T) {
	t.Parallel()
	for _, event := range events {
		for _, endless := range []bool{true, false} {
			if !endless && event.name != "nothing" && reachPoints == nil {
				continue // without points it would come too late
			}
			name := fmt.Sprintf("%s, endless %v", event.name, endless)
			reached := map[string]bool{}
			play := func(point string) {
				t.Run(name+point, func(t *testing.T) {
					s := newScene(t, endless, &trap{point: point, reached: reached, hit: make(chan struct{}), freed: make(chan struct{})})
					s.play(event.name, event.do)
				})
			}
			play("")
			for _, point := range pointsToReach() {
				if reached[point] {
					play(point)
				}
			}
			t.Logf("%s: %d points", name, len(reached))
		}
	}
}

// A scene is a check with what happens to it.
type scene struct {
	*world
	*trap
	a       *agent
	endless bool
	giveUp  func()
	answers chan answer
}

// An answer is what a call came to.
type answer struct {
	call string
	res  *mcp.CallToolResult
	err  error
}

// wait is how long a check of a scene is waited for: it ends before, by what happens.
const wait = 10 * time.Second

func newScene(t *testing.T, endless bool, tr *trap) *scene {
	sharedtest.InFiles(t, "it counts processes and goroutines, and a database has its own")
	s := &scene{world: &world{t: t, dir: filepath.Join(t.TempDir(), "project")}, trap: tr, endless: endless, answers: make(chan answer, 3)}
	if err := os.Mkdir(s.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	command := "true"
	if endless {
		command = "touch ../runs; sleep 1000 & sleep 1000"
	}
	s.write("ferrus.toml", fmt.Sprintf("[checks]\ncommands = [%q]\n", command))
	sharedtest.Init(t, s.dir)
	done, err := s.person().CreateTask(t.Context(), "Do it.", "")
	must(t, done, err)
	return s
}

func (s *scene) reset() error { _, err := s.person().Reset(context.Background(), ""); return err }

// play lets an event happen when the check has come to the point of the trap, or runs its commands, or has ended.
func (s *scene) play(event string, do func(*scene) error) {
	running := event == "nothing" && s.endless
	s.a = s.enter(state.Executor, 1, func(o *Options) {
		if o.Wait = wait; running {
			o.Wait = brief
		}
	})
	s.a.do("wait_for_task", nil)
	ctx, giveUp := context.WithCancel(context.Background())
	defer giveUp()
	s.giveUp = giveUp
	if reachPoints != nil {
		reachPoints(s.at)
	}
	s.call(ctx, "the first check", "check")
	var early []answer
	s.until("the check begins", func() bool {
		select {
		case <-s.hit:
		case a := <-s.answers:
			early = append(early, a)
		default:
			_, err := os.Lstat(filepath.Join(s.dir, "../runs"))
			return err == nil
		}
		return true
	})
	s.call(context.Background(), "the second check", "check")
	s.call(context.Background(), "the heartbeat", "heartbeat")
	happened := make(chan error, 1)
	go func() { happened <- do(s) }()
	select {
	case err := <-happened:
		happened <- err
	case <-time.After(delay): // it waits for what the trap holds
	}
	close(s.freed)
	for n := range 3 {
		if event == "client gives up" && s.endless && n == 2 { // it goes on for the others
			if err := s.reset(); err != nil {
				s.t.Error(err)
			}
		}
		if len(early) > 0 {
			s.judge(early[0], event, running)
			early = nil
			continue
		}
		select {
		case a := <-s.answers:
			s.judge(a, event, running)
		case <-time.After(kit.Patience):
			s.t.Fatalf("calls are not answered\n%s", ours(true))
		}
	}
	if err := <-happened; err != nil {
		s.t.Error(err)
	}
	if running {
		if err := s.reset(); err != nil {
			s.t.Error(err)
		}
		s.until("the check has ended", func() bool { return offspring() == "" }) // while its server lives
	}
	if err := errors.Join(s.a.client.Close(), s.a.s.Engine().Close()); err != nil && event != "server ends" {
		s.t.Error(err)
	}
	s.until("nothing is left", func() bool { return offspring()+ours(false) == "" })
}

func (s *scene) call(ctx context.Context, name, tool string) {
	go func() {
		res, err := s.a.client.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: map[string]any{}})
		s.answers <- answer{name, res, err}
	}()
}

// judge fails the test of an answer that says nothing. What it says is for other tests: it depends on who was first.
func (s *scene) judge(a answer, event string, running bool) {
	switch {
	case a.err != nil && event == "client gives up" && a.call == "the first check" && errors.Is(a.err, context.Canceled):
	case a.err != nil:
		s.t.Errorf("%s: %v", a.call, a.err)
	default:
		r := read(s.t, a.res)
		if r.Code == refusal.InternalTimeout || a.call != "the heartbeat" && (r.Status == "running") != running {
			s.t.Errorf("%s: status %s, code %s: %s", a.call, r.Status, r.Code, r.Message)
		}
	}
}

// until waits for what other goroutines and processes do.
func (s *scene) until(what string, claim func() bool) {
	s.t.Helper()
	for over := time.Now().Add(kit.Patience); !claim(); time.Sleep(time.Millisecond) {
		if time.Now().After(over) {
			s.t.Fatalf("not in %v: %s; processes: %s\n%s", kit.Patience, what, offspring(), ours(true))
		}
	}
}

// offspring are the child processes of this one, where the system lists them.
func offspring() string {
	files, _ := filepath.Glob("/proc/self/task/*/children")
	var all strings.Builder
	for _, file := range files {
		text, _ := os.ReadFile(file)
		all.Write(text)
	}
	return all.String()
}

// ours are the stacks of the goroutines that ferrus has started, or of all. A wait for the end of a process lasts as long as
// that, and the tests of this package run in this one.
func ours(all bool) string {
	buf := make([]byte, 1<<20)
	text := string(buf[:runtime.Stack(buf, true)])
	if all {
		return text
	}
	var left []string
	for _, g := range strings.Split(text, "\n\n") {
		if _, by, _ := strings.Cut(g, "created by "); strings.HasPrefix(by, "github.com/ferrus-go/ferrus/") && !strings.Contains(g, "filelock.Wait(") {
			left = append(left, g)
		}
	}
	return strings.Join(left, "\n\n")
}

// delay is how long a point is held for an event that may wait for it.
const delay = 10 * time.Millisecond

// A trap holds the goroutine that first comes to a point.
type trap struct {
	point      string
	hit, freed chan struct{} // closed when it has come, and when it may go on

	mu      sync.Mutex
	held    bool
	reached map[string]bool
}

// at is called at each point.
func (tr *trap) at(point string) {
	tr.mu.Lock()
	tr.reached[point] = true
	first := point == tr.point && !tr.held
	if first {
		tr.held = true
		close(tr.hit)
	}
	tr.mu.Unlock()
	if !first {
		return
	}
	select {
	case <-tr.freed: // the event was before: then this is a delay alone
	default:
		<-tr.freed
		return
	}
	time.Sleep(delay)
}
