package docs_test

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	// namedTest is a test as a page names it: behind its folder, what that ends with, or another test of it. "..." stands
	// for the end of its name.
	namedTest = regexp.MustCompile("(?:([\\w/]+):? |(, ))?`((?:Test|Fuzz)[A-Z]\\w*)(\\.\\.\\.)?`")
	namedFile = regexp.MustCompile("\\b(script|rig)s? (`[^`]+`(?:, `[^`]+`)*)")
	quoted    = regexp.MustCompile("`([^`]+)`")
	rigTitle  = regexp.MustCompile(`(?m)^# (.+)$`)
)

// testFiles are the tests of the repository, in Go and as scripts.
func testFiles(t *testing.T) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir("..", func(name string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, ".txtar") {
			all = append(all, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestEveryTestThatADocumentNamesExists: each function in the folder that it is named with, each script, and each rig of
// test/faults.
func TestEveryTestThatADocumentNamesExists(t *testing.T) {
	tests := map[string][]string{} // by folder
	exists := map[string]bool{}    // scripts and rigs
	for _, name := range testFiles(t) {
		folder, file := filepath.ToSlash(filepath.Dir(name)), filepath.Base(name)
		if script, ok := strings.CutSuffix(file, ".txtar"); ok {
			exists["script "+script] = true
			continue
		}
		for _, m := range testFunc.FindAllStringSubmatch(read(t, name), -1) {
			tests[folder] = append(tests[folder], m[1])
		}
	}
	mutants, err := filepath.Glob("../test/faults/mutants/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range mutants {
		for _, m := range rigTitle.FindAllStringSubmatch(read(t, name), -1) {
			exists["rig "+m[1]] = true
		}
	}
	names := 0
	for _, name := range documents(t) {
		text, folder := read(t, name), ""
		for _, m := range namedTest.FindAllStringSubmatch(text, -1) {
			names++
			if m[2] == "" {
				folder = m[1]
			}
			if !hasTest(tests, folder, m[3], m[4] != "") {
				t.Errorf("%s names a test that is not there: %s %s", name, folder, m[3])
			}
		}
		for _, m := range namedFile.FindAllStringSubmatch(text, -1) {
			for _, what := range quoted.FindAllStringSubmatch(m[2], -1) {
				if names++; !exists[m[1]+" "+what[1]] {
					t.Errorf("%s names a %s that is not there: %s", name, m[1], what[1])
				}
			}
		}
	}
	if names < 300 {
		t.Errorf("only %d names were found", names)
	}
}

// hasTest reports whether a folder whose path ends with a name has a test, or one of that beginning.
func hasTest(tests map[string][]string, folder, name string, begins bool) bool {
	for path, all := range tests {
		if folder != "" && !strings.HasSuffix(path, "/"+folder) {
			continue
		}
		if slices.ContainsFunc(all, func(test string) bool { return test == name || begins && strings.HasPrefix(test, name) }) {
			return true
		}
	}
	return false
}
