package filelock

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/test/kit"
)

// A line is callers that wait for a lock, in the order in which they came.
type line struct {
	t     *testing.T
	mu    sync.Mutex
	got   []string
	turns map[string]context.CancelFunc
	all   sync.WaitGroup
}

// join has a caller wait. It returns when the caller stands in line.
func (l *line) join(q *Queue, name string) {
	l.t.Helper()
	ctx, cancel := context.WithCancel(l.t.Context())
	l.turns[name] = cancel
	before := q.Waiting()
	l.all.Go(func() {
		lock, err := q.Acquire(ctx)
		l.mu.Lock()
		defer l.mu.Unlock()
		if err != nil {
			l.got = append(l.got, name+": "+err.Error())
			return
		}
		l.got = append(l.got, name)
		_ = lock.Close()
	})
	kit.Eventually(l.t, name+" waits", func() bool { return q.Waiting() == before+1 })
}

// leave has a caller give up.
func (l *line) leave(q *Queue, name string) {
	l.t.Helper()
	before := q.Waiting()
	l.turns[name]()
	kit.Eventually(l.t, name+" gives up", func() bool { return q.Waiting() == before-1 })
}

// end waits for all and compares who got the lock when.
func (l *line) end(want ...string) {
	l.t.Helper()
	l.all.Wait()
	if !slices.Equal(l.got, want) {
		l.t.Errorf("they got the lock as %q, want %q", l.got, want)
	}
}

func TestCallersGetALockInTurn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	elsewhere, err := Take(path)
	if err != nil {
		t.Fatal(err)
	}
	q, l := NewQueue(path), &line{t: t, turns: map[string]context.CancelFunc{}}
	for _, name := range strings.Fields("a b c d e f g") {
		l.join(q, name)
	}
	for _, name := range strings.Fields("a d g") { // of which the first is waited for in the kernel
		l.leave(q, name)
	}
	l.join(q, "h")
	if state := q.State(); !strings.Contains(state, "not held by this process, 5 of its callers wait, the first for ") {
		t.Errorf("state: %s", state)
	}
	_ = elsewhere.Close()
	const gone = ": context canceled"
	l.all.Wait()
	slices.SortStableFunc(l.got, func(a, b string) int { // those who gave up did so at the same time
		return strings.Count(b, gone) - strings.Count(a, gone)
	})
	slices.Sort(l.got[:3])
	l.end("a"+gone, "d"+gone, "g"+gone, "b", "c", "e", "f", "h")
	lock, err := q.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if state := q.State(); !strings.HasPrefix(state, "held by this process for ") || strings.Contains(state, "wait") {
		t.Errorf("state: %s", state)
	}
	_ = lock.Close()
	if state := q.State(); state != "not held by this process" {
		t.Errorf("state: %s", state)
	}
}

func TestWhoGaveUpKeepsNoLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	elsewhere, err := Take(path)
	if err != nil {
		t.Fatal(err)
	}
	q := NewQueue(path)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if lock, err := q.Acquire(ctx); lock != nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%v, %v", lock, err)
	}
	if lock, err := q.Acquire(ctx); lock != nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("when the time was up before: %v, %v", lock, err)
	}
	_ = elsewhere.Close()
	kit.Eventually(t, "nobody asks", func() bool {
		q.mu.Lock()
		defer q.mu.Unlock()
		return !q.asking
	})
	held(t, path, false)
	if state := q.State(); state != "not held by this process" {
		t.Errorf("state: %s", state)
	}
}

func TestALockThatCannotBeHad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lock")
	if lock, err := NewQueue(path).Acquire(t.Context()); lock != nil || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: %v, %v", lock, err)
	}
	if lock, err := Acquire(t.Context(), dir); lock != nil || err == nil {
		t.Errorf("of a folder: %v, %v", lock, err)
	}
}

// TestAQueueHasOneHolder, whatever processes there are, and whichever give up.
func TestAQueueHasOneHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if lock, err := Acquire(t.Context(), path); err != nil || lock.Close() != nil {
		t.Fatal(err)
	}
	rounds := 50
	if kit.Full() {
		rounds = 50_000
	}
	var holders, got, left atomic.Int32
	var all sync.WaitGroup
	for range 4 {
		q := NewQueue(path)
		for range 4 {
			all.Go(func() {
				for n := 0; n < rounds || left.Load() == 0 && !t.Failed(); n++ {
					ctx, cancel := context.WithCancel(t.Context())
					if n%2 == 0 {
						go cancel()
					}
					lock, err := q.Acquire(ctx)
					cancel()
					if err != nil {
						left.Add(1)
						continue
					}
					if n := holders.Add(1); n != 1 {
						t.Errorf("%d holders", n)
					}
					got.Add(1)
					holders.Add(-1)
					_ = lock.Close()
				}
			})
		}
	}
	all.Wait()
	kit.Eventually(t, "the lock is free", func() bool { held, err := Held(path); return !held && err == nil })
	if got.Load() == 0 {
		t.Error("nobody got it")
	}
}
