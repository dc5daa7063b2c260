package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// lay writes the files of a small project, and goes there.
func lay(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

const storeGo = `package store

import "os"

// write does what "n := 1" says.
func (s *Store[T]) write() {
	n := 1
	use(n)
}

func write() {
	n := 1
	n++
}

type (
	Store[T any] struct{ at T }
	row          struct{ at int }
)

var rows = []row{
	{1},
	{2},
}
`

func TestAMutantIsFoundInItsDeclaration(t *testing.T) {
	lay(t, map[string]string{"a/store.go": storeGo, "a/store_test.go": "package store\n\nfunc tested() {}\n"})
	for text, want := range map[string]string{
		"@ a (*Store).write\n-n := 1\n+	n := 2":                       "(s *Store[T]) write() {\n\tn := 2\n",
		"@ a Store.write\n 	n := 1\n+	n++\n 	use(n)":                  "\tn := 1\n\tn++\n\tuse(n)\n",
		"@ a write\n-	n := 1\n-	n++":                                  "func write() {\n}\n",
		"@ a row\n-	row struct{ at int }\n+	row struct{ at, by int }": "\trow struct{ at, by int }\n)",
		"@ a rows\n-	{2},\n+	{3},":                                    "\t{1},\n\t{3},\n}\n",
		"@ a/store.go rows\n-	{2},":                                   "\t{1},\n}\n",
		"@ a/store.go\n-import \"os\"\n+import \"io\"":                "package store\n\nimport \"io\"\n",
		"@ a write\n-	use(n)":                                         "",
		"@ a/store.go\n-	n := 1":                                      "",
		"@ a/other.go rows\n-	{2},":                                   "",
		"@ a tested\n-func tested() {}":                               "",
		"@ b write\n-	n := 1":                                         "",
	} {
		file, got, err := Mutant{"m", strings.Split(text, "\n")}.apply(declarations{})
		if (err == nil) != (want != "") || !strings.Contains(got, want) || err == nil && file != "a/store.go" {
			t.Errorf("%s\n%s: %q, %v", text, file, got, err)
		}
	}
}

func TestWhatIsNoMutantIsRefused(t *testing.T) {
	const good = "# r\npromise: it holds\ntest: a TestIt\nneeds: sh\n\n## m\n@ a write\n-	n := 1\n\n# s\n= m\n"
	for text, why := range map[string]string{
		good:                                     "",
		"## m\n@ a write\n-	n := 1\n":            "1:",
		"# r\n## m\n-	n := 1\n":                  "2:",
		"# r\n## m\n@ a write\n+	n := 1\n":       "2:",
		"# r\n## m\n@ a write\n-	n := 1\nn := 2": "5:",
		"# r\ncases: none\n":                     "2:",
		"# r\n= m\n":                             `0 mutants are named "m"`,
		good + "\n## m\n@ a row\n-row\n":         `2 mutants are named "m"`,
	} {
		lay(t, map[string]string{"m.txt": text})
		all, err := readTable("*.txt")
		if (err == nil) != (why == "") || err != nil && !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v", text, err)
		}
		if err != nil {
			continue
		}
		want := []*Rig{{Name: "r", Promise: "it holds", Package: "./a", Test: "TestIt", Needs: "sh"}, {Name: "s"}}
		for _, r := range want {
			r.mutants = []Mutant{{"m", []string{"@ a write", "-	n := 1"}}}
		}
		if !reflect.DeepEqual(all.rigs, want) {
			t.Errorf("%q: %v", text, all.rigs)
		}
	}
}

func TestARenameAndAMoveCarryMutantsAlong(t *testing.T) {
	const (
		own    = "# r\n\n## own\n@ a write\n-	n := 1\n+	n := 1 + write\n\n## method\n@ a (*Store).write\n-	use(n)\n\n## type\n@ a row\n-	row struct{ at int }\n"
		others = "\n## other\n@ b main\n-	a.write(x)\n+	_ = \"write\"\n\n## member\n@ b side\n-	x.write()\n\n## same\n@ b write\n-func write() { y.write }\n"
		b      = "package b\n\nfunc main() {\n\ta.put(x)\n}\n\nfunc side() {\n\tx.put()\n}\n\nfunc write() { y.write }\n"
	)
	for _, c := range []struct {
		args  string
		files map[string]string
		swap  []string
		said  string
	}{
		{"rename a write put", map[string]string{"a/a.go": strings.ReplaceAll(storeGo, "write()", "put()"), "b/b.go": b},
			[]string{"a write", "a put", "1 + write", "1 + put", ").write", ").put", "a.write(", "a.put(", "x.write", "x.put"}, "4 mutants changed, 0 do not"},
		{"rename a n count", map[string]string{"a/a.go": storeGo, "b/b.go": b}, nil, "0 mutants changed, 2 do not"},
		{"rename ./a Store Book", map[string]string{"a/a.go": strings.ReplaceAll(storeGo, "Store", "Book"), "b/b.go": b},
			[]string{"(*Store)", "(*Book)"}, "1 mutants changed, 2 do not"},
		{"move a c Store write", map[string]string{"c/c.go": storeGo, "b/b.go": strings.ReplaceAll(b, "a.put", "c.write")},
			[]string{"@ a write", "@ c write", "@ a (*Store)", "@ c (*Store)", "a.write", "c.write"}, "3 mutants changed, 2 do not"},
		{"move a d/c", map[string]string{"d/c/c.go": storeGo, "b/b.go": b},
			[]string{"@ a ", "@ d/c ", "a.write", "c.write"}, "4 mutants changed, 2 do not"},
	} {
		lay(t, c.files)
		if err := os.WriteFile("m.txt", []byte(own+others), 0o600); err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		if err := carry(&said, "*.txt", strings.Fields(c.args)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile("m.txt")
		if want := strings.NewReplacer(c.swap...).Replace(own + others); err != nil || string(got) != want {
			t.Errorf("%s:\n%s\nnot\n%s\n%v", c.args, got, want, err)
		}
		if !strings.Contains(said.String(), c.said) {
			t.Errorf("%s: %s", c.args, said.String())
		}
	}
}

func TestAMutantThatDoesNotCompileIsNamed(t *testing.T) {
	lay(t, map[string]string{"go.mod": "module m\n", "a/a.go": "package a\n\nfunc one() int {\n\treturn 1\n}\n",
		"m.txt": "# r\n\n## legal\n@ a one\n-	return 1\n+	return 2\n\n## stale\n@ a one\n-	return 1\n+	return two()\n"})
	var said strings.Builder
	if err := carry(&said, "*.txt", []string{"build"}); err != nil {
		t.Fatal(err)
	}
	if got := said.String(); !strings.HasPrefix(got, "stale: ") || !strings.HasSuffix(got, "\n1 mutants do not compile\n") || strings.Contains(got, "legal") {
		t.Error(got)
	}
}
