//go:build unix

package tools

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/kit"
)

// delegates gives an agent the tool.
func delegates(o *Options) { o.Delegates, o.Wait = func() bool { return true }, kit.Patience }

// branch connects an executor on a branch.
func (w *world) branch(name string) *agent {
	w.t.Helper()
	e, err := engine.Open(project.At(w.dir, name), engine.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { e.Close() })
	a := &agent{t: w.t, role: state.Executor, s: e.Session(engine.Caller{Role: state.Executor, Agent: "executor:test:7"})}
	a.client = connect(w.t, NewServer(Options{Role: state.Executor, Wait: kit.Patience, Version: "test", Headless: true,
		Session: func(*mcp.CallToolRequest) (*engine.Session, error) { return a.s, nil }, Engine: func() (*engine.Engine, error) { return e, nil }}), nil)
	return a
}

// TestADelegateByItsTool: an executor that follows next starts one, answers it, rejects and approves its work, and submits the
// whole.
func TestADelegateByItsTool(t *testing.T) {
	t.Parallel()
	w := repository(t, "[limits]\nmax_delegates = 2\n")
	made, err := w.person().CreateTask(t.Context(), "All of it.", "")
	must(t, made, err)
	ex := w.enter(state.Executor, 1, delegates)
	ex.do("wait_for_task", nil)
	if r := ex.do("delegate", nil); r.Status != "idle" || r.Next != "check" {
		t.Errorf("without delegates: %+v", r)
	}
	started := ex.do("delegate", map[string]any{"task": "Half of it."})
	if started.Status != "working" || len(started.Delegates) != 1 || !strings.Contains(started.Message, "d1") {
		t.Fatalf("%+v", started)
	}
	name := started.Delegates[0].Branch
	child := w.branch(name)
	if r := child.do("wait_for_task", nil); !strings.Contains(r.Task, "Half of it.") || !strings.Contains(r.Worktree, name) {
		t.Errorf("the delegate is given %+v", r)
	}
	child.refused(refusal.WrongState, "ask_human", nil)
	child.do("consult", nil)
	asked := ex.do("delegate", nil)
	if asked.Status != "asking" || asked.Next != "delegate" || !strings.Contains(asked.Consultation, "What now?") {
		t.Errorf("%+v", asked)
	}
	ex.refused(refusal.InvalidInput, "delegate", map[string]any{"answer": "So."})
	ex.refused(refusal.WrongState, "delegate", map[string]any{"id": "d1", "approve": true})
	ex.do("delegate", map[string]any{"id": "d1", "answer": "So."})
	if r := child.do("wait_for_consult", nil); !strings.Contains(r.Response, "So.") {
		t.Errorf("%+v", r)
	}
	half := filepath.Join(w.dir, ".ferrus", "worktrees", name, "half.txt")
	write := func(text string) {
		if err := os.WriteFile(half, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("half\n")
	hidden := filepath.Join(filepath.Dir(half), ".gitignore")
	if err := os.WriteFile(hidden, []byte("half.o\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(half), "half.o"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	child.do("submit", nil)
	ex.refused(refusal.StaleReview, "delegate", map[string]any{"id": "d1", "approve": true})
	shown := ex.do("delegate", nil)
	patch, err := os.ReadFile(shown.Patch)
	if err != nil || shown.Status != "submitted" || shown.SubmissionID != "s1" || !strings.Contains(string(patch), "half.txt") || !strings.Contains(shown.Diffstat, "half.txt") {
		t.Errorf("%+v %v", shown, err)
	}
	if !slices.ContainsFunc(shown.Notices, func(n string) bool { return strings.HasPrefix(n, "unseen: newly ignored") }) {
		t.Errorf("the parent has the notices %q", shown.Notices)
	}
	if err := os.Remove(hidden); err != nil {
		t.Fatal(err)
	}
	ex.do("delegate", map[string]any{"id": "d1", "reject": "Do it well."})
	if r := child.do("wait_for_task", nil); !strings.Contains(r.Review, "Do it well.") {
		t.Errorf("%+v", r)
	}
	write("well\n")
	child.do("submit", nil)
	ex.do("check", nil)
	if r := ex.refused(refusal.DelegatesRunning, "submit", nil); r.Next != "delegate" {
		t.Errorf("%+v", r)
	}
	if shown = ex.do("delegate", map[string]any{"id": "d1"}); shown.SubmissionID != "s2" {
		t.Errorf("%+v", shown)
	}
	done := ex.do("delegate", map[string]any{"id": "d1", "approve": true})
	if text, err := os.ReadFile(filepath.Join(w.dir, "half.txt")); done.Status != "complete" || string(text) != "well\n" || err != nil {
		t.Errorf("%+v %q %v", done, text, err)
	}
	if r := ex.do("submit", nil); r.State != state.Reviewing {
		t.Errorf("%+v", r)
	}
	if r := child.do("wait_for_task", nil); r.Next != "stop" {
		t.Errorf("the delegate is not told that it has ended: %+v", r)
	}
}

// TestADelegateOfACallerWithoutASession: every call names the claim, and a decision names what was shown. Over HTTP nobody but
// the conductor lives between two calls, and the files move in all the same. A claim that was lost decides nothing.
func TestADelegateOfACallerWithoutASession(t *testing.T) {
	t.Parallel()
	w := repository(t, "[limits]\nmax_delegates = 2\n")
	made, err := w.person().CreateTask(t.Context(), "All of it.", "")
	must(t, made, err)
	ex := w.from(state.Executor, "ci", delegates)
	claim := ex.do("wait_for_task", nil).Claim
	as := func(args map[string]any) map[string]any {
		args["claim"] = claim
		return args
	}
	ex.refused(refusal.NotClaimed, "delegate", map[string]any{"task": "Half of it."})
	name := ex.do("delegate", as(map[string]any{"task": "Half of it."})).Delegates[0].Branch
	child := w.branch(name)
	child.do("wait_for_task", nil)
	if err := os.WriteFile(filepath.Join(w.dir, ".ferrus", "worktrees", name, "half.txt"), []byte("half\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	child.do("submit", nil)
	shown := ex.do("delegate", as(map[string]any{}))
	if shown.Status != "submitted" || shown.SubmissionID != "s1" {
		t.Fatalf("%+v", shown)
	}
	approve := map[string]any{"id": "d1", "approve": true, "submission": "s1"}
	ex.refused(refusal.StaleReview, "delegate", as(map[string]any{"id": "d1", "approve": true}))
	ex.refused(refusal.NotClaimed, "delegate", approve)
	w.from(state.Executor, "other", delegates).refused(refusal.NotClaimed, "delegate", maps.Clone(as(maps.Clone(approve))))
	if text, err := os.ReadFile(filepath.Join(w.dir, "half.txt")); err == nil {
		t.Fatalf("files have moved: %q", text)
	}
	done := ex.do("delegate", as(approve))
	if text, err := os.ReadFile(filepath.Join(w.dir, "half.txt")); done.Status != "complete" || string(text) != "half\n" || err != nil {
		t.Errorf("%+v %q %v", done, text, err)
	}
	ex.do("check", as(map[string]any{}))
	if r := ex.do("submit", with("submit", claim)); r.State != state.Reviewing {
		t.Errorf("%+v", r)
	}
}
