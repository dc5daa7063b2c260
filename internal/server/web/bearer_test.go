package web

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/test/kit"
)

// TestOnlyAGoodTokenComesIn, shown in the one place for it, and the answer says what helps.
func TestOnlyAGoodTokenComesIn(t *testing.T) {
	t.Parallel()
	p := serve(t)
	for name, c := range map[string]struct {
		auth, challenge string
		status          int
	}{
		"good":           {"Bearer " + boss, "", 200},
		"small letters":  {"bearer " + boss, "", 200},
		"none":           {"", `Bearer realm="ferrus"`, 401},
		"unknown":        {"Bearer s-nobody", `Bearer realm="ferrus", error="invalid_token", error_description="the token is unknown"`, 401},
		"expired":        {"Bearer " + old, `Bearer realm="ferrus", error="invalid_token", error_description="the token has expired"`, 401},
		"basic":          {"Basic " + boss, `Bearer realm="ferrus"`, 401},
		"bare":           {boss, `Bearer realm="ferrus"`, 401},
		"two words":      {"Bearer " + boss + " " + boss, `Bearer realm="ferrus"`, 401},
		"a prefix of it": {"Bearer " + boss[:len(boss)-1], `Bearer realm="ferrus", error="invalid_token", error_description="the token is unknown"`, 401},
		"no such role":   {"Bearer " + odd, "", 403},
	} {
		for kind, r := range first(boss) {
			resp := p.send(r.with(map[string]string{"Authorization": c.auth}))
			if resp.StatusCode != c.status || resp.Header.Get("WWW-Authenticate") != c.challenge {
				t.Errorf("%s, %s: %s %q", kind, name, resp.Status, resp.Header.Get("WWW-Authenticate"))
			}
			if c.status == 401 {
				if text, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(text), "ferrus token new") {
					t.Errorf("%s, %s: %s %v", kind, name, text, err)
				}
			}
		}
	}
	for kind, r := range first("") {
		for _, path := range []string{"?token=", "?access_token=", "?Authorization=Bearer%20", "?role=supervisor&token="} {
			other := r
			other.path += path + boss
			if status, _ := p.status(other.with(map[string]string{"X-Api-Key": boss, "Cookie": "token=" + boss, "Authorization": ""})); status != 401 {
				t.Errorf("%s with the token elsewhere: %d", kind, status)
			}
		}
	}
	for _, secret := range []string{boss, worker, old, "s-nobody"} {
		if strings.Contains(p.log.String(), secret) {
			t.Errorf("%s is in the log:\n%s", secret, p.log)
		}
	}
}

// TestTwoTokensAreNone: a middleman's header must not hide behind the client's.
func TestTwoTokensAreNone(t *testing.T) {
	t.Parallel()
	p := serve(t)
	answer := p.wire("GET /sse HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + boss + "\r\nAuthorization: Bearer " + worker + "\r\n\r\n")
	if !strings.HasPrefix(answer, "HTTP/1.1 401") {
		t.Errorf("%.100s", answer)
	}
}

// TestTokensThatCannotBeReadLetNobodyIn, and say so, but end nobody either.
func TestTokensThatCannotBeReadLetNobodyIn(t *testing.T) {
	t.Parallel()
	p := serve(t)
	c := p.client("legacy", boss, nil)
	p.book.mu.Lock()
	p.book.err = errors.New("the disk is on fire")
	p.book.mu.Unlock()
	for kind, r := range first(boss) {
		if status, why := p.status(r); status != 500 || strings.Contains(why, "fire") {
			t.Errorf("%s: %d %s", kind, status, why)
		}
	}
	asked := func() int { p.book.mu.Lock(); defer p.book.mu.Unlock(); return p.book.asked }
	before := asked()
	kit.Eventually(t, "the site looks after its tokens", func() bool { return asked() > before+2 })
	p.book.mu.Lock()
	p.book.err = nil
	p.book.mu.Unlock()
	if _, err := call(t.Context(), c, "who"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	if !strings.Contains(p.log.String(), "fire") {
		t.Error("the log does not say why")
	}
}

// TestACallerIsWhomItsTokenNames, whatever else it says of itself.
func TestACallerIsWhomItsTokenNames(t *testing.T) {
	t.Parallel()
	p := serve(t)
	for _, transport := range transports {
		for secret, want := range map[string]string{boss: "tk-000002 supervisor b", worker: "tk-000001 executor w"} {
			c := p.client(transport, secret, nil)
			for range 2 {
				got, err := call(t.Context(), c, "who")
				if err != nil || got != want+map[bool]string{true: " false", false: " true"}[transport == "modern"] {
					t.Errorf("%s: %q, %v", transport, got, err)
				}
			}
			if name := c.InitializeResult().ServerInfo.Name; !strings.HasPrefix(want[10:], name) {
				t.Errorf("%s: the server of %s for %s", transport, name, want)
			}
		}
	}
	// One kept connection of TCP may carry the requests of several tokens.
	hc := &http.Client{Transport: &http.Transport{}}
	for _, secret := range []string{boss, worker, boss} {
		r := first(secret)["legacy POST"]
		req, err := http.NewRequest(r.method, "http://"+p.addr+r.path, strings.NewReader(r.body))
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range r.header {
			req.Header.Set(k, v)
		}
		resp, err := hc.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		want := map[string]string{boss: `"name":"supervisor"`, worker: `"name":"executor"`}[secret]
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %s %v", secret, text, err)
		}
	}
}

// TestASessionIsItsTokensAlone: neither a token of another role nor another one of the same role can use it, look into
// it or end it.
func TestASessionIsItsTokensAlone(t *testing.T) {
	t.Parallel()
	p := serve(t)
	id := p.openLegacy(boss)
	endpoint, stream, _ := p.openSSE(boss)
	ping := `{"jsonrpc":"2.0","id":7,"method":"ping"}`
	inLegacy := func(secret, method string) raw {
		return first(secret)["legacy POST"].with(map[string]string{"Mcp-Session-Id": id, "Mcp-Protocol-Version": "2025-11-25"}).as(method, ping)
	}
	inSSE := func(secret string) raw {
		r := first(secret)["legacy POST"].as("POST", ping)
		r.path = endpoint
		return r
	}
	for secret, want := range map[string]int{worker: 403, chief: 403, "s-nobody": 401, old: 401} {
		for _, method := range []string{"POST", "GET", "DELETE"} {
			if status, _ := p.status(inLegacy(secret, method)); status != want {
				t.Errorf("%s of a legacy session with %s: %d, want %d", method, secret, status, want)
			}
		}
		if status, _ := p.status(inSSE(secret)); status != want {
			t.Errorf("POST into an SSE session with %s: %d, want %d", secret, status, want)
		}
	}
	if status, why := p.status(inSSE(boss)); status != 202 {
		t.Errorf("its own token: %d %s", status, why)
	}
	for line := ""; !strings.Contains(line, `"id":7`); {
		var err error
		if line, err = stream.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	if status, why := p.status(inLegacy(boss, "POST")); status != 200 {
		t.Errorf("its own token: %d %s", status, why)
	}
	// The two kinds of sessions are not mixed up.
	sse := endpoint[strings.Index(endpoint, "=")+1:]
	for name, r := range map[string]raw{
		"an SSE session at /mcp":   inLegacy(boss, "POST").with(map[string]string{"Mcp-Session-Id": sse}),
		"its end at /mcp":          inLegacy(boss, "DELETE").with(map[string]string{"Mcp-Session-Id": sse}),
		"a legacy session at /sse": inSSE(boss).at("/sse?sessionid=" + id),
		"no such session":          inLegacy(boss, "POST").with(map[string]string{"Mcp-Session-Id": "x"}),
		"none at /sse":             inSSE(boss).at("/sse?sessionid=x"),
	} {
		if status, _ := p.status(r); status != 404 {
			t.Errorf("%s: %d", name, status)
		}
	}
	if status, _ := p.status(inSSE(boss).at("/sse")); status != 400 {
		t.Errorf("no session named at /sse: %d", status)
	}
	if status, _ := p.status(inLegacy(boss, "DELETE")); status != 204 {
		t.Errorf("ending it: %d", status)
	}
	if status, _ := p.status(inLegacy(boss, "POST")); status != 404 {
		t.Errorf("after its end: %d", status)
	}
	if status, why := p.status(inSSE(boss)); status != 202 {
		t.Errorf("the SSE session afterwards: %d %s", status, why)
	}
}

func (r raw) as(method, body string) raw {
	r.method, r.body = method, body
	if method != "POST" {
		r.body = ""
	}
	return r
}

func (r raw) at(path string) raw { r.path = path; return r }

// TestARevokedTokenEndsAtOnce: the next request is refused, what waits is cancelled, and what is open is closed.
func TestARevokedTokenEndsAtOnce(t *testing.T) {
	t.Parallel()
	p := serve(t)
	_, stream, _ := p.openSSE(boss)
	id := p.openLegacy(boss)
	listening := p.send(first(boss)["legacy POST"].with(map[string]string{"Mcp-Session-Id": id}).as("GET", ""))
	waiting := map[string]chan error{}
	for _, transport := range transports {
		waiting[transport] = make(chan error, 1)
		c := p.client(transport, boss, nil)
		go func() {
			_, err := call(context.Background(), c, "hold")
			waiting[transport] <- err
		}()
		eventually(t, p.held, transport)
	}
	bystander := p.client("legacy", chief, nil)
	p.book.revoke(boss)
	for kind, r := range first(boss) {
		if status, _ := p.status(r); status != 401 {
			t.Errorf("%s: %d", kind, status)
		}
	}
	for range transports {
		eventually(t, p.let, "a call goes on")
	}
	for transport := range maps.Keys(waiting) {
		if err := eventually(t, waiting[transport], transport); err == nil {
			t.Errorf("%s: the call succeeded", transport)
		}
	}
	for name, r := range map[string]io.Reader{"sse": stream, "the GET of a legacy session": listening.Body} {
		if _, err := io.ReadAll(r); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := call(t.Context(), bystander, "who"); err != nil {
		t.Errorf("another token: %v", err)
	}
	kit.Eventually(t, "nothing is left of it", func() bool {
		p.site.sessions.mu.Lock()
		defer p.site.sessions.mu.Unlock()
		return len(p.site.sessions.all) == 1
	})
}

// TestWhatAClientLeavesIsCancelled, where the transport tells: a closed request of a modern client, a notification of an
// older one, the end of its session, and the end of its stream.
func TestWhatAClientLeavesIsCancelled(t *testing.T) {
	t.Parallel()
	p := serve(t)
	for _, transport := range transports {
		for _, how := range []string{"cancel", "close"} {
			if transport == "modern" && how == "close" {
				continue // there is nothing to close
			}
			shown := make(chan float64, 100)
			wire, unplug := context.WithCancel(t.Context())
			defer unplug()
			c, err := p.dial(wire, transport, boss, &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, n *mcp.ProgressNotificationClientRequest) {
				shown <- n.Params.Progress
			}})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				params := &mcp.CallToolParams{Name: "hold"}
				params.SetProgressToken("p")
				_, err := c.CallTool(ctx, params)
				ended <- err
			}()
			eventually(t, p.held, transport)
			for want := 1.0; want <= 3; want++ {
				if got := eventually(t, shown, transport+": progress"); got != want {
					t.Errorf("%s: progress %v, want %v", transport, got, want)
				}
			}
			switch {
			case how == "cancel":
				cancel()
			case transport == "legacy":
				end := first(boss)["legacy POST"].with(map[string]string{"Mcp-Session-Id": c.ID()}).as("DELETE", "")
				if status, _ := p.status(end); status != 204 {
					t.Errorf("the end of the session: %d", status)
				}
			case transport == "sse":
				unplug()
			}
			eventually(t, p.let, transport+": "+how)
			cancel()
			if err := eventually(t, ended, transport); err == nil {
				t.Errorf("%s: the call succeeded", transport)
			}
		}
	}
}
