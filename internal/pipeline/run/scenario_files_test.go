//go:build unix

package run

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/pipeline"
)

// halved is the play of a worker that has written half of its output, in place, and is killed there the first time.
const halved = `if [ $(wc -l < "$FERRUS_ROOT/spawned-$FERRUS_WORKER") = 1 ]; then echo half > "$FERRUS_OUTPUT"; exec sleep 600; fi; ` + write

// TestHalfAFileIsFedToNobody: while its worker lives and has only just written, it is not done; when the worker is killed
// the phase has failed, unless the workflow takes what is there or has it started again. A person may take it or not. F04.
func TestHalfAFileIsFedToNobody(t *testing.T) {
	t.Parallel()
	cases := []struct {
		keys    string
		verb    pipeline.Verb // what a person asks for; "" where nobody is needed
		spawned int
		text    string
	}{
		{"", pipeline.Retry, 2, "one was here\n"}, {"", pipeline.Resume, 1, "half\n"},
		{`, "accept_partial": true`, "", 1, "half\n"}, {`, "retries": 1`, "", 2, "one was here\n"},
	}
	rig(t, len(cases), "workers killed with half of their output written", func(t *testing.T, n int) {
		c := cases[n]
		y := newYard(t)
		y.play("one", halved)
		f := y.launch(with("one", c.keys))
		y.tick(f)
		y.gone(f, "two")
		var wrote time.Time
		y.eventually("half is written", func() bool {
			info, err := os.Stat(f.Path("one.md"))
			if err == nil {
				wrote = info.ModTime()
			}
			return err == nil && info.Size() > 0
		})
		y.o.Now = func() time.Time { return wrote.Add(settled / 2) }
		y.tick(f)
		y.stands(f, "one", pipeline.Running, "")
		y.killAgent(f, "one")
		y.gone(f, "one")
		y.tick(f)
		y.o.Now = nil
		if c.verb != "" {
			y.stands(f, "one", pipeline.Completed, pipeline.Unclean)
			for range 3 {
				if a := y.tick(f); !a.Person || y.spawned("end") > 0 {
					t.Fatalf("%s\n%s", a, y.story(f))
				}
			}
			if s := y.status(f); s.State != pipeline.IsFailed {
				t.Fatalf("it is %s", s.State)
			}
			y.tells(f, 1, "may not be whole")
			y.ask(f, c.verb)
		}
		y.ended(f, y.conduct(f))
		if text, err := os.ReadFile(f.Path("one.md")); string(text) != c.text {
			t.Errorf("one.md is %q: %v", text, err)
		}
		y.times(map[string]int{"one": c.spawned, "two": 1, "end": 1})
	})
}

// TestLookingAgainChangesNothing: what is reported twice, or looked at later, adds no line and does not touch status.json.
// F12, S0-17.
func TestLookingAgainChangesNothing(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	for _, role := range []string{"one", "two"} {
		y.play(role, gated)
	}
	f := y.launch(pair)
	cases, later := 0, 0*time.Minute
	y.o.Now = func() time.Time { return time.Now().Add(later) }
	still := func() {
		t.Helper()
		before, lines := y.stamp(f), y.whole(f)
		for range 20 {
			cases++
			later += time.Second
			y.tick(y.again(f))
		}
		if after := y.stamp(f); after != before || y.whole(f) != lines {
			t.Errorf("status.json %v, then %v\n%s", before, after, y.story(f))
		}
	}
	y.tick(f)
	still()
	y.lets(f, "one")
	still()
	y.play("end", "exit 1")
	y.lets(f, "two")
	y.gone(f, "end")
	y.tick(f)
	still()
	y.tells(f, 1, "has failed")
	t.Logf("rig: cases=%d bad=0; looks at runs in which nothing happened", cases)
}

// stamp says whether status.json was touched.
func (y *yard) stamp(f *Folder) time.Time {
	y.t.Helper()
	info, err := os.Stat(f.Path(statusFile))
	must(y.t, err)
	return info.ModTime()
}

// TestALateOutputHeals: it comes when its phase has failed, and the run goes on; when the run is cancelled it is too late.
// F16.
func TestALateOutputHeals(t *testing.T) {
	t.Parallel()
	rig(t, 2, "outputs that came late", func(t *testing.T, n int) {
		y := newYard(t)
		y.play("one", "exit 1")
		f := y.launch(pair)
		if a := y.conduct(f); !a.Person {
			t.Fatal(a)
		}
		y.stands(f, "one", pipeline.Failed, pipeline.NoOutput)
		late := func() { must(t, os.WriteFile(f.Path("one.md"), []byte("one was here\n"), 0o600)) }
		if n == 0 {
			late()
			y.conduct(f)
			y.stands(f, "one", pipeline.Completed, pipeline.Late)
			y.times(map[string]int{"one": 1, "two": 1, "end": 1})
			if y.status(f).State != pipeline.IsCompleted {
				t.Error(y.story(f))
			}
			return
		}
		y.ask(f, pipeline.Cancel)
		if a := y.conduct(f); a.Do != pipeline.Archive {
			t.Fatal(a)
		}
		lines := y.whole(f)
		late()
		y.tick(f)
		if s := y.status(f); s.State != pipeline.IsCancelled || y.whole(f) != lines || y.spawned("end") > 0 {
			t.Errorf("%+v\n%s", s, y.story(f))
		}
	})
}

// TestFilesCountAndNotStatus: whatever somebody writes into status.json, what is there is done, and what is not is not.
// S0-12.
func TestFilesCountAndNotStatus(t *testing.T) {
	t.Parallel()
	cases := []struct {
		words, there string // what is written for what stands there, and whether the file of one is there
	}{
		{"pending", "yes"}, {"failed", "yes"}, {"paused", "yes"}, {"completed", ""}, {"", "yes"},
	}
	rig(t, len(cases), "status.json written by hand", func(t *testing.T, n int) {
		c := cases[n]
		y := newYard(t)
		y.play("one", "exit 1")
		y.play("two", "exit 1")
		f := y.launch(pair)
		y.conduct(f)
		text, err := os.ReadFile(f.Path(statusFile))
		must(t, err)
		must(t, os.Remove(f.Path(statusFile)))
		edited := ""
		if c.words != "" {
			edited = strings.ReplaceAll(string(text), `"failed"`, `"`+c.words+`"`)
		}
		must(t, os.WriteFile(f.Path(statusFile), []byte(edited), 0o644))
		want, why := pipeline.Failed, pipeline.NoOutput
		if c.there != "" {
			must(t, os.WriteFile(f.Path("one.md"), []byte("by hand"), 0o600))
			want, why = pipeline.Completed, pipeline.Late
		}
		y.tick(f)
		y.stands(f, "one", want, why)
		y.stands(f, "two", pipeline.Failed, pipeline.NoOutput)
	})
}

// TestAnOutputThatVanishesIsAFailure: before its phase is over; what a person brings back counts again. S0-12.
func TestAnOutputThatVanishesIsAFailure(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.play("two", gated)
	f := y.launch(pair)
	y.tick(f)
	y.gone(f, "one")
	y.tick(f)
	y.stands(f, "one", pipeline.Completed, "")
	must(t, os.Rename(f.Path("one.md"), y.path("mine")))
	y.tick(f)
	y.stands(f, "one", pipeline.Failed, pipeline.Vanished)
	y.lets(f, "two")
	y.stands(f, "end", pipeline.Pending, "")
	must(t, os.Rename(y.path("mine"), f.Path("one.md")))
	y.conduct(f)
	y.times(map[string]int{"one": 1, "two": 1, "end": 1})
	if y.status(f).State != pipeline.IsCompleted {
		t.Error(y.story(f))
	}
	t.Log("rig: cases=1 bad=0; outputs that vanished")
}

// TestAWorkerIsNotStartedWithoutItsInputs: they are gone when it is due. The phase has failed, a person is notified, and a
// retry has them made anew. S0-25.
func TestAWorkerIsNotStartedWithoutItsInputs(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	f := y.launch(pair)
	y.o.At = func(point string) {
		if point == "after complete phase" {
			must(t, os.Remove(f.Path("two.md")))
		}
	}
	if a := y.conduct(f); !a.Person {
		t.Fatal(a)
	}
	y.o.At = nil
	y.stands(f, "end", pipeline.Failed, pipeline.MissingInput)
	y.tells(f, 1, "end reads two.md, which is not there")
	y.times(map[string]int{"one": 1, "two": 1, "end": 0})
	y.ask(f, pipeline.Retry)
	y.finish(f)
	y.times(map[string]int{"one": 1, "two": 2, "end": 1})
	t.Log("rig: cases=1 bad=0; inputs that were gone when they were due")
}
