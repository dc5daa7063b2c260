//go:build unix

package server

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/tools/worker"
)

// report is a pipeline whose last worker delivers.
const report = `{"report": {"deliver_by": "terminal", "phases": [
	{"id": "collect", "workers": [{"role": "reader", "task": "Read"}]},
	{"id": "end", "workers": [{"role": "writer", "task": "Write", "reads": ["reader.md"], "final": true}]}]}}`

// launched is a run whose result goes to a command that counts, and the folder of its project.
func launched(t *testing.T) (*run.Folder, string) {
	t.Helper()
	all, err := workflow.Parse([]byte(report))
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	conf := config.Default()
	// What a command prints is not the protocol's.
	conf.Deliver = config.Deliver{To: config.ToCommand, Command: "cat > got && echo noise && echo noise >&2 && echo sent >> count", TimeoutSecs: 60}
	place := run.At(root, conf.Pipelines)
	f, err := place.Launch(all[0], "the topic", place.Settings(conf), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return f, root
}

// startWorker starts the server of a worker, as an agent's client does.
func startWorker(t *testing.T, dir, run, name string, more ...string) *wire {
	t.Helper()
	w := start(t, "ferrusd", dir, append([]string{"--role", "worker", "--run", run, "--worker", name, "--attempt", "1", "--agent-name", "test",
		"--wait", "1", "--headless"}, more...)...)
	w.initialize("2025-11-25")
	return w
}

// work calls a worker's tool.
func (w *wire) work(tool, args string) worker.Result {
	w.t.Helper()
	return w.worked(w.request("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args)))
}

func (w *wire) worked(m message) worker.Result {
	w.t.Helper()
	var res struct {
		StructuredContent worker.Result
		IsError           bool
	}
	if m.Error != nil || json.Unmarshal(m.Result, &res) != nil || res.IsError != (res.StructuredContent.Code != "") {
		w.t.Fatalf("%s %+v; stderr %s", m.Result, m.Error, w.stderr)
	}
	return res.StructuredContent
}

// TestAWorkerGetsToItsEndOverStdio, on every revision of the protocol, from assignment to delivery.
func TestAWorkerGetsToItsEndOverStdio(t *testing.T) {
	t.Parallel()
	f, root := launched(t)
	reader := startWorker(t, root, f.Dir, "reader")
	if names := reader.toolNames(); !slices.Equal(names, []string{"get_assignment", "heartbeat", "wait_for_inputs", "write_output"}) {
		t.Errorf("tools %v", names)
	}
	writer := startWorker(t, root, f.Dir, "writer", "--agent-name", "other")
	if r := writer.work("get_assignment", "{}"); r.Assignment == nil || r.Assignment.Output != f.Path("writer.md") || r.Next != "wait_for_inputs" {
		t.Errorf("%+v", r)
	}
	waiting := writer.ask("tools/call", `{"name":"wait_for_inputs","arguments":{}}`)
	if r := reader.work("write_output", `{"content":"what was read"}`); r.Path != f.Path("reader.md") || r.Next != "stop" {
		t.Errorf("%+v", r)
	}
	r := writer.worked(writer.answerTo(waiting))
	for r.Status == "timeout" {
		r = writer.work("wait_for_inputs", "{}")
	}
	if r.Status != "ready" || r.Next != "write_output" {
		t.Errorf("%+v", r)
	}
	if r := reader.work("deliver", "{}"); r.Code != refusal.ForbiddenRole || r.Next != "stop" {
		t.Errorf("%+v", r)
	}
	writer.work("write_output", `{"content":"the result"}`)
	r = writer.work("deliver", "{}")
	for r.Status == "sending" {
		r = writer.work("deliver", "{}")
	}
	if r.Code != "" || r.Next != "stop" {
		t.Errorf("%+v", r)
	}
	modern := start(t, "ferrusd", root, "--role", "worker", "--run", f.Dir, "--worker", "writer")
	modern.meta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},` +
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}`
	if names := modern.toolNames(); !slices.Contains(names, "deliver") {
		t.Errorf("tools %v", names)
	}
	if r := modern.work("deliver", "{}"); r.Status != "already_sent" || r.Delivery.By != "writer" {
		t.Errorf("%+v", r)
	}
	if m := modern.request("server/discover", "{}"); m.Error != nil || !strings.Contains(string(m.Result), "get_assignment: your task") {
		t.Errorf("discover: %s %+v", m.Result, m.Error)
	}
	for name, want := range map[string]string{"got": "the result", "count": "sent\n"} {
		if text, err := os.ReadFile(filepath.Join(root, name)); err != nil || string(text) != want {
			t.Errorf("%s is %q: %v", name, text, err)
		}
	}
	if code, _ := writer.exit(writer.leave); code != 0 || writer.stderr.String() != "" {
		t.Errorf("exit %d, stderr %s", code, writer.stderr)
	}
	logs, err := filepath.Glob(f.Path("logs", "serve-writer-other-1-*.log"))
	if err != nil || len(logs) != 1 {
		t.Errorf("its log: %v %v", logs, err)
	}
}

// TestAWorkerOfARunThatIsOverIsAnswered, and so is one of a run that never was: the server starts all the same.
func TestAWorkerOfARunThatIsOverIsAnswered(t *testing.T) {
	t.Parallel()
	f, root := launched(t)
	early := startWorker(t, root, f.Dir, "writer")
	if err := os.Rename(f.Dir, root+"/archived"); err != nil {
		t.Fatal(err)
	}
	for name, w := range map[string]*wire{"early": early, "late": startWorker(t, root, f.Dir, "writer"), "lost": startWorker(t, root, root+"/nowhere", "writer")} {
		for _, tool := range []string{"get_assignment", "wait_for_inputs", "heartbeat"} {
			if r := w.work(tool, "{}"); r.Code != refusal.StoreGone || r.Next != "stop" || r.Remedy == "" {
				t.Errorf("%s, %s: %+v", name, tool, r)
			}
		}
		if code, _ := w.exit(w.leave); code != 0 {
			t.Errorf("%s: exit %d", name, code)
		}
	}
	if _, err := os.Lstat(f.Dir); err == nil {
		t.Error("the folder is there again")
	}
}

// TestAWorkerIsStartedWholeOrNotAtAll: exit 2, with what to do instead.
func TestAWorkerIsStartedWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	whole := []string{"--role", "worker", "--run", "/r", "--worker", "w"}
	for says, args := range map[string][]string{
		"needs --run DIR and --worker NAME":       {"--role", "worker"},
		"needs --run DIR and --worker":            {"--role", "worker", "--run", "/r"},
		"needs --run DIR":                         {"--role", "worker", "--worker", "w"},
		"--attempt counts from 1":                 append(slices.Clone(whole), "--attempt", "0"),
		"--worker is a role":                      {"--role", "worker", "--run", "/r", "--worker", "../w"},
		"--root: a worker has --run":              append(slices.Clone(whole), "--root", "/p"),
		"--branch: a worker has --run":            append(slices.Clone(whole), "--branch", "b"),
		"--agent-index: a worker has":             append(slices.Clone(whole), "--agent-index", "2"),
		"--run belongs to --role worker":          {"--role", "executor", "--run", "/r"},
		"--worker belongs to --role worker":       {"--worker", "w"},
		"--attempt belongs to --role worker":      {"--role", "supervisor", "--attempt", "1"},
		"over HTTP role and name":                 append(slices.Clone(whole), "--http", "127.0.0.1:0"),
		"--run belongs to --role worker, which f": {"--http", "127.0.0.1:0", "--run", "/r"},
	} {
		w := start(t, "ferrusd", t.TempDir(), args...)
		if code, _ := w.exit(func() {}); code != 2 || !strings.Contains(w.stderr.String(), says) {
			t.Errorf("%v: exit %d, stderr %q", args, code, w.stderr)
		}
	}
}

// TestAWorkerMindsNoRootOfTheEnvironment: its run is all that it knows, and a path to it from here is as good.
func TestAWorkerMindsNoRootOfTheEnvironment(t *testing.T) {
	f, root := launched(t)
	t.Setenv("FERRUS_ROOT", t.TempDir())
	short, err := filepath.Rel(root, f.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if r := startWorker(t, root, short, "reader").work("get_assignment", "{}"); r.Code != "" || r.Assignment.Output != f.Path("reader.md") {
		t.Errorf("%+v", r)
	}
}
