package pipeline

import (
	"strings"
	"time"
)

// badRuns are those in which somebody hangs, dies, comes late, or meddles.
var badRuns = []run{
	{"a hanging worker: S0-16, F15", two("", ""), map[string][]play{"a": {{hangs: true}}}, func(w *world) {
		w.run()
		if s := w.status.Worker("a"); s.Reason != TimedOut || !s.FailedAt.Equal(noon.Add(301*sec)) || w.procs["a"].Alive {
			w.t.Errorf("%+v at %s", s, s.FailedAt.Sub(noon))
		}
		if len(w.told) != 2 { // the start, and once that it failed
			w.t.Errorf("told %q", w.told)
		}
	}},
	{"a late output: F16", two("", ""), map[string][]play{"a": {{takes: sec, late: time.Hour}}}, func(w *world) {
		w.run()
		w.ended(false)
		if w.status.Worker("a").Reason != Late || w.status.Failure != "" {
			w.t.Errorf("%+v", w.status)
		}
	}},
	{"the watchdog: S4-11, S4-04", strings.Replace(chain, `"deliver_by": "orchestrator", `, "", 1),
		map[string][]play{"creator": {{takes: sec, silent: true, exit: 1}}}, func(w *world) {
			w.run()
			w.ended(true)
			if s := w.status.Worker("critic"); s.Reason != TimedOut || w.status.Worker("creator").Reason != NoOutput {
				w.t.Errorf("%+v", w.status)
			}
			a := w.did[len(w.did)-2]
			if a.Do != Watchdog || strings.Join(a.Missing, " ") != "creator critic" || strings.Join(a.Roles, " ") != "researcher" {
				w.t.Errorf("%s", a)
			}
		}},
	{"no watchdog", two("", ""), map[string][]play{"end": {{takes: sec, silent: true}}}, func(w *world) {
		if a := w.run(); !a.Person || w.sent != 0 {
			w.t.Errorf("%s, sent %d", a, w.sent)
		}
	}},
	{"the final worker sends by itself: S4-10", two(`"deliver_by": "terminal",`, ""), map[string][]play{"end": {{takes: sec, sends: true}}}, func(w *world) {
		w.run()
		if w.sent != 0 || w.archived != 1 || !w.status.ResultDelivered {
			w.t.Errorf("sent %d, archived %d", w.sent, w.archived)
		}
	}},
	{"the final worker forgets to send", two(`"deliver_by": "terminal",`, ""), nil, func(w *world) {
		w.run()
		w.ended(false)
	}},
	{"cancelled", two("", ""), map[string][]play{"a": {{hangs: true}}}, func(w *world) {
		w.tick()
		w.intent = Intent{Verb: Cancel, By: "ann"}
		w.run()
		if w.archived != 1 || w.sent != 0 || w.status.State != IsCancelled || w.status.Failure != "cancelled by ann" || w.working() != 0 {
			w.t.Errorf("%+v", w.status)
		}
	}},
	{"retried from the first phase", two("", ""), map[string][]play{"end": {{takes: sec, silent: true}, {takes: sec}}}, func(w *world) {
		w.run()
		w.intent = Intent{Verb: Retry, From: "a"}
		w.run()
		w.ended(false)
		if w.spawns["a"] != 2 || w.spawns["b"] != 1 || w.spawns["end"] != 2 {
			w.t.Errorf("%v", w.spawns)
		}
	}},
	{"an input that was taken away: S0-25", two("", ""), nil, func(w *world) {
		w.tick()
		w.write("a.md", "a")
		w.write("b.md", "b")
		w.status = Reconcile(w.facts())
		w.status = w.status.After(Action{Do: Finish}, w.now)
		delete(w.files, "a.md")
		w.procs = map[string]*proc{}
		if a := w.tick(); !a.Person || w.spawns["end"] != 0 || w.status.Worker("end").Reason != MissingInput ||
			!strings.Contains(w.status.Failure, "end reads a.md, which is not there") {
			w.t.Fatalf("%s %+v", a, w.status)
		}
		w.write("a.md", "back")
		w.run()
		w.ended(false)
	}},
	{"an input that was taken away, retried", two("", ""), nil, func(w *world) {
		w.run()
		w.archived, w.sent, w.delivery = 0, 0, Delivery{}
		w.status.ResultDelivered = false
		delete(w.files, "a.md")
		delete(w.files, "end.md")
		if a := w.run(); !a.Person || w.status.Worker("end").Reason != Vanished { // S0-12
			w.t.Fatalf("%s %+v", a, w.status)
		}
		w.intent = Intent{Verb: Retry}
		w.run()
		w.intent = Intent{Verb: Retry}
		w.run()
		w.ended(false)
		if w.spawns["a"] != 2 || w.spawns["b"] != 1 {
			w.t.Errorf("%v", w.spawns)
		}
	}},
	{"the machine slept: F17", two("", ""), nil, func(w *world) {
		w.tick()
		for _, p := range w.procs { // so did they
			p.ends = p.ends.Add(time.Hour)
		}
		w.now = w.now.Add(time.Hour)
		w.woke = w.now
		if w.tick(); w.status.State != IsRunning {
			w.t.Fatal("failed for having slept")
		}
		w.run()
		w.ended(false)
	}},
	{"the clock was put back: F17", two("", ""), map[string][]play{"a": {{hangs: true}}, "b": {{hangs: true}}}, func(w *world) {
		w.tick()
		w.now = w.now.Add(-time.Hour)
		back := w.now
		w.run()
		if s := w.status.Worker("a"); s.Reason != TimedOut || s.FailedAt.Sub(back) != 301*sec {
			w.t.Errorf("%+v after %s", s, s.FailedAt.Sub(back))
		}
	}},
	{"who delivered died: F08", two("", ""), nil, func(w *world) {
		for w.status.CurrentPhase == 0 || len(w.files) < 3 {
			w.now = w.now.Add(sec)
			if len(w.files) == 2 && w.spawns["end"] == 1 {
				w.delivery = Delivery{State: Sending, By: "ferrus", Target: "mail"}
			}
			w.tick()
		}
		if a := w.run(); !a.Person || w.sent != 0 || w.status.State != IsDelivering {
			w.t.Fatalf("%s, sent %d", a, w.sent)
		}
		w.intent = Intent{Verb: Again}
		w.run()
		w.ended(false)
	}},
}
