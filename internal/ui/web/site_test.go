package web_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/cli/root"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/ui/web"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-test.") { // a run that the page has started, or a server of its agents
		root.Main()
	}
	os.Exit(enginetest.Main(m.Run))
}

// A browser is logged in to the site of a project, on the wire.
type browser struct {
	testing.TB
	m      *enginetest.Machine
	site   site
	addr   string
	origin string
	cookie string

	untrusted error
	opens     func(project.Place) (*engine.Engine, error)
}

// A site is what a browser is shown: a project, or all.
type site interface {
	Link() (string, time.Time)
	Serve(context.Context, []net.Listener, *tls.Config) error
}

// gate is a ferrus.toml without surprises.
var gate = enginetest.Gate("true")

// browse serves a project until the test ends, and logs a browser in.
func browse(t testing.TB, m *enginetest.Machine) *browser {
	t.Helper()
	b := &browser{TB: t, m: m, opens: func(p project.Place) (*engine.Engine, error) {
		opts := m.Opts
		opts.Look = true
		return engine.Open(p, opts)
	}}
	b.serve(func(ctx context.Context, origin string) (site, error) {
		opts := b.options(m.Dir)
		opts.Origin, opts.Version, opts.Log = origin, "test", enginetest.Quiet
		return web.New(ctx, opts)
	})
	return b
}

// options are those of a site of the project at root.
func (b *browser) options(root string) web.Options {
	return web.Options{Root: root, Open: func(p project.Place) (*engine.Engine, error) { return b.opens(p) },
		Do: func(ctx context.Context, what status.Act, values map[string]string) (status.Outcome, error) {
			return app.Do(ctx, root, "web", what, values)
		},
		Untrusted: func() error { return b.untrusted }}
}

var app = &cli.App{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Run: root.Run}

// serve serves a site until the test ends, and logs the browser in.
func (b *browser) serve(made func(ctx context.Context, origin string) (site, error)) {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.addr = l.Addr().String()
	b.origin = fmt.Sprintf("http://ferrus-test.localhost:%d", l.Addr().(*net.TCPAddr).Port)
	ctx, end := context.WithCancel(context.Background())
	if b.site, err = made(ctx, b.origin); err != nil {
		b.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- b.site.Serve(ctx, []net.Listener{l}, nil) }()
	b.Cleanup(func() {
		end()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	})
	link, _ := b.site.Link()
	_, code, _ := strings.Cut(link, "code=")
	resp := b.send("POST", "/enter", url.Values{"code": {code}}, nil)
	b.cookie, _, _ = strings.Cut(resp.Header.Get("Set-Cookie"), ";")
	if resp.StatusCode != http.StatusSeeOther || b.cookie == "" {
		b.Fatalf("%s", resp.Status)
	}
}

// send sends a request as the browser does, and reads no redirect.
func (b *browser) send(method, path string, form url.Values, headers map[string]string) *http.Response {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), method, "http://"+b.addr+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.Fatal(err)
	}
	req.Host = strings.TrimPrefix(b.origin, "http://")
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	if b.cookie != "" {
		req.Header.Set("Cookie", b.cookie)
	}
	if method == "POST" {
		req.Header.Set("Origin", b.origin)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { resp.Body.Close() })
	return resp
}

func read(t testing.TB, resp *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// get is a page, which must be there.
func (b *browser) get(path string) string {
	b.Helper()
	resp := b.send("GET", path, nil, nil)
	text := read(b, resp)
	if resp.StatusCode != http.StatusOK {
		b.Fatalf("%s: %s\n%s", path, resp.Status, text)
	}
	return text
}

// has requires texts in a page, and that no other is there.
func (b *browser) has(path string, texts ...string) string {
	b.Helper()
	page := b.get(path)
	for _, text := range texts {
		if want, ok := strings.CutPrefix(text, "!"); ok == strings.Contains(page, html.EscapeString(strings.TrimPrefix(want, "!"))) {
			b.Errorf("%s: %s\n%s", path, text, page)
		}
	}
	return page
}

var (
	aForm  = regexp.MustCompile(`(?s)<form method="post" action="[^"]*/act".*?</form>`)
	hidden = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)
)

// form is the form of an act in a page.
func form(t testing.TB, page, name string) url.Values {
	t.Helper()
	for _, f := range aForm.FindAllString(page, -1) {
		values := url.Values{}
		for _, field := range hidden.FindAllStringSubmatch(f, -1) {
			values.Set(field[1], html.UnescapeString(field[2]))
		}
		if values.Get("act") == name {
			return values
		}
	}
	t.Fatalf("no form of %s in\n%s", name, page)
	return nil
}

// with is a form with the values of fields.
func with(form url.Values, pairs ...string) url.Values {
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return form
}

// do sends a form, and returns the page that follows a success.
func (b *browser) do(path string, form url.Values) string {
	b.Helper()
	resp := b.send("POST", path, form, nil)
	if resp.StatusCode != http.StatusSeeOther {
		b.Fatalf("%s: %s\n%s", form, resp.Status, read(b, resp))
	}
	return b.get(resp.Header.Get("Location"))
}

// refused sends a form that must be refused with this status and these words.
func (b *browser) refused(path string, form url.Values, status int, words ...string) {
	b.Helper()
	resp := b.send("POST", path, form, nil)
	text := read(b, resp)
	if resp.StatusCode != status {
		b.Errorf("%s: %s\n%s", form, resp.Status, text)
	}
	for _, word := range words {
		if !strings.Contains(text, html.EscapeString(word)) {
			b.Errorf("no %q in\n%s", word, text)
		}
	}
}

// last is the newest line of the journal.
func last(t testing.TB, m *enginetest.Machine) (event, via string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(sharedtest.Journal(t, m.Dir, "")), "\n")
	var l struct {
		Event string
		Actor struct{ Via string }
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &l); err != nil {
		t.Fatal(err)
	}
	return l.Event, l.Actor.Via
}

func unescape(text string) string { return html.UnescapeString(text) }
