//go:build unix

package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/state"
)

// report reports the percentiles of times in milliseconds.
func report(b *testing.B, times []time.Duration) {
	b.Helper()
	slices.Sort(times)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ms(times[len(times)/2]), "p50-ms")
	b.ReportMetric(ms(times[len(times)*99/100]), "p99-ms")
	b.ReportMetric(ms(times[len(times)-1]), "max-ms")
}

// BenchmarkWakeUp is from a person's answer being acknowledged to the client in another process having it.
func BenchmarkWakeUp(b *testing.B) {
	onlyLinux(b)
	w := newWorld(b, "[checks]\ncommands = []\n")
	h, ex := w.human(), w.start(state.Executor, "codex")
	w.claimed(ex)
	var times []time.Duration
	for b.Loop() {
		q := ex.call("ask_human", args{"question": fmt.Sprint("May I? ", len(times))}).QuestionID
		eventually(b, "nothing is waited for", func() bool { return !ex.watches() })
		answered := ex.later("wait_for_answer", nil)
		eventually(b, "the client waits", ex.watches)
		if _, err := h.Answer(b.Context(), q, "Yes."); err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		if res := <-answered; res.QuestionID != q {
			b.Fatalf("told %+v", res)
		}
		times = append(times, time.Since(began))
	}
	report(b, times)
}

// BenchmarkTakeover is from SIGKILL of the holder to the successor's client having the work.
func BenchmarkTakeover(b *testing.B) {
	onlyLinux(b)
	w := newWorld(b, "[checks]\ncommands = []\n")
	var times []time.Duration
	for b.Loop() {
		times = append(times, w.takeovers(1)...)
		if _, err := w.human().Reset(b.Context(), ""); err != nil {
			b.Fatal(err)
		}
	}
	report(b, times)
}

// BenchmarkCall is a tool call through a real server: one that only looks, and one that commits an event.
func BenchmarkCall(b *testing.B) {
	for _, tool := range []string{"status", "progress"} {
		b.Run(tool, func(b *testing.B) {
			w := newWorld(b, "[checks]\ncommands = []\n")
			ex := w.start(state.Executor, "codex")
			w.claimed(ex)
			var times []time.Duration
			for b.Loop() {
				a := args{}
				if tool == "progress" {
					a["note"] = fmt.Sprint("note ", len(times))
				}
				began := time.Now()
				ex.call(tool, a)
				times = append(times, time.Since(began))
			}
			report(b, times)
		})
	}
}
