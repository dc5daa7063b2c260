package run

import (
	"sync"

	"github.com/ferrus-go/ferrus/internal/cli"
)

// waits show how long commands take that a run waits for, of each branch that has any. The methods are called with the lock held.
type waits struct {
	mu   sync.Locker
	live bool                      // there is a line each second, else one now and then
	show func(branch, line string) // is called with the lock held
	of   map[string]*cli.Working
}

func newWaits(mu sync.Locker, live bool, show func(branch, line string)) *waits {
	return &waits{mu, live, show, map[string]*cli.Working{}}
}

// begin shows lines of a branch until end.
func (w *waits) begin(branch, what string) {
	var wait *cli.Working
	wait = &cli.Working{What: what, Live: w.live, Show: func(line string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.of[branch] == wait { // else it has ended
			w.show(branch, line)
		}
	}}
	w.of[branch] = wait
	wait.Start()
}

// follow takes the log of commands that have begun to run.
func (w *waits) follow(branch, log string) {
	if w.of[branch] == nil {
		w.begin(branch, "running commands")
	}
	w.of[branch].Follow(log)
}

// end ends the lines of a branch, if there are any.
func (w *waits) end(branch string) {
	if wait := w.of[branch]; wait != nil {
		wait.Stop()
		delete(w.of, branch)
	}
}
