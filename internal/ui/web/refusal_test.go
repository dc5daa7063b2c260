package web_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

var (
	field    = regexp.MustCompile(`name="(f\.[^"]*)"`)
	failed   = regexp.MustCompile(`(?s)<div class="note bad"><strong>(.*?)</strong>(.*?)</div>`)
	commands = regexp.MustCompile(`(?s)<pre[^>]*aria-label="What to do">(.*?)</pre>`)
)

// TestARefusalOnThePageIsAMessageAndARemedy, of every act that a page offers, also of those that start a run: no error of the command
// line is shown.
func TestARefusalOnThePageIsAMessageAndARemedy(t *testing.T) {
	m := made(t)
	m.Reviewing()
	b := browse(t, m)
	pages := b.get("/") + b.get("/task?view=diff") + b.get("/task?view=log") + b.get("/task")
	t.Setenv("FERRUS_AGENT", "executor:codex:1") // every act is refused
	runs := 0
	for _, text := range aForm.FindAllString(pages, -1) {
		values := url.Values{"sure": {"yes"}}
		for _, f := range hidden.FindAllStringSubmatch(text, -1) {
			values.Set(f[1], html.UnescapeString(f[2]))
		}
		for _, f := range field.FindAllStringSubmatch(text, -1) {
			values.Set(f[1], map[string]string{"f.agent": "codex"}[f[1]])
			if values.Get(f[1]) == "" {
				values.Set(f[1], "1")
			}
		}
		resp := b.send("POST", "/act", values, nil)
		page := read(t, resp)
		got := failed.FindStringSubmatch(page)
		if resp.StatusCode != http.StatusConflict || got == nil {
			t.Errorf("%s: %s\n%s", values, resp.Status, page)
			continue
		}
		remedy := commands.FindStringSubmatch(got[2])
		if message := unescape(got[1]); !strings.HasPrefix(message, "ferrus ") || !strings.HasSuffix(message, "(FERRUS_AGENT is set)") || remedy == nil ||
			unescape(remedy[1]) != "an agent uses its tools; a person runs this in another shell" {
			t.Errorf("%s: %q", values.Get("args"), got)
		}
		if strings.Contains(values.Get("args"), "--headless") {
			runs++
		}
	}
	if runs == 0 {
		t.Error("no act starts a run")
	}
}

// TestAWrongEntryIsRefusedInASentence, with what helps beside it, and a link to where the form was.
func TestAWrongEntryIsRefusedInASentence(t *testing.T) {
	t.Parallel()
	m := made(t)
	m.Begun()
	b := browse(t, m)
	page := read(t, b.send("POST", "/act", with(form(t, b.get("/task?view=log"), "rollback"), "f.seq", "9999", "f.reason", "no", "sure", "yes"), nil))
	got := failed.FindStringSubmatch(page)
	if got == nil || got[1] != "cannot roll the task back to 9999: the task has no entry 9999 before the present one, which is 2" ||
		!strings.HasSuffix(got[2], ">ferrus log shows its entries</pre>") || !strings.Contains(page, `<a href="/task?view=log">`) {
		t.Errorf("%q\n%s", got, page)
	}
}
