//go:build unix

package run

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/test/kit"
)

// begun is the beginning of each command: it says that the command was started.
const begun = `echo $$ >> "$FERRUS_ROOT/spawned-$FERRUS_WORKER"; `

// mixed is a pipeline of a command and an agent, and of an agent that reads what both write.
func mixed(command, keys string) string {
	line, _ := json.Marshal(begun + command)
	return `{"p": {"phases": [{"id": "a", "workers": [{"role": "lint", "run": ` + string(line) + keys + `}, {"role": "one", "task": "x"}]},
		{"id": "b", "workers": [{"role": "end", "task": "x", "reads": ["lint.md", "one.md"], "final": true}]}]}}`
}

// temps are the unfinished outputs of commands.
func (y *yard) temps(f *Folder) []string {
	y.t.Helper()
	left, err := filepath.Glob(f.Path(workersDir, "*.output"))
	must(y.t, err)
	return left
}

// TestACommandIsAWorkerLikeAnAgent: it gets its topic, its paths and the ports of the project's folder, as agents do, nobody sees its output before it has ended, and who
// reads it is an agent. S2-11.
func TestACommandIsAWorkerLikeAnAgent(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.play("end", `cat "$FERRUS_RUN_DIR/lint.md" "$FERRUS_RUN_DIR/one.md" > "$FERRUS_OUTPUT"; echo "$FERRUS_PORT_BASE" >> "$FERRUS_OUTPUT"`)
	base, err := project.PortBase(y.root)
	must(t, err)
	f := y.launch(mixed(`echo "$FERRUS_TOPIC in $PWD, $FERRUS_AGENT, $FERRUS_PORT_BASE" > "$FERRUS_OUTPUT"; until test -e go; do sleep 0.01; done`, ""))
	y.tick(f)
	y.gone(f, "one")
	y.eventually("the command has written", func() bool { return len(y.temps(f)) == 1 })
	if _, there := f.Written("lint.md"); there {
		t.Error("its output is there before it has ended")
	}
	y.tick(f)
	y.stands(f, "lint", pipeline.Running, "")
	y.put("go", "")
	y.ended(f, y.conduct(f))
	text, err := os.ReadFile(f.Path(finalFile))
	if want := "FSA architecture in " + y.root + ", lint:run:1, " + strconv.Itoa(base) + "\none was here\n" + strconv.Itoa(base) + "\n"; err != nil || string(text) != want {
		t.Errorf("got %q, not %q: %v", text, want, err)
	}
	if left := y.temps(f); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
	for _, l := range y.lines(f, func(l Line) bool { return l.Event == string(pipeline.Start) }) {
		if want := slices.Contains(l.Roles, "lint"); want != slices.Equal(l.Runs, []string{"lint"}) {
			t.Errorf("the journal says that of %v %v are commands", l.Roles, l.Runs)
		}
	}
	if prompt, err := f.Prompt("lint"); err != nil || !strings.HasPrefix(prompt, begun) {
		t.Errorf("its prompt is %q: %v", prompt, err)
	}
}

// TestACommandThatFailsHasNoOutput: whatever it has written, its exit code and what it printed last are reported, and a person
// who retries it has it started anew.
func TestACommandThatFailsHasNoOutput(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ command, keys, says string }{
		"an exit code":        {`echo findings > "$FERRUS_OUTPUT"; echo "lint.go:3: unused" >&2; exit 2`, "", "exit status 2, without lint.md: findings lint.go:3: unused"},
		"another exit code":   {`echo findings > "$FERRUS_OUTPUT"; exit 2`, `, "ok_exit": [1, 3]`, "exit status 2, without lint.md: findings"},
		"a signal":            {`echo findings > "$FERRUS_OUTPUT"; kill -9 $$`, "", "exit status -1, without lint.md: findings"},
		"no output":           {`echo done`, "", "exit status 0, without lint.md: done"},
		"an output too small": {`echo x > "$FERRUS_OUTPUT"`, `, "min_bytes": 3`, "exit status 0, and lint.md has 2 bytes of at least 3"},
		"a link":              {`echo x > mine; ln -s "$PWD/mine" "$FERRUS_OUTPUT"`, "", "without lint.md: move the output into place: "},
		"a FIFO":              {`mkfifo "$FERRUS_OUTPUT"`, "", "without lint.md: move the output into place: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := newYard(t)
			f := y.launch(mixed(`[ $(wc -l < spawned-lint) = 1 ] || { echo good > "$FERRUS_OUTPUT"; exit 0; }; `+c.command, c.keys))
			if a := y.conduct(f); !a.Person {
				t.Fatalf("it ends with %s\n%s", a, y.story(f))
			}
			y.stands(f, "lint", pipeline.Failed, pipeline.NoOutput)
			if got := y.status(f).Worker("lint").Detail; !strings.Contains(got, c.says) {
				t.Errorf("it says %q, not %q", got, c.says)
			}
			if left := y.temps(f); len(left) > 0 {
				t.Errorf("left are %v", left)
			}
			y.ask(f, pipeline.Retry)
			y.ended(f, y.conduct(f))
			if text, err := os.ReadFile(f.Path("lint.md")); err != nil || string(text) != "good\n" {
				t.Errorf("lint.md is %q: %v", text, err)
			}
			y.times(map[string]int{"lint": 2, "one": 1, "end": 1})
		})
	}
}

// TestAListedExitCodeIsWell: a linter that finds something has done its work.
func TestAListedExitCodeIsWell(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	f := y.launch(mixed(`echo findings > "$FERRUS_OUTPUT"; exit 3`, `, "ok_exit": [1, 3]`))
	k := y.ended(f, y.conduct(f)).Worker("lint")
	if k.Reason != "" || k.ExitCode == nil || *k.ExitCode != 3 {
		t.Errorf("it stands as %+v", k)
	}
	y.times(map[string]int{"lint": 1, "one": 1, "end": 1})
}

// TestACommandHasItsTime: one that is ended has no output, even if it says that it ended well.
func TestACommandHasItsTime(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	w := y.wear()
	f := y.launch(mixed(`trap 'exit 0' TERM; echo half > "$FERRUS_OUTPUT"; touch at-work; while :; do sleep 0.01; done`, `, "timeout": 600`))
	y.tick(f)
	y.gone(f, "one")
	y.eventually("the command is at work", func() bool { _, err := os.Lstat(y.path("at-work")); return err == nil })
	y.tick(f)
	w.pass(y.status(f).Worker("lint").Deadline.Sub(y.o.Now()) + pipeline.Grace + time.Nanosecond)
	y.tick(f)
	y.stands(f, "lint", pipeline.Failed, pipeline.TimedOut)
	if _, there := f.Written("lint.md"); there || len(y.temps(f)) > 0 {
		t.Errorf("output %t, unfinished %v", there, y.temps(f))
	}
}

// TestWhatACommandMadeIsMadeAgain: a command that is repeated by name takes those with it that have used its output.
func TestWhatACommandMadeIsMadeAgain(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	text := strings.Replace(mixed(`echo "look $(wc -l < spawned-lint)" > "$FERRUS_OUTPUT"`, ""), `"id": "b"`, `"id": "b", "pause_after": true`, 1)
	y.play("end", `cat "$FERRUS_RUN_DIR/lint.md" > "$FERRUS_OUTPUT"`)
	f := y.launch(text)
	for n := 1; n <= 3; n++ {
		if a := y.conduct(f); !a.Person {
			t.Fatalf("it ends with %s\n%s", a, y.story(f))
		}
		if got, err := os.ReadFile(f.Path("end.md")); err != nil || strings.Fields(string(got))[1] != strconv.Itoa(n) {
			t.Errorf("after %d looks: %q, %v", n, got, err)
		}
		must(t, f.Ask(Intent{ID: strconv.Itoa(n), Verb: pipeline.Retry, From: "lint", By: "ann"}, time.Now()))
	}
	y.conduct(f)
	y.ask(f, pipeline.Resume)
	y.ended(f, y.conduct(f))
	y.times(map[string]int{"lint": 4, "one": 1, "end": 4})
}

// strikes is the variable that says at which operation on a disk the shim of the worker lint dies, and which file says
// that it did.
const strikes = "FERRUS_TEST_STRIKE"

// strike kills this process, if it is that shim, before its nth operation.
func strike() {
	number, rest, _ := strings.Cut(os.Getenv(strikes), " ")
	mark, output, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(number)
	if err != nil || len(os.Args) < 3 || os.Args[1] != proc.Shim || os.Args[2] != "lint" {
		return
	}
	atomicfile.Intercept(func(string, string) error {
		if n--; n == 0 {
			_, err := os.Lstat(output)
			if file, taken := os.OpenFile(mark, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); taken == nil {
				fmt.Fprint(file, err == nil)
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		}
		return nil
	})
}

// TestTheShimOfACommandMayDieAtEveryPoint: its output is there whole, or the command is run again; one whose output is in
// place is not.
func TestTheShimOfACommandMayDieAtEveryPoint(t *testing.T) {
	t.Parallel()
	cases, bad, placed := 0, 0, 0
	for n := 1; ; n++ {
		if !kit.Every(2, n) {
			continue
		}
		y := newYard(t)
		f := y.launch(mixed(`echo "lint was here" > "$FERRUS_OUTPUT"`, `, "retries": 1`))
		mark := y.path("struck")
		cmd := y.errand("conductor", errand{Dir: f.Dir}, strikes+"="+strings.Join([]string{strconv.Itoa(n), mark, f.Path("lint.md")}, " "))
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		f.Dir = filepath.Join(y.place().Archive, f.Name())
		s := y.status(f)
		text, err := os.ReadFile(f.Path("lint.md"))
		ok := err == nil && string(text) == "lint was here\n" && s.ResultDelivered && slices.Contains([]pipeline.Reason{"", pipeline.Late}, s.Worker("lint").Reason)
		struck := y.text("struck")
		if most := map[bool]int{true: 1, false: 2}[struck != "false"]; !ok || y.spawned("lint") > most {
			t.Errorf("struck at operation %d (output in place: %s): started %d times, %q %v\n%s", n, struck, y.spawned("lint"), text, err, y.story(f))
			bad++
		}
		if struck == "" { // it has fewer operations
			break
		}
		if cases++; struck == "true" {
			placed++
		}
	}
	if placed == 0 || placed == cases {
		t.Errorf("of %d deaths %d are after the output was in place", cases, placed)
	}
	t.Logf("rig: cases=%d bad=%d; deaths of a command's shim before an operation on the disk", cases, bad)
}
