package filelock

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// A Queue gives a lock to the callers of one process in turn, first come, first served.
//
// However many callers wait, one goroutine waits for them in the kernel. It asks while another caller of the process
// still has the lock, so that it stands in line behind other processes and does not overtake them. When its callers
// give up, it remains until it gets the lock, and unlocks at once; the next caller takes it over.
type Queue struct {
	path string
	flag int

	mu      sync.Mutex
	asking  bool // the kernel is being asked; true whenever somebody waits
	waiting []*turn
	held    *Lock // the caller that has the lock; nil for none
}

// A turn is a caller that waits.
type turn struct {
	since time.Time
	given chan given // with a buffer of one
}

// given is what a caller waited for: a lock, or why there is none.
type given struct {
	lock *Lock
	err  error
}

// NewQueue returns a queue for the lock at path. It does not make the file.
func NewQueue(path string) *Queue { return &Queue{path: path, flag: look} }

// Acquire waits for the lock at path, and makes the file, for the user alone, where there is none. It is for callers that
// come one at a time: of many, each has a thread that waits. The error is one of Queue.Acquire.
func Acquire(ctx context.Context, path string) (*Lock, error) {
	return (&Queue{path: path, flag: os.O_CREATE | os.O_RDWR | noFollow}).Acquire(ctx)
}

// Acquire returns the lock when it is the caller's turn. When ctx ends first, the error is ctx.Err(); an error of the lock
// file is one of Held. The caller closes the lock.
func (q *Queue) Acquire(ctx context.Context) (*Lock, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	me := &turn{time.Now(), make(chan given, 1)}
	q.mu.Lock()
	switch {
	case q.asking:
		q.waiting = append(q.waiting, me)
	case q.held != nil:
		q.asking, q.waiting = true, []*turn{me}
		go q.ask()
	default:
		q.asking = true
		q.mu.Unlock()
		lock, err := q.try()
		q.mu.Lock()
		if lock != nil || err != nil {
			q.held = lock
			if q.asking = len(q.waiting) > 0; q.asking {
				go q.ask()
			}
			q.mu.Unlock()
			return lock, err
		}
		q.waiting = slices.Insert(q.waiting, 0, me)
		go q.ask()
	}
	q.mu.Unlock()
	select {
	case g := <-me.given:
		return g.lock, g.err
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.waiting, me); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
		return nil, ctx.Err()
	}
	g := <-me.given
	return g.lock, g.err
}

// try takes the lock if it is free. Neither lock nor error means that it is not.
func (q *Queue) try() (*Lock, error) {
	lock := q.open()
	got, err := lock.flock.TryLock()
	if !got {
		return nil, named(q.path, err)
	}
	return lock.checked()
}

// ask waits in the kernel for those who wait here, until nobody does.
func (q *Queue) ask() {
	for more := true; more; {
		lock := q.open()
		err := lock.flock.Lock()
		if err == nil {
			if lock, err = lock.checked(); lock == nil && err == nil {
				continue // as in the folder of a run that was archived meanwhile
			}
		} else {
			lock, err = nil, named(q.path, err)
		}
		more = q.give(lock, err)
	}
}

// give ends the wait of the first caller, and reports whether others wait.
func (q *Queue) give(lock *Lock, err error) (more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.asking = false
		if lock != nil {
			_ = lock.unlock()
		}
		return false
	}
	if lock != nil {
		q.held = lock
	}
	q.waiting[0].given <- given{lock, err}
	q.waiting = slices.Delete(q.waiting, 0, 1)
	q.asking = len(q.waiting) > 0
	return q.asking
}

// open returns a Lock that is not locked yet: a new one each time, because two callers of one flock.Flock would both be
// told that they hold it.
func (q *Queue) open() *Lock {
	return &Lock{flock: flock.New(q.path, flock.SetFlag(q.flag), flock.SetPermissions(0o600)), queue: q}
}

// released notes that a caller has given the lock back.
func (q *Queue) released(lock *Lock) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.held == lock {
		q.held = nil
	}
}

// Waiting returns how many callers of this process wait for the lock.
func (q *Queue) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

// State says in words whether a caller of this process has the lock, and for how long, and how many wait. It never blocks.
func (q *Queue) State() string {
	q.mu.Lock()
	defer q.mu.Unlock()
	text := "not held by this process"
	if q.held != nil {
		text = fmt.Sprintf("held by this process for %v", time.Since(q.held.since).Round(time.Millisecond))
	}
	if len(q.waiting) > 0 {
		text += fmt.Sprintf(", %d of its callers wait, the first for %v", len(q.waiting),
			time.Since(q.waiting[0].since).Round(time.Millisecond))
	}
	return text
}

// File describes the lock file, which was at its path when the lock was taken.
func (l *Lock) File() fs.FileInfo { return l.file }
