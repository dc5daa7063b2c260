package web

import (
	"context"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/project"
)

const (
	// look is how often the output of an agent is read while a page shows it.
	look = 120 * time.Millisecond
	// tired is after what time a page is refreshed without a change: it shows ages, and a process may end without a trace in a file.
	tired = 15 * time.Second
)

// A change names what is no longer as it was: the machine of a branch, "" for the project's own, "run:NAME", or "queue". Seq
// counts the changes that were noticed.
type change struct {
	Of  string `json:"of"`
	Seq uint64 `json:"seq"`
}

// A hub notices changes for all open pages. While no page is open it does nothing; the next one is told of what has changed meanwhile.
type hub struct {
	ctx     context.Context
	changes *project.Watcher // ends with the process
	one     sync.Mutex       // held by who watches

	mu    sync.Mutex
	pages map[chan change]bool
	stop  func()            // ends the watching; nil while no page is open
	seqs  map[string]uint64 // from first on
	first uint64            // a number that no earlier process has reached
}

func newHub(ctx context.Context, root string) *hub {
	return &hub{ctx: ctx, changes: project.NewWatcher(root), pages: map[chan change]bool{}, seqs: map[string]uint64{}, first: uint64(time.Now().UnixMilli())}
}

// join returns a stream of changes. The caller ends it with leave.
func (h *hub) join() (changes chan change, leave func()) {
	c := make(chan change, 64)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stop == nil {
		var ctx context.Context
		ctx, h.stop = context.WithCancel(h.ctx)
		go h.watch(ctx)
	}
	h.pages[c] = true
	return c, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if delete(h.pages, c); len(h.pages) == 0 {
			h.stop()
			h.stop = nil
		}
	}
}

// seq is how many changes of a part were noticed.
func (h *hub) seq(of string) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.first + h.seqs[of]
}

// watch tells of changes until ctx ends.
func (h *hub) watch(ctx context.Context) {
	h.one.Lock()
	defer h.one.Unlock()
	for {
		parts, err := h.changes.Changed(ctx)
		if err != nil {
			return
		}
		h.mu.Lock()
		for _, of := range parts {
			h.tell(of)
		}
		h.mu.Unlock()
	}
}

// tell tells all pages of a change. One that reads nothing misses it: the next one leads to the same page.
func (h *hub) tell(of string) {
	h.seqs[of]++
	name := of
	if of == project.QueueSign {
		name = "queue"
	}
	for c := range h.pages {
		select {
		case c <- change{name, h.first + h.seqs[of]}:
		default:
		}
	}
}
