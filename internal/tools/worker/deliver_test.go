//go:build unix

package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/test/kit"
)

// counted is a target that leaves a line for each result that it is given.
func counted() config.Deliver {
	return config.Deliver{To: config.ToCommand, Command: "cat > got && echo sent >> count", TimeoutSecs: 60}
}

// ready is a run whose terminal worker has written its output.
func ready(t testing.TB, to config.Deliver) *stage {
	s := newStage(t, report, to)
	s.put("reader.md", "what was read")
	s.put("writer.md", "the result")
	return s
}

// insist calls deliver until nobody is sending any more.
func (c *client) insist() Result {
	for {
		r := c.call("deliver", "")
		if r.Status != "sending" {
			return r
		}
		if r.Next != "deliver" {
			c.t.Errorf("while it is sent, next is %s", r.Next)
			return r
		}
	}
}

// TestOfManyWhoDeliverAtOnceOneDelivers (F09): each has a server of its own, and the others learn that it is sent.
func TestOfManyWhoDeliverAtOnceOneDelivers(t *testing.T) {
	t.Parallel()
	const clients = 8
	file := config.Deliver{To: config.ToFile, File: "got"}
	for name, to := range map[string]config.Deliver{"command": counted(), "file": file, "stdout": {To: config.ToStdout}} {
		for _, wait := range []time.Duration{kit.Patience, time.Millisecond} {
			t.Run(fmt.Sprintf("%s, waiting %v", name, wait), func(t *testing.T) {
				s := ready(t, to)
				var at [clients]*client
				for i := range at {
					at[i] = s.enter("writer", func(o *Options) { o.Wait = wait })
				}
				var mu sync.Mutex
				var all sync.WaitGroup
				said := map[string]int{}
				for _, c := range at {
					all.Go(func() {
						r := c.insist()
						mu.Lock()
						defer mu.Unlock()
						said[r.Status+string(r.Code)]++
						if r.Next != "stop" || r.Delivery == nil || r.Delivery.By != "writer" {
							t.Errorf("%+v", r)
						}
					})
				}
				all.Wait()
				// A worker that did not wait for the end of its delivery learns it by the next call, as the others do.
				if n := said["delivered"]; n > 1 || n+said["already_sent"] != clients || wait == kit.Patience && n != 1 {
					t.Errorf("the answers are %v", said)
				}
				if got := s.text(s.root + "/got"); name != "stdout" && got != "the result" {
					t.Errorf("it has got %q", got)
				}
				if count := s.text(s.root + "/count"); name == "command" && count != "sent\n" {
					t.Errorf("it was sent: %q", count)
				}
			})
		}
	}
}

// TestAWorkerAndFerrusDeliverOnce: ticks that deliver by themselves, for nobody seems to live, race the worker.
func TestAWorkerAndFerrusDeliverOnce(t *testing.T) {
	t.Parallel()
	for range 5 {
		s := ready(t, counted())
		var all sync.WaitGroup
		var acts []func()
		for range 3 {
			c := s.enter("writer")
			f, err := run.Open(s.f.Dir)
			must(t, err)
			acts = append(acts, func() {
				if r := c.insist(); r.Status != "delivered" && r.Status != "already_sent" && r.Code != StoreGone || r.Next != "stop" {
					t.Errorf("%+v", r)
				}
			}, func() {
				if _, err := f.Tick(context.Background(), run.Options{Log: quiet}); err != nil && !errors.Is(err, run.ErrGone) {
					t.Error(err)
				}
			})
		}
		for _, act := range acts {
			all.Go(act)
		}
		all.Wait()
		if count := s.text(s.root + "/count"); count != "sent\n" {
			t.Errorf("it was sent: %q", count)
		}
	}
}

// TestADeliveryOutlivesTheCall: the client is answered when its wait is over, or gives up waiting, and what is being sent
// is sent all the same, once.
func TestADeliveryOutlivesTheCall(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"the wait is over", "the client gives up"} {
		t.Run(how, func(t *testing.T) {
			to := counted()
			to.Command = "cat > got && cat pipe && echo sent >> count"
			s := ready(t, to)
			must(t, syscall.Mkfifo(s.root+"/pipe", 0o600))
			if how == "the wait is over" {
				if r := s.enter("writer", hurried).do("deliver", ""); r.Status != "sending" || r.Next != "deliver" {
					t.Errorf("%+v", r)
				}
			} else {
				ctx, cancel := context.WithCancel(t.Context())
				c, ended := s.enter("writer"), make(chan error, 1)
				go func() {
					_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "deliver"})
					ended <- err
				}()
				kit.Eventually(t, "the command has begun", func() bool { return s.text(s.root+"/got") != "" })
				cancel()
				if err := <-ended; !errors.Is(err, context.Canceled) {
					t.Errorf("the call ended with %v", err)
				}
			}
			other := s.enter("writer", hurried)
			if r := other.do("deliver", ""); r.Status != "sending" {
				t.Errorf("another gets %+v", r)
			}
			if r := other.do("heartbeat", ""); r.Next != "deliver" {
				t.Errorf("%+v", r)
			}
			pipe, err := os.OpenFile(s.root+"/pipe", os.O_WRONLY, 0)
			must(t, err)
			must(t, pipe.Close())
			if r := other.insist(); r.Status != "already_sent" || s.text(s.root+"/count") != "sent\n" {
				t.Errorf("%+v; it was sent: %q", r, s.text(s.root+"/count"))
			}
		})
	}
}

// TestADeliveryWaitsForWhoIsSending, who has died without having sent anything.
func TestADeliveryWaitsForWhoIsSending(t *testing.T) {
	t.Parallel()
	s := ready(t, counted())
	lock, err := filelock.Take(s.f.Path("delivery.lock"))
	must(t, err)
	if r := s.enter("writer", hurried).do("deliver", ""); r.Status != "sending" || r.Next != "deliver" {
		t.Errorf("%+v", r)
	}
	shown := make(chan struct{}, 10000)
	c := connect(t, NewServer(Options{Run: s.f.Dir, Worker: "writer", Attempt: 1, Wait: kit.Patience, Log: quiet, every: time.Millisecond}),
		&mcp.ClientOptions{ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { shown <- struct{}{} }})
	ended := c.begin("deliver")
	for range 100 { // it waits, and has looked more than once
		select {
		case <-shown:
		case r := <-ended:
			t.Fatalf("it did not wait: %+v", r)
		}
	}
	must(t, lock.Close())
	if r := <-ended; r.Status != "delivered" {
		t.Errorf("%+v", r)
	}
}

// TestADoubtfulDeliveryIsForAPerson: each call says stop, however often it is made.
func TestADoubtfulDeliveryIsForAPerson(t *testing.T) {
	t.Parallel()
	t.Run("a command that failed", func(t *testing.T) {
		to := counted()
		to.Command += " && exit 3"
		s := ready(t, to)
		for range 2 {
			if r := s.enter("writer").call("deliver", ""); r.Code != OutcomeUnknown || r.Next != "stop" || !strings.Contains(r.Remedy, "a person") {
				t.Errorf("%+v", r)
			}
		}
		if count := s.text(s.root + "/count"); count != "sent\n" {
			t.Errorf("it was sent: %q", count)
		}
	})
	t.Run("a sender that died", func(t *testing.T) {
		s := ready(t, counted())
		s.put("delivery.json", `{"id": "r", "by": "writer", "state": "sending"}`)
		if r := s.enter("writer").call("deliver", ""); r.Code != OutcomeUnknown || r.Next != "stop" || s.text(s.root+"/count") != "" {
			t.Errorf("%+v", r)
		}
	})
}

// TestADeliveryThatFailedMayBeTriedAgain where nothing can have been sent.
func TestADeliveryThatFailedMayBeTriedAgain(t *testing.T) {
	t.Parallel()
	s := ready(t, config.Deliver{To: config.ToFile, File: "out/result.md"})
	must(t, os.WriteFile(s.root+"/out", nil, 0o600))
	c := s.enter("writer")
	if r := c.call("deliver", ""); r.Code != StoreError || r.Next != "deliver" {
		t.Errorf("%+v", r)
	}
	must(t, os.Remove(s.root+"/out"))
	if r := c.do("deliver", ""); r.Status != "delivered" || s.text(s.root+"/out/result.md") != "the result" {
		t.Errorf("%+v", r)
	}
}

// TestWhatIsNotWrittenIsNotDelivered.
func TestWhatIsNotWrittenIsNotDelivered(t *testing.T) {
	t.Parallel()
	s := newStage(t, report, counted())
	s.put("reader.md", "what was read")
	c := s.enter("writer")
	if r := c.call("deliver", ""); r.Code != WrongState || r.Next != "write_output" || slices.Contains(r.Allowed, "deliver") {
		t.Errorf("%+v", r)
	}
	must(t, os.Symlink(s.f.Path("reader.md"), s.f.Path("writer.md")))
	if r := c.call("deliver", ""); r.Code != WrongState || r.Next != "write_output" {
		t.Errorf("a link: %+v", r)
	}
	if _, err := os.Lstat(s.f.Path("delivery.json")); err == nil || s.text(s.root+"/count") != "" {
		t.Error("something was sent")
	}
}

// TestWhoDoesNotDeliverIsToldWhoDoes, although it has no such tool.
func TestWhoDoesNotDeliverIsToldWhoDoes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ workflow, role, says string }{
		{report, "reader", "the worker writer delivers"},
		{debate, "ann", "ferrus sends"},
		{debate, "sum", "ferrus sends"},
		{`{"p": {"phases": [{"id": "x", "mode": "dialogue", "workers": [` +
			`{"role": "a", "task": "t"}, {"role": "b", "task": "t", "final": true}]}]}}`, "b", "ferrus sends"},
	} {
		c := newStage(t, tt.workflow, config.Deliver{}).enter(tt.role)
		if r := c.call("deliver", `{"now": true}`); r.Code != ForbiddenRole || !strings.Contains(r.Message, tt.says) || r.Next == "deliver" {
			t.Errorf("%s: %+v", tt.role, r)
		}
		if r := c.do("get_assignment", ""); r.Assignment.Delivers {
			t.Errorf("%s: %+v", tt.role, r)
		}
	}
}

// TestADeliveryThatARunsEndCutsOffIsNoFault of the worker: what it cannot find any more is archived.
func TestADeliveryThatARunsEndCutsOffIsNoFault(t *testing.T) {
	t.Parallel()
	s := ready(t, counted())
	p := &place{opts: Options{Run: s.f.Dir, Worker: "writer", Attempt: 1, Log: quiet}}
	must(t, p.open())
	must(t, os.Rename(s.f.Dir, s.root+"/archived"))
	c := &call{place: p, tool: Catalogue()[4], who: p.binding()}
	c.finish(c.undelivered(errors.New("a file is not there")))
	if c.res.Code != StoreGone || c.res.Next != "stop" {
		t.Errorf("%+v", c.res)
	}
}

// TestAResultThatWasAnnouncedIsNotSentAgain: a final worker that has sent it on a way of its own said so.
func TestAResultThatWasAnnouncedIsNotSentAgain(t *testing.T) {
	t.Parallel()
	s := ready(t, counted())
	c := s.enter("writer")
	s.stands(func(st *pipeline.Status) { st.ResultDelivered = true })
	if r := c.call("deliver", ""); r.Code != LeaseLost || r.Next != "stop" || s.text(filepath.Join(s.root, "count")) != "" {
		t.Errorf("%+v", r)
	}
}
