//go:build unix

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
)

// waitsForLock reports whether a thread of the process is blocked on a file lock: it waits for a holder's death.
func (c *client) waitsForLock() bool {
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		c.t.Fatal(err)
	}
	for line := range bytes.Lines(locks) {
		if f := strings.Fields(string(line)); len(f) > 5 && f[1] == "->" && f[5] == strconv.Itoa(c.Process().Pid) {
			return true
		}
	}
	return false
}

// watches reports whether the process watches a folder: a wait has begun.
func (c *client) watches() bool {
	dir := fmt.Sprintf("/proc/%d/fd/", c.Process().Pid)
	fds, err := os.ReadDir(dir)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, fd := range fds {
		if to, err := os.Readlink(dir + fd.Name()); err == nil && to == "anon_inode:inotify" {
			return true
		}
	}
	return false
}

func onlyLinux(t testing.TB) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("looks into /proc")
	}
}

// takeovers kills one holder after the other while the next one waits, and returns how long the next one waited.
func (w *world) takeovers(n int) []time.Duration {
	w.t.Helper()
	holder := w.start(state.Executor, "codex")
	epoch := w.claimed(holder).Epoch
	var times []time.Duration
	for range n {
		next := w.start(state.Executor, "codex")
		claimed := next.later("wait_for_task", nil)
		kit.Eventually(w.t, "the next one waits for the death", next.waitsForLock)
		began := time.Now()
		if err := holder.Process().Kill(); err != nil {
			w.t.Fatal(err)
		}
		res := <-claimed
		times = append(times, time.Since(began))
		if res.Status != "claimed" || res.Epoch != epoch+1 {
			w.t.Fatalf("%s under epoch %d after %d", res.Status, res.Epoch, epoch)
		}
		holder.Kill()
		holder, epoch = next, res.Epoch
	}
	return times
}

// S1-27.
func TestTheWorkOfAKilledHolderIsTakenOverAtOnce(t *testing.T) {
	t.Parallel()
	onlyLinux(t)
	w := newWorld(t, "[checks]\ncommands = []\n")
	n := rounds(5, 50)
	_, _, text := spread(w.takeovers(n))
	t.Log("from SIGKILL to the successor's claim: " + text)
	for _, l := range w.history() {
		if l.Event == state.Claim && l.Seq > 2 && l.Note != "its process has ended" {
			t.Errorf("claimed because %q", l.Note)
		}
	}
	if got := w.count(state.Claim); got != n+1 {
		t.Errorf("%d claims", got)
	}
}
