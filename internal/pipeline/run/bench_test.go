//go:build unix

package run

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/pipeline"
)

// times reports the median and the 99th percentile of durations, in microseconds.
func times(b *testing.B, of string, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), of+"-p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), of+"-p99-µs")
}

// instant is what a worker does that takes no time.
const instant = `echo x > "$FERRUS_OUTPUT"`

// ten is a pipeline of ten phases with an instant worker each.
func ten(spawn string) string {
	var phases []string
	for i := range 10 {
		more := ""
		if i > 0 {
			more = fmt.Sprintf(`, "reads": ["w%d.md"]`, i-1)
		}
		if i == 9 {
			more += `, "final": true`
		}
		phases = append(phases, fmt.Sprintf(`{"id": "p%d", "workers": [{"role": "w%d", "task": "x"%s}]}`, i, i, more))
	}
	return `{"ten": {"spawn": "` + spawn + `", "deliver_by": "orchestrator", "phases": [` + strings.Join(phases, ",") + `]}}`
}

// BenchmarkPipeline is the wall time of a pipeline of ten phases of instant workers, from its launch to its archive, beside
// that of ten slots, and of ten bare processes, started and waited for one after the other.
func BenchmarkPipeline(b *testing.B) {
	y := newYard(b)
	y.conf.HQ.Executor.Command = instant
	took := map[string][]time.Duration{}
	measure := func(of string, do func()) {
		began := time.Now()
		do()
		took[of] = append(took[of], time.Since(began))
	}
	for b.Loop() {
		for _, spawn := range []string{"phase", "all"} {
			measure(spawn, func() {
				f := y.launch(ten(spawn))
				if a := y.conduct(f); a.Do != pipeline.Archive {
					b.Fatal(a)
				}
			})
		}
		measure("slots", func() {
			for range 10 {
				y.bareSlot()
			}
		})
		measure("bare", func() {
			for range 10 {
				cmd := exec.Command("/bin/sh", "-c", instant)
				cmd.Env = append(os.Environ(), "FERRUS_OUTPUT="+y.path("bare.md"))
				must(b, cmd.Run())
			}
		})
	}
	for of, took := range took {
		times(b, of, took)
	}
}

// bareSlot starts an instant worker in a slot, and waits until that is free again.
func (y *yard) bareSlot() {
	must(y.t, os.MkdirAll(y.path("bare"), 0o700))
	s := process.Slot(y.path("bare", "bare.lock"))
	_, err := process.Start(process.Order{Slot: s, Runs: y.path("bare", "bare.jsonl"), Logs: y.path("logs"), Run: process.Run{Duty: "w", Agent: "command"},
		Launch: agents.Launch{Argv: []string{"/bin/sh", "-c", instant}, Env: append(os.Environ(), "FERRUS_OUTPUT="+y.path("bare.md")), Dir: y.root}})
	must(y.t, err)
	<-s.Freed()
}

// BenchmarkTick is what a tick costs that finds nothing to do, with all that `ferrus tick` does, beside ten and a thousand
// archived runs.
func BenchmarkTick(b *testing.B) {
	y := newYard(b)
	y.play("researcher-a", "exec sleep 1000")
	y.play("researcher-b", "exec sleep 1000")
	f := y.launch(research(b))
	y.tick(f)
	took := map[string][]time.Duration{}
	for _, n := range []int{10, 1000} {
		for i := range n {
			dir := filepath.Join(y.place().Archive, fmt.Sprintf("research-%06d-%d", i, n))
			must(b, os.MkdirAll(dir, 0o700))
			must(b, os.WriteFile(filepath.Join(dir, workflowFile), nil, 0o600))
		}
	}
	all := y.place().Archive
	for b.Loop() {
		for of, archive := range map[string]string{"archived1000": all, "archived10": y.path("few")} {
			p := y.place()
			p.Archive = archive
			began := time.Now()
			names, err := p.Names()
			must(b, err)
			for _, name := range names {
				f, err := p.Open(name)
				must(b, err)
				if _, err := f.Tick(context.Background(), y.o); err != nil {
					b.Fatal(err)
				}
			}
			took[of] = append(took[of], time.Since(began))
		}
	}
	for of, took := range took {
		times(b, of, took)
	}
}
