package web

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// A gatePage is a gate on the wire, with a site behind it that says what reached it.
type gatePage struct {
	*testing.T
	gate         *Gate
	addr, origin string

	mu  sync.Mutex
	now time.Time
}

func serve(t *testing.T, scheme string) *gatePage {
	t.Helper()
	p := &gatePage{T: t, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.addr = l.Addr().String()
	p.origin = fmt.Sprintf("%s://x.localhost:%d", scheme, l.Addr().(*net.TCPAddr).Port)
	p.gate, err = NewGate(GateOptions{
		Origin: p.origin,
		Now:    func() time.Time { p.mu.Lock(); defer p.mu.Unlock(); return p.now },
		Ask:    func(w http.ResponseWriter, _ *http.Request, code string) { fmt.Fprintf(w, "button %s", code) },
		Refused: func(w http.ResponseWriter, _ *http.Request, why Refusal) {
			http.Error(w, why.Message+"; "+why.Remedy, why.Status)
		},
		Site: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "reached %s %s %s", r.Method, r.URL.Path, Token(r.Context(), ""))
		}),
		Files: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "file") }),
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(p.gate)
	server.Listener.Close()
	server.Listener = l
	server.Start()
	t.Cleanup(server.Close)
	return p
}

func (p *gatePage) later(d time.Duration) { p.mu.Lock(); defer p.mu.Unlock(); p.now = p.now.Add(d) }

// send sends a request as a browser would that shows a page of this origin, but for the headers that are named. "-" leaves
// one out.
func (p *gatePage) send(method, path, cookie, body string, headers map[string]string) *http.Response {
	p.Helper()
	req, err := http.NewRequest(method, "http://"+p.addr+path, strings.NewReader(body))
	if err != nil {
		p.Fatal(err)
	}
	req.Host = strings.TrimPrefix(strings.TrimPrefix(p.origin, "http://"), "https://")
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	if method == "POST" {
		req.Header.Set("Origin", p.origin)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if cookie != "" {
		req.Header.Set("Cookie", cookie)
	}
	for name, value := range headers {
		switch {
		case name == "Host":
			req.Host = value
		case value == "-":
			req.Header.Del(name)
		default:
			req.Header.Set(name, value)
		}
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { resp.Body.Close() })
	return resp
}

func bodyOf(t *testing.T, resp *http.Response) string {
	t.Helper()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(all)
}

// code returns the code of a new link.
func (p *gatePage) code() string {
	link, _ := p.gate.Link()
	code, ok := strings.CutPrefix(link, p.origin+"/enter?code=")
	if !ok || len(code) != 64 {
		p.Fatalf("the link %s", link)
	}
	return code
}

// enter lets a browser in, and returns its cookie and its form token.
func (p *gatePage) enter() (cookie, token string) {
	p.Helper()
	resp := p.send("POST", "/enter", "", "code="+p.code(), nil)
	if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/" {
		p.Fatalf("%s %s", resp.Status, bodyOf(p.T, resp))
	}
	cookie, _, _ = strings.Cut(resp.Header.Get("Set-Cookie"), ";")
	reached := bodyOf(p.T, p.send("GET", "/x", cookie, "", nil))
	token, ok := strings.CutPrefix(reached, "reached GET /x ")
	if !ok {
		p.Fatal(reached)
	}
	return cookie, token
}

// TestALinkIsUsedOnce, within a minute, and by its button only.
func TestALinkIsUsedOnce(t *testing.T) {
	t.Parallel()
	p := serve(t, "http")
	try := func(code string) int {
		return p.send("POST", "/enter", "", url.Values{"code": {code}}.Encode(), nil).StatusCode
	}
	code := p.code()
	for range 3 {
		resp := p.send("GET", "/enter?code="+code, "", "", map[string]string{"Sec-Fetch-Site": "-"})
		if got := bodyOf(t, resp); resp.StatusCode != 200 || got != "button "+code || resp.Header.Get("Set-Cookie") != "" {
			t.Errorf("a preview: %s %s", resp.Status, got)
		}
	}
	for _, wrong := range []string{"", "x", code[:63], code + "0", strings.Repeat("0", 64)} {
		if got := try(wrong); got != http.StatusGone {
			t.Errorf("the code %q: %d", wrong, got)
		}
	}
	if got := try(code); got != http.StatusSeeOther {
		t.Errorf("the first time: %d", got)
	}
	if got := try(code); got != http.StatusGone {
		t.Errorf("the second time: %d", got)
	}
	if got := try(""); got != http.StatusGone {
		t.Errorf("no code when there is no link: %d", got)
	}
	code = p.code()
	p.later(linkTerm - time.Nanosecond)
	if got := try(code); got != http.StatusSeeOther {
		t.Errorf("within the minute: %d", got)
	}
	code = p.code()
	p.later(linkTerm)
	if got := try(code); got != http.StatusGone {
		t.Errorf("after a minute: %d", got)
	}
	old := p.code()
	code = p.code()
	if got := try(old); got != http.StatusGone {
		t.Errorf("a link that another one has replaced: %d", got)
	}
	if got := try(code); got != http.StatusSeeOther {
		t.Errorf("the other one: %d", got)
	}
}

// TestOneOfManyUsesALink that is sent many times at once.
func TestOneOfManyUsesALink(t *testing.T) {
	t.Parallel()
	p := serve(t, "http")
	code := p.code()
	status := make(chan int)
	for range 20 {
		go func() { status <- p.send("POST", "/enter", "", "code="+code, nil).StatusCode }()
	}
	in := 0
	for range 20 {
		if <-status == http.StatusSeeOther {
			in++
		}
	}
	if in != 1 {
		t.Errorf("%d browsers were let in", in)
	}
}

// TestTheCookie is for this host alone, for no script, and for no request of another site.
func TestTheCookie(t *testing.T) {
	t.Parallel()
	for scheme, want := range map[string]string{
		"http":  "ferrus=V; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict",
		"https": "__Host-ferrus=V; Path=/; Max-Age=43200; HttpOnly; Secure; SameSite=Strict",
	} {
		p := serve(t, scheme)
		got := p.send("POST", "/enter", "", "code="+p.code(), nil).Header.Get("Set-Cookie")
		name, rest, _ := strings.Cut(got, "=")
		value, rest, _ := strings.Cut(rest, ";")
		if len(value) != 64 || name+"=V;"+rest != want {
			t.Errorf("%s: %s", scheme, got)
		}
	}
}

// TestWhatIsRefused: each row is a request that would be answered but for one thing.
func TestWhatIsRefused(t *testing.T) {
	t.Parallel()
	p := serve(t, "http")
	cookie, token := p.enter()
	_, port, _ := net.SplitHostPort(p.addr)
	form := "token=" + token
	for name, c := range map[string]struct {
		method, path, cookie, body string
		headers                    map[string]string
		want                       Refusal
	}{
		"a page":             {"GET", "/task", cookie, "", nil, Refusal{}},
		"typed address":      {"GET", "/task", cookie, "", map[string]string{"Sec-Fetch-Site": "none"}, Refusal{}},
		"capitals":           {"GET", "/task", cookie, "", map[string]string{"Host": "X.LocalHost:" + port}, Refusal{}},
		"an act":             {"POST", "/act", cookie, form, nil, Refusal{}},
		"head":               {"HEAD", "/task", cookie, "", nil, Refusal{}},
		"another cookie too": {"GET", "/task", "ferrus=0; " + cookie, "", nil, Refusal{}},

		"other name":            {"GET", "/task", cookie, "", map[string]string{"Host": "evil.example:" + port}, WrongHost},
		"plain localhost":       {"GET", "/task", cookie, "", map[string]string{"Host": "localhost:" + port}, WrongHost},
		"the address":           {"GET", "/task", cookie, "", map[string]string{"Host": p.addr}, WrongHost},
		"a name below":          {"GET", "/task", cookie, "", map[string]string{"Host": "y.x.localhost:" + port}, WrongHost},
		"other port":            {"GET", "/task", cookie, "", map[string]string{"Host": "x.localhost:1"}, WrongHost},
		"no port":               {"GET", "/task", cookie, "", map[string]string{"Host": "x.localhost"}, WrongHost},
		"other name, a link":    {"GET", "/enter", "", "", map[string]string{"Host": "evil.example"}, WrongHost},
		"other name, a file":    {"GET", "/static/x", "", "", map[string]string{"Host": "evil.example"}, WrongHost},
		"other name, an act":    {"POST", "/act", cookie, form, map[string]string{"Host": "evil.example"}, WrongHost},
		"put":                   {"PUT", "/act", cookie, form, nil, WrongMethod},
		"delete":                {"DELETE", "/act", cookie, "", nil, WrongMethod},
		"options":               {"OPTIONS", "/act", cookie, "", nil, WrongMethod},
		"no cookie":             {"GET", "/task", "", "", nil, NoSession},
		"a cookie of others":    {"GET", "/task", "ferrus=" + strings.Repeat("0", 64), "", nil, NoSession},
		"an empty cookie":       {"GET", "/task", "ferrus=", "", nil, NoSession},
		"the token as cookie":   {"GET", "/task", "ferrus=" + token, "", nil, NoSession},
		"another name":          {"GET", "/task", strings.Replace(cookie, "ferrus", "other", 1), "", nil, NoSession},
		"act without cookie":    {"POST", "/act", "", form, nil, NoSession},
		"leave without cookie":  {"POST", "/leave", "", form, nil, NoSession},
		"embedded elsewhere":    {"GET", "/task", cookie, "", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}, OtherSite},
		"a frame elsewhere":     {"GET", "/task", cookie, "", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}, OtherSite},
		"a neighbour's script":  {"GET", "/task", cookie, "", map[string]string{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"}, OtherSite},
		"a script with Origin":  {"GET", "/events", cookie, "", map[string]string{"Origin": "http://evil.example", "Sec-Fetch-Site": "-"}, OtherSite},
		"a null origin":         {"GET", "/events", cookie, "", map[string]string{"Origin": "null", "Sec-Fetch-Site": "-"}, OtherSite},
		"act, no origin":        {"POST", "/act", cookie, form, map[string]string{"Origin": "-"}, WrongOrigin},
		"act, null origin":      {"POST", "/act", cookie, form, map[string]string{"Origin": "null"}, WrongOrigin},
		"act, foreign origin":   {"POST", "/act", cookie, form, map[string]string{"Origin": "http://evil.example"}, WrongOrigin},
		"act, other port":       {"POST", "/act", cookie, form, map[string]string{"Origin": "http://x.localhost:1"}, WrongOrigin},
		"act, other scheme":     {"POST", "/act", cookie, form, map[string]string{"Origin": "https://x.localhost:" + port}, WrongOrigin},
		"act, longer origin":    {"POST", "/act", cookie, form, map[string]string{"Origin": p.origin + ".evil.example"}, WrongOrigin},
		"act, no site":          {"POST", "/act", cookie, form, map[string]string{"Sec-Fetch-Site": "-"}, OtherSite},
		"act, cross-site":       {"POST", "/act", cookie, form, map[string]string{"Sec-Fetch-Site": "cross-site"}, OtherSite},
		"act, same-site":        {"POST", "/act", cookie, form, map[string]string{"Sec-Fetch-Site": "same-site"}, OtherSite},
		"act, typed":            {"POST", "/act", cookie, form, map[string]string{"Sec-Fetch-Site": "none"}, OtherSite},
		"act as text":           {"POST", "/act", cookie, form, map[string]string{"Content-Type": "text/plain"}, WrongType},
		"act as JSON":           {"POST", "/act", cookie, form, map[string]string{"Content-Type": "application/json"}, WrongType},
		"act, no token":         {"POST", "/act", cookie, "", nil, OldForm},
		"act, empty token":      {"POST", "/act", cookie, "token=", nil, OldForm},
		"act, wrong token":      {"POST", "/act", cookie, "token=" + strings.Repeat("0", 64), nil, OldForm},
		"token in the address":  {"POST", "/act?token=" + token, cookie, "", nil, OldForm},
		"leave, no token":       {"POST", "/leave", cookie, "", nil, OldForm},
		"link, foreign origin":  {"POST", "/enter", "", "code=x", map[string]string{"Origin": "http://evil.example"}, WrongOrigin},
		"link, cross-site":      {"POST", "/enter", "", "code=x", map[string]string{"Sec-Fetch-Site": "cross-site"}, OtherSite},
		"link, code in address": {"POST", "/enter?code=CODE", "", "", nil, UsedLink},
	} {
		code := p.code()
		resp := p.send(c.method, strings.Replace(c.path, "CODE", code, 1), c.cookie, c.body, c.headers)
		got := bodyOf(t, resp)
		switch {
		case c.want.Status == 0 && (resp.StatusCode != 200 || c.method != "HEAD" && got != "reached "+c.method+" "+c.path+" "+token):
			t.Errorf("%s: %s %s", name, resp.Status, got)
		case c.want.Status != 0 && (resp.StatusCode != c.want.Status || got != c.want.Message+"; "+c.want.Remedy+"\n"):
			t.Errorf("%s: %s %s", name, resp.Status, got)
		case resp.Header.Get("Set-Cookie") != "":
			t.Errorf("%s sets a cookie", name)
		}
	}
}

// TestTwoOriginsAreNone: the header of a middleman must not hide behind that of the browser.
func TestTwoOriginsAreNone(t *testing.T) {
	t.Parallel()
	p := serve(t, "http")
	cookie, token := p.enter()
	host := strings.TrimPrefix(p.origin, "http://")
	for _, double := range []string{"Origin: " + p.origin, "Sec-Fetch-Site: same-origin"} {
		c, err := net.Dial("tcp", p.addr)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "POST /act HTTP/1.1\r\nHost: %s\r\nOrigin: %s\r\nSec-Fetch-Site: same-origin\r\n%s\r\nCookie: %s\r\n"+
			"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\ntoken=%s", host, p.origin, double, cookie, 6+len(token), token)
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s twice: %v %v", double, resp, err)
		}
		c.Close()
	}
}

// TestALinkOnAnotherPageCanBeFollowed: the browser sends no cookie with it, and the answer says what to do.
func TestALinkOnAnotherPageCanBeFollowed(t *testing.T) {
	t.Parallel()
	p := serve(t, "http")
	followed := map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
	if resp := p.send("GET", "/enter?code=x", "", "", followed); resp.StatusCode != 200 {
		t.Errorf("the link: %s", resp.Status)
	}
	if resp := p.send("GET", "/task", "", "", followed); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("a page: %s", resp.Status)
	}
}

// TestASessionEnds after its term, or when the person leaves; what it has open ends with it.
func TestASessionEnds(t *testing.T) {
	t.Parallel()
	p := serve(t, "http")
	cookie, token := p.enter()
	other, othersToken := p.enter()
	status := func(cookie string) int { return p.send("GET", "/", cookie, "", nil).StatusCode }
	if resp := p.send("POST", "/act", cookie, "token="+othersToken, nil); resp.StatusCode != http.StatusForbidden {
		t.Errorf("the token of another session: %s", resp.Status)
	}
	g := p.gate
	g.mu.Lock()
	sessions := len(g.sessions)
	g.mu.Unlock()
	if sessions != 2 {
		t.Fatalf("%d sessions", sessions)
	}
	resp := p.send("POST", "/leave", cookie, "token="+token, nil)
	if resp.StatusCode != http.StatusSeeOther || !strings.Contains(resp.Header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("leaving: %s %s", resp.Status, resp.Header.Get("Set-Cookie"))
	}
	if got := status(cookie); got != http.StatusUnauthorized {
		t.Errorf("afterwards: %d", got)
	}
	if got := status(other); got != 200 {
		t.Errorf("another browser: %d", got)
	}
	p.later(sessionTerm - time.Nanosecond)
	if got := status(other); got != 200 {
		t.Errorf("within its term: %d", got)
	}
	p.later(time.Nanosecond)
	if got := status(other); got != http.StatusUnauthorized {
		t.Errorf("after its term: %d", got)
	}
	p.enter()
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.sessions) != 1 {
		t.Errorf("%d sessions are left", len(g.sessions))
	}
}

// TestEveryAnswerIsProtected, a refusal as well.
func TestEveryAnswerIsProtected(t *testing.T) {
	t.Parallel()
	p := serve(t, "http")
	cookie, _ := p.enter()
	nonces := map[string]bool{}
	for name, resp := range map[string]*http.Response{
		"page": p.send("GET", "/", cookie, "", nil), "link": p.send("GET", "/enter", "", "", nil), "no cookie": p.send("GET", "/", "", "", nil),
		"file": p.send("GET", "/static/x", "", "", nil), "other host": p.send("GET", "/", cookie, "", map[string]string{"Host": "y"}),
		"entered": p.send("POST", "/enter", "", "code="+p.code(), nil),
	} {
		csp := resp.Header.Get("Content-Security-Policy")
		_, rest, ok := strings.Cut(csp, "script-src 'nonce-")
		nonce, _, _ := strings.Cut(rest, "'")
		want := "default-src 'none'; script-src 'nonce-N'; style-src 'nonce-N'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
		if !ok || len(nonce) != 32 || nonces[nonce] || strings.ReplaceAll(csp, nonce, "N") != want {
			t.Errorf("%s: %s", name, csp)
		}
		nonces[nonce] = true
		for header, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "X-Frame-Options": "DENY",
			"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin", "Referrer-Policy": "same-origin"} {
			if got := resp.Header.Get(header); got != want {
				t.Errorf("%s: %s: %s", name, header, got)
			}
		}
	}
}

// TestALargeBodyIsRefused before it is read to its end.
func TestALargeBodyIsRefused(t *testing.T) {
	t.Parallel()
	p := serve(t, "http")
	cookie, token := p.enter()
	body := "token=" + token + "&text=" + strings.Repeat("x", maxBody)
	if resp := p.send("POST", "/act", cookie, body, nil); resp.StatusCode != http.StatusForbidden {
		t.Errorf("%s", resp.Status)
	}
}
