package status

import (
	"context"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

const (
	// Slow is after what time a project counts as one that does not answer.
	Slow = 2 * time.Second
	// patience is how long a project is waited for that has not answered yet, or did not answer the last time: the others are shown meanwhile.
	patience = 150 * time.Millisecond
)

// An Inbox reads the projects of a person, each by itself: one that does not answer delays no other, and is read by one goroutine at most.
// T is what is read of a project.
type Inbox[T any] struct {
	Limits [2]time.Duration // how long a project is waited for that did not answer the last time, and any; as made, patience and Slow

	ctx  context.Context // of all readings
	read func(context.Context, project.Member) (T, error)

	mu      sync.Mutex
	entries map[string]*entry[T] // by the id of the project
	changed chan struct{}        // closed when something has changed, and replaced
}

// An entry is what an inbox knows of a project.
type entry[T any] struct {
	facts   T         // as they were read last without an error
	at      time.Time // when; zero for never
	err     error     // of the last reading
	begun   int       // readings
	ended   int
	since   time.Time // when the newest one began
	again   bool      // another one is to follow it
	quick   bool      // the last one ended before it was slow
	left    bool      // nobody waits for the present one any more
	done    chan struct{}
	watched bool // it tells of its changes from before its first reading on
}

// A Row is a project in an inbox as it could be read.
type Row[T any] struct {
	project.Member
	Facts T         // as they were read last
	At    time.Time // when; zero where they never were
	Err   error     // why they are not those of now; nil while the project is read for the first time
}

// NewInbox returns an inbox. Its readings and its watching end with ctx.
func NewInbox[T any](ctx context.Context, read func(context.Context, project.Member) (T, error)) *Inbox[T] {
	return &Inbox[T]{Limits: [2]time.Duration{patience, Slow}, ctx: ctx, read: read, entries: map[string]*entry[T]{}, changed: make(chan struct{})}
}

// Read reads projects, and returns a row for each, in their order. It returns after its limit at the latest, and waits for those alone that have
// answered the last time.
func (b *Inbox[T]) Read(members []project.Member) []Row[T] {
	want := make([]int, len(members))
	for i, m := range members {
		want[i] = b.begin(m)
	}
	short, long := time.After(b.Limits[0]), time.After(b.Limits[1])
	over := [2]bool{}
	rows := make([]Row[T], len(members))
	for i, m := range members {
		for {
			done, limit := b.look(m, want[i], &rows[i], over)
			if done == nil {
				break
			}
			timer := long
			if limit == 0 {
				timer = short
			}
			select {
			case <-done:
			case <-timer:
				over[limit] = true
			}
		}
	}
	return rows
}

// begin sees to it that a reading begins now, or after the present one, and returns its number.
func (b *Inbox[T]) begin(m project.Member) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.entries[m.ID]
	if s == nil {
		s = &entry[T]{}
		b.entries[m.ID] = s
	}
	if s.begun > s.ended {
		s.again = true
		return s.begun + 1
	}
	b.start(m, s)
	return s.begun
}

// start begins a reading. The caller holds the lock.
func (b *Inbox[T]) start(m project.Member, s *entry[T]) {
	first := !s.watched && m.Err == nil
	s.begun, s.since, s.again, s.left, s.done, s.watched = s.begun+1, time.Now(), false, false, make(chan struct{}), s.watched || first
	go func() {
		if first {
			go b.watch(project.NewWatcher(m.Root))
		}
		facts, err := b.facts(m)
		b.mu.Lock()
		defer b.mu.Unlock()
		late := s.left && !s.quick // what is shown says that the project does not answer
		if s.ended, s.err, s.quick = s.begun, err, time.Since(s.since) < b.Limits[1]; err == nil {
			s.facts, s.at = facts, time.Now()
		}
		close(s.done)
		if s.again {
			b.start(m, s)
		}
		if late {
			b.tell()
		}
	}()
}

// facts reads a project.
func (b *Inbox[T]) facts(m project.Member) (facts T, err error) {
	if err := m.There(); err != nil {
		return facts, err
	}
	return b.read(b.ctx, m)
}

// look fills the row of a project, and returns what ends the wait for its reading, and which of the limits is one; nil when it ended or a
// limit is over.
func (b *Inbox[T]) look(m project.Member, want int, row *Row[T], over [2]bool) (done chan struct{}, limit int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.entries[m.ID]
	*row = Row[T]{m, s.facts, s.at, s.err}
	if s.ended >= want {
		return nil, 0
	}
	if s.quick {
		limit = 1
	}
	if !over[limit] && !over[1] {
		return s.done, limit
	}
	s.left = true
	if since := time.Since(s.since); row.Err == nil && (since >= b.Limits[1] || !s.at.IsZero()) {
		row.Err = slow(m, since)
	}
	return nil, 0
}

func slow(m project.Member, since time.Duration) error {
	return &refusal.RefusedError{Code: refusal.LockBusy, Message: "the project has not answered for " + format.Duration(since),
		Remedy: refusal.Say("another process has its lock, or its disk does not answer: %s waits for it", CommandIn(m.Root, "ferrus status")), Person: true}
}

// Changed returns what is closed when something has changed in a project that was read, or when one has answered that did not.
func (b *Inbox[T]) Changed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changed
}

// watch tells of the changes of a project.
func (b *Inbox[T]) watch(w *project.Watcher) {
	for {
		parts, err := w.Changed(b.ctx)
		if err != nil {
			return
		}
		if len(parts) > 0 {
			b.mu.Lock()
			b.tell()
			b.mu.Unlock()
		}
	}
}

// tell says that something has changed. The caller holds the lock.
func (b *Inbox[T]) tell() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// CommandIn returns a command of ferrus so that it is about the project at root, wherever it is called.
func CommandIn(root, command string) string {
	rest, ours := strings.CutPrefix(command, "ferrus ")
	if !ours {
		return command
	}
	if strings.ContainsFunc(root, func(r rune) bool {
		return !strings.ContainsRune("/\\:._-+@", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		root = format.ShellWord(root)
	}
	return "ferrus -C " + root + " " + rest
}
