//go:build unix

package run

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/test/kit"
)

// until ticks until the last phase has begun.
func until(f *Folder, o Options) error {
	for end := time.Now().Add(kit.Patience); ; {
		if _, err := f.Tick(context.Background(), o); err != nil {
			return err
		}
		if s, err := f.Status(); err != nil || s.Worker("end").Status != pipeline.Pending {
			return err
		}
		if time.Now().After(end) {
			return errors.New("the pipeline stalls")
		}
	}
}

// together is the play of workers that all wait for one sign.
const together = `until test -e "$FERRUS_RUN_DIR/go"; do sleep 0.001; done; ` + write

// TestWorkersThatEndAtOnceAreBothSeen: two workers end in the same moment under eight ticks; both are completed, and the
// next phase is started once. F01.
func TestWorkersThatEndAtOnceAreBothSeen(t *testing.T) {
	rig(t, rounds(4, 1000), "two workers ended at once under eight ticks, of goroutines and of processes", func(t *testing.T, n int) {
		y := newYard(t)
		y.play("one", together)
		y.play("two", together)
		y.play("end", gated)
		f := y.launch(pair)
		y.tick(f)
		y.working("one", "two")
		if n%2 == 0 {
			y.put(filepath.Join(".ferrus/pipeline-tmp", f.Name(), "go"), "")
			atOnce(8, func(int) {
				if err := until(y.again(f), y.o); err != nil {
					t.Error(err)
				}
			})
		} else {
			var wait []func()
			for range 8 {
				wait = append(wait, y.hire("ticker", errand{Dir: f.Dir}))
			}
			y.eventually("eight are ready", func() bool {
				ready, _ := filepath.Glob(f.Path("ready-*"))
				return len(ready) == 8
			})
			y.put(filepath.Join(".ferrus/pipeline-tmp", f.Name(), "go"), "")
			for _, w := range wait {
				w()
			}
		}
		y.stands(f, "one", pipeline.Completed, "")
		y.stands(f, "two", pipeline.Completed, "")
		y.put("go-end", "")
		y.finish(f)
		y.times(map[string]int{"one": 1, "two": 1, "end": 1})
		if got := y.lines(f, func(l Line) bool { return l.Event == "complete phase" || l.Event == "spawn" }); len(got) != 3 {
			t.Errorf("two phases were begun in %d lines\n%s", len(got), y.story(f))
		}
		y.whole(f)
	})
}

// TestFiftyTicksAreAsOne: at each stage of a run fifty ticks at once leave the same journal as one, and start nobody twice.
// X5.
func TestFiftyTicksAreAsOne(t *testing.T) {
	t.Parallel()
	rig(t, rounds(1, 20), "runs under fifty ticks at once at each stage", func(t *testing.T, _ int) {
		var stories [2]string
		for i, ticks := range []int{1, 50} {
			y := newYard(t)
			for _, role := range []string{"one", "two", "end"} {
				y.play(role, gated)
			}
			f := y.launch(pair)
			for _, role := range []string{"", "one", "two", "end"} {
				if role != "" {
					y.put("go-"+role, "")
					y.gone(f, role)
				}
				at := f.Dir
				atOnce(ticks, func(int) {
					g, err := Open(at)
					if err == nil {
						_, err = g.Tick(t.Context(), y.o)
					}
					if err != nil && !(role == "end" && (errors.Is(err, ErrGone) || strings.Contains(err.Error(), "is not a run"))) {
						t.Error(err)
					}
				})
			}
			f.Dir = filepath.Join(y.place().Archive, f.Name())
			stories[i] = y.story(f)
			y.times(map[string]int{"one": 1, "two": 1, "end": 1})
			if y.out.String() != "end was here\n" {
				t.Errorf("delivered %q", y.out.String())
			}
		}
		if stories[0] != stories[1] {
			t.Errorf("one tick left\n%s\nand fifty\n%s", stories[0], stories[1])
		}
	})
}

// crowd is a pipeline of many workers and one who reads what the first writes.
func crowd(many, most int, keys string) string {
	var workers []string
	for i := range many {
		workers = append(workers, fmt.Sprintf(`{"role": "w%d", "task": "x"}`, i))
	}
	return fmt.Sprintf(`{"p": {"max_parallel": %d%s, "phases": [{"id": "a", "workers": [%s]},
		{"id": "b", "workers": [{"role": "end", "task": "x", "reads": ["w0.md"], "final": true}]}]}}`, most, keys, strings.Join(workers, ", "))
}

// TestFiftyWorkersMayEndAtOnce: no call fails, and all are seen. How long calls took is logged: it is no business of a
// test on a machine that has other things to do. F30.
func TestFiftyWorkersMayEndAtOnce(t *testing.T) {
	kit.Long(t, "of two at once: TestWorkersThatEndAtOnceAreBothSeen")
	t.Parallel()
	rig(t, rounds(1, 10), "fifty workers ended at once", func(t *testing.T, _ int) {
		y := newYard(t)
		for i := range 50 {
			y.play(fmt.Sprintf("w%d", i), together)
		}
		y.play("end", gated)
		f := y.launch(crowd(50, 64, ""))
		y.tick(f)
		for i := range 50 {
			y.working(fmt.Sprintf("w%d", i))
		}
		y.put(filepath.Join(".ferrus/pipeline-tmp", f.Name(), "go"), "")
		var longest, held [8]time.Duration
		atOnce(8, func(i int) {
			g, end := y.again(f), time.Now().Add(kit.Patience)
			for done := false; !done; {
				began := time.Now()
				if i%2 == 0 {
					lock, err := g.lock(t.Context()) // Tick, with a look at the clock in between
					if err != nil {
						t.Error(err)
						return
					}
					since := time.Now()
					_, err = g.tick(t.Context(), y.o.orUsual())
					held[i] = max(held[i], time.Since(since))
					if err = errors.Join(err, lock.Close()); err != nil {
						t.Error(err)
						return
					}
				} else if _, err := g.View(time.Now()); err != nil {
					t.Error(err)
					return
				}
				longest[i] = max(longest[i], time.Since(began))
				s, err := g.Status()
				if done = err != nil || s.CurrentPhase == 1; time.Now().After(end) || t.Failed() {
					t.Error("it stalls")
					return
				}
			}
		})
		t.Logf("the longest tick of four at once took %v, with the lock for %v of it at most; the longest look %v",
			max(longest[0], longest[2], longest[4], longest[6]), slices.Max(held[:]), max(longest[1], longest[3], longest[5], longest[7]))
		y.put("go-end", "")
		y.ended(f, y.conduct(f))
		if lost := y.lines(f, func(l Line) bool { return l.Reason != "" }); len(lost) > 0 {
			t.Errorf("%d lines say that something went wrong\n%s", len(lost), y.story(f))
		}
	})
}
