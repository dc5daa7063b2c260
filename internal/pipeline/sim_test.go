package pipeline

import (
	"slices"
	"strings"
	"testing"
	"time"
)

const sec = time.Second

// chain is researcher, creator, critic: one after the other, and none is given a time.
const chain = `{"write": {"spawn": "all", "deliver_by": "orchestrator", "phases": [
	{"id": "a", "workers": [{"role": "researcher", "task": "x"}]},
	{"id": "b", "workers": [{"role": "creator", "task": "x", "reads": ["researcher.md"]}]},
	{"id": "c", "workers": [{"role": "critic", "task": "x", "final": true, "reads": ["creator.md"]}]}]}}`

func two(keys, end string) string {
	return workers(keys, ph("one", "", wk("a", ""), wk("b", "")), ph("two", "", wk("end", final+reads("a.md", "b.md")+end)))
}

// A run is one that is played: what the workers do, what a person asks for, and how it ends.
type run struct {
	name, text string // "" is the original
	plays      map[string][]play
	play       func(w *world)
}

// TestRunsReachTheirEnd plays whole runs.
func TestRunsReachTheirEnd(t *testing.T) {
	t.Parallel()
	for _, test := range slices.Concat(goodRuns, badRuns) {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, research(t))
			if test.text != "" {
				w = newWorld(t, flow(t, test.text))
			}
			w.plays = test.plays
			test.play(w)
		})
	}
}

// goodRuns need no more than a retry.
var goodRuns = []run{
	{"the original: S0-11, S0-13", "", nil, func(w *world) {
		w.run()
		w.ended(false)
		if w.spawns["synthesizer"] != 1 || w.now.Sub(noon) != 2*time.Minute {
			w.t.Errorf("spawned %v in %s", w.spawns, w.now.Sub(noon))
		}
	}},
	{"a chain of 2:50 + 3:00 + 0:50: S4-01, S4-06", chain,
		map[string][]play{"researcher": {{takes: 170 * sec}}, "creator": {{takes: 180 * sec}}, "critic": {{takes: 50 * sec}}}, func(w *world) {
			w.tick()
			if a := w.did[0]; a.Do != Start || len(a.Roles) != 3 || a.Tell != "Pipeline running, 3 workers active." {
				w.t.Errorf("first %s", a)
			}
			w.run()
			w.ended(false)
			if w.now.Sub(noon) != 400*sec {
				w.t.Errorf("it took %s", w.now.Sub(noon))
			}
		}},
	{"a chain of times that are given, started at once: S4-06", strings.ReplaceAll(chain, `"task"`, `"timeout": 600, "task"`),
		map[string][]play{"researcher": {{takes: 590 * sec}}, "creator": {{takes: 595 * sec}}, "critic": {{takes: 600 * sec}}}, func(w *world) {
			w.run()
			w.ended(false)
		}},
	{"four of six: S4-08", workers("", ph("z", "", wk("a", ""), wk("b", ""), wk("c", ""), wk("d", ""), wk("e", ""), wk("end", final))), nil, func(w *world) {
		if w.tick(); w.working() != 4 {
			w.t.Errorf("%d at work", w.working())
		}
		w.run()
		w.ended(false)
		if w.most != 4 || w.spawns["end"] != 1 {
			w.t.Errorf("%d at a time, %v", w.most, w.spawns)
		}
	}},
	{"one of three, started at once: who has a place works, the others wait in health", workers(`"spawn": "all", "max_parallel": 1,`,
		ph("z", "", wk("a", `, "timeout": 900`), wk("b", `, "timeout": 900`), wk("end", final))),
		map[string][]play{"a": {{takes: 890 * sec}}, "b": {{takes: 890 * sec}}}, func(w *world) {
			w.run()
			w.ended(false)
			if w.most != 1 {
				w.t.Errorf("%d at a time", w.most)
			}
		}},
	{"one after the other: S0-19", workers("", ph("z", `, "mode": "sequential"`, wk("a", ""), wk("b", reads("a.md")), wk("end", final))), nil, func(w *world) {
		w.run()
		w.ended(false)
		if w.most != 1 || w.now.Sub(noon) != 3*time.Minute {
			w.t.Errorf("%d at a time, %s", w.most, w.now.Sub(noon))
		}
	}},
	{"one after the other, started at once", workers(`"spawn": "all",`, ph("z", `, "mode": "sequential"`, wk("a", ""), wk("end", final))), nil, func(w *world) {
		w.run()
		w.ended(false)
		if w.most != 1 {
			w.t.Errorf("%d at a time", w.most)
		}
	}},
	{"a pause: S0-15", workers("", ph("one", `, "pause_after": true`, wk("a", "")), ph("two", `, "pause_after": true`, wk("end", final))), nil, func(w *world) {
		a := w.run()
		if !a.Person || w.status.State != IsPaused || w.status.Phases[0].Status != Paused || w.spawns["end"] != 0 {
			w.t.Fatalf("%s %+v", a, w.status)
		}
		if last := w.told[len(w.told)-1]; !strings.Contains(last, "- a: a.md, 1 bytes: a") {
			w.t.Errorf("told %q", last)
		}
		for range 100 {
			rev := w.status.Rev
			if w.tick(); w.status.Rev != rev {
				w.t.Fatal("a paused run goes on")
			}
		}
		w.intent = Intent{Verb: Resume, By: "ann"}
		w.run()
		if w.sent != 0 || w.status.Phases[0].ResumedBy != "ann" || w.status.State != IsPaused {
			w.t.Fatalf("sent %d before the pause: %+v", w.sent, w.status)
		}
		w.intent = Intent{Verb: Resume}
		w.run()
		w.ended(false)
	}},
	{"killed without output: F03, S0-18", two("", ""), map[string][]play{"a": {{takes: sec, silent: true, killed: true}, {takes: sec}}}, func(w *world) {
		if a := w.run(); !a.Person || w.status.State != IsFailed || w.status.Worker("a").Reason != NoOutput || w.spawns["a"] != 1 {
			w.t.Fatalf("%s %+v", a, w.status)
		}
		if len(w.told) != 3 || !strings.Contains(w.told[1], "a was killed, without a.md") || !strings.Contains(w.told[2], "phase 1 (one) has failed") {
			w.t.Errorf("told %q", w.told)
		}
		w.intent = Intent{Verb: Retry}
		w.run()
		w.ended(false)
		if w.spawns["a"] != 2 || w.spawns["b"] != 1 || w.status.RetryCount != 1 {
			w.t.Errorf("%v %d", w.spawns, w.status.RetryCount)
		}
	}},
	{"retries of its own", two("", "") /* below */, map[string][]play{"a": {{takes: sec, exit: 1, silent: true}, {takes: sec, exit: 1, half: true, silent: true}, {takes: sec}}}, func(w *world) {
		w.w.Phases[0].Workers[0].Retries = 2
		w.run()
		w.ended(false)
		if w.spawns["a"] != 3 || w.status.RetryCount != 2 || len(w.told) != 2 {
			w.t.Errorf("%v %d %q", w.spawns, w.status.RetryCount, w.told)
		}
	}},
	{"half an output of one that died: F04", two("", ""), map[string][]play{"a": {{takes: sec, silent: true, half: true, killed: true}, {takes: sec}}}, func(w *world) {
		w.run()
		if s := w.status.Worker("a"); s.Status != Completed || s.Reason != Unclean || w.status.State != IsFailed || w.spawns["end"] != 0 {
			w.t.Fatalf("%+v", w.status)
		}
		w.intent = Intent{Verb: Retry}
		w.run()
		w.ended(false)
		if w.texts["a.md"] != "a" || w.spawns["a"] != 2 {
			w.t.Errorf("%v %v", w.texts, w.spawns)
		}
	}},
	{"half an output, and a person takes it", two("", ""), map[string][]play{"a": {{takes: sec, exit: 1}}}, func(w *world) {
		w.run()
		w.intent = Intent{Verb: Resume}
		w.run()
		w.ended(false)
	}},
	{"half an output is enough: accept_partial", strings.Replace(two("", ""), `"role": "a"`, `"role": "a", "accept_partial": true`, 1),
		map[string][]play{"a": {{takes: sec, exit: 1}}}, func(w *world) {
			w.run()
			w.ended(false)
			if w.status.Worker("a").Reason != Unclean {
				w.t.Error("no word of it")
			}
		}},
}
