package web

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/test/kit"
)

// TestEachTokenHasAShare of calls and sessions: others cannot take it all, whatever they take.
func TestEachTokenHasAShare(t *testing.T) {
	lim := Limits{}.orDefault()
	refused := 0
	for _, most := range []struct{ all, each int }{{lim.Sessions, lim.SessionsPerToken}, {lim.Calls, lim.CallsPerToken}} {
		l := load{most: most.all, each: most.each, share: lim.Share, of: map[string]int{}}
		for _, greedy := range []string{"a", "b"} {
			for l.take(greedy) == 0 {
			}
			if l.of[greedy] < most.each/2 {
				t.Errorf("alone one token gets %d of %d", l.of[greedy], most.all)
			}
		}
		// As many more as the last quarter has shares for.
		others := most.all / 4 / lim.Share
		for i := range others {
			for range lim.Share {
				if l.take(fmt.Sprint("other ", i)) != 0 {
					refused++
				}
			}
		}
		if l.sum > most.all {
			t.Errorf("%d of %d were given out", l.sum, most.all)
		}
		if l.take("one more") == 0 && l.sum > most.all {
			t.Error("more than all were given out")
		}
	}
	if refused > 0 {
		t.Errorf("%d were refused to tokens that had less than their share", refused)
	}
}

// TestABodyIsJSONAndNotTooLarge, and one message.
func TestABodyIsJSONAndNotTooLarge(t *testing.T) {
	t.Parallel()
	p := serve(t)
	endpoint, _, _ := p.openSSE(boss)
	all := first(boss)
	delete(all, "sse GET")
	all["sse POST"] = all["legacy POST"].at(endpoint)
	pad := func(n int) string {
		return strings.Replace(initialize, `"t"`, `"`+strings.Repeat("t", n-len(initialize)+1)+`"`, 1)
	}
	for kind, r := range all {
		for name, c := range map[string]struct {
			contentType, body string
			status            int
		}{
			"text/plain":   {"text/plain", r.body, 415},
			"a form":       {"application/x-www-form-urlencoded", r.body, 415},
			"multipart":    {"multipart/form-data; boundary=x", r.body, 415},
			"no type":      {"", r.body, 415},
			"two types":    {"text/plain, application/json", r.body, 415},
			"with charset": {"application/json; charset=utf-8", r.body, map[string]int{"sse POST": 202}[kind]},
			"too large":    {"application/json", pad(4<<20 + 1), 413},
			"batch":        {"application/json", " \n[" + r.body + "]", 400},
			"no JSON":      {"application/json", "{", 400},
			"two messages": {"application/json", r.body + r.body, 400},
			"bytes after":  {"application/json", r.body + " x", 400},
			"a name twice": {"application/json", strings.Replace(r.body, `"method":`, `"method":"ping","method":`, 1), 400},
			"in two cases": {"application/json", strings.Replace(r.body, `"method":`, `"Method":"ping","method":`, 1), 400},
			"empty":        {"application/json", "", 400},
		} {
			want := c.status
			if want == 0 {
				want = 200
			}
			if status, why := p.status(r.with(map[string]string{"Content-Type": c.contentType}).as("POST", c.body)); status != want {
				t.Errorf("%s, %s: %d %s, want %d", kind, name, status, why, want)
			}
		}
	}
	if status, why := p.status(first(boss)["legacy POST"].as("POST", pad(4<<20))); status != 200 {
		t.Errorf("as large as can be: %d %s", status, why)
	}
	// Without a length only the reading tells.
	r := first(boss)["legacy POST"]
	req, err := http.NewRequest("POST", "http://"+p.addr+"/mcp", io.MultiReader(strings.NewReader(pad(4<<20)), strings.NewReader("  ")))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range r.header {
		req.Header.Set(k, v)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 413 {
		t.Errorf("too large, in chunks: %s", resp.Status)
	}
}

// TestASlowClientIsCutOff, with its headers and with its body; a stream is not.
func TestASlowClientIsCutOff(t *testing.T) {
	t.Parallel()
	p := serve(t, func(o *Options) {
		o.Limits.HeaderTime, o.Limits.BodyTime, o.Limits.KeepAlive = 50*time.Millisecond, 50*time.Millisecond, 20*time.Millisecond
	})
	_, stream, _ := p.openSSE(boss)
	if answer := p.wire("POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: "); strings.Contains(answer, " 200 ") {
		t.Errorf("slow headers: %q", answer)
	}
	body := "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + boss +
		"\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: 100\r\n\r\n{"
	if answer := p.wire(body); !strings.HasPrefix(answer, "HTTP/1.1 408") {
		t.Errorf("slow body: %q", answer)
	}
	// By now the stream is older than either limit, and shows that it lives.
	for range 10 {
		if line, err := stream.ReadString('\n'); err != nil || line != "\n" && line != ": \n" {
			t.Fatalf("the stream: %q %v", line, err)
		}
	}
}

// TestACallMayTakeLongerThanAnyLimit of headers, bodies and connections.
func TestACallMayTakeLongerThanAnyLimit(t *testing.T) {
	t.Parallel()
	p := serve(t, func(o *Options) {
		o.Limits.HeaderTime, o.Limits.BodyTime = 300*time.Millisecond, 300*time.Millisecond
		o.Limits.ConnIdle, o.Limits.Idle = 300*time.Millisecond, 300*time.Millisecond
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, len(transports))
	for _, transport := range transports {
		c := p.client(transport, boss, nil)
		go func() { _, err := call(ctx, c, "hold"); ended <- err }()
		eventually(t, p.held, transport)
	}
	select {
	case who := <-p.let:
		t.Errorf("a call of %s was ended", who)
	case <-time.After(700 * time.Millisecond): // it is about time that passes
	}
	cancel()
	for range transports {
		eventually(t, p.let, "a call")
		<-ended
	}
}

// TestTooManyCallsAreTurnedAway, of one token and of all, for a while: when some have ended others are accepted again.
func TestTooManyCallsAreTurnedAway(t *testing.T) {
	t.Parallel()
	p := serve(t, func(o *Options) { o.Limits.Calls, o.Limits.CallsPerToken = 6, 4 })
	endpoint, _, _ := p.openSSE(boss)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	hold := func(transport, secret string) {
		c, err := p.dial(t.Context(), transport, secret, nil)
		if err != nil {
			t.Fatal(err)
		}
		go call(ctx, c, "hold")
		eventually(t, p.held, transport)
	}
	for _, transport := range []string{"modern", "legacy", "sse", "sse"} {
		hold(transport, boss)
	}
	turned := func(secret string, want int) {
		all := first(secret)
		delete(all, "sse GET")
		if secret == boss {
			all["sse POST"] = all["legacy POST"].at(endpoint)
		}
		for kind, r := range all {
			resp := p.send(r)
			if resp.StatusCode != want || resp.Header.Get("Retry-After") == "" {
				t.Errorf("%s: %s %v, want %d", kind, resp.Status, resp.Header, want)
			}
		}
	}
	turned(boss, 429)
	hold("sse", chief)
	hold("legacy", chief)
	turned(worker, 503)
	if status, _ := p.status(raw{method: "GET", path: "/healthz"}); status != 200 {
		t.Errorf("healthz: %d", status)
	}
	cancel()
	for range 6 {
		eventually(t, p.let, "a call")
	}
	kit.Eventually(t, "others are accepted again", func() bool {
		status, _ := p.status(first(boss)["modern POST"])
		return status == 200
	})
}

// TestNobodyGetsPastTheCount: an SSE client has its requests answered before its calls begin, and could be through the
// door with many.
func TestNobodyGetsPastTheCount(t *testing.T) {
	t.Parallel()
	p := serve(t, func(o *Options) { o.Limits.CallsPerToken = 1 })
	token := p.book.all[boss]
	b := p.site.bearers.use(p.site.ctx, token, boss)
	ctx := context.WithValue(t.Context(), visitKey{}, &identity{token: token, bearer: b, session: p.site.open("s", b, nil, func() {})})
	begun := make(chan struct{}, 2)
	handle := p.site.identify(func(ctx context.Context, _ string, _ mcp.Request) (mcp.Result, error) {
		begun <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	go handle(ctx, "tools/call", &mcp.CallToolRequest{})
	eventually(t, begun, "the first")
	if _, err := handle(ctx, "tools/call", &mcp.CallToolRequest{}); err == nil || !strings.Contains(err.Error(), "too many calls") || len(begun) > 0 {
		t.Errorf("one too many: %v", err)
	}
	if _, err := handle(t.Context(), "tools/call", &mcp.CallToolRequest{}); err == nil || !strings.Contains(err.Error(), "caller is unknown") {
		t.Errorf("nobody: %v", err)
	}
}

// TestTooManySessionsAreTurnedAway, and those that nobody uses end: a client that gets that answer opens another.
func TestTooManySessionsAreTurnedAway(t *testing.T) {
	t.Parallel()
	p := serve(t, func(o *Options) {
		o.Limits.Sessions, o.Limits.SessionsPerToken, o.Limits.Idle = 5, 3, 500*time.Millisecond
	})
	_, _, one := p.openSSE(boss)
	p.openSSE(boss)
	id := p.openLegacy(boss)
	turned := func(secret string, want int) {
		t.Helper()
		for _, kind := range []string{"legacy POST", "sse GET"} {
			resp := p.send(first(secret)[kind])
			if resp.StatusCode != want || resp.Header.Get("Retry-After") == "" {
				t.Errorf("%s: %s, want %d", kind, resp.Status, want)
			}
		}
		if status, _ := p.status(first(secret)["modern POST"]); status != 200 {
			t.Errorf("a client without sessions: %d", status)
		}
	}
	turned(boss, 429)
	p.openSSE(chief)
	p.openSSE(chief)
	turned(worker, 503)
	one.Body.Close()
	kit.Eventually(t, "a session ends with its stream", func() bool {
		resp := p.send(first(worker)["sse GET"])
		defer resp.Body.Close()
		return resp.StatusCode == 200
	})
	kit.Eventually(t, "an idle session ends", func() bool { return p.site.sessions.find(id) == nil })
	if status, _ := p.status(first(boss)["legacy POST"].with(map[string]string{"Mcp-Session-Id": id})); status != 404 {
		t.Errorf("an ended session: %d", status)
	}
}

// TestTooManyConnectionsAreClosed, and another is accepted when one has gone.
func TestTooManyConnectionsAreClosed(t *testing.T) {
	t.Parallel()
	p := serve(t, func(o *Options) { o.Limits.Conns = 3 })
	var open []net.Conn
	for range 3 {
		c, err := net.Dial("tcp", p.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := fmt.Fprintf(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	over, err := net.Dial("tcp", p.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer over.Close()
	if text := readAll(over); text != "" {
		t.Errorf("one too many: %q", text)
	}
	open[0].Close()
	kit.Eventually(t, "others are accepted again", func() bool {
		c, err := net.Dial("tcp", p.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		// The write may meet a closed connection: then nothing comes back, either.
		_, _ = fmt.Fprintf(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
		return strings.HasSuffix(readAll(c), "ok")
	})
}

// TestAClientThatReadsNothingIsGone: what it opened ends when it takes nothing for a while.
func TestAClientThatReadsNothingIsGone(t *testing.T) {
	t.Parallel()
	p := serve(t, func(o *Options) { o.Limits.WriteTime = 50 * time.Millisecond })
	ended := make(chan struct{})
	full := func(w http.ResponseWriter, r *http.Request) {
		out := newStream(w, p.site.opts.Limits)
		defer out.close()
		for r.Context().Err() == nil {
			if _, err := out.Write(make([]byte, 1<<20)); err != nil {
				<-r.Context().Done()
			}
		}
		close(ended)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(full)}
	go server.Serve(l)
	defer server.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	eventually(t, ended, "its request")
}

// TestStrangersDoNotFillTheDisk: what is refused is noted, up to a rate.
func TestStrangersDoNotFillTheDisk(t *testing.T) {
	t.Parallel()
	p := serve(t)
	for range notesPerMinute + 50 {
		p.status(raw{method: "GET", path: "/" + strings.Repeat("x", 1000)})
	}
	text := p.log.String()
	if n := strings.Count(text, "msg=refused"); n != notesPerMinute || strings.Count(text, "many requests") != 1 || len(text) > 400*notesPerMinute {
		t.Errorf("%d notes, %d bytes", n, len(text))
	}
	p.site.noted.begun = p.site.noted.begun.Add(-time.Minute)
	p.status(raw{method: "GET", path: "/x"})
	if strings.Count(p.log.String(), "msg=refused") != notesPerMinute+1 {
		t.Error("the next minute is not noted")
	}
}
