package pipeline

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ferrus-go/ferrus/internal/config/workflow"
)

// TestWhateverTheWorkersDoARunEnds: each ends delivered once, or waits for a person; and then a retry with workers that
// do better ends it. F05, F10, F12: nothing depends on being told.
func TestWhateverTheWorkersDoARunEnds(t *testing.T) {
	t.Parallel()
	flows := flows(t)
	ends := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		flag := rapid.SampledFrom([]bool{false, false, false, true})
		w := newWorld(t, rapid.SampledFrom(flows).Draw(t, "workflow"))
		for _, p := range w.w.Phases {
			for _, k := range p.Workers {
				for range 3 {
					w.plays[k.Role] = append(w.plays[k.Role], play{takes: time.Duration(rapid.IntRange(1, 500).Draw(t, "takes")) * sec,
						silent: flag.Draw(t, "silent"), exit: rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "exit"), killed: flag.Draw(t, "killed"),
						hangs: flag.Draw(t, "hangs"), half: flag.Draw(t, "half"), late: rapid.SampledFrom([]time.Duration{0, 0, 0, time.Hour}).Draw(t, "late")})
				}
				w.plays[k.Role] = append(w.plays[k.Role], play{takes: sec})
			}
		}
		for range 40 {
			a := w.run()
			for _, k := range w.w.Phases { // nobody is started more often than the retries, his own and a person's, allow
				for _, k := range k.Workers {
					if _, i := w.w.Worker(k.Role); w.w.Phases[i].How() != workflow.Talking && w.spawns[k.Role] > 1+w.status.RetryCount {
						t.Fatalf("%s is started %d times with %d retries", k.Role, w.spawns[k.Role], w.status.RetryCount)
					}
				}
			}
			if w.w.All() && w.most > w.w.Cap() {
				t.Fatalf("%d at a time", w.most)
			}
			if w.archived > 0 {
				ends["archived"]++
				w.ended(w.partial)
				return
			}
			ends[a.Row]++
			switch a.Row {
			case "paused":
				w.intent = Intent{Verb: Resume}
			case "stopped":
				w.intent = Intent{Verb: Retry}
			default:
				t.Fatalf("a person cannot help: %s %s", a.Row, a)
			}
		}
		t.Fatalf("no retry helps: %+v", w.status)
	})
	for _, end := range []string{"archived", "paused", "stopped"} {
		if ends[end] == 0 {
			t.Errorf("never: %s", end)
		}
	}
}
