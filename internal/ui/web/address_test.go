package web_test

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"
)

// TestHostileAddressesAreRefused with a status of the 400s: every route, with bytes that are no name of anything, in its path and in its
// query, and with names that are too long.
func TestHostileAddressesAreRefused(t *testing.T) {
	t.Parallel()
	m := made(t)
	m.Reviewing()
	if err := os.MkdirAll(m.Path(".ferrus/logs"), 0o700); err != nil {
		t.Fatal(err)
	}
	b := browse(t, m)
	long := strings.Repeat("x", 5000)
	hostile := []string{"%ff", "%c0%ae", "%00", "%0a", "%1b[2J", "a%00b", "x%ff.log", "%c0%ae%c0%ae%2fx", "..%2f..%2fx%00.log", "%ed%a0%80", long}
	var paths []string
	for _, h := range hostile {
		for _, route := range []string{"/static/%s", "/%s", "/branch/%s", "/run/%s", "/history/%s", "/task?view=%s", "/branch/none?view=%s", "/log?name=%s", "/log?name=%s.log",
			"/log?run=%s", "/log?branch=%s&name=x.log", "/output?run=%s&offset=0", "/output?offset=%s", "/output?branch=%s&run=x&offset=0"} {
			paths = append(paths, fmt.Sprintf(route, h))
		}
		if h == long {
			continue
		}
		for _, route := range []string{"/?done=%s", "/task?run=%s&view=agents", "/task?view=diff&comment=%s", "/task?view=diff&file=%s", "/task?seq=%s", "/history?q=%s",
			"/events?branch=%s", "/events?run=%s"} {
			paths = append(paths, fmt.Sprintf(route, h))
		}
	}
	for _, path := range append(paths, "/static/..", "/static/x", "/static/page.js/x", "/static/%2e%2e%2fweb.go", "/static/a%5cb", "/task?%zz", "/%zz", "/history/%") {
		status := b.raw("GET", path, "")
		if strings.HasSuffix(path, "?%zz") && status == http.StatusOK { // what is no query is none
			continue
		}
		if moved := path == "/static/.." && status == http.StatusMovedPermanently; !moved && (status < 400 || status > 499) {
			t.Errorf("%.80s: %d", path, status)
		}
	}
	token := form(t, b.get("/task?view=diff"), "approve").Get("token")
	for _, h := range hostile {
		text, err := url.QueryUnescape(h)
		if err != nil {
			t.Fatal(err)
		}
		for name, f := range map[string]url.Values{
			"/act place":    {"place": {text}},
			"/act branch":   {"place": {"branch:" + text}},
			"/act run":      {"place": {"run:" + text}},
			"/act act":      {"place": {"task"}, "act": {text}},
			"/act args":     {"place": {"task"}, "args": {text}},
			"/draft branch": {"branch": {text}, "task": {"t"}, "submission": {"s1"}, "path": {"a"}, "line": {"n1"}, "text": {"x"}},
			"/draft task":   {"task": {text}, "submission": {"s1"}, "path": {"a"}, "line": {"n1"}, "text": {"x"}},
			"/draft line":   {"task": {"t"}, "submission": {"s1"}, "path": {"a"}, "line": {text}, "text": {"x"}},
		} {
			f.Set("token", token)
			if f.Get("args") == "" {
				f.Set("args", `["x"]`)
			}
			path, _, _ := strings.Cut(name, " ")
			if status := b.raw("POST", path, f.Encode()); status < 400 || status > 499 {
				t.Errorf("%s %.80s: %d", name, h, status)
			}
		}
		for name, fields := range map[string][]string{"approve": {"f.note", text}, "reject": {"f.message", text}} {
			f := with(form(t, b.get("/task?view=diff"), name), fields...)
			if status := b.raw("POST", "/act", f.Encode()); status > 499 {
				t.Errorf("%s %.80s: %d", name, h, status)
			}
			if event, _ := last(t, m); event != "submit" { // a text with marks is one
				return
			}
		}
	}
}

// raw sends a request with exactly this target, and returns the status of the answer.
func (b *browser) raw(method, target, body string) int {
	b.Helper()
	conn, err := net.Dial("tcp", b.addr)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	host := strings.TrimPrefix(b.origin, "http://")
	fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: %s\r\nCookie: %s\r\nSec-Fetch-Site: same-origin\r\nOrigin: %s\r\nConnection: close\r\n"+
		"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s", method, target, host, b.cookie, b.origin, len(body), body)
	var proto string
	var status int
	if _, err := fmt.Fscanf(conn, "%s %d", &proto, &status); err != nil {
		b.Fatalf("%.80s: %v", target, err)
	}
	return status
}
