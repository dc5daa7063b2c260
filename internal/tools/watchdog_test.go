//go:build unix

package tools

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/tools/gate"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// A written is a log that tests read while it is written.
type written struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (w *written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.Write(p)
}

func (w *written) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

// watched is a gate and the log of its watchdog. Its Spare is for the calls that are to be given up; the others have patience.
func watched(locks func() string) (*gate.Gate, *written) {
	log := &written{}
	return &gate.Gate{Watchdog: gate.Watchdog{Log: slog.New(slog.NewTextHandler(log, nil)), Locks: locks, Spare: kit.Patience}, Stuck: stuck}, log
}

// TestACallThatDoesNotEndIsAnswered: with its locks in the log. The lock is that of another process as far as the machine
// can tell, or one of the server's own.
func TestACallThatDoesNotEndIsAnswered(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	boss := w.enter(state.Supervisor, 1)
	boss.do("create_task", nil)
	dog, log := watched(boss.s.Engine().Locks)
	a := w.enter(state.Executor, 1, func(o *Options) { o.gate = dog })
	a.do("wait_for_task", nil)

	sharedtest.InFiles(t, "it holds STATE.lock")
	path := filepath.Join(w.dir, ".ferrus", "STATE.lock")
	lock := flock.New(path, flock.SetFlag(os.O_RDONLY))
	if ok, err := lock.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	// On a busy machine a call may be given up before it has come to the lock, or before all is logged: the next one has longer.
	var lacks []string
	for spare := 20 * time.Millisecond; spare <= 5*time.Second; spare *= 2 {
		before := len(log.String())
		dog.Spare = spare
		r := a.refused(refusal.InternalTimeout, "progress", nil)
		dog.Spare = kit.Patience
		if r.Next != "progress" || len(r.Allowed) != 1 || r.Allowed[0] != "progress" {
			t.Errorf("next %s of %v", r.Next, r.Allowed)
		}
		lacks = slices.DeleteFunc([]string{`msg="a call does not end" tool=progress`, fmt.Sprintf("STATE.lock: held by process %d", syscall.Getpid()),
			"engine: free", "msg=goroutines", "ferrus/internal/store/file.(*Store).", "ferrus/internal/tools.progress"},
			func(want string) bool { return strings.Contains(log.String()[before:], want) })
		if len(lacks) == 0 {
			break
		}
		a.do("status", nil) // it takes no lock, and begins the count of calls that did not end anew
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if len(lacks) > 0 {
		t.Errorf("the log lacks %q:\n%.4000s", lacks, log)
	}
	a.do("progress", nil)
}

// TestAServerWhoseCallsDoNotEndSaysStop, after three in a row, and serves on when its lock is free again.
func TestAServerWhoseCallsDoNotEndSaysStop(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	var door sync.Mutex
	dog, log := watched(nil)
	a := w.enter(state.Executor, 1, func(o *Options) {
		o.gate = dog
		session := o.Session
		o.Session = func(req *mcp.CallToolRequest) (*engine.Session, error) {
			door.Lock()
			defer door.Unlock()
			return session(req)
		}
	})
	for range 2 { // a call that ends begins the count anew
		door.Lock()
		dog.Spare = 20 * time.Millisecond
		for _, next := range []string{"check", "check", "stop", "stop"} {
			if r := a.refused(refusal.InternalTimeout, "check", nil); r.Next != next || (next == "stop") != strings.HasPrefix(r.Remedy, "stop: ") {
				t.Errorf("next %s, not %s: %s", r.Next, next, r.Remedy)
			}
		}
		dog.Spare = kit.Patience
		door.Unlock()
		a.do("status", nil)
	}
	if !strings.Contains(log.String(), "sync.(*Mutex).Lock") {
		t.Errorf("the log lacks what is waited for:\n%.4000s", log)
	}
}
