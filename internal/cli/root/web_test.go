package root_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/cli/root"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/tlstest"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Main(m.Run)) }

// once runs a command that ends by itself.
func once(t *testing.T, args ...string) (code int, stderr string) {
	t.Helper()
	var errs bytes.Buffer
	a := &cli.App{In: strings.NewReader(""), Out: io.Discard, Err: &errs}
	ctx, cancel := context.WithTimeout(t.Context(), kit.Patience/4)
	defer cancel()
	return root.Run(a, ctx, args), errs.String()
}

// TestAnAgentDoesNotStartThePage, nor does a command line that would send the page over a network without TLS.
func TestAnAgentDoesNotStartThePage(t *testing.T) {
	m := enginetest.Repository(t, enginetest.Gate("true"))
	missing := filepath.Join(t.TempDir(), "none.pem")
	for name, c := range map[string]struct {
		args []string
		want []string
	}{
		"all addresses":     {[]string{"--http", "0.0.0.0:0"}, []string{"other machines could reach it", "--tls-cert", "--url"}},
		"no host":           {[]string{"--http", ":0"}, []string{"other machines could reach it"}},
		"exposed, with url": {[]string{"--http", "0.0.0.0:0", "--url", "https://desk.example"}, []string{"other machines could reach it"}},
		"no address":        {[]string{"--http", "7433"}, []string{"is no address"}},
		"a url without TLS": {[]string{"--url", "http://desk.example"}, []string{"is no https address"}},
		"a url with a path": {[]string{"--url", "https://desk.example/x"}, []string{"is no https address"}},
		"half a pair":       {[]string{"--tls-cert", missing}, []string{"belong together"}},
		"no such file":      {[]string{"--tls-cert", missing, "--tls-key", missing}, []string{"none.pem"}},
		"no name":           {[]string{"--http", "0.0.0.0:0", "--tls-cert", missing, "--tls-key", missing}, []string{"the page has no name", "--url"}},
		"an argument":       {[]string{"x"}, nil},
	} {
		code, text := once(t, append([]string{"-C", m.Dir, "web"}, c.args...)...)
		if code != cli.ExitUsage {
			t.Errorf("%s: %d %s", name, code, text)
		}
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in %s", name, want, text)
			}
		}
	}
	if code, text := once(t, "-C", t.TempDir(), "web"); code != cli.ExitState || !strings.Contains(text, "ferrus init") {
		t.Errorf("no project: %d %s", code, text)
	}
	t.Setenv("FERRUS_AGENT", "executor:codex:1")
	if code, text := once(t, "-C", m.Dir, "web"); code != 4 || !strings.Contains(text, "FERRUS_AGENT is set") {
		t.Errorf("an agent's shell: %d %s", code, text)
	}
}

// A served page is one that ferrus web serves until the test ends.
type served struct {
	links   *bufio.Scanner
	enter   io.Writer
	address string // at which it listens
}

func serve(t *testing.T, args ...string) *served {
	t.Helper()
	in, enter := io.Pipe()
	out, print := io.Pipe()
	var errs bytes.Buffer
	a := &cli.App{In: in, Out: print, Err: &errs}
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan int, 1)
	go func() { ended <- root.Run(a, ctx, append(args, "web", "--json")) }()
	t.Cleanup(func() {
		end()
		enter.Close()
		out.Close()
		<-ended
		if errs.Len() > 0 && !strings.Contains(errs.String(), "context canceled") {
			t.Logf("stderr: %s", &errs)
		}
	})
	return &served{links: bufio.NewScanner(out), enter: enter}
}

// link is the next link that it prints.
func (s *served) link(t *testing.T) *url.URL {
	t.Helper()
	if !s.links.Scan() {
		t.Fatalf("no link: %v", s.links.Err())
	}
	var l struct {
		URL     string    `json:"url"`
		Expires time.Time `json:"expires_at"`
		Address string    `json:"address"`
	}
	if err := json.Unmarshal(s.links.Bytes(), &l); err != nil {
		t.Fatal(err)
	}
	if left := time.Until(l.Expires); left <= 0 || left > time.Minute {
		t.Errorf("the link is good for %s", left)
	}
	s.address = l.Address
	u, err := url.Parse(l.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestThePageIsReachedByItsOwnName at both addresses of the loopback, and by no other. Enter prints another link, and the one
// before is no longer good.
func TestThePageIsReachedByItsOwnName(t *testing.T) {
	t.Parallel()
	m := enginetest.Repository(t, enginetest.Gate("true"))
	s := serve(t, "-C", m.Dir)
	old := s.link(t)
	if !regexp.MustCompile(`^ferrus-[a-z2-7]{16}\.localhost:[0-9]+$`).MatchString(old.Host) || old.Scheme != "http" || old.Path != "/enter" {
		t.Errorf("%s", old)
	}
	addresses := []string{"127.0.0.1"}
	if l, err := net.Listen("tcp", "[::1]:0"); err == nil {
		l.Close()
		addresses = append(addresses, "::1")
	}
	for _, address := range addresses {
		for host, want := range map[string]int{old.Host: 200, "localhost:" + old.Port(): http.StatusMisdirectedRequest} {
			req, err := http.NewRequest("GET", "http://"+net.JoinHostPort(address, old.Port())+old.RequestURI(), nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Host = host
			resp, err := http.DefaultTransport.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			if text, _ := io.ReadAll(resp.Body); resp.StatusCode != want || want == 200 && !bytes.Contains(text, []byte("Log this browser in")) {
				t.Errorf("%s at %s: %s %s", host, address, resp.Status, text)
			}
			resp.Body.Close()
		}
	}
	if _, err := io.WriteString(s.enter, "\n"); err != nil {
		t.Fatal(err)
	}
	now := s.link(t)
	if now.Host != old.Host || now.RawQuery == old.RawQuery {
		t.Errorf("%s after %s", now, old)
	}
	post := func(u *url.URL) int {
		req, err := http.NewRequest("POST", "http://127.0.0.1:"+u.Port()+"/enter", strings.NewReader(u.RawQuery))
		if err != nil {
			t.Fatal(err)
		}
		req.Host = u.Host
		for name, value := range map[string]string{"Origin": "http://" + u.Host, "Sec-Fetch-Site": "same-origin", "Content-Type": "application/x-www-form-urlencoded"} {
			req.Header.Set(name, value)
		}
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	if got := post(old); got != http.StatusGone {
		t.Errorf("the old link: %d", got)
	}
	if got := post(now); got != http.StatusSeeOther {
		t.Errorf("the new link: %d", got)
	}
}

// TestAnotherAddressHasTLS: the cookie has the prefix by which a browser sends it over TLS to this host alone.
func TestAnotherAddressHasTLS(t *testing.T) {
	t.Parallel()
	m := enginetest.Repository(t, enginetest.Gate("true"))
	cert, key, trust := tlstest.Certificate(t, "desk.example")
	s := serve(t, "-C", m.Dir, "--http=0.0.0.0:0", "--url=https://desk.example", "--tls-cert="+cert, "--tls-key="+key)
	link := s.link(t)
	_, port, _ := net.SplitHostPort(s.address)
	if link.Scheme != "https" || link.Host != "desk.example" {
		t.Fatalf("%s", link)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trust}, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", "127.0.0.1:"+port)
	}}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequest("POST", "https://"+link.Host+"/enter", strings.NewReader(link.RawQuery))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Origin": "https://" + link.Host, "Sec-Fetch-Site": "same-origin", "Content-Type": "application/x-www-form-urlencoded"} {
		req.Header.Set(name, value)
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	cookie := resp.Header.Get("Set-Cookie")
	if resp.StatusCode != http.StatusSeeOther || !strings.HasPrefix(cookie, "__Host-ferrus=") || !strings.Contains(cookie, "; Secure") {
		t.Errorf("%s %s", resp.Status, cookie)
	}
}

// TestTheLinkNamesTheURL under which a proxy serves the page.
func TestTheLinkNamesTheURL(t *testing.T) {
	t.Parallel()
	m := enginetest.Repository(t, enginetest.Gate("true"))
	s := serve(t, "-C", m.Dir, "--url=https://Desk.example:443/")
	link := s.link(t)
	if link.Scheme+"://"+link.Host != "https://desk.example" {
		t.Fatalf("%s", link)
	}
	for host, want := range map[string]int{"desk.example": 200, "127.0.0.1": http.StatusMisdirectedRequest} {
		req, err := http.NewRequest("GET", "http://"+s.address+link.RequestURI(), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want || !strings.HasPrefix(resp.Header.Get("Strict-Transport-Security"), "max-age=") {
			t.Errorf("%s: %s %v", host, resp.Status, resp.Header)
		}
	}
}
