package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/state"
)

// TestAnActIsTakenBack: a decision is undone by one click, with what had been written for it; where an agent has gone on meanwhile, the
// person is asked first, and what is no decision has no such click.
func TestAnActIsTakenBack(t *testing.T) {
	t.Parallel()
	m := enginetest.Repository(t, gate)
	ex := m.Executor("codex")
	enginetest.Must(m.Human().CreateTask(t.Context(), "Paint it.", ""))(t)
	enginetest.Claim(t, ex)
	m.Write("a.go", "package a\n\nvar a = 1\n")
	enginetest.Submitted(t, ex)
	b := browse(t, m)
	const diff = "/task?view=diff"
	is := func(want state.State) {
		t.Helper()
		if got := enginetest.View(t, ex).Task.State; got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}

	done := b.do("/act", form(t, b.get(diff), "approve"))
	is(state.Complete)
	if page := b.get(diff); strings.Contains(page, "Undo") {
		t.Error("what was shown once is shown again")
	}
	undone := b.do("/act", form(t, done, "rollback"))
	is(state.Reviewing)
	if strings.Contains(undone, "Undo") {
		t.Error("an undo can be undone")
	}

	b.do("/draft", with(commenting(b.get(diff+"&comment=0-n3")), "text", "Not 1."))
	done = b.do("/act", with(form(t, b.get(diff), "reject"), "f.message", "a.go:3\n\nNot 1."))
	is(state.Addressing)
	b.has(diff, "!1 comment.")
	b.do("/act", form(t, done, "rollback"))
	is(state.Reviewing)
	b.has(diff, "1 comment.", "Not 1.")

	done = b.do("/act", with(form(t, b.get(diff), "reject"), "f.message", "a.go:3\n\nNot 1."))
	enginetest.Claim(t, ex)
	resp := b.send("POST", "/act", form(t, done, "rollback"), nil)
	if page := read(t, resp); resp.StatusCode != http.StatusOK || !strings.Contains(page, "loses its claim") {
		t.Errorf("%s: the claim of the agent that has gone on is not asked for\n%s", resp.Status, page)
	}
	is(state.Addressing)
}
