package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAMistakeIsFoundOnItsSystem: in a package, in a test, and in a file that only one system compiles.
func TestAMistakeIsFoundOnItsSystem(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":       "module example.com/m\n\ngo 1.24\n",
		"a.go":         "package m\n\nvar A = \"\"\n",
		"b_windows.go": "package m\n\nvar B int = A\n",
		"c_test.go":    "package m\n\nfunc c() { d() }\n",
		"d_linux.go":   "package m\n\nfunc d() {}\n",
		"e_darwin.go":  "package m\n\nimport \"example.com/m/none\"\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	found := fmt.Sprint(problems("windows", dir, "./..."))
	for _, mistake := range []string{"cannot use A", "undefined: d"} {
		if !strings.Contains(found, mistake) {
			t.Errorf("no %q in %s", mistake, found)
		}
	}
	if strings.Contains(found, "none") {
		t.Errorf("files of another system: %s", found)
	}
}
