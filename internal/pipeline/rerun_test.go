package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// ended is the status of a run of a workflow in which all have done their work but these.
func ended(t *testing.T, text string, but ...string) Status {
	t.Helper()
	s := New(flow(t, text), "p-180141", "topic", noon)
	for i := range s.Phases {
		for j := range s.Phases[i].Workers {
			k := &s.Phases[i].Workers[j]
			if k.Status, k.SHA256, k.Attempt = Completed, digestOf(k.Output), 2; slices.Contains(but, k.Role) {
				k.Status, k.SHA256 = Failed, ""
			}
		}
	}
	s.State = IsCancelled
	return s
}

// digestOf is a digest that says of what.
func digestOf(file string) string {
	sum := sha256.Sum256([]byte(file))
	return hex.EncodeToString(sum[:])
}

// TestARerunRepeatsThatPointAndWhatFollowsFromIt: a worker that is not repeated, and used nothing of one that is, has its output
// taken over.
func TestARerunRepeatsThatPointAndWhatFollowsFromIt(t *testing.T) {
	t.Parallel()
	three := workers("", ph("a", "", wk("a1", ""), wk("a2", "")), ph("b", "", wk("b1", reads("a1.md")), wk("b2", "")), ph("c", "", wk("end", final+reads("b1.md", "b2.md"))))
	atOnce := workers(`"spawn": "all",`, ph("a", "", wk("a1", ""), wk("a2", "")), ph("b", "", wk("b1", reads("a1.md")), wk("b2", reads("a2.md"))), ph("c", "", wk("end", final+reads("b1.md", "b2.md"))))
	line := workers("", ph("a", `, "mode": "sequential"`, wk("a1", ""), wk("a2", ""), wk("a3", "")), ph("c", "", wk("end", final)))
	talk := workers("", ph("a", "", wk("a1", "")), ph("talk", `, "mode": "dialogue"`, wk("ann", ""), wk("bob", "")), ph("c", "", wk("end", final)))
	command := workers("", ph("a", "", `{"role": "lint", "run": "make lint"}`, wk("a2", "")), ph("c", "", wk("end", final+reads("lint.md"))))
	for _, c := range []struct {
		name, text string
		failed     []string
		from       string
		begins     string
		takes      string // the files that are taken over
		phase      int
		refuses    string
	}{
		{name: "all again", text: three, begins: "a"},
		{name: "a phase", text: three, from: "b", begins: "b", takes: "a1.md a2.md", phase: 1},
		{name: "the last one", text: three, from: "end", begins: "end", takes: "a1.md a2.md b1.md b2.md", phase: 2},
		{name: "a role beside another", text: three, from: "b2", begins: "b2", takes: "a1.md a2.md b1.md", phase: 1},
		{name: "a role of the first phase", text: three, from: "a1", begins: "a1", takes: "a2.md"},
		{name: "who failed", text: three, failed: []string{"b2", "end"}, begins: "b2", takes: "a1.md a2.md b1.md", phase: 1},
		{name: "beside who failed", text: three, failed: []string{"b2", "end"}, from: "b1", begins: "b1", takes: "a1.md a2.md", phase: 1},
		{name: "before who failed", text: three, failed: []string{"end"}, from: "a", begins: "a"},
		{name: "behind who failed", text: three, failed: []string{"a2", "b1"}, from: "end", refuses: "before end there is no output of a2, b1"},
		{name: "nobody", text: three, from: "x", refuses: `there is no worker and no phase "x"`},
		{name: "started at once", text: atOnce, from: "a1", begins: "a1", takes: "a2.md b2.md"},
		{name: "started at once, the end", text: atOnce, from: "end", begins: "end", takes: "a1.md a2.md b1.md b2.md", phase: 2},
		{name: "one after the other", text: line, from: "a2", begins: "a2", takes: "a1.md"},
		{name: "a dialogue", text: talk, from: "bob", begins: "bob", takes: "a1.md", phase: 1},
		{name: "behind a dialogue", text: talk, from: "c", begins: "c", takes: "a1.md talk.md", phase: 2},
		{name: "a command", text: command, from: "lint", begins: "lint", takes: "a2.md"},
	} {
		w := flow(t, c.text)
		was := ended(t, c.text, c.failed...)
		before := was.Clone()
		at := noon.Add(time.Hour)
		r, err := NewRerun(w, was, c.from, "p-190141", "topic\n\nmore", at)
		var point *PointError
		if c.refuses != "" {
			if !errors.As(err, &point) || err.Error() != c.refuses {
				t.Errorf("%s: %v, not %q", c.name, err, c.refuses)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var files []string
		for _, o := range r.Outputs {
			files = append(files, o.File)
			for _, role := range o.Roles {
				if k := r.Status.Worker(role); k.Output != o.File || k.SHA256 != digestOf(o.File) || o.SHA256 != k.SHA256 {
					t.Errorf("%s: %+v is taken over as %+v", c.name, o, k)
				}
			}
		}
		if got := strings.Join(files, " "); got != c.takes || r.From != c.begins || r.Status.CurrentPhase != c.phase {
			t.Errorf("%s: from %s, takes %q, phase %d", c.name, r.From, got, r.Status.CurrentPhase)
		}
		if err := errors.Join(r.Status.Check(w), r.Status.Fits(w)); err != nil || r.Status.Topic != "topic\n\nmore" || r.Status.State != IsRunning {
			t.Errorf("%s: %s, about %q: %v", c.name, r.Status.State, r.Status.Topic, err)
		}
		if !was.Same(before) {
			t.Errorf("%s: the old status has changed", c.name)
		}
		// A worker whose output is taken over is not started, and all others are, in the world of the other tests.
		world := newWorld(t, w)
		world.status, world.now = r.Status, at
		for _, o := range r.Outputs {
			world.write(o.File, o.Roles[0])
		}
		if a := world.run(); a.Do != Archive || world.sent != 1 {
			t.Errorf("%s: it ends with %s, sent %d times", c.name, a, world.sent)
		}
		for _, p := range w.Phases {
			for _, k := range p.Workers {
				if takes := slices.Contains(files, p.Output(k)); takes != (world.spawns[k.Role] == 0) {
					t.Errorf("%s: %s was started %d times", c.name, k.Role, world.spawns[k.Role])
				}
			}
		}
	}
}
