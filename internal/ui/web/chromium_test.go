package web_test

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/test/kit"
)

// withChromium is a flag: the tests with a browser install axe-core by npm, and take half a minute.
var (
	withChromium = flag.Bool("chromium", false, "run the tests with Chromium, and install axe-core by npm")
	update       = flag.Bool("update", false, "write the pictures of the documentation")
	pictures     = flag.String("pictures", "", "write a picture of each page at each size, light and dark, into this folder")
)

// axeVersion is the version of the accessibility rules that the pages are held to.
const axeVersion = "4.14.1"

// A screen is Chromium with one page.
type screen struct {
	testing.TB
	ctx  context.Context
	axe  string // its source
	keys bool   // the person has no mouse
}

// chromium starts Chromium, or skips the test with the reason.
func chromium(t *testing.T) *screen {
	t.Helper()
	if !*withChromium {
		t.Skip("a browser is run by: go test ./internal/ui/web -chromium")
	}
	program := ""
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skip("no Chromium: install chromium-headless-shell or chromium")
	}
	source, err := axe()
	if err != nil {
		t.Skip("no axe-core: " + err.Error())
	}
	var started *exec.Cmd
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox,
		// Debian's program is a script that waits for the real one: only the whole group can be ended.
		chromedp.ModifyCmdFunc(func(cmd *exec.Cmd) { cmd.SysProcAttr, started = proc.Leader(), cmd }))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	t.Cleanup(func() {
		if started != nil && started.Process != nil {
			proc.Of(started.Process).Kill()
		}
	})
	ctx, stop = context.WithTimeout(ctx, 10*time.Minute) // of what never ends
	t.Cleanup(stop)
	if err := chromedp.Run(ctx); err != nil {
		t.Fatal(err)
	}
	return &screen{TB: t, ctx: ctx, axe: source}
}

// axe is the source of axe-core, which is installed once.
var axe = sync.OnceValues(func() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "ferrus", "axe-"+axeVersion)
	file := filepath.Join(dir, "node_modules", "axe-core", "axe.min.js")
	if text, err := os.ReadFile(file); err == nil {
		return string(text), nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	out, err := exec.Command("npm", "install", "--prefix", dir, "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", "--fetch-retries=0",
		"axe-core@"+axeVersion).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("npm install: %v: %.200s", err, out)
	}
	text, err := os.ReadFile(file)
	return string(text), err
})

func (s *screen) run(what string, actions ...chromedp.Action) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.ctx, kit.Patience)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		var page string
		_ = chromedp.Run(s.ctx, chromedp.Text("body", &page, chromedp.ByQuery))
		s.Fatalf("%s: %v\n%s", what, err, page)
	}
}

// size gives the page the size of a screen, and a colour scheme.
func (s *screen) size(width, height int64, scheme string) {
	s.Helper()
	s.run("size", chromedp.EmulateViewport(width, height),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}))
}

// open opens an address of the site.
func (s *screen) open(address string) {
	s.Helper()
	s.run("open "+address, chromedp.Navigate(address), chromedp.WaitReady("main"))
}

// sees waits until the page shows a text. While a page gives way to another it shows nothing.
func (s *screen) sees(text string) {
	s.Helper()
	s.until("see", fmt.Sprintf(`((text) => document.readyState === "complete" && document.body.innerText.includes(text) ? "" : "no " + text)(%q)`, text))
}

// pressed presses an element as a finger does: it must be what is seen at its place. It looks and presses in one step of the page,
// because an open page exchanges its parts at any time.
const pressed = `((e) => {
	if (document.readyState !== "complete") return "the page is not loaded";
	if (!e) return "it is not there";
	e.scrollIntoView({ block: "center", behavior: "instant" });
	const at = e.getClientRects()[0];
	if (!at) return "it is not seen";
	const top = document.elementFromPoint(at.left + at.width / 2, at.top + at.height / 2);
	if (!e.contains(top)) return "it is covered by " + (top ? top.outerHTML.slice(0, 200) : "the edge of the page");
	e.focus();
	e.click();
	return "";
})(%s)`

// press presses the first element that a selector finds, as soon as it can be pressed.
func (s *screen) press(selector string) {
	s.Helper()
	if s.keys {
		s.tab(selector)
		s.run("enter", chromedp.KeyEvent(kb.Enter))
		return
	}
	s.until("press "+selector, fmt.Sprintf(pressed, fmt.Sprintf("document.querySelector(%q)", selector)))
}

// tab presses the tab key until the first element that a selector finds has the focus.
func (s *screen) tab(selector string) {
	s.Helper()
	where := ""
	for end := time.Now().Add(kit.Patience); time.Now().Before(end); {
		err := chromedp.Run(s.ctx, chromedp.KeyEvent(kb.Tab), chromedp.Evaluate(fmt.Sprintf(`((e) => document.readyState !== "complete" || !e ? "it is not there" :
			document.activeElement === e ? "" : document.activeElement.outerHTML.slice(0, 200))(document.querySelector(%q))`, selector), &where))
		if err == nil && where == "" {
			return
		}
	}
	s.Fatalf("the tab key does not reach %s: %s", selector, where)
}

// follow presses the first link with a text.
func (s *screen) follow(text string) {
	s.Helper()
	s.until("follow "+text, fmt.Sprintf(pressed, fmt.Sprintf("[...document.links].find((a) => a.textContent.trim() === %q)", text)))
}

// write writes into a field, which then has the focus: the page leaves alone what somebody writes in.
func (s *screen) write(selector, text string) {
	s.Helper()
	if s.keys {
		s.tab(selector)
	}
	s.until("write into "+selector, fmt.Sprintf(`((e) => {
	if (document.readyState !== "complete" || !e) return "it is not there";
	e.focus();
	return document.activeElement === e ? "" : "it takes no focus";
})(document.querySelector(%q))`, selector))
	s.run("write", input.InsertText(text))
}

// until evaluates an expression until it is the empty string; before, it says what is missing.
func (s *screen) until(what, expression string) {
	s.Helper()
	end := time.Now().Add(kit.Patience)
	missing := ""
	for time.Now().Before(end) {
		if err := chromedp.Run(s.ctx, chromedp.Evaluate(expression, &missing)); err != nil {
			missing = err.Error() // one page gives way to another
		} else if missing == "" {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	var page string
	_ = chromedp.Run(s.ctx, chromedp.Text("body", &page, chromedp.ByQuery))
	s.Fatalf("%s: %s, in\n%s", what, missing, page)
}

// accessible requires that axe finds nothing, and that nothing is wider than the screen, at both sizes and in both schemes.
func (s *screen) accessible(what string) {
	s.Helper()
	for _, width := range []int64{1280, 390} {
		for _, scheme := range []string{"light", "dark"} {
			s.size(width, 900, scheme)
			var wide, script bool
			for _, f := range s.violations() {
				s.Errorf("%s at %d, %s: %s", what, width, scheme, f)
			}
			s.run("look", chromedp.Evaluate("document.documentElement.scrollWidth > window.innerWidth", &wide),
				chromedp.Evaluate("Boolean(window.hacked || document.querySelector('main script, main img, main iframe'))", &script))
			if wide {
				s.Errorf("%s is wider than %d", what, width)
			}
			if script {
				s.Errorf("%s: a text has become an element", what)
			}
		}
	}
	for _, width := range []int64{1280, 390, 1680} {
		for _, scheme := range []string{"light", "dark"} {
			if *pictures != "" {
				s.capture(filepath.Join(*pictures, fmt.Sprintf("%s-%d-%s.png", strings.Map(plain, what), width, scheme)), width, 900, scheme)
			}
		}
	}
	s.size(1280, 900, "light")
}

// plain is a character of the name of a file.
func plain(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' {
		return r
	}
	return '-'
}

// tall is the height of the page in pixels.
func (s *screen) tall() (pixels int64) {
	s.Helper()
	s.run("height", chromedp.Evaluate("document.documentElement.scrollHeight", &pixels))
	return pixels
}

// violations are what axe finds in the page.
func (s *screen) violations() (found []string) {
	s.Helper()
	s.run("axe", chromedp.Evaluate(s.axe, nil), chromedp.Evaluate(`axe.run(document, {resultTypes: ["violations"]}).then((r) =>
		r.violations.flatMap((v) => v.nodes.map((n) => v.id + ": " + n.html.slice(0, 200) + " " + n.failureSummary.slice(0, 300))))`, &found, awaited))
	return found
}

// awaited waits for the promise that a script returns.
func awaited(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }

// picture writes what is seen into the documentation.
func (s *screen) picture(name string, width, height int64, scheme string) {
	s.Helper()
	if !*update {
		return
	}
	s.capture("../../../docs/pictures/"+name+".png", width, height, scheme)
	s.size(1280, 900, "light")
}

// capture writes what is seen at a size into a file.
func (s *screen) capture(file string, width, height int64, scheme string) {
	s.Helper()
	var image []byte
	s.size(width, height, scheme)
	s.run("picture", chromedp.CaptureScreenshot(&image))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(file, image, 0o644); err != nil {
		s.Fatal(err)
	}
}

// logIn logs the browser in by the button of a link, and shows that the link is used up.
func (s *screen) logIn(b *browser) {
	s.Helper()
	link, _ := b.site.Link()
	s.open(link)
	s.accessible("the link")
	s.press("main button")
	s.sees("Needs you")
	s.open(link)
	s.press("main button")
	s.sees("the link was used, replaced, or is older than a minute")
	s.open(b.origin + "/")
}

// TestTheCookieIsForThePageAlone: another server of the loopback, under every name that a page can name, receives no cookie,
// and its page can neither read the site nor act.
func TestTheCookieIsForThePageAlone(t *testing.T) {
	m := made(t)
	m.Begun()
	b := browse(t, m)
	s := chromium(t)
	var mu sync.Mutex
	var cookies []string
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	evil := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		cookies = append(cookies, r.Header.Get("Cookie"))
		mu.Unlock()
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<main>evil <form id="act" method="post" action="%s/act"><input name="act" value="reset"><button>x</button></form><img src="%[1]s/task"></main>`, b.origin)
	})}
	go evil.Serve(l)
	t.Cleanup(func() { evil.Close() })
	port := l.Addr().(*net.TCPAddr).Port
	s.logIn(b)
	for _, host := range []string{"localhost", "127.0.0.1", "evil.localhost", "ferrus.localhost"} {
		s.open(fmt.Sprintf("http://%s:%d/", host, port))
		var answer string
		s.run("fetch", chromedp.Evaluate(`fetch("`+b.origin+`/task", {credentials: "include"}).then((r) => r.text(), (e) => "blocked")`, &answer, awaited))
		if answer != "blocked" {
			t.Errorf("%s reads %.100s", host, answer)
		}
		if found := s.violations(); len(found) == 0 {
			t.Error("axe finds nothing on a page with faults")
		}
		s.press("#act button")
		s.sees("the form was not sent by a page of this address")
		s.sees("Load this page again")
	}
	mu.Lock()
	defer mu.Unlock()
	if got := strings.Join(cookies, ""); got != "" || len(cookies) < 4 {
		t.Errorf("%d requests with the cookies %q", len(cookies), got)
	}
	if event, _ := last(t, m); event != "claim" {
		t.Errorf("%s happened", event)
	}
}

func scrollTo(selector string) chromedp.Action {
	return chromedp.ScrollIntoView(selector, chromedp.ByQuery)
}
