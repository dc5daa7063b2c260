//go:build unix

package run

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/pipeline"
)

// asker is a worker that asks a person, waits for the answer and writes it as its output. With an errand it leaves after the question.
func asker() int {
	attempt, _ := strconv.Atoi(strings.TrimSpace(os.Getenv("ASK_ATTEMPT")))
	f, err := Open(os.Getenv("FERRUS_RUN_DIR"))
	if err != nil {
		return 3
	}
	d, err := f.WorkerSession(os.Getenv("FERRUS_WORKER"), attempt)
	if err != nil {
		return 4
	}
	ctx := context.Background()
	if !strings.Contains(os.Getenv("FERRUS_PROMPT"), "A person answered:") {
		if _, err := d.Ask(ctx, "Which?", time.Now()); err != nil {
			return 5
		}
		if os.Getenv("ASK_LEAVES") != "" {
			return 0
		}
	}
	for {
		q, err := d.Await(ctx, time.Minute)
		if err != nil {
			return 6
		}
		if !q.IsOpen() {
			if _, err := d.Write(q.Answer, false, time.Now()); err != nil {
				return 7
			}
			return 0
		}
	}
}

// askedBy is a run in which one asks.
func (y *yard) askedBy(leaves string) *Folder {
	y.t.Helper()
	self, err := os.Executable()
	must(y.t, err)
	y.play("one", fmt.Sprintf(`until test -e "$FERRUS_ROOT/go-one"; do sleep 0.01; done; export ASK_ATTEMPT=$(wc -l < "$FERRUS_ROOT/spawned-one") ASK_LEAVES=%s %s=asker; exec '%s'`, leaves, part, self))
	return y.launch(with("one", `, "asks": true`))
}

func (y *yard) answer(f *Folder, text string) {
	y.t.Helper()
	_, err := f.Answer(y.t.Context(), "", "human", y.o.Now(), func(pipeline.Question) (string, error) { return text, nil })
	must(y.t, err)
}

// open waits until a question is open.
func (y *yard) open(f *Folder) {
	y.t.Helper()
	y.eventually("one asks", func() bool { v, err := f.View(time.Now()); return err == nil && len(v.Facts.Open()) == 1 })
}

// TestAnAnswerReachesTheWorkerThatAsked: it waits, leaves, or is killed with or without its shim, or all that conduct are killed too;
// the question and the answer are recorded once, a person is told once, and no retry is used. S2-20.
func TestAnAnswerReachesTheWorkerThatAsked(t *testing.T) {
	t.Parallel()
	rig(t, 6, "workers that asked, and lived or not until the answer", func(t *testing.T, n int) {
		y := newYard(t)
		y.o.Now = time.Now
		f := y.askedBy([]string{"", "1", "", "", "", ""}[n])
		y.tick(f)
		y.put("go-one", "")
		y.gone(f, "two")
		y.open(f)
		switch n {
		case 1:
			y.gone(f, "one")
		case 2:
			y.killAgent(f, "one")
			y.gone(f, "one")
		case 3:
			y.killAgent(f, "one")
			kill(y.shim(f, "one"))
			y.gone(f, "one")
		case 4: // and the answer comes before anybody has seen the question
			y.answer(f, "blue")
		case 5: // and the worker is done before anybody has seen either
			y.answer(f, "blue")
			y.gone(f, "one")
		}
		if n < 4 {
			for range 3 {
				if a := y.tick(f); !a.Person || a.Row != "asking" {
					t.Fatalf("%s\n%s", a, y.story(f))
				}
			}
			y.tells(f, 1, "one asks: Which?")
			y.answer(f, "blue")
		}
		y.ended(f, y.conduct(f))
		if text, err := os.ReadFile(f.Path("one.md")); string(text) != "blue" {
			t.Errorf("it was answered %q: %v", text, err)
		}
		want := map[bool]int{true: 2, false: 1}[n >= 1 && n <= 3]
		y.times(map[string]int{"one": want, "two": 1, "end": 1})
		for _, event := range []string{"ask", "answer"} {
			if got := y.lines(f, func(l Line) bool { return l.Event == event }); len(got) != 1 {
				t.Errorf("%d lines of %s\n%s", len(got), event, y.story(f))
			}
		}
		if s := y.status(f); s.RetryCount != 0 {
			t.Errorf("%d retries", s.RetryCount)
		}
	})
}

// TestAConductorThatDiesLosesNeitherQuestionNorAnswer: at each point around them.
func TestAConductorThatDiesLosesNeitherQuestionNorAnswer(t *testing.T) {
	points := []string{"begun ask", "before ask", "journalled ask", "after ask", "begun answer", "journalled answer", "begun continue", "started continue", "before continue", "journalled continue"}
	rig(t, len(points), "deaths of the conductor around a question", func(t *testing.T, n int) {
		t.Parallel()
		y := newYard(t)
		y.o.Now = time.Now
		f := y.askedBy("1")
		y.tick(f)
		y.put("go-one", "")
		y.gone(f, "one", "two")
		if n >= 4 {
			y.tick(f)
			y.answer(f, "blue")
		}
		if err := y.send(errand{f.Dir, points[n], 1}).Wait(); err == nil {
			t.Fatalf("it did not die\n%s", y.story(f))
		}
		if n < 4 {
			if a := y.conduct(f); a.Row != "asking" {
				t.Fatalf("%s\n%s", a, y.story(f))
			}
			y.answer(f, "blue")
		}
		y.ended(f, y.conduct(f))
		y.tells(f, 1, "one asks: Which?")
		y.times(map[string]int{"one": 2, "two": 1, "end": 1})
		if text, _ := os.ReadFile(f.Path("one.md")); string(text) != "blue" {
			t.Errorf("it was answered %q", text)
		}
		if s := y.status(f); s.RetryCount != 0 {
			t.Errorf("%d retries\n%s", s.RetryCount, y.story(f))
		}
	})
}

// TestTheTimeOfAWorkerThatAsksStandsStill: for a day, and no tick writes; after the answer it has what it had left, to the nanosecond.
func TestTheTimeOfAWorkerThatAsksStandsStill(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	w := y.wear()
	y.play("one", gated)
	f := y.launch(with("one", `, "timeout": 600, "asks": true`))
	y.tick(f)
	y.gone(f, "two")
	y.working("one")
	y.tick(f)
	left := y.status(f).Worker("one").Deadline.Sub(y.o.Now())
	d, err := f.WorkerSession("one", 1)
	must(t, err)
	_, err = d.Ask(t.Context(), "Which?", y.o.Now())
	must(t, err)
	if _, err := d.Ask(t.Context(), "And which?", y.o.Now()); err != ErrAsking {
		t.Error(err)
	}
	y.tick(f)
	before := y.stamp(f)
	w.pass(24 * time.Hour)
	y.tick(f)
	y.stands(f, "one", pipeline.Running, "")
	if a, err := d.Assignment(y.o.Now()); y.stamp(f) != before || err != nil || max(a.Left-int(left/time.Second), int(left/time.Second)-a.Left) > 1 {
		t.Errorf("%d seconds left of %v, or a tick that waits has written: %v", a.Left, left, err)
	}
	y.answer(f, "blue")
	w.pass(left + pipeline.Grace)
	y.tick(f)
	y.stands(f, "one", pipeline.Running, "")
	w.pass(time.Nanosecond)
	y.tick(f)
	y.stands(f, "one", pipeline.Failed, pipeline.TimedOut)
}

// TestWhoMayNotAskIsRefused, and so is an answer to nothing.
func TestWhoMayNotAskIsRefused(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.play("one", gated)
	f := y.launch(pair)
	y.tick(f)
	d, err := f.WorkerSession("one", 1)
	must(t, err)
	if _, err := d.Ask(t.Context(), "Which?", time.Now()); err != ErrMayNot {
		t.Error(err)
	}
	if _, err := f.Answer(t.Context(), "", "human", time.Now(), nil); err != ErrNotOpen {
		t.Error(err)
	}
}
