//go:build unix

package run

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ferrus-go/ferrus/internal/pipeline"
)

// mails is how often the result was sent.
func (y *yard) mails() int { return strings.Count(y.text("mail"), "\n") }

// last is a pipeline whose final worker may send the result by itself; beside it one that may fail.
const last = `{"p": {"spawn": "all", "phases": [{"id": "a", "workers": [{"role": "one", "task": "x"}]},
	{"id": "b", "workers": [{"role": "side", "task": "x"}, {"role": "end", "task": "x", "reads": ["one.md"], "final": true}]}]}}`

// deliverer is a worker that sends the result by its tool.
func deliverer() int {
	f, err := Open(os.Getenv("FERRUS_RUN_DIR"))
	if err != nil {
		return 2
	}
	d, err := f.WorkerSession("end", 1)
	if err != nil {
		return 3
	}
	if _, err := d.Deliver(context.Background(), Options{}); err != nil {
		return 4
	}
	return 0
}

// sends is the play of a worker that writes its output and sends it.
func sends(t *testing.T) string {
	self, err := os.Executable()
	must(t, err)
	return write + `; ` + part + `=deliverer "` + self + `"`
}

// TestAResultIsSentOnce: the final worker, the watchdog and ticks want to send it at once; one does, and the others are
// told. F09, S4-09.
func TestAResultIsSentOnce(t *testing.T) {
	rig(t, rounds(12, 1000), "results that eight wanted to send at once", func(t *testing.T, n int) {
		y := newYard(t)
		y.conf.Deliver = toMail
		if n%2 == 1 { // then the watchdog wants to, and not the table's own delivery
			y.play("side", "exit 1")
		}
		f := y.launch(last)
		y.tick(f)
		y.gone(f, "one", "side", "end")
		var sent atomic.Int32
		at := f.Dir
		atOnce(8, func(i int) {
			g, err := Open(at)
			if err != nil {
				if !errors.Is(err, fs.ErrNotExist) {
					t.Error(err)
				}
				return
			}
			if i%2 == 0 {
				if _, err := g.Tick(t.Context(), y.o); err != nil && !errors.Is(err, ErrGone) {
					t.Error(err)
				}
				return
			}
			d, err := g.WorkerSession("end", 1)
			must(t, err)
			switch _, err = d.Deliver(t.Context(), y.o); {
			case err == nil:
				sent.Add(1)
			case errors.Is(err, ErrSent), errors.Is(err, ErrBusy):
			case errors.Is(err, ErrReplaced): // it is archived by now
				if _, err := os.Stat(at); err == nil {
					t.Error("replaced, and the run is there")
				}
			default:
				t.Error(err)
			}
		})
		if _, err := os.Stat(at); err == nil {
			y.conduct(f)
		}
		f.Dir = filepath.Join(y.place().Archive, f.Name())
		d, err := f.delivery()
		must(t, err)
		if y.mails() != 1 || d.State != pipeline.Delivered || sent.Load() > 1 || (d.By == "end") != (sent.Load() == 1) {
			t.Errorf("sent %d times, %d of them by the worker: %+v\n%s", y.mails(), sent.Load(), d, y.story(f))
		}
		for _, again := range []bool{false, true} { // who is so late that it is over
			if _, err := f.send(t.Context(), y.o.orUsual(), "end", []byte("late"), again); !errors.Is(err, ErrSent) || y.mails() != 1 {
				t.Errorf("sent %d times: %v", y.mails(), err)
			}
		}
		partial := 0
		if d.By == byWatchdog {
			partial = 1
		}
		y.tells(f, partial, "PARTIAL")
		y.whole(f)
		tried := y.lines(f, func(l Line) bool {
			return l.Event == string(pipeline.Deliver) || l.Event == string(pipeline.Watchdog)
		})
		if want := map[bool]int{true: 0, false: 1}[d.By == "end"]; len(tried) != want {
			t.Errorf("%s has delivered, and %d lines say that ferrus has\n%s", d.By, len(tried), y.story(f))
		}
	})
}

// TestADeathBetweenSendingAndItsNote: what can be sent twice is verified; of what cannot a person is asked. F08.
func TestADeathBetweenSendingAndItsNote(t *testing.T) {
	cases := []struct {
		point string
		verb  pipeline.Verb // what a person says; "" where nobody is asked
		mails int
	}{
		{"after send", pipeline.Confirm, 1}, {"after send", pipeline.Again, 2}, {"before send", pipeline.Confirm, 0}, {"before send", pipeline.Again, 1},
		{"after send", "", 0}, {"before send", "", 0}, {"claimed", "", 0},
	}
	rig(t, len(cases), "deaths around a sending", func(t *testing.T, n int) {
		c := cases[n]
		y := newYard(t)
		y.conf.Deliver = toMail
		if c.verb == "" {
			y.conf.Deliver = toBox
		}
		f := y.launch(pair)
		if err := y.send(errand{f.Dir, c.point, 1}).Wait(); err == nil {
			t.Fatal("it did not die")
		}
		if c.verb != "" {
			if a := y.conduct(f); !a.Person || y.status(f).State != pipeline.IsDelivering {
				t.Fatalf("%s, %s\n%s", a, y.status(f).State, y.story(f))
			}
			before := y.mails()
			for range 5 {
				y.tick(f)
			}
			y.tells(f, 1, "may have been sent")
			if y.mails() != before {
				t.Error("it was sent again, and nobody has asked for that")
			}
			y.ask(f, c.verb)
		}
		y.finish(f)
		if y.mails() != c.mails {
			t.Errorf("sent %d times, not %d\n%s", y.mails(), c.mails, y.story(f))
		}
		if boxes, _ := os.ReadDir(y.path("box")); c.verb == "" && len(boxes) != 1 {
			t.Errorf("%d files in the box", len(boxes))
		}
		if c.verb == "" {
			y.tells(f, 0, "may have been sent")
		}
	})
}

// TestAPipelineGoesOnAlone: the conductor dies when all are started; every output comes, and the result is sent by the
// final worker, or, when it cannot, by the next process that looks. S4-01, S4-07, S4-11.
func TestAPipelineGoesOnAlone(t *testing.T) {
	rig(t, rounds(2, 20), "pipelines whose conductor died right after the start", func(t *testing.T, n int) {
		y := newYard(t)
		y.conf.Deliver = toMail
		y.play("one", `sleep 0.2; `+write)
		y.play("end", sends(t))
		if n%2 == 1 {
			y.play("end", "exit 1")
		}
		f := y.launch(last)
		if err := y.send(errand{f.Dir, "after spawn", 1}).Wait(); err == nil {
			t.Fatal("it did not die")
		}
		y.gone(f, "one", "side", "end")
		y.times(map[string]int{"one": 1, "side": 1, "end": 1})
		if want := 1 - n%2; y.mails() != want {
			t.Fatalf("sent %d times without anybody, not %d\n%s", y.mails(), want, y.story(f))
		}
		y.ended(f, y.conduct(f))
		if y.mails() != 1 {
			t.Errorf("sent %d times\n%s", y.mails(), y.story(f))
		}
		y.tells(f, n%2, "PARTIAL")
		if n%2 == 1 {
			text, err := os.ReadFile(f.Path(finalFile))
			if err != nil || !strings.HasPrefix(string(text), "> **PARTIAL**") || !strings.Contains(string(text), "Missing or incomplete: end.") ||
				!strings.Contains(string(text), "one was here") {
				t.Errorf("%v: %s", err, text)
			}
			if got := y.lines(f, func(l Line) bool { return l.Event == string(pipeline.Watchdog) }); len(got) != 1 {
				t.Errorf("the watchdog delivered %d times", len(got))
			}
		}
	})
}

// TestAMarkerIsADelivery: what the final worker says that it has sent is recorded, and sent by nobody else; without the
// marker it is progress, and ferrus sends it. S4-10.
func TestAMarkerIsADelivery(t *testing.T) {
	t.Parallel()
	rig(t, 2, "final workers that said that they have sent the result, and that did not", func(t *testing.T, n int) {
		y := newYard(t)
		y.conf.Deliver = toMail
		y.play("end", write+[]string{`; echo MATRIX_SENT`, `; echo nearly done`}[n])
		f := y.launch(last)
		y.ended(f, y.conduct(f))
		if y.mails() != n {
			t.Errorf("sent %d times, not %d\n%s", y.mails(), n, y.story(f))
		}
		d, err := f.delivery()
		must(t, err)
		text, err := os.ReadFile(f.Result())
		if err != nil || filepath.Base(f.Result()) != finalFile || string(text) != "end was here\n" || d.State != pipeline.Delivered ||
			d.By != []string{"end", byFerrus}[n] || d.SHA256 != digest(text) || d.At.IsZero() {
			t.Errorf("recorded is %+v, and %q, %v", d, text, err)
		}
		if got := y.lines(f, func(l Line) bool { return l.Row == "sent" && l.By == "end" && l.Tell != "" }); len(got) != 1-n {
			t.Errorf("the journal says %d times that the worker sent it", len(got))
		}
		y.times(map[string]int{"one": 1, "end": 1})
	})
}

// TestNobodyElseDelivers: a worker that is not the final one has nothing to send. S4-09.
func TestNobodyElseDelivers(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.conf.Deliver = toMail
	y.play("side", gated)
	f := y.launch(last)
	y.tick(f)
	d, err := f.WorkerSession("side", 1)
	must(t, err)
	if _, err := d.Deliver(t.Context(), y.o); err == nil || y.mails() != 0 {
		t.Error("side has delivered")
	}
	y.put("go-side", "")
	y.ended(f, y.conduct(f))
	if y.mails() != 1 {
		t.Errorf("sent %d times\n%s", y.mails(), y.story(f))
	}
	t.Log("rig: cases=1 bad=0; deliveries by another worker")
}
