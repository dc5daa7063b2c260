//go:build unix

package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// TestOutsideAProjectEveryCallNamesTheRemedy, and after it the same server works.
func TestOutsideAProjectEveryCallNamesTheRemedy(t *testing.T) {
	t.Parallel()
	dir := repository(t, `"true"`)
	w := ferrusd(t, dir, "supervisor")
	calls := map[string]string{"status": "{}", "create_task": `{"description":"d"}`, "wait_for_review": "{}", "review_pending": "{}", "approve": "{}",
		"reject": `{"notes":"n"}`, "respond_consult": `{"response":"r"}`, "ask_human": `{"question":"q"}`, "wait_for_answer": "{}"}
	for tool, args := range calls {
		if r := w.call(tool, args); r.Code != refusal.NotInitialised || !strings.Contains(r.Remedy, "ferrus init") || r.Next != "stop" || r.Allowed == nil {
			t.Errorf("%s: %+v", tool, r)
		}
	}
	if m := w.request("resources/read", `{"uri":"ferrus://task"}`); m.Error == nil || !strings.Contains(m.Error.Message, "ferrus init") {
		t.Errorf("a resource: %+v", m)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".ferrus")); err == nil {
		t.Error("the server has made a .ferrus")
	}
	initialise(t, dir)
	if r := w.do("create_task", `{"description":"d"}`); r.State != state.Executing {
		t.Errorf("after init: %+v", r)
	}
}

// TestALostStoreIsSaidAndNotMadeAnew: .ferrus is moved away under a server, also inside another project, and comes back.
func TestALostStoreIsSaidAndNotMadeAnew(t *testing.T) {
	sharedtest.InFiles(t, "it moves the store away")
	t.Parallel()
	outer := newProject(t, `"true"`)
	dir := filepath.Join(outer, "inner")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := gitIn(dir, "init", "-q", "--template="); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "ferrus.toml"), "[checks]\ncommands = [\"true\"]\n")
	initialise(t, dir)
	sup, w := ferrusd(t, dir, "supervisor"), ferrusd(t, dir, "executor")
	sup.do("create_task", `{"description":"d"}`)
	w.do("wait_for_task", "{}")
	home, away := filepath.Join(dir, ".ferrus"), filepath.Join(outer, "away")
	if err := os.Rename(home, away); err != nil {
		t.Fatal(err)
	}
	for tool, args := range map[string]string{"status": "{}", "check": "{}", "progress": `{"note":"n"}`, "wait_for_task": "{}", "heartbeat": "{}",
		"ask_human": `{"question":"q"}`, "submit": `{"summary":"s","verification":"v","no_change":"n"}`, "consult": `{"problem":"p","tried":"t","question":"q"}`} {
		if r := w.call(tool, args); r.Code != refusal.StoreGone || r.Remedy == "" || r.Next != "stop" {
			t.Errorf("%s: %+v", tool, r)
		}
	}
	if _, err := os.Lstat(home); err == nil {
		t.Error("the server has made a .ferrus anew")
	}
	if n := events(t, outer, state.Progress) + events(t, outer, state.Claim); n > 0 {
		t.Error("the server went on with the project around it")
	}
	if err := os.Rename(away, home); err != nil {
		t.Fatal(err)
	}
	if r := w.do("check", "{}"); r.Status != "passed" || r.Epoch > 1 {
		t.Errorf("restored: %+v", r)
	}
}

// TestAStoreMadeAnewIsServed: a person has removed .ferrus and run init.
func TestAStoreMadeAnewIsServed(t *testing.T) {
	sharedtest.InFiles(t, "it removes the store")
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "plain") // outside git nothing brings the journal back
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	initialise(t, dir)
	w := ferrusd(t, dir, "supervisor")
	w.do("create_task", `{"description":"d"}`)
	if err := os.RemoveAll(filepath.Join(dir, ".ferrus")); err != nil {
		t.Fatal(err)
	}
	if r := w.call("status", "{}"); r.Code != refusal.StoreGone {
		t.Errorf("removed: %+v", r)
	}
	initialise(t, dir)
	if r := w.do("status", "{}"); r.State != state.Idle || r.Next != "create_task" {
		t.Errorf("made anew: %+v", r)
	}
}

// TestABrokenConfigDoesNotStopTheWork: the gate that was pinned runs, and every result says what is broken.
func TestABrokenConfigDoesNotStopTheWork(t *testing.T) {
	t.Parallel()
	dir := newProject(t, `"true"`)
	conf := filepath.Join(dir, "ferrus.toml")
	ferrusd(t, dir, "supervisor").do("create_task", `{"description":"d"}`)
	write(t, conf, "[checks]\ncommands = [\"false\"\n")
	w := ferrusd(t, dir, "executor") // it starts with the file broken
	said := func(what, notice string, notices []string) {
		t.Helper()
		if !strings.Contains(strings.Join(notices, "\n"), notice) {
			t.Errorf("%s: the notices are %q", what, notices)
		}
	}
	said("status", "config_broken: ", w.do("status", "{}").Notices)
	said("wait_for_task", "config_broken: ", w.do("wait_for_task", "{}").Notices)
	if r := w.do("check", "{}"); r.Status != "passed" {
		t.Errorf("the pinned gate: %+v", r)
	}
	write(t, conf, "[checks]\ncommands = [\"false\"]\n")
	r := w.do("check", "{}")
	if said("changed", "config_changed: ", r.Notices); r.Status != "passed" {
		t.Errorf("the pinned gate: %+v", r)
	}
	write(t, conf, "[check]\ncommand = 7\n")
	r = w.do("submit", `{"summary":"s","verification":"v","no_change":"n"}`)
	if said("broken again", "config_broken: ", r.Notices); r.Status != "submitted" {
		t.Errorf("%+v", r)
	}
	sup := ferrusd(t, dir, "supervisor")
	sup.do("review_pending", "{}")
	sup.do("approve", "{}")
	// A new task needs a gate to pin.
	if r := sup.call("create_task", `{"description":"e"}`); r.Code != refusal.InvalidInput || !strings.Contains(r.Message, "ferrus.toml") ||
		!strings.Contains(r.Remedy, "person") || r.Next != "stop" {
		t.Errorf("a task without a gate: %+v", r)
	}
	if code, _ := sup.exit(sup.leave); code != 0 || sup.stderr.String() != "" {
		t.Errorf("exit %d, stderr %q", code, sup.stderr)
	}
}
