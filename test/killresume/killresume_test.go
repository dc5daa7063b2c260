//go:build linux

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/test/kit"
)

// TestWhatTheJudgeSees: each measure is noticed where it is not as it should be, and nothing else is.
func TestWhatTheJudgeSees(t *testing.T) {
	t.Parallel()
	sum := hash([]byte(content(1, lines)))
	life := []event{{Kind: started}, {Kind: begun, Task: 1}, {Kind: stepped, Task: 1}, {Kind: stepped, Task: 1}, {Kind: stepped, Task: 1}, {Kind: stepped, Task: 1},
		{Kind: ended, Task: 1}, {Kind: checked, Task: 1, Hash: sum}, {Kind: accepted, Task: 1}}
	fine := result{Tasks: 1, Right: 1, Starts: 1}
	for _, c := range []struct {
		name   string
		change func(w *world, events []event) []event
		want   func(*result)
	}{
		{"all is well", func(_ *world, e []event) []event { return e }, func(*result) {}},
		{"a file is wrong", func(w *world, e []event) []event { write(t, w, file(1), content(1, 2)); return e }, func(r *result) {
			r.Right, r.Wrong, r.Unchecked = 0, 1, 1
		}},
		{"nobody knows of it", func(w *world, e []event) []event { w.states = nil; return e[:8] }, func(r *result) { r.Right, r.Lost = 0, 1 }},
		{"it was done, and is no more", func(w *world, e []event) []event { w.states = nil; return e }, func(r *result) { r.Right, r.Wrong = 0, 1 }},
		{"it failed", func(w *world, e []event) []event { w.states[1] = failed; return e[:8] }, func(r *result) { r.Right, r.Failed = 0, 1 }},
		{"it is begun again", func(_ *world, e []event) []event { return append(e, event{Kind: begun, Task: 1}) }, func(r *result) {
			r.Starts, r.Twice = 2, 1
		}},
		{"two at once", func(_ *world, e []event) []event { return append(e, event{Kind: overlaps, Task: 1}) }, func(r *result) { r.Overlaps = 1 }},
		{"no check", func(_ *world, e []event) []event { return append(e[:7], e[8]) }, func(r *result) { r.Unchecked = 1 }},
		{"a check of other bytes", func(_ *world, e []event) []event { e[7].Hash = "other"; return e }, func(r *result) { r.Unchecked = 1 }},
		{"a check afterwards", func(_ *world, e []event) []event { e[7], e[8] = e[8], e[7]; return e }, func(r *result) { r.Unchecked = 1 }},
		{"a line of the person is gone", func(w *world, e []event) []event { write(t, w, "notes.txt", note(1)+"\n"); w.notes = 2; return e }, func(r *result) {
			r.Edits = 2 // neither is where it was
		}},
		{"lines written again", func(_ *world, e []event) []event { return append(e, e[2], e[3]) }, func(r *result) { r.Wasted = 2 * tokens }},
		{"a kill, and a person", func(_ *world, e []event) []event {
			return append([]event{{Kind: started}, {Kind: killed, What: agents, Task: 1}, {Kind: killed, What: conductors}, {Kind: helped}}, e...)
		}, func(r *result) {
			r.Restarts, r.Acts, r.Killed, r.Resumed = 1, 1, map[string]int{agents: 1, conductors: 1}, []float64{4}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			w := &world{dir: filepath.Join(home, "project"), record: record(home), tasks: 1, states: map[int]state{1: done}}
			write(t, w, file(1), content(1, lines))
			events := c.change(w, append([]event{}, life...))
			for i := range events {
				events[i].At = time.Duration(i) * time.Second
			}
			want := fine
			want.Killed = map[string]int{}
			c.want(&want)
			want.Sound = want.kills()
			want.Broken = want.Wrong+want.Lost+want.Twice+want.Overlaps+want.Unchecked+want.Edits+want.Stalls > 0
			if diff := cmp.Diff(want, w.verdict(events, files(t, w))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestSurvival: a run with a fault counts until then, and one without as long as it went.
func TestSurvival(t *testing.T) {
	t.Parallel()
	kills := func(n int) map[string]int { return map[string]int{agents: n} }
	got := surviving([]result{{Killed: kills(9), Sound: 2, Broken: true}, {Killed: kills(4), Sound: 4}, {Killed: kills(6), Sound: 5, Broken: true}, {Killed: kills(8), Sound: 8}})
	want := []point{{2, 0.75}, {5, 0.375}, {9, 0.375}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(point{})); diff != "" {
		t.Error(diff)
	}
	events := []event{{Kind: killed, What: agents}, {Kind: overlaps, Task: 1}, {Kind: killed, What: agents}}
	if r := (&world{}).verdict(events, nil); r.Sound != 1 || !r.Broken {
		t.Errorf("broken %v after %d kills", r.Broken, r.Sound)
	}
}

func write(t *testing.T, w *world, name, text string) {
	t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func files(t *testing.T, w *world) map[string]string {
	t.Helper()
	all, err := w.files()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestAnAgentGoesOnWhereTheFileEnds, and another that comes meanwhile is noticed.
func TestAnAgentGoesOnWhereTheFileEnds(t *testing.T) {
	home := t.TempDir()
	t.Chdir(home)
	w := &world{dir: home, record: record(home)}
	write(t, w, file(3), content(3, 3))
	for range 2 { // both have the lock for the life of this process
		if err := workOn(w.record, strings.NewReader("Do "+text(3)+".")); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	events, err := w.record.events()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		got = append(got, string(e.Kind)+" "+strconv.Itoa(e.Task))
	}
	if diff := cmp.Diff([]string{"begun 3", "stepped 3", "ended 3", "begun 3", "overlaps 3", "ended 3"}, got); diff != "" {
		t.Error(diff)
	}
	if err := check(w.record); err != nil {
		t.Error(err)
	}
	write(t, w, file(3), content(3, 3))
	if err := check(w.record); err == nil {
		t.Error("a file that is not complete passes")
	}
}

// TestTheAgentOfALoop takes one task after the other, ticks each off, and says when none is left.
func TestTheAgentOfALoop(t *testing.T) {
	home := t.TempDir()
	t.Chdir(home)
	for name, value := range map[string]string{"HOME": home, "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": "a",
		"GIT_COMMITTER_EMAIL": "a@example.com"} {
		t.Setenv(name, value)
	}
	if _, err := tell("git", "init", "-q"); err != nil {
		t.Fatal(err)
	}
	w := &world{dir: home, record: record(t.TempDir()), tasks: 2}
	if err := os.WriteFile("TODO.md", []byte("- [ ] "+text(1)+"\n- [ ] "+text(2)+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		states, err := loop.states(t.Context(), w)
		if err != nil {
			t.Fatal(err)
		}
		if len(states) != n {
			t.Errorf("after %d turns %v", n, states)
		}
		if n == 1 {
			write(t, w, ".git/index.lock", "") // of one that was killed
		}
		if err := turn(trackers["ralph"], w.record); err != nil {
			t.Fatal(err)
		}
	}
	log, err := tell("git", "log", "--format=%s")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(text(2)+"\n"+text(1)+"\n", string(log)); diff != "" {
		t.Error(diff)
	}
}

// TestWhatIsInstalledIsNotInstalledAgain: npm and go are not on the path.
func TestWhatIsInstalledIsNotInstalledAgain(t *testing.T) {
	t.Setenv("PATH", "")
	for name, p := range packs {
		cache := t.TempDir()
		t.Setenv("XDG_CACHE_HOME", cache)
		p.source = "" // a program of ours is built each time
		program := filepath.Join(cache, "ferrus", p.path(), p.program)
		if _, err := p.install(t.Context()); err == nil {
			t.Errorf("%s: it is installed, and is not there", name)
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(program), 0o755), os.WriteFile(program, nil, 0o755)); err != nil {
			t.Fatal(err)
		}
		if folder, err := p.install(t.Context()); err != nil || folder != filepath.Dir(program) {
			t.Errorf("%s: %s, %v", name, folder, err)
		}
	}
}

// TestASystemIsKilledAtItsOwnPace: a slow one more rarely, a fast one no more often than asked for.
func TestASystemIsKilledAtItsOwnPace(t *testing.T) {
	t.Parallel()
	o := options{every: 400 * time.Millisecond, limit: 3 * time.Minute, silence: 15 * time.Second}
	for seconds, want := range map[float64]options{
		3:   o,
		100: {every: 10 * time.Second, limit: 2000 * time.Second, silence: 100 * time.Second},
	} {
		if got := o.after(result{Seconds: seconds}); got != want {
			t.Errorf("after %g s without kills: %+v", seconds, got)
		}
	}
}

// TestAMeasureOfWhichASystemHasNoNotionIsLeftOut, and each that is left out is in the table.
func TestAMeasureOfWhichASystemHasNoNotionIsLeftOut(t *testing.T) {
	t.Parallel()
	for _, a := range adapters {
		shown := table([]result{{System: a.name}})
		for _, name := range a.without {
			if !strings.Contains(shown, "| "+name+" | - |\n") {
				t.Errorf("%s: %q:\n%s", a.name, name, shown)
			}
		}
		if !strings.Contains(shown, "| tasks right | 0 |\n") {
			t.Errorf("%s:\n%s", a.name, shown)
		}
	}
}

// TestNothingIsLostWhateverIsKilled: the first seeds over ferrus, until at least twenty kills have struck.
func TestNothingIsLostWhateverIsKilled(t *testing.T) {
	kit.Long(t, "test/e2e has kills of each kind")
	t.Chdir("../..")
	l, err := newLab(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(l.dir)
	o := options{tasks: 4, every: 150 * time.Millisecond, limit: kit.Patience, silence: kit.Patience, answer: time.Second}
	calm, err := l.play(t.Context(), ferrus, o, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	o = o.after(calm)
	for seed, kills := uint64(1), 0; kills < 20; seed++ {
		r, err := l.play(t.Context(), ferrus, o, seed, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range r.Killed {
			kills += n
		}
		if r.Right != r.Tasks || r.Wrong+r.Lost+r.Twice+r.Overlaps+r.Unchecked+r.Edits+r.Stalls > 0 {
			t.Errorf("seed %d: %+v", seed, r)
		}
	}
}
