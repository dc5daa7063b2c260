package cli

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

const (
	quick   = 2 * time.Second  // what takes no longer shows nothing
	redraw  = time.Second      // of a live line
	patient = 30 * time.Second // until the first plain line; each further one comes after twice the time
)

// Working shows that something is at work which takes its time: how long it has taken, and the last line of the output of the checks
// that run meanwhile.
type Working struct {
	What string            // in words, to stand before "for 14 s"
	Live bool              // the line is drawn again each second; else there is a plain line now and then
	Show func(line string) // gets the line, on a goroutine of its own

	mu   sync.Mutex
	log  string
	over chan struct{}
}

// Follow takes the path of the log in which the last line of output is.
func (w *Working) Follow(log string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = log
}

// Start shows lines until Stop.
func (w *Working) Start() {
	began, next := time.Now(), patient
	if w.Live {
		next = quick
	}
	w.over = make(chan struct{})
	go func() {
		for {
			select {
			case <-w.over:
				return
			case <-time.After(next):
			}
			took := time.Since(began)
			w.Show(w.line(took))
			if next = took; w.Live {
				next = redraw
			}
		}
	}()
}

// Stop ends the lines. It does not wait for one that is being shown.
func (w *Working) Stop() { close(w.over) }

func (w *Working) line(took time.Duration) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	line := w.What + " for " + format.Duration(took)
	if last := lastLine(w.log); last != "" {
		line += ": " + last
	}
	return line
}

// maxLast is how much of the end of a log is read for its last line, in bytes.
const maxLast = 4 << 10

// lastLine returns the last line of a log that has words in it, "" where there is none.
func lastLine(log string) string {
	if log == "" {
		return ""
	}
	end, err := rootfs.ReadOwnTail(log, maxLast)
	if err != nil {
		return ""
	}
	lines := strings.FieldsFunc(string(end), func(r rune) bool { return r == '\n' || r == '\r' })
	for _, line := range slices.Backward(lines) {
		if line = strings.TrimSpace(format.Line(safetext.Output(line))); line != "" {
			return line
		}
	}
	return ""
}

// Working shows on the terminal, or now and then in a plain line on stderr, that a command is at work, if it takes longer than a moment.
// what says at what, to stand before "for 14 s". Under the context that it returns the output of checks is followed. The caller calls end
// before it prints anything. Nothing is shown with --json, or to a screen or a page.
func (a *App) Working(ctx context.Context, what string) (following context.Context, end func()) {
	if a.JSON || a.Via != "" {
		return ctx, func() {}
	}
	on := *a
	if !a.OutTTY {
		on.Out, on.OutTTY, on.Colour, on.window = a.Err, a.ErrTTY, false, nil
	}
	var mu sync.Mutex
	footer, over := Footer{On: &on}, false
	w := &Working{What: what, Live: on.OutTTY, Show: func(line string) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case over:
		case on.OutTTY:
			footer.Draw([]string{line}, []string{Dim})
		default:
			on.Say("%s\n", line)
		}
	}}
	w.Start()
	return checks.Followed(ctx, w.Follow), sync.OnceFunc(func() {
		w.Stop()
		mu.Lock()
		defer mu.Unlock()
		footer.Erase()
		over = true
	})
}
