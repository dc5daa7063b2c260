package web

import (
	"context"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/project"
)

// How often the files of a project are looked at while a page is open, and after what time a page is refreshed without
// a change: it shows ages, and a process may end without a trace in a file.
const (
	look  = 60 * time.Millisecond
	tired = 15 * time.Second

	patience = 2 * time.Second // with a database, before a page is shown without it
)

// A change names what is no longer as it was: the machine of a branch, "" for the project's own, "run:NAME", or "queue". Seq
// counts the changes that were noticed.
type change struct {
	Of  string `json:"of"`
	Seq uint64 `json:"seq"`
}

// A hub notices changes for all open pages. While no page is open it does nothing.
type hub struct {
	root string
	ctx  context.Context

	mu       sync.Mutex
	pages    map[chan change]bool
	watching bool              // a goroutine looks at the files
	last     map[string]string // of each part, what it looked like
	seqs     map[string]uint64 // from first on
	first    uint64            // a number that no earlier process has reached
}

func newHub(ctx context.Context, root string) *hub {
	return &hub{root: root, ctx: ctx, pages: map[chan change]bool{}, seqs: map[string]uint64{}, first: uint64(time.Now().UnixMilli())}
}

// join returns a stream of changes. The caller ends it with leave.
func (h *hub) join() (changes chan change, leave func()) {
	c := make(chan change, 64)
	shared, kept := h.ask()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watching {
		shared.Close()
	} else {
		h.watching, h.last = true, project.Signs(h.root, kept)
		go h.watch(shared, kept)
	}
	h.pages[c] = true
	return c, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.pages, c)
	}
}

// seq is how many changes of a part were noticed.
func (h *hub) seq(of string) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.first + h.seqs[of]
}

// ask watches the database of the project, if it is in one, and asks what its machines look like.
func (h *hub) ask() (shared *project.Changes, kept map[string]string) {
	ctx, cancel := context.WithTimeout(h.ctx, patience)
	defer cancel()
	shared, _ = project.At(h.root, "").Changes(ctx) // what cannot be watched shows itself in the page
	if shared != nil {
		kept, _ = shared.Signs(ctx)
	}
	return shared, kept
}

// watch looks at the files until the last page is closed, and at the database after each change of it. kept is how that was.
func (h *hub) watch(shared *project.Changes, kept map[string]string) {
	defer shared.Close()
	every := time.NewTicker(look)
	defer every.Stop()
	for {
		select {
		case <-h.ctx.Done():
			return
		case <-shared.C():
			if now, err := shared.Signs(h.ctx); err == nil {
				kept = now
			}
		case <-every.C:
		}
		now := project.Signs(h.root, kept)
		h.mu.Lock()
		for of := range now {
			if h.last[of] != now[of] {
				h.tell(of)
			}
		}
		for of := range h.last {
			if _, there := now[of]; !there {
				h.tell(of)
			}
		}
		h.last = now
		h.watching = len(h.pages) > 0
		over := !h.watching
		h.mu.Unlock()
		if over {
			return
		}
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
