package config

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

// match returns the regular files of the project's folder that a glob names. Only its last element has wildcards.
func (p candidate) match(glob string) []string {
	if !strings.ContainsAny(glob, "*?[") {
		if isFile(filepath.Join(p.root, p.dir, glob)) {
			return []string{glob}
		}
		return nil
	}
	within, last := path.Split(glob)
	entries, _ := os.ReadDir(filepath.Join(p.root, p.dir, within))
	var names []string
	for _, e := range entries {
		if ok, _ := path.Match(last, e.Name()); ok && e.Type().IsRegular() {
			names = append(names, within+e.Name())
		}
	}
	return names
}

// maxMatches is in how many files of one glob a text is looked for.
const maxMatches = 50

// holds reports whether a fact holds for the project's folder.
func (p candidate) holds(f fact) bool {
	is := f.files == nil && f.or == nil || slices.ContainsFunc(f.or, p.holds)
	for _, glob := range f.files {
		names := p.match(glob)
		if f.text == "" {
			is = is || len(names) > 0
			continue
		}
		is = is || slices.ContainsFunc(names[:min(len(names), maxMatches)], func(name string) bool {
			return regexp.MustCompile(f.text).MatchString(p.text(name))
		})
	}
	return is != f.not
}

// text returns the content of another program's file, "" when it cannot be read.
func (p candidate) text(name string) string {
	data, err := rootfs.ReadFile(filepath.Join(p.root, p.dir, name), maxProject)
	if err != nil {
		return ""
	}
	return string(data)
}

// script returns the first of names that is a script of the manifest, and its text. The placeholder of npm init, which always fails,
// is none.
func (p candidate) script(names []string) (name, text string) {
	var m struct{ Scripts map[string]any }
	if json.Unmarshal([]byte(p.text(p.marks[0])), &m) != nil {
		return "", "" // one that is broken has no scripts
	}
	for _, name := range names {
		text, ok := m.Scripts[name].(string)
		if list, isList := m.Scripts[name].([]any); isList && len(list) > 0 {
			text, ok = "a list", true
		}
		if ok && strings.TrimSpace(text) != "" && !strings.Contains(text, "no test specified") {
			return name, text
		}
	}
	return "", ""
}

// target returns the first of names that is a target of the file of a runner.
func (p candidate) target(names []string) string {
	var targets []string
	for line := range strings.Lines(p.text(p.manifest())) {
		before, after, ok := strings.Cut(line, ":")
		isAssignment := strings.HasPrefix(strings.TrimLeft(after, ":"), "=")
		if !ok || isAssignment || strings.HasPrefix(line, " ") || strings.ContainsAny(before, "\t#=$\"'") {
			continue
		}
		targets = append(targets, strings.Fields(strings.TrimPrefix(before, "@"))...)
	}
	for _, name := range names {
		if slices.Contains(targets, name) {
			return name
		}
	}
	return ""
}

var (
	useDirective = safetext.Lazily(`(?m)^\s*use\s*(\([^)]*\)|\S+)`)
	lineComment  = safetext.Lazily(`//.*`)
)

// packages names the modules of a workspace of Go, because ./... matches none of them at its root.
func (p candidate) packages() string {
	work := p.text("go.work")
	if work == "" {
		return "./..."
	}
	var patterns []string
	for _, use := range useDirective().FindAllStringSubmatch(lineComment().ReplaceAllString(work, ""), -1) {
		for _, w := range strings.Fields(strings.Trim(use[1], "()")) {
			if w = path.Clean(strings.Trim(w, "\"`")); w != "." && !strings.HasPrefix(w, "..") {
				w = "./" + w
			}
			patterns = append(patterns, shellWord(w+"/..."))
		}
	}
	return strings.Join(patterns, " ")
}

func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}
