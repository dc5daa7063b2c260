package worktree_test

import (
	"slices"
	"testing"
)

// TestTheLinesThatIgnoreWhatWasWritten: one for a folder in which there is nothing else, one for each file elsewhere, and none for what
// git tracks. With them the tree is what it was.
func TestTheLinesThatIgnoreWhatWasWritten(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	write(t, dir, "src/main.py", "code\n")
	write(t, dir, "src/__pycache__/old.pyc", "1")
	tree := open(t, dir)
	before := fingerprint(t, tree)
	write(t, dir, "a.txt", "changed\n")
	write(t, dir, "coverage/html/index.html", "1")
	write(t, dir, "coverage/lcov.info", "1")
	write(t, dir, "src/__pycache__/main.pyc", "1")
	write(t, dir, "src/main.log", "1")
	write(t, dir, "out [1]*.bin", "1")
	after := fingerprint(t, tree)
	paths, err := tree.ChangedPaths(t.Context(), before, after)
	if err != nil {
		t.Fatal(err)
	}
	lines, tracked, err := tree.IgnoreLines(t.Context(), before, paths)
	want := []string{"/coverage/", `/out \[1]\*.bin`, "/src/__pycache__/main.pyc", "/src/main.log"}
	if err != nil || !slices.Equal(lines, want) || !slices.Equal(tracked, []string{"a.txt"}) {
		t.Fatalf("%q, tracked %q, %v", lines, tracked, err)
	}
	text := ""
	for _, l := range lines {
		text += l + "\n"
	}
	write(t, dir, ".gitignore", text)
	left, err := tree.ChangedPaths(t.Context(), before, fingerprint(t, tree))
	if err != nil || !slices.Equal(left, []string{".gitignore", "a.txt"}) {
		t.Errorf("with the lines %q is left, %v", left, err)
	}
}
