package filestat

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestNothingIsReadThroughALink: neither a file nor a link, whether the last part of its path is a link or a folder above it.
func TestNothingIsReadThroughALink(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.MkdirAll(at("secrets/deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("secrets/deep/id"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"secrets/deep/link": "id", "folder": "secrets", "file": "secrets/deep/id"} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(at("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"secrets/deep/id": true, "fifo": true, "folder/deep/id": false, "file": false, "secrets/deep/id/x": false, "none": false} {
		f, err := Open(at(name))
		if (err == nil) != want || err != nil && !Gone(err) {
			t.Errorf("%s: %v", name, err)
		}
		f.Close()
	}
	for name, want := range map[string]string{"secrets/deep/link": "id", "folder": "secrets", "folder/deep/link": ""} {
		if to, err := Readlink(at(name)); to != want || (err == nil) != (want != "") {
			t.Errorf("%s leads to %q, %v", name, to, err)
		}
	}
}
