//go:build unix

package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/state"
)

// A conductor is `ferrus run` or `ferrus resume` at work.
type conductor struct {
	out  bytes.Buffer
	kill func()
	done chan struct{}
	code int // when it is done
}

func (r *rig) conduct(args ...string) *conductor {
	r.t.Helper()
	c := &conductor{done: make(chan struct{})}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	cmd := r.command(ctx, ferrus, args...)
	cmd.Stdout, cmd.Stderr = &c.out, &c.out
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	c.kill = func() { _ = cmd.Process.Kill() } // an error means that it has ended
	go func() {
		defer cancel()
		_ = cmd.Wait() // the exit code says it
		c.code = cmd.ProcessState.ExitCode()
		close(c.done)
	}()
	return c
}

// finished: an eventful task is Complete, the work is done, nobody was started in vain, and nothing is left.
func (r *rig) finished() {
	r.t.Helper()
	if now := r.now(); now.State != state.Complete {
		r.t.Errorf("the task is %s", now.State)
	}
	if got := r.text("colour.txt"); got != painted {
		r.t.Errorf("colour.txt is %q, want %q", got, painted)
	}
	if got := r.started(); !maps.Equal(got, started) {
		r.t.Errorf("started %v, want %v\n%s", got, started, r.runs())
	}
	r.gone()
}

// gone: no process is left and no lock is held.
func (r *rig) gone() {
	r.t.Helper()
	if left := r.left(); len(left) > 0 {
		r.t.Errorf("left behind: %v", left)
	}
	entries, err := os.ReadDir(r.machine("live"))
	if err != nil {
		r.t.Error(err)
	}
	for _, e := range entries {
		if f, err := os.OpenFile(r.machine(filepath.Join("live", e.Name())), os.O_RDWR, 0); err == nil {
			if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
				r.t.Errorf("%s is held", e.Name())
			}
			f.Close()
		}
	}
}

// runs is what is written down of the agents that were started.
func (r *rig) runs() string {
	files, _ := filepath.Glob(r.machine("runs/*.jsonl"))
	var all strings.Builder
	for _, file := range files {
		all.WriteString(r.text(file))
	}
	return all.String()
}

// started is how many agents were started for each duty.
func (r *rig) started() map[agents.Duty]int {
	r.t.Helper()
	names, count := map[string]bool{}, map[agents.Duty]int{}
	for line := range strings.Lines(r.runs()) {
		var run struct {
			Run  string
			Duty agents.Duty
		}
		if err := json.Unmarshal([]byte(line), &run); err != nil {
			r.t.Fatal(err)
		}
		if !names[run.Run] { // a second line of a run says how it ended
			count[run.Duty]++
		}
		names[run.Run] = true
	}
	return count
}

// written is how many lines the journal has.
func (r *rig) written() int { return strings.Count(r.text(r.machine("journal.jsonl")), "\n") }
