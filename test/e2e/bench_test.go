//go:build unix

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
)

// report reports the quantiles of what took these times; a few times have no 99th percentile.
func report(b *testing.B, name string, times []time.Duration) {
	b.Helper()
	slices.Sort(times)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(1000*ms(times[len(times)/2]), name+"-p50-µs")
	if len(times) >= 100 {
		b.ReportMetric(1000*ms(times[len(times)*99/100]), name+"-p99-µs")
	}
}

// BenchmarkAnswer is from a person giving an answer to the client of another process, which waits for it, having it.
func BenchmarkAnswer(b *testing.B) {
	onlyLinux(b)
	w := newWorld(b, "[checks]\ncommands = []\n")
	h, ex := w.human(), w.start(state.Executor, "codex")
	w.claimed(ex)
	var times []time.Duration
	for b.Loop() {
		q := ex.call("ask_human", args{"question": fmt.Sprint("May I? ", len(times))}).QuestionID
		kit.Eventually(b, "nothing is waited for", func() bool { return !ex.watches() })
		answered := ex.later("wait_for_answer", nil)
		kit.Eventually(b, "the client waits", ex.watches)
		began := time.Now()
		if _, err := h.Answer(b.Context(), q, "Yes."); err != nil {
			b.Fatal(err)
		}
		if res := <-answered; res.QuestionID != q {
			b.Fatalf("told %+v", res)
		}
		times = append(times, time.Since(began))
	}
	report(b, "answer", times)
}

// BenchmarkTakeover is from SIGKILL of the holder to a third process seeing the successor's claim, and to the successor's
// client having it with all that it needs to go on. Beside it: from SIGKILL of a process that holds a file lock to another
// process having the lock.
func BenchmarkTakeover(b *testing.B) {
	onlyLinux(b)
	w := newWorld(b, "[checks]\ncommands = []\n")
	h := w.human()
	bell := h.Engine().Store().Watch()
	defer bell.Close()
	holder := w.start(state.Executor, "codex")
	epoch := w.claimed(holder).Epoch
	var claims, work, locks []time.Duration
	for b.Loop() {
		next := w.start(state.Executor, "codex")
		claimed := next.later("wait_for_task", nil)
		kit.Eventually(b, "the next one waits for the death", next.waitsForLock)
		began := time.Now()
		if err := holder.Process().Kill(); err != nil {
			b.Fatal(err)
		}
		for seen := epoch; seen == epoch; {
			snap, err := h.Engine().View()
			if err != nil {
				b.Fatal(err)
			}
			if seen = snap.Task.Epoch; seen == epoch {
				<-bell.C
			}
		}
		claims = append(claims, time.Since(began))
		res := <-claimed
		work = append(work, time.Since(began))
		if res.Status != "claimed" || res.Epoch != epoch+1 {
			b.Fatalf("%s under epoch %d after %d", res.Status, res.Epoch, epoch)
		}
		holder.Kill()
		holder, epoch = next, res.Epoch
		locks = append(locks, release(b))
	}
	report(b, "claim", claims)
	report(b, "work", work)
	report(b, "flock", locks)
}

// BenchmarkStale is a call of the agent that holds the work, while three agents that have lost it call in a loop and are
// refused: with a journal of 30 lines, and with one of 3,000.
func BenchmarkStale(b *testing.B) {
	worlds := map[string]*stale{"few": newStale(b, 30), "many": newStale(b, 3000)}
	times := map[string][]time.Duration{}
	for b.Loop() {
		for name, w := range worlds {
			times[name] = append(times[name], w.measure(20)...)
		}
	}
	for name, t := range times {
		report(b, name, t)
	}
}

// A stale world has an agent that holds the work, and three that have lost it.
type stale struct {
	holder *client
	lost   []*client
}

func newStale(b *testing.B, lines int) *stale {
	b.Helper()
	w := newWorld(b, "[checks]\ncommands = []\n[limits]\nmax_progress_notes = 1000000\n")
	var all []*client
	for i := range 4 {
		c := w.start(state.Executor, "codex")
		if i == 0 {
			w.claimed(c)
			for n := range lines {
				c.call("progress", args{"note": fmt.Sprint("note ", n)})
			}
		} else {
			if _, err := w.human().Release(b.Context(), "next"); err != nil {
				b.Fatal(err)
			}
			c.claim()
		}
		all = append(all, c)
	}
	return &stale{holder: all[3], lost: all[:3]}
}

// measure is how long n calls of the holder take while the others call.
func (s *stale) measure(n int) (times []time.Duration) {
	var done atomic.Bool
	var all sync.WaitGroup
	for _, c := range s.lost {
		all.Go(func() {
			for !done.Load() {
				c.try("progress", args{"note": "Mine."})
			}
		})
	}
	for i := range n {
		began := time.Now()
		s.holder.call("progress", args{"note": fmt.Sprint("note ", i, " of a measurement")})
		times = append(times, time.Since(began))
	}
	done.Store(true)
	all.Wait()
	return times
}

// release is how long the kernel takes from SIGKILL of a lock's holder to the lock being somebody else's.
func release(b *testing.B) time.Duration {
	b.Helper()
	path := filepath.Join(b.TempDir(), "lock")
	lock := func(how int) *os.File {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err == nil {
			err = unix.Flock(int(f.Fd()), how)
		}
		if err != nil {
			b.Error(err)
		}
		return f
	}
	// The lock belongs to the open file, which is the holder's alone as soon as we have closed ours.
	held, holder := lock(unix.LOCK_EX), exec.Command("cat")
	holder.ExtraFiles = []*os.File{held}
	if _, err := holder.StdinPipe(); err != nil {
		b.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		b.Fatal(err)
	}
	held.Close()
	owned := make(chan time.Time)
	go func() {
		f := lock(unix.LOCK_EX)
		owned <- time.Now()
		f.Close()
	}()
	waiting := regexp.MustCompile(fmt.Sprintf(`-> FLOCK +ADVISORY +WRITE %d `, os.Getpid()))
	kit.Eventually(b, "the lock is waited for", func() bool {
		locks, err := os.ReadFile("/proc/locks")
		if err != nil {
			b.Fatal(err)
		}
		return waiting.Match(locks)
	})
	began := time.Now()
	if err := holder.Process.Kill(); err != nil {
		b.Fatal(err)
	}
	took := (<-owned).Sub(began)
	_ = holder.Wait() // it was killed
	return took
}
