//go:build unix

package run

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/test/kit"
)

// The scenarios are what goes wrong with pipelines, each played in a yard of its own.

// rounds is how many times a scenario is played: as often as it is promised in a full run, a third of the usual times where no test is named.
func rounds(usual, promised int) int {
	if kit.Full() {
		return promised
	}
	if !kit.Named() {
		return (usual + 2) / 3
	}
	return usual
}

// rig plays a scenario some times, and reports it.
func rig(t *testing.T, cases int, words string, play func(t *testing.T, n int)) {
	t.Helper()
	bad := 0
	for n := range cases {
		if !t.Run(strconv.Itoa(n+1), func(t *testing.T) { play(t, n) }) {
			bad++
		}
	}
	t.Logf("rig: cases=%d bad=%d; %s", cases, bad, words)
}

// pair is a pipeline of two workers and one who reads what they write.
const pair = `{"p": {"phases": [{"id": "a", "workers": [{"role": "one", "task": "x"}, {"role": "two", "task": "x"}]},
	{"id": "b", "workers": [{"role": "end", "task": "x", "reads": ["one.md", "two.md"], "final": true}]}]}}`

// with is pair with more keys of a worker, each after a comma.
func with(role, keys string) string {
	return strings.Replace(pair, `"role": "`+role+`"`, `"role": "`+role+`"`+keys, 1)
}

// atOnce calls something several times at once, and returns when all have returned.
func atOnce(times int, call func(i int)) {
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range times {
		all.Go(func() {
			<-start
			call(i)
		})
	}
	close(start)
	all.Wait()
}

// again opens a run as another process would.
func (y *yard) again(f *Folder) *Folder {
	y.t.Helper()
	other, err := Open(f.Dir)
	must(y.t, err)
	return other
}

// gone waits until workers have ended. Nobody ticks.
func (y *yard) gone(f *Folder, roles ...string) {
	y.t.Helper()
	for _, role := range roles {
		y.eventually(role+" is gone", func() bool { _, taken := f.Slot(role).Taken(); return !taken })
	}
}

// working waits until the agents of workers have begun.
func (y *yard) working(roles ...string) {
	y.t.Helper()
	for _, role := range roles {
		y.eventually(role+" works", func() bool { return y.spawned(role) > 0 })
	}
}

// status is how the run stands.
func (y *yard) status(f *Folder) pipeline.Status {
	y.t.Helper()
	s, err := f.Status()
	must(y.t, err)
	return s
}

// stands demands that a worker stands so.
func (y *yard) stands(f *Folder, role string, p pipeline.Progress, why pipeline.Reason) {
	y.t.Helper()
	if k := y.status(f).Worker(role); k.Status != p || k.Reason != why {
		y.t.Fatalf("%s is %s %q, not %s %q\n%s", role, k.Status, k.Reason, p, why, y.story(f))
	}
}

// lines are those of the journal for which the claim holds.
func (y *yard) lines(f *Folder, claim func(Line) bool) []Line {
	y.t.Helper()
	all, err := f.Lines()
	must(y.t, err)
	return slices.DeleteFunc(all, func(l Line) bool { return !claim(l) })
}

// tells demands how often a person was told something with these words.
func (y *yard) tells(f *Folder, times int, words string) {
	y.t.Helper()
	if got := y.lines(f, func(l Line) bool { return strings.Contains(l.Tell, words) }); len(got) != times {
		y.t.Errorf("a person is notified %d times that %q, not %d\n%s", len(got), words, times, y.story(f))
	}
}

// times demands how often the agents of some roles were started.
func (y *yard) times(want map[string]int) {
	y.t.Helper()
	for role, n := range want {
		if got := y.spawned(role); got != n {
			y.t.Errorf("%s was started %d times, not %d", role, got, n)
		}
	}
}

// shim is the process that keeps a worker; 0 is none.
func (y *yard) shim(f *Folder, role string) int {
	o, _ := f.Slot(role).Taken()
	return o.Shim
}

// killAgent ends the agent of a worker without a word, and not its shim.
func (y *yard) killAgent(f *Folder, role string) {
	all := strings.Fields(y.text("spawned-" + role))
	if len(all) == 0 {
		return
	}
	pid, _ := strconv.Atoi(all[len(all)-1])
	if group, err := syscall.Getpgid(pid); err == nil && group == y.shim(f, role) { // else it is somebody else by now
		kill(pid)
	}
}

// kill ends a process without a word.
func kill(pid int) {
	if pid > 1 {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// finish conducts to the end and demands what comes of a pair that was not disturbed.
func (y *yard) finish(f *Folder) {
	y.t.Helper()
	y.ended(f, y.conduct(f))
	for _, role := range []string{"one", "two", "end"} {
		text, err := os.ReadFile(f.Path(role + ".md"))
		if want := role + " was here\n"; err != nil || string(text) != want {
			y.t.Errorf("%s.md is %q: %v\n%s", role, text, err, y.story(f))
		}
	}
}

// whole demands that journal and status.json agree, and returns how many lines there are.
func (y *yard) whole(f *Folder) int {
	y.t.Helper()
	lines, err := f.Lines()
	must(y.t, err)
	text, err := os.ReadFile(f.Path(statusFile))
	must(y.t, err)
	last := lines[len(lines)-1]
	var s pipeline.Status
	if err := json.Unmarshal(text, &s); err != nil || digest(text) != last.SHA256 && digest(text) != last.Was {
		y.t.Fatalf("status.json is neither as the journal says nor as before: %v\n%s", err, text)
	}
	for i, l := range lines {
		if i > 0 && l.Was != lines[i-1].SHA256 && l.Event != "noted" {
			y.t.Errorf("line %d (%s) does not follow the one before", i+1, l.Event)
		}
	}
	return len(lines)
}

// hire starts another process, and returns what waits for its good end.
func (y *yard) hire(name string, e errand) (wait func()) {
	y.t.Helper()
	cmd := y.process(name, e)
	return func() {
		y.t.Helper()
		if err := cmd.Wait(); err != nil {
			y.t.Errorf("%s: %v", name, err)
		}
	}
}

// ticker ticks, when it is let go, until the last phase has begun; it is a stall when it does not.
func ticker() int {
	var e errand
	if err := json.Unmarshal([]byte(os.Getenv("FERRUS_TEST_ERRAND")), &e); err != nil {
		return 2
	}
	f, err := Open(e.Dir)
	if err != nil {
		return 3
	}
	must := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(4)
		}
	}
	must(os.WriteFile(f.Path(fmt.Sprintf("ready-%d", os.Getpid())), nil, 0o600))
	for {
		if _, err := os.Stat(f.Path("go")); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	must(until(f, Options{Ferrus: "/bin/false", Environ: os.Environ()}))
	return 0
}
