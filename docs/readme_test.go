package docs_test

import (
	"strings"
	"testing"
)

// indented returns the code of the first indented block after a line of a document.
func indented(t *testing.T, name, after string) string {
	t.Helper()
	_, rest, ok := strings.Cut(read(t, name), "\n"+after+"\n\n")
	if !ok {
		t.Fatalf("%s has no line %q", name, after)
	}
	var code strings.Builder
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "    ") {
			break
		}
		code.WriteString(line)
	}
	return code.String()
}

// TestTheReadmeUninstalls: after its commands nothing of ferrus is left in a project, neither files nor refs.
func TestTheReadmeUninstalls(t *testing.T) {
	t.Parallel()
	_, out := play(t, project+`
git commit -q --allow-empty -m start
echo 'echo done >result.txt' >work.sh
echo true >review.sh
ferrus run --headless 'write it'
ferrus register --supervisor claude-code --executor codex
find . -ipath '*ferrus*' ! -type d; git for-each-ref
`+strings.Replace(indented(t, "../README.md", "In each project:"), "ferrus uninstall ", "ferrus uninstall --yes ", 1)+`
echo AFTER; find . -ipath '*ferrus*' ! -type d; git for-each-ref refs/ferrus; LC_ALL=C ls -A
`)
	before, after, _ := strings.Cut(out, "\nAFTER\n")
	if !strings.Contains(before, "refs/ferrus/") || !strings.Contains(before, "./.git/ferrus/") {
		t.Errorf("there was nothing to remove:\n%s", before)
	}
	if after != ".git\nresult.txt\nreview.sh\nwork.sh\n" {
		t.Errorf("what is left:\n%s\nof\n%s", after, before)
	}
}

// TestTheReadmeBeginsWithWhatWorks: the two commands that need no agent stand at the top as they are typed.
func TestTheReadmeBeginsWithWhatWorks(t *testing.T) {
	head, _, _ := strings.Cut(read(t, "../README.md"), "\n## ")
	for _, command := range []string{"\n    go run ./cmd/ferrus demo", "\n    go test ./..."} {
		if !strings.Contains(head, command) {
			t.Errorf("the head of the README has no %q", command)
		}
	}
}
