package web_test

import (
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
)

// viewed is the form that marks a file of a patch, or takes its mark away.
func viewed(t testing.TB, page, path string) url.Values {
	t.Helper()
	for f := range strings.SplitSeq(page, `<form method="post" action="/draft"`) {
		values := url.Values{}
		f, _, _ = strings.Cut(f, "</form>")
		for _, field := range hidden.FindAllStringSubmatch(f, -1) {
			values.Set(field[1], html.UnescapeString(field[2]))
		}
		if values.Get("path") == path && strings.Contains(f, `name="viewed" value="yes"`) {
			values.Set("viewed", "yes")
			return values
		}
	}
	t.Fatalf("%s cannot be viewed in\n%s", path, page)
	return nil
}

// commenting is the form of the comment that a page takes.
func commenting(page string) url.Values {
	comment := url.Values{}
	for _, f := range hidden.FindAllStringSubmatch(page[strings.Index(page, `action="/draft"`):], 8) {
		comment.Set(f[1], unescape(f[2]))
	}
	return comment
}

// TestAReviewGoesOnWhereItWas: the next submission is shown with what was said of the one before, as a whole and at the lines that it was
// said of, as what has changed since, and with the files as viewed that were viewed and are the same.
func TestAReviewGoesOnWhereItWas(t *testing.T) {
	m := enginetest.Repository(t, gate)
	ex := m.Executor("codex")
	enginetest.Must(m.Human().CreateTask(t.Context(), "Paint it.", ""))(t)
	submit := func(files map[string]string) {
		t.Helper()
		enginetest.Claim(t, ex)
		for name, text := range files {
			m.Write(name, text)
		}
		enginetest.Submitted(t, ex)
	}
	submit(map[string]string{"a.go": "package a\n\nvar a = 1\n", "b.go": "package a\n\nvar b = 1\n", "go.sum": "one\n", "code.txt": "two\n"})
	b := browse(t, m)
	const diff = "/task?view=diff"

	first := b.has(diff, "4 files", "0 viewed", "written by a program", "What was done", "The checks passed on exactly these files", "Show the 1 part of go.sum", "Side by side", "!Earlier:")
	form := viewed(t, first, "b.go")
	resp := b.send("POST", "/draft", form, nil)
	if to := resp.Header.Get("Location"); resp.StatusCode != http.StatusSeeOther || to != diff+"#f-2" {
		t.Fatalf("%s to %s", resp.Status, to)
	}
	b.has(diff, "1 viewed", "Not viewed")
	b.refused("/draft", with(form, "path", ""), http.StatusUnprocessableEntity, "names no file")
	b.do("/draft", viewed(t, b.get(diff), "a.go"))
	b.has(diff, "2 viewed")

	enginetest.Must(m.Human().Reject(t.Context(), "Use <b>two</b>.\n\na.go:3: One is <b>not</b> enough.\nb.go:3: This is well.\nb.go:9: There is no end.\n", ""))(t)
	submit(map[string]string{"a.go": "package a\n\nvar a = 2\n"})
	page := b.get(diff)
	for line, want := range map[string]string{
		"L0-n3": `<b>you</b> on s1, line 3 <span class="pill">changed since</span></p><p class="said-of">One is &lt;b&gt;not&lt;/b&gt; enough.</p>`,
		"L1-n3": `<b>you</b> on s1, line 3</p><p class="said-of">This is well.</p>`,
		"f-1":   `<b>you</b> on s1, line 9</p><p class="said-of">There is no end.</p>`, // which is not shown
	} {
		_, after, _ := strings.Cut(page, `id="`+line+`"`)
		if after, _, _ = strings.Cut(after, ` id="`); !strings.Contains(after, want) {
			t.Errorf("no %q at %s:\n%s", want, line, after)
		}
	}
	b.has(diff, "4 files", "1 viewed", "Earlier: 1 submission", "rejected by you", "Use <b>two</b>.")
	since := b.get(diff + "&since=s1")
	for _, want := range []string{"Only what has changed since s1.", "1 file,", `<span class="m"><b>2</b></span>`, "comment=0-n3#L0-n3"} {
		if !strings.Contains(html.UnescapeString(since), want) {
			t.Errorf("since s1: no %q in\n%s", want, since)
		}
	}
	if strings.Contains(since, "<h3>b.go") || strings.Contains(since, "0-o3") {
		t.Error("what has not changed is shown, or the line of another round can be commented")
	}
	if resp := b.send("GET", diff+"&since=s9", nil, nil); resp.StatusCode != http.StatusNotFound {
		t.Errorf("since a submission that never was: %s", resp.Status)
	}

	beside := b.get(diff + "&split=1&comment=2-n1")
	for _, want := range []string{`<td class="n del" id="L2-o1">1</td>`, `<td class="n add" id="L2-n1">1</td>`, "One column", `<textarea id="comment"`} {
		if !strings.Contains(beside, want) {
			t.Errorf("side by side: no %q in\n%s", want, beside)
		}
	}
}
