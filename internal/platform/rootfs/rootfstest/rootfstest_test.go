package rootfstest

import (
	"os"
	"path/filepath"
	"testing"
)

// TestAWriterThatFollowsLinksIsSeen shows that Snapshot tells of what a writer through a link has changed.
func TestAWriterThatFollowsLinksIsSeen(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "outside"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "project"), 0o700); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, e := range entries {
		path := filepath.Join(dir, "project", "file")
		if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		put(t, e, path, filepath.Join(dir, "outside"))
		before := Snapshot(t, dir, "project")
		if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeNamedPipe == 0 {
			_ = os.WriteFile(path, []byte("written"), 0o600)
		}
		if Snapshot(t, dir, "project") != before {
			seen++
		}
		for _, left := range []string{path, filepath.Join(dir, "outside", "file"), filepath.Join(dir, "outside", "file.new")} {
			if err := os.RemoveAll(left); err != nil {
				t.Fatal(err)
			}
		}
	}
	if seen != 3 {
		t.Errorf("%d entries lead outside, not the two links and the link to nothing", seen)
	}
}
