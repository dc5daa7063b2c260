// Package golden compares what a test makes with a file beside it: the answer of a tool,
// a launch of an agent, a page of docs. With the flag -update the test program writes the file instead;
// the difference is then to be read in the commit.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files and the generated pages")

// Updating reports whether the test program was started with -update.
func Updating() bool { return *update }

// Check compares a text with a file, line by line. With -update it writes the file.
func Check(t testing.TB, file, got string) {
	t.Helper()
	if Updating() {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		dir, _ := os.Getwd()
		t.Errorf("%s is stale; if the change is meant, go test -update in %s writes it (-want +got):\n%s", filepath.ToSlash(file), dir, diff)
	}
}
