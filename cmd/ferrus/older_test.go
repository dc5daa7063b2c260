//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// TestProjectsOfOlderBuilds: what an older build has left is a project of this one, in another folder and on a computer that has no
// record of it. Each entry is read, the task goes on to its end, a rollback gives the files of an entry that the older build wrote, and
// a branch and the queue go on. testdata/older/story.sh made the projects, and goes on with them.
func TestProjectsOfOlderBuilds(t *testing.T) {
	t.Parallel()
	if sharedtest.On() {
		t.Skip("these projects are in files")
	}
	packed, err := filepath.Glob("testdata/older/*.tar.gz")
	if err != nil || len(packed) < 3 {
		t.Fatalf("%d projects, %v", len(packed), err)
	}
	story, err := filepath.Abs("testdata/older/story.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range packed {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".tar.gz"), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			outside := t.TempDir()
			run := func(fails bool, name string, args ...string) string {
				t.Helper()
				cmd := exec.Command(name, args...)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "HOME="+outside, "FERRUS_STATE_DIR="+filepath.Join(outside, "state"), "XDG_CONFIG_HOME="+filepath.Join(outside, "config"), "PAGER=cat")
				out, err := cmd.CombinedOutput()
				if (err != nil) != fails {
					t.Fatalf("%s %q: %v\n%s", name, args, err, out)
				}
				return string(out)
			}
			pack, err := filepath.Abs(file)
			if err != nil {
				t.Fatal(err)
			}
			run(false, "tar", "-xzf", pack)
			hasBranch := false
			if trees, _ := filepath.Glob(filepath.Join(dir, ".ferrus", "worktrees", "*")); len(trees) > 0 {
				hasBranch = true
				run(false, "git", append([]string{"worktree", "repair"}, trees...)...)
			}

			// The agreement is about all that is there. A branch that is restored afterwards is adopted by itself.
			branch, aside := filepath.Join(dir, ".ferrus", "branches", "other"), filepath.Join(outside, "other")
			late := hasBranch && filepath.Base(file) == "2026-11-23.tar.gz"
			if late {
				move(t, branch, aside)
			}
			before, err := os.ReadFile(filepath.Join(dir, ".ferrus", "journal.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			if doctor := run(true, "ferrus", "doctor"); !strings.Contains(doctor, "every hash and link valid") || !strings.Contains(doctor, "STATE.json and the documents match the journal") {
				t.Errorf("the doctor says\n%s", doctor)
			}
			run(true, "ferrus", "doctor", "--fix") // there are no agents
			if status := run(false, "ferrus", "status"); !strings.Contains(status, "Everybody, or everybody here?") || !strings.Contains(status, "waits for an answer") {
				t.Errorf("the status is\n%s", status)
			}
			type entry struct {
				Seq   int    `json:"seq"`
				Event string `json:"event"`
			}
			var events []entry
			for line := range strings.Lines(run(false, "ferrus", "log", "--json")) {
				var e entry
				if err := json.Unmarshal([]byte(line), &e); err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				events = append(events, e)
			}
			if len(events) == 0 || events[len(events)-1].Event != "ask_human" {
				t.Fatalf("the log is %+v", events)
			}
			for _, e := range events {
				if shown := run(false, "ferrus", "show", strconv.Itoa(e.Seq), "--json"); !strings.Contains(shown, `"`+e.Event+`"`) {
					t.Errorf("entry %d, %s, is\n%s", e.Seq, e.Event, shown)
				}
			}
			if history := run(false, "ferrus", "history", "Greet the person"); !strings.Contains(history, "approved") {
				t.Errorf("the history is\n%s", history)
			}

			run(false, "sh", story, "on")
			if status := run(false, "ferrus", "status", "--json"); !strings.Contains(status, `"state": "Complete"`) {
				t.Errorf("after the end\n%s", status)
			}
			if diff := run(false, "ferrus", "diff"); !strings.Contains(diff, "+hello, all here") {
				t.Errorf("the task has changed\n%s", diff)
			}
			after, err := os.ReadFile(filepath.Join(dir, ".ferrus", "journal.jsonl"))
			if err != nil || !bytes.HasPrefix(after, before) {
				t.Errorf("lines of the older build have changed, %v", err)
			}
			asked := events[len(events)-1].Seq
			run(false, "ferrus", "reopen", "-m", "Not so.")
			if !hasBranch { // neither had it copies of files
				run(false, "ferrus", "rollback", strconv.Itoa(asked), "-m", "The question again.")
				return
			}
			run(false, "ferrus", "rollback", strconv.Itoa(asked), "--files", "-m", "The question again.")
			if text, err := os.ReadFile(filepath.Join(dir, "greeting.txt")); err != nil || string(text) != "hello, all\n" {
				t.Errorf("the files of entry %d are %q, %v", asked, text, err)
			}
			if late {
				move(t, aside, branch)
				run(true, "ferrus", "--branch", "other", "reset", "--yes")
				run(true, "ferrus", "doctor", "--branch", "other", "--adopt") // there are no agents
			}
			if branches := run(false, "ferrus", "branches"); !strings.Contains(branches, "Greet in French.") || strings.Contains(branches, "cannot be read") {
				t.Errorf("the branches are\n%s", branches)
			}
			run(false, "ferrus", "--branch", "other", "reset", "--yes")
			run(false, "ferrus", "branch", "other", "--remove", "--force")
			if queue := run(false, "ferrus", "queue"); !strings.Contains(queue, "greet-in-german") {
				t.Errorf("the queue is\n%s", queue)
			}
			run(false, "ferrus", "queue", "Greet in Italian.", "--needs", "greet-in-german")
		})
	}
}

func move(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}
