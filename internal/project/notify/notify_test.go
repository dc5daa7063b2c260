//go:build unix

package notify

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// An endpoint is a local server that takes messages, as a webhook or ntfy does.
type endpoint struct {
	*httptest.Server
	status int

	mu   sync.Mutex
	got  []string // the bodies
	auth []string
	path []string
}

func newEndpoint(t *testing.T, status int) *endpoint {
	t.Helper()
	s := &endpoint{status: status}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.got, s.path, s.auth = append(s.got, string(body)), append(s.path, r.URL.Path), append(s.auth, r.Header.Get("Authorization"))
		s.mu.Unlock()
		w.WriteHeader(s.status)
		_, _ = io.WriteString(w, `{"error":"no: `+r.URL.String()+" "+r.Header.Get("Authorization")+`"}`)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *endpoint) host() string { return strings.TrimPrefix(s.URL, "http://") }

var question = Message{Title: "ferrus: a question", Text: "Red?\n\n1. yes\n2. no\n\nferrus answer 1\nid: t1 q1", Env: []string{"FERRUS_EVENT=question"}}

// forms are URLs of two services at a local server.
func forms(host string) map[string]string {
	return map[string]string{
		"webhook":          "generic://" + host + "/hook/s3cretXyz?disabletls=yes",
		"webhook, in JSON": "generic://" + host + "/hook/s3cretXyz?disabletls=yes&template=json",
		"ntfy":             "ntfy://person:s3cretXyz@" + host + "/s3cretXyz?scheme=http",
	}
}

// TestAServiceGetsTheWholeText: question, options, command and id.
func TestAServiceGetsTheWholeText(t *testing.T) {
	for name, url := range forms("HOST") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newEndpoint(t, http.StatusOK)
			list := Channels{URLs: []string{strings.Replace(url, "HOST", s.host(), 1)}}.List()
			if len(list) != 1 {
				t.Fatalf("%d channels", len(list))
			}
			if err := list[0].Send(t.Context(), question); err != nil {
				t.Fatal(err)
			}
			if len(s.got) != 1 || !strings.Contains(s.path[0], "s3cretXyz") {
				t.Fatalf("%q at %q", s.got, s.path)
			}
			for _, want := range []string{"a question", "Red?", "1. yes", "2. no", "ferrus answer 1", "t1 q1"} {
				if !strings.Contains(s.got[0], want) {
					t.Errorf("%q is missing in %q", want, s.got[0])
				}
			}
		})
	}
}

// TestAFailureNamesNoSecret: whatever fails, and whatever the server answers.
func TestAFailureNamesNoSecret(t *testing.T) {
	refused := newEndpoint(t, http.StatusOK)
	gone := refused.host()
	refused.Close()
	echo := newEndpoint(t, http.StatusForbidden)
	urls := []string{"nosuch://s3cretXyz@x/s3cretXyz", "slack://s3cretXyz", "discord://s3cretXyz@12", "://s3cretXyz", "logger://", "pushbullet://s3cretXyz",
		"telegram://s3cretXyz@telegram?chats=s3cretXyz", "ntfy://a:s3cretXyz%20b@" + gone + "/s3cretXyz?scheme=http&bad=s3cretXyz", "generic://\x7fs3cretXyz"}
	for _, host := range []string{gone, echo.host()} {
		for _, url := range forms(host) {
			urls = append(urls, url)
		}
	}
	for _, url := range urls {
		ch := Channels{URLs: []string{url}}.List()[0]
		err := ch.Send(t.Context(), question)
		if err == nil {
			t.Errorf("%q was sent", url)
		} else if text := ch.Name + err.Error(); strings.Contains(text, "s3cretXyz") || strings.Contains(text, "\n") || strings.Contains(text, "cGVyc29uOnMzY3JldFh5e") {
			t.Errorf("%q: %s", url, text)
		}
	}
	if len(echo.got) != 3 {
		t.Errorf("the server got %d messages", len(echo.got))
	}
}

// TestAVariableHasTheURL: it is read when a message is sent, and its name is all that is said.
func TestAVariableHasTheURL(t *testing.T) {
	s := newEndpoint(t, http.StatusOK)
	t.Setenv("FERRUS_NOTIFY_URL", forms(s.host())["ntfy"])
	t.Setenv("FERRUS_NOTIFY_EMPTY", "")
	list := Channels{URLs: []string{"$FERRUS_NOTIFY_URL", "$FERRUS_NOTIFY_EMPTY", "$FERRUS_NOTIFY_URL"}}.List()
	if len(list) != 2 || list[0].Name != "$FERRUS_NOTIFY_URL" {
		t.Fatalf("%v", list)
	}
	if err := list[0].Send(t.Context(), question); err != nil || len(s.got) != 1 {
		t.Errorf("%v, %q", err, s.got)
	}
	if err := list[1].Send(t.Context(), question); err == nil || !strings.Contains(err.Error(), "FERRUS_NOTIFY_EMPTY is not set") {
		t.Errorf("%v", err)
	}
}

// TestACommandGetsTheText on its standard input; what it prints about a URL stays unsaid.
func TestACommandGetsTheText(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("FERRUS_NOTIFY_URL", "ntfy://h/s3cretXyz")
	c := Channels{Command: `(echo "$FERRUS_EVENT"; cat) > told; echo "$FERRUS_NOTIFY_URL"; exit 3`, Dir: dir, URLs: []string{"$FERRUS_NOTIFY_URL"}}
	err := c.List()[0].Send(t.Context(), question)
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || strings.Contains(err.Error(), "s3cretXyz") {
		t.Errorf("%v", err)
	}
	told, _ := os.ReadFile(filepath.Join(dir, "told"))
	if want := "question\n" + question.Text + "\n"; string(told) != want {
		t.Errorf("%q, not %q", told, want)
	}
}

// TestTheDesktopShowsTheText: by the program of the system, outside of the project, with no markup of an agent.
func TestTheDesktopShowsTheText(t *testing.T) {
	bin, project := t.TempDir(), t.TempDir()
	script := "#!/bin/sh\nprintf '%s\\n' \"$@\" > " + filepath.Join(bin, "told") + "\n"
	for _, dir := range []string{bin, project} {
		if err := os.WriteFile(filepath.Join(dir, "notify-send"), []byte(strings.Replace(script, bin, dir, 1)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "osascript"), []byte(strings.Replace(script, bin, dir, 1)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", project+":"+bin+":/usr/bin:/bin")
	m := Message{Title: "t", Text: "-x <b>Red?</b>"}
	if err := (Channels{Desktop: true, Dir: project}).List()[0].Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	told, _ := os.ReadFile(filepath.Join(bin, "told"))
	if text := string(told); !strings.Contains(text, "Red?") || strings.Contains(text, "<b>") && strings.Contains(text, "--app-name") || !strings.Contains(text, "--\nt\n") {
		t.Errorf("%q", told)
	}
	if _, err := os.Stat(filepath.Join(project, "told")); err == nil {
		t.Error("the program of the project was run")
	}
	t.Setenv("PATH", project)
	if err := (Channels{Desktop: true, Dir: project}).List()[0].Send(t.Context(), m); err == nil || !strings.Contains(err.Error(), "there is no") {
		t.Errorf("%v", err)
	}
}

// TestAReasonIsShort, on one line, and still says what went wrong.
func TestAReasonIsShort(t *testing.T) {
	for _, c := range []struct{ reason, want string }{
		{"posting to https://h/s3cretXyz?a=b: dial tcp: no such host", "posting to [url] dial tcp: no such host"},
		{"status 403 for\ns3cretXyz and p%40ss", "status 403 for [...] and p%40ss"},
		{"Authorization: Basic dXNlcjpzM2NyZXRYeXo= dXNlcjpzM2NyZXRYeXo", "Authorization: [...] [...]"},
		{"the ntfy server said \x1b[31mno", "the ntfy server said <U+001B>[31mno"},
		{strings.Repeat("long ", 100), strings.Repeat("long ", 60) + "..."},
	} {
		if got := scrub(c.reason, "ntfy://user:s3cretXyz@h/topic"); got != c.want {
			t.Errorf("%q: %q, not %q", c.reason, got, c.want)
		}
	}
}
