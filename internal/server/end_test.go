//go:build unix

package server

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/tools"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// ends are the ways in which a client ends its server.
var ends = map[string]func(*wire) func(){
	"EOF":     func(w *wire) func() { return w.leave },
	"SIGINT":  func(w *wire) func() { return w.signal(syscall.SIGINT) },
	"SIGTERM": func(w *wire) func() { return w.signal(syscall.SIGTERM) },
	"SIGHUP":  func(w *wire) func() { return w.signal(syscall.SIGHUP) },
}

// exits are the exit codes of a server that was ended by a signal.
var exits = map[string]int{"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}

// doings are what a server may be at when it is ended. Each is set up in a project whose check tells its process in a
// pipe and then sleeps.
var doings = map[string]func(t *testing.T, dir string) *wire{
	"idle": func(t *testing.T, dir string) *wire {
		w := ferrusd(t, dir, "executor")
		w.do("status", "{}")
		return w
	},
	"holding the work": func(t *testing.T, dir string) *wire {
		ferrusd(t, dir, "supervisor").do("create_task", `{"description":"d"}`)
		w := ferrusd(t, dir, "executor")
		w.do("wait_for_task", "{}")
		return w
	},
	"waiting": func(t *testing.T, dir string) *wire {
		w := ferrusd(t, dir, "executor", "--wait", "1000")
		w.ask("tools/call", `{"name":"wait_for_task","arguments":{},"_meta":{"progressToken":1}}`)
		w.do("status", "{}")
		return w
	},
	"checking": func(t *testing.T, dir string) *wire {
		ferrusd(t, dir, "supervisor").do("create_task", `{"description":"d"}`)
		w := ferrusd(t, dir, "executor", "--wait", "1000")
		w.do("wait_for_task", "{}")
		w.ask("tools/call", `{"name":"check","arguments":{}}`)
		return w
	},
}

// TestAServerEndsAtOnceAndInOrder: however it is ended, and whatever it is at, it exits with 0 or the code of the
// signal, and its check's processes are gone before it.
func TestAServerEndsAtOnceAndInOrder(t *testing.T) {
	for doing, begin := range doings {
		for how, end := range ends {
			t.Run(doing+", "+how, func(t *testing.T) {
				pipe := filepath.Join(t.TempDir(), "pipe")
				if err := syscall.Mkfifo(pipe, 0o600); err != nil {
					t.Fatal(err)
				}
				dir := newProject(t, `"echo $$ > `+pipe+`; sleep 1000 & sleep 1000"`)
				w := begin(t, dir)
				group := 0
				if doing == "checking" {
					group = told(t, pipe)
				}
				code, took := w.exit(end(w))
				t.Logf("%s, %s: %.1f ms; 50 are promised on a machine with nothing else to do", doing, how, float64(took.Microseconds())/1000)
				if code != exits[how] || w.stderr.String() != "" {
					t.Errorf("exit %d after %v; stderr %s", code, took, w.stderr)
				}
				if proc.Tree(group).Alive() {
					t.Errorf("the check's group %d lives", group)
				}
				if trouble := logged(t, dir, `"level":"WARN"`, `"level":"ERROR"`); trouble != "" {
					t.Errorf("an orderly end is logged as trouble: %s", trouble)
				}
				if doing == "holding the work" && logged(t, dir, `"tool":"wait_for_task"`) == "" {
					t.Error("the calls of the session are not in its log")
				}
			})
		}
	}
}

// logged returns the lines of the servers' logs that have one of the marks.
func logged(t *testing.T, dir string, marks ...string) string {
	files, err := filepath.Glob(filepath.Join(dir, ".ferrus", "logs", "serve-*"))
	if err != nil {
		t.Fatal(err)
	}
	found := ""
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if slices.ContainsFunc(marks, func(m string) bool { return strings.Contains(line, m) }) {
				found += line
			}
		}
	}
	return found
}

// told reads the number that a check writes to a pipe.
func told(t *testing.T, pipe string) int {
	t.Helper()
	f, err := os.OpenFile(pipe, os.O_RDWR, 0) // for writing too, so that opening does not wait
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.SetReadDeadline(time.Now().Add(kit.Patience)); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(f).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestTheWorkOfAServerThatIsGoneGoesOn: its end writes nothing, and the next executor has the work at once.
func TestTheWorkOfAServerThatIsGoneGoesOn(t *testing.T) {
	t.Parallel()
	dir := newProject(t, `"true"`)
	ferrusd(t, dir, "supervisor").do("create_task", `{"description":"d"}`)
	first := ferrusd(t, dir, "executor")
	first.do("wait_for_task", "{}")
	second := ferrusd(t, dir, "executor", "--agent-index", "2", "--wait", "1000")
	id := second.ask("tools/call", `{"name":"wait_for_task","arguments":{}}`)
	first.exit(first.leave)
	if r := second.result(second.answerTo(id)); r.Status != "claimed" || r.Epoch != 2 || r.ClaimedBy != "executor:test:2" {
		t.Errorf("%+v", r)
	}
}

// TestACancelledCheckRunsOn: the client has given up, the run has not; its outcome goes to the next call. One run, one
// count.
func TestACancelledCheckRunsOn(t *testing.T) {
	t.Parallel()
	gate := filepath.Join(t.TempDir(), "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := newProject(t, `"cat `+gate+`; exit 3"`)
	ferrusd(t, dir, "supervisor").do("create_task", `{"description":"d"}`)
	w := ferrusd(t, dir, "executor", "--wait", "1000")
	w.do("wait_for_task", "{}")
	id := w.ask("tools/call", `{"name":"check","arguments":{}}`)
	open, err := os.OpenFile(gate, os.O_WRONLY, 0) // waits until the check reads
	if err != nil {
		t.Fatal(err)
	}
	w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"gave up"}}`)
	if r := w.call("status", "{}"); r.Waiting == nil || r.Waiting.For != "check" || r.Next != "check" {
		t.Errorf("the check does not run on: %+v", r)
	}
	if r := w.call("consult", `{"problem":"p","tried":"t","question":"q"}`); r.Code != refusal.CheckRunning || r.Next != "check" {
		t.Errorf("a consultation meanwhile: %+v", r)
	}
	open.Close()
	r := w.do("check", "{}")
	if r.Status != "failed" || r.CheckID != "k1" || *r.RetriesUsed != 1 || r.State != state.Addressing || len(r.Failures) != 1 {
		t.Errorf("the outcome is %+v", r)
	}
	if n := events(t, dir, state.CheckStarted); n != 1 {
		t.Errorf("%d runs", n)
	}
}

// events counts the events of a kind in the journal.
func events(t *testing.T, dir string, ev state.Event) int {
	t.Helper()
	return strings.Count(sharedtest.Journal(t, dir, ""), `"event":"`+string(ev)+`"`)
}

// TestManyCallsOfACheckAreOneRun: calls that come together join it.
func TestManyCallsOfACheckAreOneRun(t *testing.T) {
	t.Parallel()
	gate := filepath.Join(t.TempDir(), "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := newProject(t, `"cat `+gate+`"`)
	ferrusd(t, dir, "supervisor").do("create_task", `{"description":"d"}`)
	w := ferrusd(t, dir, "executor", "--wait", "1000")
	w.do("wait_for_task", "{}")
	var ids []string
	for range 5 {
		ids = append(ids, w.ask("tools/call", `{"name":"check","arguments":{}}`))
	}
	open, err := os.OpenFile(gate, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	w.do("status", "{}") // the five have been read before it
	open.Close()
	got := map[string]tools.Result{}
	for len(got) < len(ids) {
		if m := w.next(); slices.Contains(ids, string(m.ID)) {
			got[string(m.ID)] = w.result(m)
		}
	}
	for id, r := range got {
		if r.Status != "passed" || r.CheckID != "k1" {
			t.Errorf("call %s: %+v", id, r)
		}
	}
	if n := events(t, dir, state.CheckStarted); n != 1 {
		t.Errorf("%d runs", n)
	}
}
