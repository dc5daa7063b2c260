//go:build unix

package worktree_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/worktree"
)

// A filter that was there when the task was created runs for a fingerprint, and never for a look. The file counts as before, and
// is named; once a fingerprint has read it, a look knows it by its identity, also in another process.
func TestALookRunsNoFilter(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	canary := filepath.Join(t.TempDir(), "canary")
	runGit(t, dir, "config", "filter.evil.clean", "touch "+canary+"; cat")
	write(t, dir, ".git/info/attributes", "* filter=evil\n")
	tree := open(t, dir)
	base := fingerprint(t, tree)
	if !exists(canary) {
		t.Fatal("the filter does not run for a fingerprint")
	}
	os.Remove(canary)
	write(t, dir, "a.txt", "changed\n")
	write(t, dir, "new.txt", "new\n")
	again := open(t, dir)
	id, skipped, err := again.Inspect(t.Context(), base)
	if err != nil {
		t.Fatal(err)
	}
	if exists(canary) {
		t.Error("a look ran the filter")
	}
	text := strings.Join(worktree.SkippedText(skipped, "CMD"), "\n")
	for _, want := range []string{"a.txt", "new.txt", "evil", "touch", "CMD"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in what was skipped: %s", want, text)
		}
	}
	if changed, _ := again.Changed(t.Context(), base, id); len(changed) != 0 {
		t.Errorf("skipped files count as changed: %q", changed)
	}
	if full := fingerprint(t, again); full == id || !exists(canary) {
		t.Error("a fingerprint does not read what a look skips")
	}
}

// A look reads no byte of a huge file, and a diff of two trees that have one does not read it into memory: of files that large
// git would have to be killed before the machine is.
func TestAHugeFileIsNotRead(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	tree := open(t, dir)
	base := fingerprint(t, tree)
	const size = 200 << 20 // more than git may allocate for a diff
	if err := os.WriteFile(filepath.Join(dir, "huge.bin"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, "huge.bin"), size); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "a.txt", "changed\n")
	id, skipped, err := tree.Inspect(t.Context(), base)
	if err != nil {
		t.Fatal(err)
	}
	if s := skipped; len(s) != 1 || s[0].Path != "huge.bin" || s[0].Size != size || s[0].Filter != "" {
		t.Errorf("skipped %+v", s)
	}
	if changed, _ := tree.Changed(t.Context(), base, id); len(changed) != 1 || changed[0] != "a.txt" {
		t.Errorf("changed %q", changed)
	}
	now := fingerprint(t, tree) // reads it in parts
	stat, err := tree.Diffstat(t.Context(), base, now)
	if err != nil || !strings.Contains(stat, "huge.bin | Bin 0 -> 209715200 bytes") || !strings.Contains(stat, "a.txt") {
		t.Errorf("%v: %s", err, stat)
	}
	if s, err := tree.Size(t.Context(), base, now); err != nil || s.Files != 2 || s.Added == 0 {
		t.Errorf("%v: %+v", err, s)
	}
	var patch strings.Builder
	if err := tree.Patch(t.Context(), base, now, &patch); err != nil {
		t.Fatal(err)
	}
	if text := patch.String(); len(text) > 10_000 || !strings.Contains(text, "Binary files /dev/null and b/huge.bin differ") || !strings.Contains(text, "+changed") {
		t.Errorf("patch of %d bytes: %.2000s", len(text), text)
	}
	lines, err := tree.Unseen(t.Context(), base, now, false)
	if err != nil || !strings.Contains(strings.Join(lines, "\n"), "does not show what they hold: huge.bin") {
		t.Errorf("%v: %q", err, lines)
	}
	if err := tree.Patch(t.Context(), now, base, io.Discard); err != nil { // its removal
		t.Error(err)
	}
}
