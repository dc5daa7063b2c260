package docs_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/test/golden"
)

// TestTheRequirementsAreFresh: docs/requirements.md names each requirement that a test names, and each of these tests.
func TestTheRequirementsAreFresh(t *testing.T) {
	named := map[string][]string{} // tests by requirement
	for _, name := range testFiles(t) {
		if strings.HasPrefix(name, "../docs/") {
			continue // this test
		}
		enterAll := inGo
		if strings.HasSuffix(name, ".txtar") {
			enterAll = inScript
		}
		if err := enterAll(named, name); err != nil {
			t.Fatal(err)
		}
	}
	for id := range named {
		if meaning[id] == "" {
			t.Errorf("%s has no meaning in the table of requirements: %v", id, named[id])
		}
	}
	for id := range meaning {
		if named[id] == nil {
			t.Errorf("%s: no test names it", id)
		}
	}
	golden.Check(t, "requirements.md", requirementsPage(named))
}

// ids finds requirements in a text: S1-04, F21, X5, and spans such as S1-06 to S1-08.
var ids = regexp.MustCompile(`\b(S[0-4]-|F|X)(\d{1,2})\b(?: to (S[0-4]-|F|X)(\d{2})\b)?`)

// requirementsIn returns the requirements that a text names.
func requirementsIn(text string) []string {
	var all []string
	for _, m := range ids.FindAllStringSubmatch(text, -1) {
		if len(m[2]) != 2 && m[1] != "X" {
			continue
		}
		first, last := number(m[2]), number(cmp.Or(m[4], m[2]))
		for n := first; n <= last; n++ {
			all = append(all, fmt.Sprintf("%s%0*d", m[1], len(m[2]), n))
		}
	}
	return all
}

func number(digits string) (n int) {
	fmt.Sscanf(digits, "%d", &n)
	return n
}

// inScript enters the requirements that the comments of a script name.
func inScript(named map[string][]string, name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			enter(named, "script "+strings.TrimSuffix(filepath.Base(name), ".txtar"), line)
		}
	}
	return nil
}

// inGo enters the requirements that the comments and the strings of a test file name.
func inGo(named map[string][]string, name string) error {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, name, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	dir := filepath.Dir(name)
	at := func(pos token.Pos, text string) error {
		if len(requirementsIn(text)) == 0 {
			return nil
		}
		tests, err := testsOf(dir, f, pos)
		if err != nil {
			return err
		}
		if len(tests) == 0 {
			tests = []string{filepath.Base(name)} // in a helper that many tests use
		}
		for _, test := range tests {
			enter(named, strings.TrimPrefix(strings.TrimPrefix(filepath.ToSlash(dir), "../"), "internal/")+" "+test, text)
		}
		return nil
	}
	for _, group := range f.Comments {
		if err := at(group.End(), group.Text()); err != nil {
			return err
		}
	}
	var failed error
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && failed == nil {
			failed = at(lit.Pos(), lit.Value)
		}
		return failed == nil
	})
	return failed
}

// testsOf are the tests that a position belongs to: the one that it is in, or those that use the variable that it is in.
func testsOf(dir string, f *ast.File, pos token.Pos) ([]string, error) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			begin := d.Pos()
			if d.Doc != nil {
				begin = d.Doc.Pos()
			}
			if begin <= pos && pos <= d.End() && isTest(d) {
				return []string{d.Name.Name}, nil
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok && v.Pos() <= pos && pos <= v.End() {
					return users(dir, v.Names[0].Name)
				}
			}
		}
	}
	return nil, nil
}

func isTest(d *ast.FuncDecl) bool {
	return d.Recv == nil && (strings.HasPrefix(d.Name.Name, "Test") || strings.HasPrefix(d.Name.Name, "Fuzz"))
}

// users are the tests of a folder that use a variable.
func users(dir, variable string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return nil, err
	}
	var tests []string
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			test, ok := d.(*ast.FuncDecl)
			if !ok || !isTest(test) {
				continue
			}
			ast.Inspect(test, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && id.Name == variable && !slices.Contains(tests, test.Name.Name) {
					tests = append(tests, test.Name.Name)
				}
				return true
			})
		}
	}
	return tests, nil
}

// enter notes that a test names the requirements of a text.
func enter(named map[string][]string, test, text string) {
	for _, id := range requirementsIn(text) {
		if !slices.Contains(named[id], test) {
			named[id] = append(named[id], test)
		}
	}
}

// requirementsPage is the page, from the table of requirements and the tests by requirement.
func requirementsPage(named map[string][]string) string {
	var b strings.Builder
	b.WriteString(`# Requirements

Generated by ` + "`go test ./docs -update`" + `; the meanings are in
` + "`docs/requirements_table_test.go`" + `. Tests name the requirements that they hold.
This page says what each id means and which tests name it, by their folder. A
script is a file ` + "`testdata/script/NAME.txtar`" + `.
`)
	for _, group := range groups {
		fmt.Fprintf(&b, "\n## %s: %s\n\n| id | requirement | tests |\n|---|---|---|\n", strings.TrimSuffix(group.prefix, "-"), group.title)
		for _, id := range slices.Sorted(maps.Keys(meaning)) {
			if strings.HasPrefix(id, group.prefix) {
				fmt.Fprintf(&b, "| %s | %s | %s |\n", id, meaning[id], listed(named[id]))
			}
		}
	}
	return b.String()
}

// listed are tests, each a folder and a name, with the folder once.
func listed(tests []string) string {
	var b strings.Builder
	last := ""
	for _, test := range slices.Sorted(slices.Values(tests)) {
		dir, name, _ := strings.Cut(test, " ")
		switch {
		case dir == last:
			b.WriteString(", ")
		case last != "":
			b.WriteString("; ")
		}
		if dir != last {
			b.WriteString(dir + ": ")
		}
		b.WriteString("`" + name + "`")
		last = dir
	}
	return b.String()
}

// TestASpanOfRequirementsNamesEach, and what only looks like one is none.
func TestASpanOfRequirementsNamesEach(t *testing.T) {
	got := strings.Join(requirementsIn("S1-06 to S1-08, F02, X5: 0xF00 F123 F5 S9-01 S1-4"), " ")
	if want := "S1-06 S1-07 S1-08 F02 X5"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
