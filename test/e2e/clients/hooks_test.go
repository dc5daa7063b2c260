//go:build unix

package clients

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/model"
)

// reminded is what a session is told at the n-th time that it would stop with its task.
func reminded(n string) string { return "(reminder " + n + " of 3)" }

// lazy is a model that claims the task, and then does nothing.
func lazy(server string) model.Policy {
	return func(q model.Request) model.Reply {
		if claim := server + "/wait_for_task"; q.Offers(claim) && !q.Called(claim) {
			return model.Use(claim, nil)
		}
		return model.Say("That is enough.")
	}
}

// reads is how often the model was told a text in the last request of the session that a person has started now.
func (r *rig) reads(session []string, texts ...string) (counts []int) {
	r.t.Helper()
	before := len(r.model.Seen())
	r.t.Log(r.must("env", append(slices.Clone(session), look)...))
	seen := slices.DeleteFunc(r.model.Seen()[before:], func(s model.Seen) bool { return s.Side })
	if len(seen) == 0 {
		r.t.Fatal("its model was not asked")
	}
	r.t.Logf("%d requests", len(seen))
	for _, text := range texts {
		counts = append(counts, strings.Count(seen[len(seen)-1].Body, text))
	}
	return counts
}

// TestASessionIsRemindedOfItsTask by the hooks of ferrus register, by those of the plugin, and once by both: three times in a row. It is
// not where ferrus has started it, and where the hooks are gone.
func TestASessionIsRemindedOfItsTask(t *testing.T) {
	t.Parallel()
	p := pluggable[0]
	registered := []string{"claude", "--allowedTools", "mcp__ferrus", "-p"}
	all := []string{reminded("1"), reminded("2"), reminded("3"), reminded("4")}
	r := newRig(t, codex, claude, func(q model.Request) model.Reply {
		for _, server := range []string{"ferrus", p.server} {
			if q.Offers(server + "/wait_for_task") {
				return lazy(server)(q)
			}
		}
		return model.Say("I have no tools.")
	})
	r.must(ferrus, "task", task)
	r.must(ferrus, "register", "--supervisor", codex, "--executor", claude)
	if got := r.reads(registered, all...); !slices.Equal(got, []int{0, 0, 0, 0}) {
		t.Errorf("without hooks it is reminded %v times", got)
	}
	r.must(ferrus, "register", "--hooks", "--yes")
	once := r.reads(registered, all...)
	if once[0] == 0 || once[1] != once[0] || once[2] != once[0] || once[3] != 0 {
		t.Errorf("with hooks it is reminded %v times", once)
	}
	if now := r.now(); now.State != state.Executing {
		t.Errorf("the task is %s", now.State)
	}
	p.plug(r)
	for _, at := range []*rig{r, r.in(filepath.Join(r.dir, "below"))} {
		if got := at.reads(registered, all...); !slices.Equal(got, once) {
			t.Errorf("with both hooks it is reminded %v times in %s, with one %v", got, at.dir, once)
		}
	}
	before := len(r.model.Seen())
	r.must(ferrus, "step")
	kit.Eventually(t, "the end of the executor", func() bool { return len(r.left()) == 0 })
	if len(r.model.Seen()) < before+2 {
		t.Error("the executor has not claimed the task and stopped")
	}
	for _, seen := range r.model.Seen()[before:] {
		if strings.Contains(seen.Body, reminded("1")) {
			t.Errorf("a session that ferrus started is reminded: %.2000s", seen.Body)
		}
	}
	if now := r.now(); now.State != state.Executing {
		t.Fatalf("the task is %s", now.State)
	}
	r.must(ferrus, "unregister")
	if got := r.reads(p.session, all...); !slices.Equal(got, once) {
		t.Errorf("with those of the plugin it is reminded %v times, with the others %v", got, once)
	}
}

// TestCodexIsRemindedByThePlugin, when a person has looked at its hooks. Codex has no place for hooks of one person in a project.
func TestCodexIsRemindedByThePlugin(t *testing.T) {
	t.Parallel()
	p := pluggable[1]
	r := newRig(t, claude, codex, lazy(p.server))
	r.must(ferrus, "task", task)
	p.plug(r)
	for flag, want := range map[string][]int{"--json": {0, 0, 0, 0}, "--dangerously-bypass-hook-trust": {1, 1, 1, 0}} {
		got := r.reads(append(slices.Clone(p.session), flag), reminded("1"), reminded("2"), reminded("3"), reminded("4"))
		if !slices.Equal(got, want) {
			t.Errorf("with %s it is reminded %v times, want %v", flag, got, want)
		}
	}
}

// TestAReminderBringsTheWorkToItsEnd: once, for then the work is handed in. A session that begins again has its work before it.
func TestAReminderBringsTheWorkToItsEnd(t *testing.T) {
	t.Parallel()
	diligent := model.Diligent(model.Work(paint))
	r := newRig(t, codex, claude, func(q model.Request) model.Reply {
		switch {
		case q.Called("ferrus/submit"):
			return model.Say("It is handed in.")
		case slices.ContainsFunc(q.Messages, func(m model.Message) bool { return strings.Contains(m.Text, reminded("1")) }):
			return diligent(q)
		}
		return lazy("ferrus")(q)
	})
	r.must(ferrus, "task", task)
	r.must(ferrus, "register", "--supervisor", codex, "--executor", claude, "--hooks", "--yes")
	got := r.reads([]string{"claude", "--permission-mode", "acceptEdits", "--allowedTools", "mcp__ferrus,Bash", "-p"}, reminded("1"), reminded("2"))
	if got[0] == 0 || got[1] != 0 || r.now().State != state.Reviewing {
		t.Errorf("reminded %v times, and the task is %s", got, r.now().State)
	}
}

// TestASessionThatBeginsAgainHasItsWork: as after /compact, by which the model has forgotten most of it.
func TestASessionThatBeginsAgainHasItsWork(t *testing.T) {
	t.Parallel()
	r := newRig(t, codex, claude, lazy("ferrus"))
	r.must(ferrus, "task", task)
	r.must(ferrus, "register", "--supervisor", codex, "--executor", claude, "--hooks", "--yes")
	var said strings.Builder
	for _, text := range []string{look, "/compact"} {
		fmt.Fprintf(&said, `{"type": "user", "message": {"role": "user", "content": %q}}`+"\n", text)
	}
	r.write("said", said.String())
	var begun []string
	out := r.must("sh", "-c", "claude --allowedTools mcp__ferrus -p --input-format stream-json --output-format stream-json --verbose <said")
	for line := range strings.Lines(out) {
		var is struct{ Subtype, Hook_name, Output string }
		if json.Unmarshal([]byte(line), &is) != nil || is.Subtype != "hook_response" || !strings.HasPrefix(is.Hook_name, "SessionStart") {
			continue
		}
		if again := strings.HasSuffix(is.Hook_name, "compact"); strings.Contains(is.Output, task) != again || !again && is.Output != "" {
			t.Errorf("%s: %s", is.Hook_name, is.Output)
		}
		begun = append(begun, is.Hook_name)
	}
	if want := []string{"SessionStart:startup", "SessionStart:compact"}; !slices.Equal(begun, want) {
		t.Errorf("hooks %v, want %v\n%s", begun, want, out)
	}
}
