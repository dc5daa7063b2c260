//go:build unix

package clients

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/model"
)

// attempt paints as its branch would have it; that of the third is never blue, though different each time.
func attempt(r model.Request, work model.Told) []model.Call {
	checks := 0
	for _, told := range r.Told() {
		if told.Tool == "check" {
			checks++
		}
	}
	text := map[string]string{"try.1": "blue\n\nas far as one can see\n", "try.2": "blue\n", "try.3": fmt.Sprintf("red, %d\n", checks)}
	return r.WriteFile(filepath.Join(work.Worktree, "colour.txt"), text[branchOf(r)])
}

// TestTheBestOfThreeIsTaken: one task, three real executors, one of whom comes to nothing; a person sees why, and takes one.
func TestTheBestOfThreeIsTaken(t *testing.T) {
	t.Parallel()
	r := newRig(t, claude, codex, model.Diligent(newMeeting(3).rule, model.ReadPatch(), model.Work(attempt)))
	r.configure(config(claude, codex) + "\n[limits]\nmax_check_retries = 2\n")
	began := time.Now()
	r.must(ferrus, "branch", "try", "-n", "3", "--task", task)
	if code, out := r.run(ferrus, "run", "--parallel", "3", "--headless"); code != 1 {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	t.Logf("%.1f s, %d requests", time.Since(began).Seconds(), len(r.model.Seen()))
	r.compared()
	r.must(ferrus, "select", "try.2", "-m", "The plainest.")
	t.Logf("%.1f s with the choice", time.Since(began).Seconds())
	if got := r.must("git", "status", "--porcelain"); got != " M ferrus.toml\n?? colour.txt\n" || r.text("colour.txt") != "blue\n" {
		t.Errorf("colour.txt is %q\n%s", r.text("colour.txt"), got)
	}
	if left, err := project.Branches(r.dir); err != nil || !slices.Equal(left, []string{"try.2"}) {
		t.Errorf("left are %v, %v", left, err)
	}
	if got := r.on("try.2").events(); !slices.Equal(got[len(got)-3:], []state.Event{state.Approve, state.Select, state.Merge}) {
		t.Errorf("the journal of what was taken: %v", got)
	}
	if out := r.must(ferrus, "log", "--branch", "try.2"); !strings.Contains(out, "The plainest.") {
		t.Errorf("nothing says why it was taken\n%s", out)
	}
	r.remembered("try.1", "blue\n\nas far as one can see\n")
	r.remembered("try.3", "red, 1\n")
	r.quietly()
}

// compared: a person sees of each attempt what there is to choose by, and a program too.
func (r *rig) compared() {
	r.t.Helper()
	var shown struct {
		Branches []struct {
			Branch, Why string
			State       state.State
			Green       bool
			Size        struct{ Files, Added int }
			Seconds     float64
		}
	}
	if err := json.Unmarshal([]byte(r.must(ferrus, "select", "--json")), &shown); err != nil || len(shown.Branches) != 3 {
		r.t.Fatalf("%v: %+v", err, shown)
	}
	words := r.must(ferrus, "select")
	for i, b := range shown.Branches {
		name, added := fmt.Sprintf("try.%d", i+1), []int{3, 1, 1}[i]
		row := fmt.Sprintf(`(?m)^try\.%d +approved +passed +1 file \+%d -0 +[0-9.]+ ?s`, i+1, added)
		now := state.Complete
		if i == 2 {
			now, row = state.Failed, `(?m)^try\.3 +failed +not passed +1 file \+1 -0 .*\n.*sh check\.sh: exit status 1`
			if !strings.Contains(b.Why, "sh check.sh: exit status 1") {
				r.t.Errorf("why it is red: %s", b.Why)
			}
		}
		if b.Branch != name || b.State != now || b.Green != (i < 2) || b.Size.Files != 1 || b.Size.Added != added || b.Seconds <= 0 {
			r.t.Errorf("%+v", b)
		}
		if !regexp.MustCompile(row).MatchString(words) {
			r.t.Errorf("not as %s\n%s", row, words)
		}
	}
}

// remembered: of a branch that was removed the files are in git, the journal is in the archive, and the rest is gone.
func (r *rig) remembered(branch, text string) {
	r.t.Helper()
	refs := strings.Fields(r.must("git", "for-each-ref", "--format=%(refname)", "refs/ferrus"))
	kept := slices.ContainsFunc(refs, func(ref string) bool {
		code, out := r.run("git", "cat-file", "-p", ref+":colour.txt")
		return strings.HasPrefix(ref, "refs/ferrus/"+branch+"@") && code == 0 && out == text
	})
	if !kept {
		r.t.Errorf("%s: no ref has its file: %v", branch, refs)
	}
	if journals, _ := filepath.Glob(r.path(".ferrus/archive/branches/" + branch + "@*/journal.jsonl")); len(journals) != 1 {
		r.t.Errorf("%s: archived are %v", branch, journals)
	}
	if code, out := r.run("git", "rev-parse", "--verify", "--quiet", "ferrus/"+branch); code == 0 {
		r.t.Errorf("%s: its git branch is at %s", branch, out)
	}
	if left, _ := filepath.Glob(r.path(".ferrus/worktrees/" + branch)); len(left) > 0 {
		r.t.Errorf("%s: left is %v", branch, left)
	}
}
