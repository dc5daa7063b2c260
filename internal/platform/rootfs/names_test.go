package rootfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func filled(t *testing.T, names ...string) (*Root, string) {
	t.Helper()
	dir := t.TempDir()
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	for _, name := range names {
		if err := r.MkdirAll(filepath.ToSlash(filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := r.WriteFile(name, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return r, dir
}

func TestAFileIsWrittenAndRead(t *testing.T) {
	r, dir := filled(t, "x", "a/b/y")
	if err := r.WriteFile("a/b/y", []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := r.ReadFile("a/b/y", 3); string(text) != "new" {
		t.Errorf("%q, %v", text, err)
	}
	if path, err := r.Path("a/b/../b/y"); err != nil || path != filepath.Join(dir, "a", "b", "y") {
		t.Errorf("%s, %v", path, err)
	}
	if path, err := r.Path("no/such"); err != nil || path != filepath.Join(dir, "no", "such") {
		t.Errorf("%s, %v", path, err)
	}
	sub, err := r.Sub("a/b")
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	if text, err := sub.ReadFile("y", 10); string(text) != "new" || sub.Dir() != filepath.Join(dir, "a", "b") {
		t.Errorf("%s: %q, %v", sub.Dir(), text, err)
	}
	if _, err := sub.ReadFile("../../x", 10); !errors.Is(err, ErrName) {
		t.Error(err)
	}
	if _, err := r.Open("a/b/none"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), filepath.Join(dir, "a", "b", "none")) {
		t.Error(err)
	}
	if _, err := r.Open("x/y"); !errors.Is(err, ErrNotDir) {
		t.Error(err)
	}
	f, err := r.OpenFile("x", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if info, err := r.Lstat("x"); err != nil || info.Size() != 0 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestNamesAreMovedLinkedAndRemoved(t *testing.T) {
	r, dir := filled(t, "a/f", "b/g")
	for _, err := range []error{r.Rename("a/f", "a/f2"), r.Rename("a/f2", "b/f"), r.Link("b/f", "b/h"), r.Link("b/h", "a/h"),
		r.Remove("b/g"), r.RemoveAll("a"), r.RemoveAll("none/at/all")} {
		if err != nil {
			t.Error(err)
		}
	}
	var seen []string
	err := r.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		seen = append(seen, name)
		return err
	})
	if want := []string{".", "b", "b/f", "b/h"}; err != nil || !slices.Equal(seen, want) {
		t.Errorf("%v, %v, in %s", seen, err, dir)
	}
}

func TestTemporaryNamesAreNew(t *testing.T) {
	r, _ := filled(t, "a/f")
	seen := map[string]bool{}
	for range 20 {
		f, name, err := r.CreateTemp("a", "t-*.tmp")
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		folder, err := r.MkdirTemp(".", "d-")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(name, "a/t-") || !strings.HasSuffix(name, ".tmp") || !strings.HasPrefix(folder, "d-") || seen[name] || seen[folder] {
			t.Errorf("%s, %s", name, folder)
		}
		seen[name], seen[folder] = true, true
	}
}
