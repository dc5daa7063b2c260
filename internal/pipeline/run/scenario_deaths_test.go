//go:build unix

package run

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/pipeline"
)

// struck is the play of a worker that has written something beside its output when it is killed, the first time.
const struck = `if [ $(wc -l < "$FERRUS_ROOT/spawned-$FERRUS_WORKER") = 1 ]; then echo half > "$FERRUS_OUTPUT.tmp"; touch "$FERRUS_ROOT/at-work"; exec sleep 600; fi; ` + write

// TestAKilledWorkerIsSeenAndStartedAnewAlone: its shim, its agent or both are killed. It has failed before its time is
// over, a person is notified once, what it wrote beside its output is nothing, and a retry starts it and nobody else. F03.
func TestAKilledWorkerIsSeenAndStartedAnewAlone(t *testing.T) {
	t.Parallel()
	rig(t, rounds(3, 30), "workers killed at work: the shim, the agent, both", func(t *testing.T, n int) {
		y := newYard(t)
		y.play("one", struck)
		f := y.launch(pair)
		y.tick(f)
		y.gone(f, "two")
		y.eventually("one is at work", func() bool { _, err := os.Stat(y.path("at-work")); return err == nil })
		if n%3 != 0 {
			y.killAgent(f, "one")
		}
		if n%3 != 1 {
			kill(y.shim(f, "one"))
		}
		y.gone(f, "one")
		for range 3 {
			if a := y.tick(f); !a.Person {
				t.Fatalf("%s\n%s", a, y.story(f))
			}
		}
		y.stands(f, "one", pipeline.Failed, pipeline.NoOutput)
		y.stands(f, "two", pipeline.Completed, "")
		y.tells(f, 1, "one ")
		y.ask(f, pipeline.Retry)
		y.finish(f)
		y.times(map[string]int{"one": 2, "two": 1, "end": 1})
		if s := y.status(f); s.RetryCount != 1 {
			t.Errorf("%d retries", s.RetryCount)
		}
	})
}

// chain is a pipeline with every way of waiting in it, whose workers are started again as often as they are killed.
const chain = `{"p": {"spawn": "%s", "deliver_by": "orchestrator", "watchdog": false, "phases": [{"id": "a", "workers": [
	{"role": "one", "task": "x", "retries": 10}, {"role": "two", "task": "x", "retries": 10}]},
	{"id": "b", "mode": "sequential", "workers": [{"role": "three", "task": "x", "retries": 10, "reads": ["one.md"]},
	{"role": "four", "task": "x", "retries": 10, "reads": ["three.md"]}]},
	{"id": "c", "workers": [{"role": "end", "task": "x", "retries": 10, "reads": ["two.md", "four.md"], "final": true}]}]}}`

// TestWhateverIsKilledTheRestIsTheSame: the conductor, shims and agents are killed at any moment, together; who conducts
// again ends with the same outputs and one delivery, and no worker was started more often than it was hit. F05, S0-21,
// S4-13.
func TestWhateverIsKilledTheRestIsTheSame(t *testing.T) {
	roles := []string{"one", "two", "three", "four", "end"}
	rig(t, rounds(4, 200), "runs of which everything was killed, up to three times", func(t *testing.T, n int) {
		dice := rand.New(rand.NewPCG(5, uint64(n)))
		y := newYard(t)
		y.conf.Deliver = toBox
		for _, role := range roles {
			y.play(role, `sleep 0.0`+fmt.Sprint(1+dice.IntN(9))+`; `+write)
		}
		f := y.launch(fmt.Sprintf(chain, []string{"phase", "all"}[n%2]))
		hits := map[string]int{}
		for range 1 + dice.IntN(3) {
			conductor := y.send(errand{Dir: f.Dir})
			time.Sleep(time.Duration(dice.IntN(400)) * time.Millisecond)
			kill(conductor.Process.Pid)
			_ = conductor.Wait()
			for _, i := range dice.Perm(len(roles)) {
				role := roles[i]
				if shim := y.shim(f, role); shim > 0 {
					hits[role]++
					if dice.IntN(2) == 0 {
						y.killAgent(f, role)
					}
					_ = syscall.Kill(-shim, syscall.SIGKILL)
				}
			}
		}
		if _, err := os.Stat(f.Dir); err == nil {
			y.ended(f, y.conduct(f))
		}
		f.Dir = filepath.Join(y.place().Archive, f.Name())
		for _, role := range roles {
			if text, err := os.ReadFile(f.Path(role + ".md")); string(text) != role+" was here\n" {
				t.Errorf("%s.md is %q: %v", role, text, err)
			}
			if got := y.spawned(role); got < 1 || got > 1+hits[role] {
				t.Errorf("%s was started %d times, and hit %d times\n%s", role, got, hits[role], y.story(f))
			}
		}
		if box, _ := os.ReadDir(y.path("box")); len(box) != 1 || y.text(filepath.Join("box", f.Name()+".md")) != "end was here\n" {
			t.Errorf("in the box: %v", box)
		}
		y.whole(f)
		t.Logf("hit %v", slices.Sorted(maps.Keys(hits)))
	})
}

// TestAConductorThatDiesAroundAStartStartsOnce: before it nobody is started, and the next one does it; after it the next
// one finds the worker in its slot. F06, F07.
func TestAConductorThatDiesAroundAStartStartsOnce(t *testing.T) {
	points := []string{"begun spawn", "started spawn", "before spawn", "journalled spawn"}
	rig(t, len(points), "deaths of the conductor around a start", func(t *testing.T, n int) {
		y := newYard(t)
		for _, role := range []string{"one", "two", "end"} {
			y.play(role, gated)
		}
		f := y.launch(pair)
		if err := y.send(errand{f.Dir, points[n], 1}).Wait(); err == nil {
			t.Fatal("it did not die")
		}
		if alive := f.alive(); n == 0 != (len(alive) == 0) {
			t.Fatalf("alive are %v", alive)
		}
		y.tick(f)
		y.working("one", "two")
		if s := y.status(f).Worker("one"); s.Status != pipeline.Running || s.Attempt != 1 || s.Session == "" {
			t.Errorf("%+v", s)
		}
		for _, role := range []string{"one", "two", "end"} {
			y.put("go-"+role, "")
		}
		y.finish(f)
		y.times(map[string]int{"one": 1, "two": 1, "end": 1})
	})
}

// TestNobodyNeedsToBeTold: no conductor is there when workers end, the last of them or all; a later tick finds
// everything. F10, F11, S0-09.
func TestNobodyNeedsToBeTold(t *testing.T) {
	t.Parallel()
	rig(t, 2, "runs in which nobody saw workers end", func(t *testing.T, n int) {
		y := newYard(t)
		for _, role := range []string{"one", "two", "end"} {
			y.play(role, gated)
		}
		f := y.launch(pair)
		y.tick(f)
		if n == 1 { // the end of one is seen, and then nobody looks
			y.lets(f, "one")
			y.stands(f, "two", pipeline.Running, "")
		}
		y.put("go-one", "")
		y.put("go-two", "")
		y.gone(f, "one", "two")
		y.tick(y.again(f))
		y.put("go-end", "")
		y.gone(f, "end")
		a, err := f.Tick(t.Context(), y.o)
		must(t, err)
		y.ended(f, a)
		y.times(map[string]int{"one": 1, "two": 1, "end": 1})
	})
}

// bare is the play of an agent that knows nothing but its prompt: no environment, no memory.
const bare = `exec env -i PATH="$PATH" P="$FERRUS_PROMPT" sh -c '
	out=$(printf "%s" "$P" | sed -n "s/^Write your result to this file, and to no other: //p")
	{ printf "%s" "$P" | sed -n "s/^Topic: //p"; printf "%s" "$P" | sed -n "s/^- //p" | while read f; do cat "$f"; done; } > "$out.tmp" && mv "$out.tmp" "$out"'`

// TestAPromptIsAllThatAWorkerNeeds: an agent without any memory does its work from prompt and files, also in the place of
// one that was killed; and it learns nothing of phases, of other workers or of what comes next. F13, S0-07.
func TestAPromptIsAllThatAWorkerNeeds(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.play("one", bare)
	y.play("two", `[ $(wc -l < "$FERRUS_ROOT/spawned-two") -gt 1 ] || kill -9 $$; `+bare)
	y.play("end", bare)
	f := y.launch(with("two", `, "retries": 1`))
	dir := f.Dir
	y.ended(f, y.conduct(f))
	if want := "FSA architecture\nFSA architecture\nFSA architecture\n"; y.out.String() != want {
		t.Errorf("delivered %q, not %q", y.out.String(), want)
	}
	y.times(map[string]int{"one": 1, "two": 2, "end": 1})
	for role, files := range map[string][]string{"one": {"one.md"}, "end": {"end.md", "one.md", "two.md"}} {
		text, err := f.Prompt(role)
		must(t, err)
		for _, file := range files {
			if !strings.Contains(text, filepath.Join(dir, file)) {
				t.Errorf("%s is not told of %s:\n%s", role, file, text)
			}
		}
		for _, word := range []string{"phase", "pipeline ", "synthes"} {
			if strings.Contains(strings.ReplaceAll(strings.ToLower(text), dir, ""), word) {
				t.Errorf("%s learns of %q:\n%s", role, word, text)
			}
		}
	}
	if text, _ := f.Prompt("one"); strings.Contains(text, "end.md") || strings.Contains(text, "two.md") {
		t.Errorf("one learns of others:\n%s", text)
	}
	t.Log("rig: cases=3 bad=0; workers that know nothing but their prompt")
}

// client stands for an agent's own program: it does what its prompt says, wherever that stands.
const client = `#!/bin/sh
out=$({ printf '%s\n' "$@"; cat; } | sed -n 's/^.*Write your result to this file, and to no other: //p' | head -1)
echo "$(basename "$out" .md) was here" > "$out.tmp" && mv "$out.tmp" "$out"
`

// TestAnAgentThatIsNotThereIsToldAndRetried: its program is not on PATH; when it is there a retry goes on. F32.
func TestAnAgentThatIsNotThereIsToldAndRetried(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	bin := y.path("bin")
	must(t, os.MkdirAll(bin, 0o755))
	environ := slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "PATH=") })
	y.o.Environ = append(environ, "PATH="+bin+":/usr/bin:/bin")
	f := y.launch(with("end", `, "agent": "opencode"`))
	y.tick(f)
	y.gone(f, "one", "two")
	y.tick(f) // it is no fault of a tick
	for range 3 {
		if a := y.conduct(f); !a.Person {
			t.Fatal(a)
		}
	}
	y.stands(f, "end", pipeline.Failed, pipeline.NotStarted)
	y.tells(f, 1, "end could not be started")
	y.stands(f, "one", pipeline.Completed, "")
	must(t, os.WriteFile(filepath.Join(bin, "opencode"), []byte(client), 0o755))
	y.ask(f, pipeline.Retry)
	y.finish(f)
	y.times(map[string]int{"one": 1, "two": 1})
	t.Log("rig: cases=1 bad=0; agents that were not there")
}
