package web_test

import (
	"bufio"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/kit"
)

// TestWithoutTrustThePageIsReadOnly: it shows everything, offers nothing, and names the command that a person runs elsewhere.
func TestWithoutTrustThePageIsReadOnly(t *testing.T) {
	t.Parallel()
	m := made(t)
	m.Reviewing()
	b := browse(t, m)
	approve := form(t, b.get("/task?view=diff"), "approve")
	b.untrusted = &refusal.RefusedError{Code: refusal.Untrusted, Message: "nobody has agreed to it", Remedy: "ferrus trust"}
	for _, page := range []string{"/", "/task", "/task?view=diff", "/task?view=log", "/history"} {
		text := b.has(page, "nobody has agreed to it", "ferrus trust")
		if strings.Contains(text, `action="/act"`) || strings.Contains(text, `action="/draft"`) {
			t.Errorf("%s offers an act", page)
		}
	}
	b.refused("/act", approve, http.StatusForbidden, "nobody has agreed to it", "ferrus trust")
	draft := url.Values{"token": approve["token"], "task": {"t-20260101-000000"}, "submission": {"s1"}, "path": {"a"}, "line": {"n1"}, "text": {"x"}}
	b.refused("/draft", draft, http.StatusForbidden, "nobody has agreed to it")
	if m.Exists(".ferrus/drafts") {
		t.Error("a comment was saved")
	}
	if event, _ := last(t, m); event != "submit" {
		t.Errorf("%s happened", event)
	}
}

// TestWhileTheLockIsBusy the page shows what it has read last, and says how old it is.
func TestWhileTheLockIsBusy(t *testing.T) {
	t.Parallel()
	m := made(t)
	m.Begun()
	b := browse(t, m)
	opens := b.opens
	for _, page := range []string{"/", "/task"} {
		b.has(page, "Build it.", "!Another process has the lock")
	}
	b.opens = func(p project.Place) (*engine.Engine, error) {
		return nil, &refusal.RefusedError{Code: refusal.LockBusy, Message: "the lock is busy", Remedy: "try again"}
	}
	for _, page := range []string{"/", "/task"} {
		b.has(page, "Build it.", "Another process has the lock. This is how it was ")
	}
	if resp := b.send("GET", "/task?view=log", nil, nil); resp.StatusCode != http.StatusServiceUnavailable || !strings.Contains(read(t, resp), "the lock is busy") {
		t.Errorf("a page that was never read: %s", resp.Status)
	}
	b.opens = opens
	b.has("/task", "!Another process has the lock")
}

// TestADamagedJournal is shown up to its damage, with the command that helps.
func TestADamagedJournal(t *testing.T) {
	enginetest.InFiles(t, "it changes journal.jsonl")
	t.Parallel()
	m := made(t)
	_, ex := m.Begun()
	for _, note := range []string{"first note", "second note", "third note"} {
		enginetest.Must(ex.Progress(t.Context(), note))(t)
	}
	enginetest.Dies(t, ex)
	text := m.Read(".ferrus/journal.jsonl")
	m.Write(".ferrus/journal.jsonl", strings.Replace(text, "third note", "forged note", 1))
	if err := os.Remove(m.Path(".ferrus/STATE.json")); err != nil {
		t.Fatal(err)
	}
	b := browse(t, m)
	resp := b.send("GET", "/task", nil, nil)
	page := read(t, resp)
	if resp.StatusCode != http.StatusInternalServerError || !strings.Contains(page, "second note") || strings.Contains(page, "forged note") ||
		!strings.Contains(page, "ferrus doctor") {
		t.Errorf("%s\n%s", resp.Status, page)
	}
	b.has("/", "ferrus doctor")
}

// stream reads server-sent events.
type stream struct {
	t     testing.TB
	lines *bufio.Scanner
}

func (b *browser) stream(path string, headers map[string]string) *stream {
	b.Helper()
	resp := b.send("GET", path, nil, headers)
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		b.Fatalf("%s: %s %s", path, resp.Status, read(b, resp))
	}
	return &stream{b, bufio.NewScanner(resp.Body)}
}

// next is the next event, empty at the end of the stream.
func (s *stream) next() (id, name, data string) {
	s.t.Helper()
	for s.lines.Scan() {
		key, value, _ := strings.Cut(s.lines.Text(), ": ")
		switch key {
		case "id":
			id = value
		case "event":
			name = value
		case "data":
			data = value
		case "":
			return id, name, data
		}
	}
	return "", "", ""
}

// TestAnEventNamesWhatHasChanged, a browser that comes back gets what it has missed, and the stream ends with its session.
func TestAnEventNamesWhatHasChanged(t *testing.T) {
	t.Parallel()
	m := made(t)
	_, ex := m.Begun()
	b := browse(t, m)
	all, one, other := b.stream("/events", nil), b.stream("/events?branch=", nil), b.stream("/events?branch=x", nil)
	first, name, _ := one.next()
	if name != "hello" || !strings.HasPrefix(first, "project:") {
		t.Fatalf("%s %s", first, name)
	}
	all.next()
	other.next()
	enginetest.Must(ex.Progress(t.Context(), "a note"))(t)
	id, name, data := one.next()
	if name != "change" || id == first || !strings.HasPrefix(id, "project:") || !strings.Contains(data, `{"of":"","seq":`) {
		t.Errorf("%s %s %s", id, name, data)
	}
	if _, name, _ := all.next(); name != "change" {
		t.Errorf("of all: %s", name)
	}
	m.Write(".ferrus/queue/later.md", "# Later\n")
	if id, name, _ := all.next(); name != "change" || !strings.HasPrefix(id, "queue:") && !strings.HasPrefix(id, "project:") {
		t.Errorf("of the queue: %s %s", id, name)
	}
	if _, name, _ := b.stream("/events?branch=", map[string]string{"Last-Event-ID": first}).next(); name != "change" {
		t.Errorf("after a break: %s", name)
	}
	token := hidden.FindStringSubmatch(b.get("/"))[2]
	b.send("POST", "/leave", url.Values{"token": {token}}, nil)
	ended := make(chan string, 1)
	go func() {
		for {
			if _, name, _ := other.next(); name == "" {
				ended <- name
				return
			}
		}
	}()
	select {
	case <-ended:
	case <-time.After(kit.Patience):
		t.Error("a stream outlives its session")
	}
	if resp := b.send("GET", "/events", nil, nil); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("afterwards: %s", resp.Status)
	}
}
