package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/state"
)

// TestAttemptsAreCompared beside each other, with what each has changed and how it was judged, and any two of them with one another.
func TestAttemptsAreCompared(t *testing.T) {
	m := enginetest.Repository(t, gate).Recorded().Agreed()
	names := []string{"fast.1", "fast.2", "fast.3", "aside"}
	enginetest.Branched(t, m.Human(), branch.Fork{Names: names, Own: true})
	for i, name := range names {
		on := m.On(name)
		enginetest.Must(on.Human().CreateTask(t.Context(), "Make <b>Find</b> faster.", ""))(t)
		ex := on.Executor("codex")
		enginetest.Claim(t, ex)
		if i < 2 {
			on.Write("find.go", "package a\n\nvar way = "+name[5:]+" // <i>\n")
			enginetest.Submitted(t, ex)
		}
	}
	b := browse(t, m)

	page := b.has("/compare/fast.2", "Make <b>Find</b> faster.", "3 attempts", "fast.1", "fast.2", "fast.3", "passed", "not run", "// <i>", "!aside")
	if n := strings.Count(page, `name="act" value="select"`); n != 2 {
		t.Errorf("%d attempts can be selected", n)
	}
	b.has("/branch/fast.1", "Compare 3 attempts")
	b.has("/branch/aside", "!attempts</a>")
	between := b.get("/compare/fast.2?from=fast.1&to=fast.2")
	for _, want := range []string{"From fast.1 to fast.2: 1 file", `<tr class="del"><td class="n">3</td>`, `<tr class="add"><td class="n"></td><td class="n">3</td>`} {
		if !strings.Contains(between, want) {
			t.Errorf("between two: no %q in\n%s", want, between)
		}
	}
	for path, want := range map[string]int{
		"/compare/none":                           http.StatusNotFound,
		"/compare/..%2f..%2fetc":                  http.StatusNotFound,
		"/compare/fast.1?from=fast.1&to=fast.3":   http.StatusConflict, // it has handed in nothing
		"/compare/fast.1?from=fast.1&to=aside":    http.StatusConflict, // it is none of them
		"/compare/fast.1?from=fast.1&to=refs/a":   http.StatusConflict,
		"/compare/fast.1?from=HEAD&to=fast.1":     http.StatusConflict,
		"/compare/fast.1?from=&to=--output%3Dboo": http.StatusConflict,
	} {
		if resp := b.send("GET", path, nil, nil); resp.StatusCode != want {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}

	asked := b.send("POST", "/act", with(form(t, page, "select"), "sure", ""), nil)
	if text := read(t, asked); asked.StatusCode != http.StatusOK || !strings.Contains(text, "the other attempts at the same task are removed") {
		t.Errorf("it is not asked: %s\n%s", asked.Status, text)
	}
	b.do("/act", form(t, page, "select")) // whose panel says what is lost
	if now := enginetest.View(t, m.On("fast.1").Human()); now.Task.State != state.Complete || now.Task.Merged == "" {
		t.Errorf("fast.1 is %s, merged %q", now.Task.State, now.Task.Merged)
	}
	if resp := b.send("GET", "/compare/fast.2", nil, nil); resp.StatusCode != http.StatusNotFound {
		t.Errorf("an attempt that was removed: %s", resp.Status)
	}
}
