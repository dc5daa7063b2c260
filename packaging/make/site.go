package main

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

//go:embed site
var siteFiles embed.FS

// A page is a Markdown file of the repository in the site: README.md is index.html in its folder, NAME.md is NAME.html.
type page struct {
	Source, Path string // from the root, with slashes
	Title        string
	Body         template.HTML
	Sections     []section
}

// A section is what the search finds: a heading and the text up to the next one.
type section struct {
	Page    string `json:"page"`    // its path
	Anchor  string `json:"anchor"`  // "" for the beginning of the page
	Title   string `json:"title"`   // of the page
	Heading string `json:"heading"` // "" for the beginning of the page
	Text    string `json:"text"`
}

// A chapter are pages below one heading of the index.
type chapter struct {
	Title string
	Links []struct{ Title, Path string }
}

// repository is where the site leads for a file that is no page.
const repository = "https://github.com/ferrus-go/ferrus"

var (
	chapterLine = regexp.MustCompile(`^## (.+)$`)
	linkLine    = regexp.MustCompile(`^- \[(.+?)\]\((\w[\w-]*\.md)\)`)
	notInSlug   = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// site writes the documentation as a static site into a folder: pages, an index for the search, and what they need. It fails for a link
// that leads nowhere.
func site(args []string) error {
	dir, version := args[0], args[1]
	pages, err := readPages()
	if err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	var index []section
	for _, p := range pages {
		index = append(index, p.Sections...)
	}
	found, err := json.Marshal(index)
	if err != nil {
		return err
	}
	// A script, because a page that was opened as a file may not fetch another one.
	if err := write(filepath.Join(dir, "index.js"), append(append([]byte("var sections = "), found...), ';', '\n'), 0o644); err != nil {
		return err
	}
	chapters, err := readChapters()
	if err != nil {
		return err
	}
	layout, err := template.ParseFS(siteFiles, "site/layout.html")
	if err != nil {
		return err
	}
	for _, p := range pages {
		var b bytes.Buffer
		up := strings.Repeat("../", strings.Count(p.Path, "/"))
		if err := layout.Execute(&b, map[string]any{"Page": p, "Up": up, "Version": version, "Chapters": chapters, "Repository": repository}); err != nil {
			return err
		}
		if err := write(filepath.Join(dir, filepath.FromSlash(p.Path)), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	for _, name := range []string{"style.css", "search.js"} {
		text, err := siteFiles.ReadFile("site/" + name)
		if err != nil {
			return err
		}
		if err := write(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return os.CopyFS(filepath.Join(dir, "docs", "pictures"), os.DirFS(filepath.Join("docs", "pictures")))
}

// readPages reads the Markdown files of the root, of docs and of its folders.
func readPages() ([]*page, error) {
	sources, err := fs.Glob(os.DirFS("."), "*.md")
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(os.DirFS("."), "docs", func(name string, e fs.DirEntry, err error) error {
		if err == nil && path.Ext(name) == ".md" {
			sources = append(sources, name)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var pages []*page
	for _, source := range sources {
		p, err := readPage(source)
		if err != nil {
			return nil, err
		}
		pages = append(pages, p)
	}
	return pages, nil
}

// pagePath is the path of the page of a Markdown file.
func pagePath(source string) string {
	if dir, name := path.Split(source); name == "README.md" {
		return dir + "index.html"
	}
	return strings.TrimSuffix(source, ".md") + ".html"
}

// isPage reports whether a file of the repository is a page of the site.
func isPage(file string) bool {
	return path.Ext(file) == ".md" && (path.Dir(file) == "." || strings.HasPrefix(file, "docs/"))
}

// readPage renders a Markdown file. Anchors are those that GitHub makes, so that a link works there and here.
func readPage(source string) (*page, error) {
	markdown, err := os.ReadFile(source)
	if err != nil {
		return nil, err
	}
	md := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	root := md.Parser().Parse(text.NewReader(markdown), parser.WithContext(parser.NewContext(parser.WithIDs(anchors{}))))
	p := &page{Source: source, Path: pagePath(source)}
	p.Sections = []section{{Page: p.Path}}
	var b bytes.Buffer
	err = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		var err error
		if n.Type() == ast.TypeBlock {
			p.add(" ")
		}
		switch n := n.(type) {
		case *ast.Link:
			n.Destination, err = p.destination(string(n.Destination))
		case *ast.Heading:
			p.heading(n, markdown)
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			p.add(string(n.Segment.Value(markdown)))
			if n.SoftLineBreak() {
				p.add(" ")
			}
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			p.add(string(n.Lines().Value(markdown)))
		}
		return ast.WalkContinue, err
	})
	if err != nil {
		return nil, err
	}
	if err := md.Renderer().Render(&b, markdown, root); err != nil {
		return nil, err
	}
	p.Body = template.HTML(b.String())
	for i := range p.Sections {
		p.Sections[i].Title = p.Title
		p.Sections[i].Text = strings.Join(strings.Fields(p.Sections[i].Text), " ")
	}
	return p, nil
}

// heading begins a section, or names the page.
func (p *page) heading(n *ast.Heading, markdown []byte) {
	var words strings.Builder
	ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			words.Write(t.Segment.Value(markdown))
		}
		return ast.WalkContinue, nil
	})
	if p.Title == "" {
		p.Title = words.String()
		return
	}
	id, _ := n.AttributeString("id")
	p.Sections = append(p.Sections, section{Page: p.Path, Anchor: string(id.([]byte)), Heading: words.String()})
}

// add adds a text to the section that was begun last.
func (p *page) add(words string) { p.Sections[len(p.Sections)-1].Text += words }

// destination is where a link of a page leads: to another page, or to a file of the repository.
func (p *page) destination(link string) ([]byte, error) {
	target, anchor, _ := strings.Cut(link, "#")
	if target == "" || strings.Contains(target, "://") {
		return []byte(link), nil
	}
	file := path.Join(path.Dir(p.Source), target)
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s leads to %s, which is not there", p.Source, link)
	case !isPage(file):
		kind := "blob"
		if info.IsDir() {
			kind = "tree"
		}
		return []byte(repository + "/" + kind + "/main/" + file), nil
	}
	to, err := filepath.Rel(path.Dir(p.Path), pagePath(file))
	if anchor != "" {
		to += "#" + anchor
	}
	return []byte(filepath.ToSlash(to)), err
}

// readChapters reads the chapters of the index of docs.
func readChapters() (chapters []chapter, err error) {
	markdown, err := os.ReadFile("docs/README.md")
	for line := range strings.Lines(string(markdown)) {
		line = strings.TrimSpace(line)
		if m := chapterLine.FindStringSubmatch(line); m != nil {
			chapters = append(chapters, chapter{Title: m[1]})
		} else if m := linkLine.FindStringSubmatch(line); m != nil && len(chapters) > 0 {
			last := &chapters[len(chapters)-1]
			last.Links = append(last.Links, struct{ Title, Path string }{m[1], pagePath("docs/" + m[2])})
		}
	}
	return chapters, err
}

// anchors names headings as GitHub does.
type anchors map[string]int

// Generate returns the anchor of a heading. The second of the same words has -1 after it.
func (a anchors) Generate(words []byte, _ ast.NodeKind) []byte {
	name := strings.ReplaceAll(notInSlug.ReplaceAllString(strings.ToLower(string(words)), ""), " ", "-")
	name = cmp.Or(name, "heading")
	n := a[name]
	a[name]++
	if n > 0 {
		name = fmt.Sprintf("%s-%d", name, n)
	}
	return []byte(name)
}

// Put takes an anchor that a heading has of its own.
func (a anchors) Put(name []byte) { a[string(name)]++ }
