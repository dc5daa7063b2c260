//go:build unix

package run

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/test/kit"
)

// A course is a pipeline whose conductor is killed at every point, and what must come of it all the same.
type course struct {
	name, text string
	plays      map[string]string
	spawns     map[string]int
	deliver    config.Deliver
	asks       pipeline.Verb // what a person asks for where only a person gets it any further
}

// toMail is a delivery that counts: every sending is a line in mail.
var toMail = config.Deliver{To: config.ToCommand, Command: `cat >/dev/null; echo "$FERRUS_DELIVERY" >> mail`, TimeoutSecs: 60}

// toBox is a delivery that can be repeated.
var toBox = config.Deliver{To: config.ToFile, File: "box/{run}.md", TimeoutSecs: 60}

const speaking = `sed -i 's/"content": ""/"content": "'"$FERRUS_WORKER"' speaks"/' "$FERRUS_OUTPUT"`

var courses = []course{
	{name: "the original, by command", text: "", spawns: map[string]int{"researcher-a": 1, "researcher-b": 1, "synthesizer": 1}, deliver: toMail},
	{name: "started at once, to a file", text: `{"p": {"spawn": "all", "deliver_by": "orchestrator", "phases": [{"id": "a", "workers": [{"role": "one", "task": "x"}]},
		{"id": "b", "workers": [{"role": "two", "task": "x", "reads": ["one.md"], "final": true}]}]}}`, spawns: map[string]int{"one": 1, "two": 1}, deliver: toBox},
	{name: "a retry of its own, and a pause", text: `{"p": {"phases": [{"id": "a", "pause_after": true, "workers": [{"role": "one", "task": "x", "retries": 1}]},
		{"id": "b", "workers": [{"role": "two", "task": "x", "reads": ["one.md"], "final": true}]}]}}`,
		plays:  map[string]string{"one": `[ $(wc -l < "$FERRUS_ROOT/spawned-one") -gt 1 ] || { echo half > "$FERRUS_OUTPUT"; exit 1; }; ` + write},
		spawns: map[string]int{"one": 2, "two": 1}, deliver: toBox, asks: pipeline.Resume},
	{name: "a failure that a person retries", text: `{"p": {"phases": [{"id": "a", "workers": [{"role": "one", "task": "x"}, {"role": "two", "task": "x"}]},
		{"id": "b", "workers": [{"role": "end", "task": "x", "reads": ["one.md", "two.md"], "final": true}]}]}}`,
		plays:  map[string]string{"one": `[ $(wc -l < "$FERRUS_ROOT/spawned-one") -gt 1 ] || exit 1; ` + write},
		spawns: map[string]int{"one": 2, "two": 1, "end": 1}, deliver: toBox, asks: pipeline.Retry},
	{name: "a command and an agent", text: mixed(`[ $(wc -l < spawned-lint) -gt 1 ] || exit 3; echo lint > "$FERRUS_OUTPUT"; exit 1`, `, "ok_exit": [1], "retries": 1`),
		spawns: map[string]int{"lint": 2, "one": 1, "end": 1}, deliver: toBox},
	{name: "commands started at once", text: `{"p": {"spawn": "all", "deliver_by": "orchestrator", "phases": [{"id": "a", "workers": [{"role": "one", "task": "x"}]},
		{"id": "b", "workers": [{"role": "end", "run": "echo $$ >> spawned-end; cat \"$FERRUS_RUN_DIR/one.md\" > \"$FERRUS_OUTPUT\"", "reads": ["one.md"], "final": true}]}]}}`,
		spawns: map[string]int{"one": 1, "end": 1}, deliver: toBox},
	{name: "a dialogue", text: `{"p": {"phases": [{"id": "talk", "mode": "dialogue", "max_rounds": 2, "workers": [{"role": "ann", "task": "x"}, {"role": "bob", "task": "x"}]},
		{"id": "b", "workers": [{"role": "end", "task": "x", "reads": ["talk.md"], "final": true}]}]}}`,
		plays: map[string]string{"ann": speaking, "bob": speaking}, spawns: map[string]int{"ann": 2, "bob": 2, "end": 1}, deliver: toBox},
}

// TestTheConductorMayDieAtEveryPoint: the next conductor finds all as it was: the same outputs, nobody started twice, one
// delivery. S0-21, S3-05, F05 to F08.
func TestTheConductorMayDieAtEveryPoint(t *testing.T) {
	cases := 0
	var bad atomic.Int32
	for j, c := range courses {
		t.Run(c.name, func(t *testing.T) {
			want, points := c.undisturbed(t)
			for i, point := range slices.Sorted(maps.Keys(points)) {
				for n := 1; n <= points[point]; n++ {
					if !kit.Full() && !(delicate(point) && n == 1 && kit.Every(4, i+j)) {
						continue
					}
					cases++
					t.Run(fmt.Sprintf("%s %d", point, n), func(t *testing.T) {
						t.Parallel()
						t.Cleanup(func() {
							if t.Failed() {
								bad.Add(1)
							}
						})
						c.killed(t, point, n, want)
					})
				}
			}
		})
	}
	t.Logf("rig: cases=%d bad=%d; deaths of the conductor at a named point", cases, bad.Load())
}

// delicate points are between what is done and its record; they are played in every run, the others in a full one.
func delicate(point string) bool {
	return slices.ContainsFunc([]string{"started ", "ended ", "half ", "aside ", "before send", "after send", "journalled re"}, func(head string) bool {
		return strings.HasPrefix(point, head)
	})
}

func (c course) yard(t *testing.T) (*yard, *Folder) {
	y := newYard(t)
	y.conf.Deliver = c.deliver
	for role, script := range c.plays {
		y.play(role, script)
	}
	text := c.text
	if text == "" {
		text = research(t)
	}
	return y, y.launch(text)
}

// undisturbed plays the course to its end, and returns what it leaves and how often it came to each point.
func (c course) undisturbed(t *testing.T) (string, map[string]int) {
	y, f := c.yard(t)
	points := map[string]int{}
	y.o.At = func(point string) { points[point]++ }
	c.finish(y, f)
	return c.leaves(y, f), points
}

// finish conducts to the end, with what a person asks for where nobody else gets it any further.
func (c course) finish(y *yard, f *Folder) {
	y.t.Helper()
	for range 5 {
		a := y.conduct(f)
		if a.Do == pipeline.Archive {
			y.ended(f, a)
			return
		}
		if d, _ := f.delivery(); d.State == pipeline.Uncertain {
			sent := y.text("mail") != ""
			y.ask(f, map[bool]pipeline.Verb{true: pipeline.Confirm, false: pipeline.Again}[sent])
			continue
		}
		y.ask(f, c.asks)
	}
	y.t.Fatalf("it does not end\n%s", y.story(f))
}

func (y *yard) ask(f *Folder, verb pipeline.Verb) {
	y.t.Helper()
	must(y.t, f.Ask(Intent{ID: fmt.Sprint(time.Now().UnixNano()), Verb: verb, By: "ann"}, time.Now()))
}

// leaves is what must be the same: what was written, who was started how often, and what was delivered.
func (c course) leaves(y *yard, f *Folder) string {
	y.t.Helper()
	s, err := f.Status()
	must(y.t, err)
	var b strings.Builder
	for _, p := range s.Phases {
		for _, k := range p.Workers {
			text, _ := os.ReadFile(f.Path(k.Output))
			fmt.Fprintf(&b, "%s %s %s %s %d times\n%s\n", p.ID, k.Role, k.Status, k.Reason, y.spawned(k.Role), text)
			if want := c.spawns[k.Role]; y.spawned(k.Role) != want {
				y.t.Errorf("%s was started %d times, not %d\n%s", k.Role, y.spawned(k.Role), want, y.story(f))
			}
		}
	}
	fmt.Fprintf(&b, "retries %d\n", s.RetryCount)
	boxes, _ := os.ReadDir(y.path("box"))
	if n := strings.Count(y.text("mail"), "\n") + len(boxes); n != 1 {
		y.t.Errorf("delivered %d times", n)
	}
	return b.String()
}

// killed plays the course with a conductor that dies at a point.
func (c course) killed(t *testing.T, point string, n int, want string) {
	y, f := c.yard(t)
	e := errand{Dir: f.Dir, Point: point, Count: n}
	for range 5 {
		cmd := y.send(e)
		err := cmd.Wait()
		if err != nil && cmd.ProcessState.ExitCode() != -1 {
			t.Fatalf("the conductor: %v", err)
		}
		if err != nil { // it died
			e.Point = ""
			break
		}
		if _, gone := os.Stat(f.Dir); gone != nil {
			break // this time it has looked less often
		}
		// A person is needed first; the count begins anew with the next process, so this one counts what is left.
		y.ask(f, c.asks)
		e.Count = max(1, n-y.passed(f, point))
	}
	if _, err := os.Stat(f.Dir); err != nil { // it died behind the move
		f.Dir = y.path(".ferrus", "memory", "pipelines", f.Name())
		if got := c.leaves(y, f); got != want {
			t.Errorf("left\n%s\nnot\n%s", got, want)
		}
		return
	}
	c.finish(y, f)
	if got := c.leaves(y, f); got != want {
		t.Errorf("left\n%s\nnot\n%s\n%s", got, want, y.story(f))
	}
}

// passed is how often a point was come to before, as far as the journal says.
func (y *yard) passed(f *Folder, point string) int {
	_, event, _ := strings.Cut(point, " ")
	n := 0
	lines, _ := f.Lines()
	for _, l := range lines {
		if l.Event == event {
			n++
		}
	}
	return n
}
