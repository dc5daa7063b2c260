// Package internal contains only folders. Its tests hold the rule of what they may import, and the
// limits of size.
package internal

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

const module = "github.com/ferrus-go/ferrus"

// folders are the children of internal from the bottom up, and for each the folders that its packages may import. They stand
// above it in this list, so that no cycle of folders is possible. A new folder or a new arrow is a decision, to be written in
// docs/decisions. Packages of one folder import one another as they like.
var folders = []struct{ name, imports string }{
	{"lease", ""},
	{"platform", "lease"},
	{"state", "platform"},
	{"store", "lease platform state"},
	{"worktree", "platform state"},
	{"agents", "platform state store worktree"},
	{"config", "platform state agents"},
	{"project", "lease platform state store worktree agents config"},
	{"engine", "lease platform state store worktree agents config project"},
	{"pipeline", "lease platform agents config project"},
	{"tools", "platform state store agents config project engine pipeline"},
	{"conductor", "platform state store worktree agents config project engine pipeline"},
	{"server", "platform state store agents config project engine tools"},
	{"status", "lease platform state store worktree agents config project engine pipeline tools conductor server"},
	{"ui", "platform state store agents project engine conductor status"},
	{"cli", "lease platform state store worktree agents config project engine pipeline tools conductor server status ui"},
}

// mayImport reports whether a package may import another, both by their folders below the module. Test kits are imported by tests
// and by one another, and import what they like; programs import what has a main function to call.
func mayImport(pkg, other string) bool {
	from, to := folder(pkg), folder(other)
	switch {
	case strings.HasSuffix(pkg, "test"), strings.HasPrefix(pkg, "test/"), strings.HasPrefix(pkg, "docs/"):
		return true
	case strings.HasSuffix(other, "test"), strings.HasPrefix(other, "test/"):
		return false
	case strings.HasPrefix(pkg, "cmd/"), strings.HasPrefix(pkg, "packaging/"):
		return to == "cli" || to == "server"
	case other == ".": // the files that ferrus brings along
		return true
	}
	at := place(from)
	return at >= 0 && (from == to || slices.Contains(strings.Fields(folders[at].imports), to))
}

// place returns the index of a folder in the list, -1 for one that is not there.
func place(name string) int {
	return slices.IndexFunc(folders, func(f struct{ name, imports string }) bool { return f.name == name })
}

// folder returns the child of internal that a package lies in, "" for a package elsewhere.
func folder(pkg string) string {
	rest, _ := strings.CutPrefix(pkg, "internal/")
	name, _, _ := strings.Cut(rest, "/")
	if rest == pkg {
		return ""
	}
	return name
}

// exceptions are uses that are forbidden elsewhere, with the reason.
var exceptions = map[string]string{
	"internal/cli/root os.Exit":                  "it is the main function of ferrus, where tests can call it",
	"internal/engine/checks os.Exit":             "the helper of a check is a process of its own that no main of ours has begun",
	"internal/platform/sandbox os.Exit":          "a stage becomes the command, or ends",
	"internal/platform/sandbox/attack fmt.Print": "a process that is an attack says what it has read",
	"internal/platform/sandbox/attack os.Stdout": "a process that is an attack says what it has read",
	"internal/platform/sandbox/attack os.Exit":   "a process that is an attack says by its code what came of it",
	"internal/engine/checks os.Stdout":           "the helper tells its parent the outcome, over a pipe",
	"internal/agents/process os.Exit":            "the shim of an agent is a process of its own that no main of ours has begun",
	"internal/agents/process os.Stdout":          "the shim tells its starter how the start went, over a pipe",
	"internal/server os.Stdout":                  "the stream of the protocol",

	"internal/platform/proc path/filepath.Glob": "the folder is /proc",
	"test/bench path/filepath.Glob":             "it is no part of ferrus",
	"test/faults path/filepath.Glob":            "it is no part of ferrus",
	"test/postgrestest path/filepath.Glob":      "it is no part of ferrus",
}

var (
	// pure packages get time and randomness as arguments and touch nothing outside.
	pure    = []string{"internal/lease", "internal/state", "internal/pipeline", "internal/config/workflow", "internal/config/rules"}
	impure  = []string{"os", "io/fs", "path/filepath", "net", "syscall", "log", "math/rand", "crypto/rand", "golang.org/x/sys"}
	clock   = []string{"Now", "Since", "Until", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Sleep"}
	exits   = []string{"os.Exit", "log.Fatal", "log.Fatalf", "log.Fatalln", "syscall.Exit"}
	prints  = []string{"fmt.Print", "fmt.Printf", "fmt.Println", "os.Stdout"}
	dear    = []string{"regexp.MustCompile", "html/template.Must", "text/template.Must"} // each process pays for a variable of a package
	maximum = 400                                                                        // lines of a file that a person writes
)

func TestImportsFollowTheTable(t *testing.T) {
	for _, c := range inspect(os.DirFS("..")) {
		t.Error(c)
	}
}

// TestEveryBrokenRuleIsSeen plants each of them once, so that none of the rules is a rule in name only.
func TestEveryBrokenRuleIsSeen(t *testing.T) {
	const doc = "// Package x is a package.\n"
	long := strings.Repeat("// A line.\n", maximum)
	for _, c := range []struct{ file, text, want string }{
		{"internal/store/a.go", doc + "package store\nimport _ \"" + module + "/internal/lease\"", ""},
		{"internal/store/file/a.go", doc + "package file\nimport _ \"" + module + "/internal/store\"", ""},
		{"internal/store/a.go", doc + "package store\nimport _ \"" + module + "/test/kit\"", "internal/store/a.go:3: internal/store may not import test/kit"},
		{"internal/engine/enginetest/a.go", doc + "package enginetest\nimport _ \"" + module + "/test/kit\"", ""},
		{"cmd/ferrusd/a.go", "// Command ferrusd is one.\npackage main\nimport _ \"" + module + "/internal/store\"", "cmd/ferrusd/a.go:3: cmd/ferrusd may not import internal/store"},
		{"internal/lease/a.go", doc + "package lease\nimport _ \"" + module + "/internal/state\"",
			"internal/lease/a.go:3: internal/lease may not import internal/state"},
		{"internal/engine/a.go", doc + "package engine\nimport _ \"" + module + "/internal/conductor\"",
			"internal/engine/a.go:3: internal/engine may not import internal/conductor"},
		{"internal/engine/checks/a_windows.go", doc + "package checks\nimport _ \"" + module + "/internal/tools\"",
			"internal/engine/checks/a_windows.go:3: internal/engine/checks may not import internal/tools"},
		{"internal/engine/checks/a_test.go", doc + "package checks\nimport _ \"" + module + "/internal/state\"", ""},
		{"internal/util/a.go", doc + "package util", "internal/util: util is none of the folders of internal/imports_test.go"},

		{"internal/state/a.go", "package state", "internal/state: no package comment"},
		{"internal/state/a.go", "// State is a package.\npackage state", "internal/state: no package comment"},
		{"internal/state/a.go", "// Package state is split.\n\npackage state", "internal/state: no package comment"},
		{"cmd/ferrus/a.go", "// Command ferrus is a command.\npackage main", ""},

		{"internal/state/a.go", doc + "package state\n" + long, "internal/state/a.go: 402 lines, more than 400: one idea a file"},
		{"internal/state/a_test.go", doc + "package state\n" + long, ""},
		{"internal/state/a.go", "// Code generated by x. DO NOT EDIT.\n\n" + doc + "package state\n" + long, ""},

		{"internal/lease/a.go", doc + "package lease\nimport \"time\"\nvar x = time.Now()",
			"internal/lease/a.go:4: internal/lease is pure: time.Now"},
		{"internal/lease/a.go", doc + "package lease\nimport clock \"time\"\nvar x = clock.Since",
			"internal/lease/a.go:4: internal/lease is pure: time.Since"},
		{"internal/lease/a.go", doc + "package lease\nimport \"time\"\nvar x = time.Second", ""},
		{"internal/state/a.go", doc + "package state\nimport \"os\"",
			"internal/state/a.go:3: internal/state is pure: import of os"},
		{"internal/state/a.go", doc + "package state\nimport \"os/exec\"",
			"internal/state/a.go:3: internal/state is pure: import of os/exec"},
		{"internal/state/a.go", doc + "package state\nimport . \"time\"",
			"internal/state/a.go:3: import of everything of time: say what is whose"},

		{"internal/store/a.go", doc + "package store\nimport \"os\"\nfunc f() { os.Exit(1) }",
			"internal/store/a.go:4: os.Exit: only main ends the process"},
		{"internal/conductor/a.go", doc + "package hq\nimport \"log\"\nfunc f() { log.Fatal() }",
			"internal/conductor/a.go:4: log.Fatal: only main ends the process"},
		{"cmd/ferrusd/a.go", doc + "package main\nimport \"os\"\nfunc main() { os.Exit(1) }", ""},

		{"internal/tools/a.go", doc + "package tools\nimport \"fmt\"\nfunc f() { fmt.Println() }",
			"internal/tools/a.go:4: fmt.Println: the stdout of ferrusd is the stream of the protocol"},
		{"internal/config/a.go", doc + "package config\nimport \"os\"\nvar out = os.Stdout",
			"internal/config/a.go:4: os.Stdout: the stdout of ferrusd is the stream of the protocol"},
		{"internal/server/a.go", doc + "package server\nimport \"os\"\nvar out = os.Stdout", ""},
		{"internal/server/a.go", doc + "package server\nimport \"fmt\"\nfunc f() { fmt.Print() }",
			"internal/server/a.go:4: fmt.Print: the stdout of ferrusd is the stream of the protocol"},
		{"internal/cli/task/a.go", doc + "package task\nimport \"fmt\"\nfunc f() { fmt.Println() }", ""},

		{"internal/project/gc/a.go", doc + "package gc\nimport \"path/filepath\"\nfunc f() { filepath.Glob(dir + \"/*\") }",
			"internal/project/gc/a.go:4: path/filepath.Glob: a folder that a person named is no pattern: fs.Glob in os.DirFS"},

		{"internal/tools/a.go", doc + "package tools\nimport \"regexp\"\nvar x = []*regexp.Regexp{regexp.MustCompile(`a`)}",
			"internal/tools/a.go:4: regexp.MustCompile in a variable of the package, which every process would compile: safetext.Lazily, or a sync.OnceValue"},
		{"internal/tools/a.go", doc + "package tools\nimport \"regexp\"\nvar x = func() *regexp.Regexp { return regexp.MustCompile(`a`) }", ""},
		{"internal/tools/a.go", doc + "package tools\nimport \"regexp\"\nfunc f() { var x = regexp.MustCompile(`a`) }", ""},

		{"internal/state/a.go", "package", "internal/state/a.go:1:8: expected 'IDENT', found 'EOF'"},
		{"internal/state/testdata/a.go", "package", ""},
		{".git/a.go", "package", ""},
	} {
		got := strings.Join(inspect(fstest.MapFS{c.file: {Data: []byte(c.text)}}), "\n")
		if got != c.want {
			t.Errorf("%s\n%.200s\ngot  %q\nwant %q", c.file, c.text, got, c.want)
		}
	}
}

// TestFoldersImportOneWay: each folder of the list is there, and imports only those above it.
func TestFoldersImportOneWay(t *testing.T) {
	var above, there []string
	for _, f := range folders {
		for to := range strings.FieldsSeq(f.imports) {
			if !slices.Contains(above, to) {
				t.Errorf("%s may import %s, which does not stand above it", f.name, to)
			}
		}
		above = append(above, f.name)
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			there = append(there, e.Name())
		}
	}
	if slices.Sort(above); !slices.Equal(above, there) {
		t.Errorf("the folders are %v, the list has %v", there, above)
	}
}

// inspect returns what is out of order in a tree of packages.
func inspect(tree fs.FS) []string {
	h := inspection{documented: map[string]bool{}}
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if skip(tree, name) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		h.file(name, text)
		return nil
	})
	if err != nil {
		h.complain("%v", err)
	}
	for _, dir := range slices.Sorted(maps.Keys(h.documented)) {
		if in := folder(dir); in != "" && place(in) < 0 {
			h.complain("%s: %s is none of the folders of internal/imports_test.go", dir, in)
		}
		if !h.documented[dir] {
			h.complain("%s: no package comment", dir)
		}
	}
	return h.complaints
}

// skip reports whether the folder is none of ours: what go build does not look at, and what is another module.
func skip(tree fs.FS, dir string) bool {
	if dir == "." {
		return false
	}
	base := path.Base(dir)
	_, err := fs.Stat(tree, dir+"/go.mod")
	return base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || err == nil
}

type inspection struct {
	documented map[string]bool // the packages seen, and whether they have a package comment
	complaints []string
}

func (h *inspection) complain(format string, args ...any) {
	h.complaints = append(h.complaints, fmt.Sprintf(format, args...))
}

func (h *inspection) file(name string, text []byte) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		h.complain("%v", err)
		return
	}
	dir := path.Dir(name)
	comment := f.Doc.Text()
	h.documented[dir] = h.documented[dir] || strings.HasPrefix(comment, "Package ") ||
		f.Name.Name == "main" && comment != ""
	if lines := bytes.Count(text, []byte("\n")); lines > maximum && !ast.IsGenerated(f) {
		h.complain("%s: %d lines, more than %d: one idea a file", name, lines, maximum)
	}

	names := map[string]string{} // what a package is called in this file, and what it is
	for _, spec := range f.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		where := fmt.Sprintf("%s:%d", name, files.Position(spec.Pos()).Line)
		local := path.Base(imported)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		names[local] = imported
		h.imports(where, dir, imported, local)
	}
	each := func(in ast.Node, into bool, see func(where, what string)) {
		ast.Inspect(in, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit, *ast.FuncDecl:
				return into
			case *ast.SelectorExpr:
				if pkg, ok := n.X.(*ast.Ident); ok && names[pkg.Name] != "" {
					see(fmt.Sprintf("%s:%d", name, files.Position(n.Pos()).Line), names[pkg.Name]+"."+n.Sel.Name)
				}
			}
			return true
		})
	}
	each(f, true, func(where, what string) { h.uses(where, dir, f.Name.Name, what) })
	each(f, false, func(where, what string) {
		if folder(dir) != "" && slices.Contains(dear, what) {
			h.complain("%s: %s in a variable of the package, which every process would compile: safetext.Lazily, or a sync.OnceValue", where, what)
		}
	})
}

func (h *inspection) imports(where, dir, imported, local string) {
	if local == "." {
		h.complain("%s: import of everything of %s: say what is whose", where, imported)
	}
	for _, no := range impure {
		if slices.Contains(pure, dir) && (imported == no || strings.HasPrefix(imported, no+"/")) {
			h.complain("%s: %s is pure: import of %s", where, dir, imported)
		}
	}
	if ours, ok := strings.CutPrefix(imported+"/", module+"/"); ok {
		ours = cmp.Or(strings.TrimSuffix(ours, "/"), ".")
		if !mayImport(dir, ours) {
			h.complain("%s: %s may not import %s", where, dir, ours)
		}
	}
}

func (h *inspection) uses(where, dir, pkg, what string) {
	if exceptions[dir+" "+what] != "" {
		return
	}
	if name, ok := strings.CutPrefix(what, "time."); ok && slices.Contains(pure, dir) && slices.Contains(clock, name) {
		h.complain("%s: %s is pure: %s", where, dir, what)
	}
	if pkg != "main" && slices.Contains(exits, what) {
		h.complain("%s: %s: only main ends the process", where, what)
	}
	if what == "path/filepath.Glob" {
		h.complain("%s: %s: a folder that a person named is no pattern: fs.Glob in os.DirFS", where, what)
	}
	if in := folder(dir); in != "" && in != "cli" && !strings.HasSuffix(dir, "test") && slices.Contains(prints, what) {
		h.complain("%s: %s: the stdout of ferrusd is the stream of the protocol", where, what)
	}
}
