package packaging_test

import (
	"html"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	reference = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	anchor    = regexp.MustCompile(` id="([^"]*)"`)
)

// TestTheSiteLeadsNowhereElse: each page of the documentation is in the site, each link within it names a page and a heading that are
// there, and nothing comes from elsewhere. Built again it is the same.
func TestTheSiteLeadsNowhereElse(t *testing.T) {
	dir := t.TempDir()
	maker := filepath.Join(dir, "make")
	for _, args := range [][]string{{"go", "build", "-o", maker, "./packaging/make"}, {maker, "site", filepath.Join(dir, "a"), "v1.2.3"}, {maker, "site", filepath.Join(dir, "b"), "v1.2.3"}} {
		build := exec.Command(args[0], args[1:]...)
		build.Dir = ".."
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	site := os.DirFS(filepath.Join(dir, "a"))
	pages, anchors := map[string]string{}, map[string]bool{}
	err := fs.WalkDir(site, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := fs.ReadFile(site, name)
		if err != nil {
			return err
		}
		if again, err := os.ReadFile(filepath.Join(dir, "b", name)); err != nil || string(again) != string(text) {
			t.Errorf("%s is another one the second time, %v", name, err)
		}
		pages[name] = string(text)
		for _, m := range anchor.FindAllStringSubmatch(string(text), -1) {
			if anchors[name+"#"+m[1]] {
				t.Errorf("%s has %s twice", name, m[1])
			}
			anchors[name+"#"+m[1]] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for name, text := range pages {
		if path.Ext(name) != ".html" {
			continue
		}
		for _, m := range reference.FindAllStringSubmatch(text, -1) {
			u, err := url.Parse(html.UnescapeString(m[1]))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if u.Scheme != "" {
				if strings.HasPrefix(m[0], "src") {
					t.Errorf("%s loads %s", name, m[1])
				}
				continue
			}
			links++
			to := path.Join(path.Dir(name), u.Path)
			if u.Path == "" {
				to = name
			}
			if pages[to] == "" || u.Fragment != "" && !anchors[to+"#"+u.Fragment] {
				t.Errorf("%s leads to %s, which is not there", name, m[1])
			}
		}
	}
	for _, folder := range []string{".", "docs", "docs/cli", "docs/decisions"} {
		sources, err := filepath.Glob(filepath.Join("..", folder, "*.md"))
		if err != nil || len(sources) == 0 {
			t.Errorf("%s: %v", folder, err)
		}
		for _, source := range sources {
			to := path.Join(folder, strings.TrimSuffix(filepath.Base(source), ".md")+".html")
			if filepath.Base(source) == "README.md" {
				to = path.Join(folder, "index.html")
			}
			title, _, _ := strings.Cut(pages[to], "</title>")
			if !strings.Contains(title, "<title>") || strings.Contains(title, "<title> ") || strings.Contains(title, "<title>·") {
				t.Errorf("%s has no page of its own, or no title: %s", source, title)
			}
		}
	}
	if links < 5000 {
		t.Errorf("only %d links were found", links)
	}
	search(t, filepath.Join(dir, "a"))
}

// search looks for words in a browser, if there is one, by the file of the site: nothing has to serve it.
func search(t *testing.T, dir string) {
	browser := ""
	for _, name := range []string{"chromium-headless-shell", "chromium"} {
		if at, err := exec.LookPath(name); err == nil && browser == "" {
			browser = at
		}
	}
	if browser == "" {
		t.Log("there is no Chromium: the search is not tried")
		return
	}
	for words, want := range map[string]string{
		"queue":           `<a href="../docs/queue.html">The queue</a>`,
		"Suspended LEASE": `until-the-answer.html">13. A lease is suspended until the answer</a><p>`,
		"xyzzy":           "No page has all these words.",
		"<b>":             "No page has all these words.",
		"((((":            "No page has all these words.",
		"eases":           "No page has all these words.", // words are found by their beginnings
	} {
		address := url.URL{Scheme: "file", Path: filepath.Join(dir, "docs", "index.html"), RawQuery: url.Values{"q": {words}}.Encode()}
		look := exec.Command(browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "--virtual-time-budget=10000", "--user-data-dir="+t.TempDir(), address.String())
		out, err := look.Output()
		_, found, _ := strings.Cut(string(out), `id="found"`)
		found, _, _ = strings.Cut(found, "</section>")
		if err != nil || !strings.Contains(found, want) || strings.Contains(found, "hidden") {
			t.Errorf("%q finds, %v:\n%s", words, err, found)
		}
	}
}
