package rootfs

import (
	"os"
	"path/filepath"
	"testing"
)

// TestATreeWithoutRightsIsRemoved, and what its links lead to stays as it is.
func TestATreeWithoutRightsIsRemoved(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.MkdirAll(at("a/b/c"), 0o755), os.WriteFile(at("a/b/c/file"), nil, 0o444), os.Symlink(other, at("a/b/link")),
		os.Chmod(at("a/b/c"), 0o500), os.Chmod(at("a/b"), 0), os.Chmod(at("a"), 0o100), os.Chmod(other, 0o500),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.RemoveTree("a"); err != nil || Exists(at("a")) {
		t.Errorf("it is left: %v", err)
	}
	if err := r.RemoveTree("a"); err != nil {
		t.Errorf("once more: %v", err)
	}
	if info, err := os.Stat(other); err != nil || info.Mode().Perm() != 0o500 {
		t.Errorf("a link was followed: %v, %v", info, err)
	}
}
