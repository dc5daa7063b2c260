//go:build unix

package clients

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/model"
)

// ruled are the entries that ferrus made by a rule, each with its rule.
func (r *rig) ruled() (list []string) {
	r.t.Helper()
	for _, l := range r.history() {
		if l.Rule != "" {
			list = append(list, string(l.Event)+": "+l.Rule)
		}
	}
	return list
}

// TestARuleGivesTheWorkToAnotherClient after two equal failures, and the work of that one is approved without a review.
func TestARuleGivesTheWorkToAnotherClient(t *testing.T) {
	t.Parallel()
	for _, p := range []struct{ first, second, key, model string }{
		{codex, claude + ":opus", "claude", "opus"}, {claude, codex + ":gpt-other", "codex", "gpt-other"},
	} {
		t.Run(p.first+" to "+p.second, func(t *testing.T) {
			colour := func(r model.Request, work model.Told) []model.Call {
				text := "red\n"
				if r.Key == p.key {
					text = "blue\n"
				}
				return r.WriteFile(filepath.Join(work.Worktree, "colour.txt"), text)
			}
			r := newRig(t, claude, p.first, model.Diligent(model.Work(colour)))
			r.configure(config(claude, p.first) + "[[rules]]\non = \"check_failed\"\nwhen = { same = 2 }\nthen = \"executor " + p.second + "\"\n" +
				"[[rules]]\non = \"submit\"\nwhen = { paths = [\"colour.txt\"] }\nthen = \"approve\"\n")
			r.commit()
			if code, out := r.run(ferrus, "run", "--headless", task); code != 0 {
				t.Fatalf("exit code %d\n%s", code, out)
			}
			want := []string{"reassign: on check_failed when same = 2 then executor " + p.second, `approve: on submit when paths = ["colour.txt"] then approve`}
			if got := r.ruled(); !slices.Equal(got, want) || r.now().State != state.Complete || r.text("colour.txt") != "blue\n" {
				t.Errorf("by rules %q; the task is %s, %q", got, r.now().State, r.text("colour.txt"))
			}
			if got := r.started(); got[agents.Executor] != 2 || got[agents.Reviewer] != 0 {
				t.Errorf("started %v\n%s", got, r.runs())
			}
			if !slices.ContainsFunc(r.model.Seen(), func(s model.Seen) bool { return s.Key == p.key && strings.Contains(s.Model, p.model) }) {
				t.Errorf("no client asked for the model %s", p.model)
			}
			r.gone()
		})
	}
}

// TestARuleAsksTheOtherClient after a failure; its answer helps the one that works.
func TestARuleAsksTheOtherClient(t *testing.T) {
	t.Parallel()
	for _, p := range pairs {
		t.Run(p.executor+" for "+p.supervisor, func(t *testing.T) {
			colour := func(r model.Request, work model.Told) []model.Call {
				text := "red\n"
				if slices.ContainsFunc(r.Told(), func(t model.Told) bool { return t.Response == "Blue." }) {
					text = "blue\n"
				}
				return r.WriteFile(filepath.Join(work.Worktree, "colour.txt"), text)
			}
			r := newRig(t, p.supervisor, p.executor, model.Diligent(model.ReadPatch(), model.Respond("Blue."), model.Work(colour)))
			r.configure(config(p.supervisor, p.executor) + "[[rules]]\non = \"check_failed\"\nthen = \"consult\"\n")
			r.commit()
			if code, out := r.run(ferrus, "run", "--headless", task); code != 0 {
				t.Fatalf("exit code %d\n%s", code, out)
			}
			want := []state.Event{state.CreateTask, state.Claim, state.CheckStarted, state.CheckFailed, state.Consult, state.RespondConsult, state.TakeResponse,
				state.CheckStarted, state.CheckPassed, state.Submit, state.Approve}
			if got := r.events(); !slices.Equal(got, want) || !slices.Equal(r.ruled(), []string{"consult: on check_failed then consult"}) {
				t.Errorf("journal %v, by rules %q", got, r.ruled())
			}
			if got := r.started(); got[agents.Executor] != 1 || got[agents.Consultant] != 1 || got[agents.Reviewer] != 1 {
				t.Errorf("started %v\n%s", got, r.runs())
			}
			r.gone()
		})
	}
}
