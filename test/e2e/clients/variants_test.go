//go:build unix

package clients

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/model"
)

// A casting notes which client, with which model, has done the work of each branch.
type casting struct {
	sync.Mutex
	by map[string]string
}

// paint paints the more colours the better the model is.
func (c *casting) paint(r model.Request, work model.Told) []model.Call {
	c.Lock()
	c.by[branchOf(r)] = string(r.API) + " " + r.Model
	c.Unlock()
	text := map[string]string{"try.1": "blue\n", "try.2": "blue\ngreen\nred\n", "try.3": "blue\ngreen\n"}[branchOf(r)]
	return r.WriteFile(filepath.Join(work.Worktree, "colour.txt"), text)
}

// TestTheBestOfThreeClientsIsSelected: Codex, Claude Code and Claude Code with another model do the same task; a command scores
// each, and the best is merged.
func TestTheBestOfThreeClientsIsSelected(t *testing.T) {
	t.Parallel()
	c := &casting{by: map[string]string{}}
	r := newRig(t, claude, codex, model.Diligent(newMeeting(3).rule, model.ReadPatch(), model.Work(c.paint)))
	r.configure(config(claude, codex) + "\n[branches]\nscore = \"wc -l <colour.txt\"\n")
	began := time.Now()
	r.must(ferrus, "branch", "try", "--task", task, "--variant", codex, "--variant", claude+":sonnet", "--variant", claude)
	if code, out := r.run(ferrus, "run", "--parallel", "3", "--headless"); code != 0 {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	t.Logf("%.1f s, %d requests", time.Since(began).Seconds(), len(r.model.Seen()))
	var shown struct {
		Branches []struct {
			Branch, Agent string
			State         state.State
			Score         *float64
		}
	}
	if err := json.Unmarshal([]byte(r.must(ferrus, "branches", "--json")), &shown); err != nil || len(shown.Branches) != 3 {
		t.Fatalf("%v: %+v", err, shown)
	}
	for i, b := range shown.Branches {
		want, agent := []float64{1, 3, 2}[i], []string{codex, claude + ":sonnet", claude}[i]
		if b.State != state.Complete || b.Agent != agent || b.Score == nil || *b.Score != want {
			t.Errorf("%+v", b)
		}
	}
	t.Logf("by: %v", c.by)
	if c.by["try.1"] == c.by["try.3"] || c.by["try.2"] == c.by["try.3"] {
		t.Errorf("the same client or model has worked: %v", c.by)
	}
	r.must(ferrus, "select", "--best")
	if got := r.text("colour.txt"); got != "blue\ngreen\nred\n" {
		t.Errorf("merged is %q", got)
	}
	if left, err := project.Branches(r.dir); err != nil || !slices.Equal(left, []string{"try.2"}) {
		t.Errorf("left are %v, %v", left, err)
	}
	r.quietly()
}
