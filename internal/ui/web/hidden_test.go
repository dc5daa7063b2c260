package web_test

import (
	"html"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/test/kit"
)

// TestEveryHiddenCharacterIsMarkedOnThePage, whatever has it: the content and the names of files, texts of agents, logs. A notice stands
// above the patch and in the forms of the verdict.
func TestEveryHiddenCharacterIsMarkedOnThePage(t *testing.T) {
	t.Parallel()
	m := made(t)
	_, ex := m.Begun()
	every := kit.HiddenText()
	m.Write("every.go", every)
	m.Write("bidi.go", "if access != \"user\u202e \u2066// only an admin may\u2069 \u2066\" {\n")
	for _, name := range kit.HiddenNames() {
		m.Write(name, "x\n")
	}
	m.Git("add", "-A")
	m.Git("commit", "-q", "--cleanup=verbatim", "-m", strings.ReplaceAll(every, "\x00", ""))
	if _, err := ex.Progress(t.Context(), strings.ReplaceAll(every[:2000], "\x00", "")); err != nil {
		t.Fatal(err)
	}
	enginetest.Submitted(t, ex)
	if err := os.WriteFile(m.Path(".ferrus/logs/x.log"), []byte(every), 0o600); err != nil {
		t.Fatal(err)
	}
	b := browse(t, m)
	get := func(path string) string { return html.UnescapeString(read(t, b.send("GET", path, nil, nil))) } // a reference to a character shows it, too
	every1 := ""
	for i := range 2 { // of the two files, one is in sight, and the other when it is asked for
		every1 += get("/task?view=diff&file=" + string(rune('0'+i)))
	}
	for path, page := range map[string]string{"diff": every1, "names": names(every1)} {
		if raw, dropped := kit.Unmarked(page); len(raw) > 0 || len(dropped) > 1 || path == "diff" && len(dropped) > 0 { // no name has NUL
			t.Errorf("%s shows %U raw, and %U not at all", path, raw, dropped)
		}
	}
	if raw, dropped := kit.Unmarked(get("/log?name=x.log")); len(raw) > 0 || len(dropped) > 0 {
		t.Errorf("the log shows %U raw, and %U not at all", raw, dropped)
	}
	for _, path := range []string{"/", "/task", "/task?view=log", "/task?view=checks", "/task?view=agents", "/task?view=documents", "/history", "/branch/x"} {
		if raw, _ := kit.Unmarked(get(path)); len(raw) > 0 {
			t.Errorf("%s shows %U raw", path, raw)
		}
	}
	page := get("/task?view=diff&file=0")
	if files, committed := strings.Count(page, `<details class="file"`), strings.Count(page, " in a commit</small>"); committed != files {
		t.Errorf("%d of %d files are marked as committed", committed, files)
	}
	draft := url.Values{}
	notice := "bidi.go has U+202E, U+2066 (2 times), U+2069"
	if above, below, _ := strings.Cut(page, `<details class="file"`); strings.Count(above, notice) != 2 || strings.Contains(below, notice) {
		t.Errorf("the notice is not above the patch and beside the verdict:\n%.3000s", page)
	}
	if !strings.Contains(page, `user<mark><U+202E></mark> <mark><U+2066></mark>`) {
		t.Error("a mark is no element of its own")
	}
	if overview := get("/task"); strings.Count(overview, notice) != 2 { // above, and in the form
		t.Errorf("the overview has the notice %d times", strings.Count(overview, notice))
	}
	for _, field := range hidden.FindAllStringSubmatch(b.get("/task?view=diff&file=2&comment=2-n1"), -1) { // of a file with such a name
		draft.Set(field[1], unescape(field[2]))
	}
	if page := b.do("/draft", with(draft, "text", "What is this name?", "from", "/task?view=diff&file=2")); !strings.Contains(page, `<p class="said-of">What is this name?</p>`) {
		t.Error("a comment is not shown in a file of which the name has marks")
	}
	comment := get("/task?view=diff&file=0&comment=0-n1")
	if quote := regexp.MustCompile(`name="quote" value="([^>]*)>`).FindStringSubmatch(comment); len(quote) != 2 || !strings.Contains(comment, `value="if access != "user<U+202E> <U+2066>//`) {
		t.Errorf("%q is what a comment quotes", quote)
	}
}

// names are the headings of files in a page.
func names(page string) string {
	var b strings.Builder
	for _, h := range regexp.MustCompile(`(?s)<h3>.*?</h3>`).FindAllString(page, -1) {
		b.WriteString(h)
	}
	return b.String()
}
