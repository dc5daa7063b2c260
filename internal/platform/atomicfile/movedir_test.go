package atomicfile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// abroad is a rename to another disk.
func abroad(_ *rootfs.Root, from, to string) error {
	return &os.LinkError{Op: "rename", Old: from, New: to, Err: syscall.EXDEV}
}

// TestAFolderIsMovedWhole: here and to another disk, under its name and beside another one of that name; what an earlier
// move has copied is only removed, and what it has left is swept.
func TestAFolderIsMovedWhole(t *testing.T) {
	t.Parallel()
	never := func(*rootfs.Root, string, string) bool { return false }
	always := func(*rootfs.Root, string, string) bool { return true }
	for _, c := range []struct {
		name  string
		m     Mover
		taken bool
		same  func(*rootfs.Root, string, string) bool
		want  string
	}{
		{"here", Mover{}, false, never, "into/x"},
		{"here, beside another", Mover{}, true, never, "into/x-2"},
		{"abroad", Mover{Rename: abroad}, false, never, "into/x"},
		{"abroad, beside another", Mover{Rename: abroad}, true, never, "into/x-2"},
		{"copied already", Mover{}, true, always, "into/x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			put := func(name, text string) {
				t.Helper()
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			put("from/x/a", "one")
			put("from/x/sub/b", "two")
			put("from/.y.discarded/c", "left")
			put("from/.keep", "mine")
			put("into/other", "mine")
			if c.taken {
				put("into/x/a", "another")
			}
			root, err := rootfs.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			to, err := c.m.Move(root, "from/x", "into", "x", c.same)
			if err != nil || to != c.want {
				t.Fatalf("moved to %s, not %s: %v", to, c.want, err)
			}
			Sweep(root, "from")
			want := map[string]string{c.want + "/a": "one", c.want + "/sub/b": "two", "from/.keep": "mine", "into/other": "mine"}
			if c.taken {
				want["into/x/a"] = "another"
			}
			if c.name == "copied already" {
				delete(want, "into/x/sub/b")
			}
			var files []string
			for _, top := range []string{"from", "into"} {
				_ = filepath.WalkDir(filepath.Join(dir, top), func(path string, e os.DirEntry, err error) error {
					if err == nil && !e.IsDir() {
						name, _ := filepath.Rel(dir, path)
						files = append(files, filepath.ToSlash(name))
					}
					return err
				})
			}
			for _, name := range files {
				if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != want[name] {
					t.Errorf("%s is %q, not %q: %v", name, text, want[name], err)
				}
				delete(want, name)
			}
			if len(want) > 0 {
				t.Errorf("missing are %v", want)
			}
		})
	}
}
