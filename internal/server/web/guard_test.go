package web

import (
	"net"
	"strings"
	"testing"
)

// TestAWebPageCannotCall: what a browser can be talked into is refused, on every way in and whatever the token, GET
// included.
func TestAWebPageCannotCall(t *testing.T) {
	t.Parallel()
	p := serve(t, func(o *Options) {
		o.Hosts, o.Origins = []string{"ferrus.example", "other.example:99"}, []string{"https://app.example"}
	})
	_, port, err := net.SplitHostPort(p.addr)
	if err != nil {
		t.Fatal(err)
	}
	type header = map[string]string
	for _, c := range []struct {
		header header
		status int
	}{
		{header{}, 200},
		{header{"Host": "localhost"}, 200},
		{header{"Host": "localhost."}, 200},
		{header{"Host": "LOCALHOST:" + port}, 200},
		{header{"Host": "localhost:9"}, 200}, // a forwarded port
		{header{"Host": "127.0.0.9:" + port}, 200},
		{header{"Host": "[::1]"}, 200},
		{header{"Host": "[::1]:" + port}, 200},
		{header{"Host": "ferrus.example"}, 200},
		{header{"Host": "Ferrus.example:1"}, 200},
		{header{"Host": "other.example"}, 200},
		{header{"Host": "evil.example"}, 403},
		{header{"Host": "evil.example:" + port}, 403},
		{header{"Host": "localhost.evil.example"}, 403},
		{header{"Host": "127.0.0.1.evil.example"}, 403},
		{header{"Host": "xlocalhost"}, 403},
		{header{"Host": "0.0.0.0:" + port}, 403},
		{header{"Host": "10.0.0.1"}, 403},

		{header{"Origin": "http://127.0.0.1:" + port}, 200},
		{header{"Origin": "http://localhost:" + port}, 200},
		{header{"Origin": "http://[::1]:" + port}, 200},
		{header{"Origin": "https://app.example"}, 200},
		{header{"Origin": "https://app.example", "Sec-Fetch-Site": "cross-site"}, 200}, // a person trusts it
		{header{"Origin": "http://evil.example"}, 403},
		{header{"Origin": "http://evil.example:" + port}, 403},
		{header{"Origin": "null"}, 403},
		{header{"Origin": "http://127.0.0.1:9"}, 403},
		{header{"Origin": "http://127.0.0.1"}, 403},
		{header{"Origin": "http://localhost:" + port + ".evil.example"}, 403},
		{header{"Origin": "http://localhost:" + port + "@evil.example"}, 403},
		{header{"Origin": "http://user@localhost:" + port}, 403},
		{header{"Origin": "https://localhost:" + port}, 403},
		{header{"Origin": "file://"}, 403},
		{header{"Origin": "https://app.example.evil.example"}, 403},
		{header{"Origin": "https://app.example", "Host": "evil.example"}, 403},

		{header{"Sec-Fetch-Site": "none"}, 200},
		{header{"Sec-Fetch-Site": "same-origin"}, 200},
		{header{"Sec-Fetch-Site": "cross-site"}, 403},
		{header{"Sec-Fetch-Site": "same-site"}, 403},
		{header{"Sec-Fetch-Site": "cross-site", "Origin": "http://127.0.0.1:" + port}, 403},
	} {
		all := first(boss)
		all["healthz"] = raw{method: "GET", path: "/healthz"}
		for kind, r := range all {
			status, why := p.status(r.with(c.header))
			if status != c.status || status == 403 && why == "" {
				t.Errorf("%s with %v: %d %s, want %d", kind, c.header, status, why, c.status)
			}
		}
	}
	// Who is turned away at the gate does not learn whether the token is good.
	for _, secret := range []string{boss, "wrong"} {
		if status, _ := p.status(first(secret)["legacy POST"].with(header{"Origin": "null"})); status != 403 {
			t.Errorf("%s: %d", secret, status)
		}
	}
}

// TestTwoOriginsAreNone, and neither is a request without a Host.
func TestTwoOriginsAreNone(t *testing.T) {
	t.Parallel()
	p := serve(t)
	for text, want := range map[string]string{
		"GET /healthz HTTP/1.1\r\nHost: localhost\r\nOrigin: http://" + p.addr + "\r\nOrigin: http://evil.example\r\n\r\n": "403",
		"GET /healthz HTTP/1.0\r\n\r\n":                                                              "403",
		"GET /healthz HTTP/1.1\r\n\r\n":                                                              "400",
		"GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n":                        "403",
		"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n":                     "400",
		"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n":                                              "404",
		"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 32<<10) + "\r\n\r\n": "431",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n":                                                           "",
	} {
		answer := p.wire(text)
		if want != "" && !strings.HasPrefix(answer, "HTTP/1.1 "+want) && !strings.HasPrefix(answer, "HTTP/1.0 "+want) {
			t.Errorf("%.80q: %.80q, want %s", text, answer, want)
		}
		if want == "" && strings.Contains(answer, " 200 ") {
			t.Errorf("%.80q: %.80q", text, answer)
		}
	}
}

// TestThereIsNothingElse: other methods and paths, no CORS, and a health check that says nothing.
func TestThereIsNothingElse(t *testing.T) {
	t.Parallel()
	p := serve(t)
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/healthz", 200}, {"HEAD", "/healthz", 200}, {"POST", "/healthz", 405}, {"GET", "/healthz/", 404},
		{"GET", "/", 404}, {"GET", "/mcp/", 404}, {"GET", "/sse/x", 404}, {"GET", "/.well-known/oauth-protected-resource", 404},
		{"OPTIONS", "/mcp", 405}, {"PUT", "/mcp", 405}, {"HEAD", "/mcp", 405}, {"TRACE", "/mcp", 405},
		{"DELETE", "/sse", 405}, {"OPTIONS", "/sse", 405}, {"PATCH", "/sse", 405},
	} {
		resp := p.send(raw{c.method, c.path, map[string]string{"Authorization": "Bearer " + boss, "Access-Control-Request-Method": "POST"}, ""})
		if resp.StatusCode != c.status || c.status == 405 != (resp.Header.Get("Allow") != "") {
			t.Errorf("%s %s: %s %v", c.method, c.path, resp.Status, resp.Header)
		}
		for name := range resp.Header {
			if strings.HasPrefix(name, "Access-Control-") || name == "Server" || name == "X-Powered-By" {
				t.Errorf("%s %s: %s", c.method, c.path, name)
			}
		}
		if resp.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s %s: no nosniff", c.method, c.path)
		}
	}
	if answer := p.wire("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"); !strings.HasSuffix(answer, "\r\n\r\nok") {
		t.Errorf("healthz says %q", answer)
	}
}

// TestAnAddressIsANameOfItself: which address a connection was made to is known, whatever the server listens at; and with
// TLS pages of its own are https.
func TestAnAddressIsANameOfItself(t *testing.T) {
	t.Parallel()
	here := &net.TCPAddr{IP: net.ParseIP("192.0.2.7"), Port: 443}
	g := guard{tls: true}
	for host, want := range map[string]bool{"192.0.2.7": true, "192.0.2.7:443": true, "[::ffff:192.0.2.7]:443": true, "192.0.2.8": false,
		"": false, ":443": false, "localhost:x": false, "a:b:c": false, "[": false} {
		if g.host(host, here) != want {
			t.Errorf("host %q: %v", host, !want)
		}
	}
	if g.host("192.0.2.7", &net.UnixAddr{Name: "/x"}) || g.host("192.0.2.7", nil) {
		t.Error("a socket has no address")
	}
	for origin, want := range map[string]bool{"https://localhost": true, "https://localhost:443": true, "http://localhost:443": false,
		"https://192.0.2.7": false, "": false, "localhost:443": false, "https://localhost/": false, "https://localhost?": false, "https://localhost#": false, "https://a@localhost": false} {
		if g.own(origin, here) != want {
			t.Errorf("origin %q: %v", origin, !want)
		}
	}
	if g.own("https://localhost", &net.UnixAddr{Name: "/x"}) {
		t.Error("a socket has no pages")
	}
}

// wire sends bytes as they are and returns what comes back until the other end closes.
func (p *place) wire(text string) string {
	p.t.Helper()
	c, err := net.Dial("tcp", p.addr)
	if err != nil {
		p.t.Fatal(err)
	}
	defer c.Close()
	if !strings.Contains(text, "Connection: close") {
		text = strings.Replace(text, "\r\n", "\r\nConnection: close\r\n", 1)
	}
	if _, err := c.Write([]byte(text)); err != nil {
		p.t.Fatal(err)
	}
	return readAll(c)
}

// readAll reads until the end, however it comes.
func readAll(c net.Conn) string {
	var b strings.Builder
	buf := make([]byte, 4096)
	for {
		n, err := c.Read(buf)
		b.Write(buf[:n])
		if err != nil {
			return b.String()
		}
	}
}
