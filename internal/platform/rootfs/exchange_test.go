package rootfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestNamesAreExchanged, and a rename to a new name replaces nothing.
func TestNamesAreExchanged(t *testing.T) {
	r, dir := filled(t, "a", "d/b")
	for name, text := range map[string]string{"a": "one", "d/b": "two"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open := func(name string) Entry {
		e, err := r.Entry(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { e.Dir.Close() })
		return e
	}
	has := func(name, want string) {
		t.Helper()
		if got, err := os.ReadFile(filepath.Join(dir, name)); string(got) != want || err != nil {
			t.Errorf("%s has %q, %v; want %q", name, got, err, want)
		}
	}
	a, b, c := open("a"), open("d/b"), open("d/c")
	if err := RenameNew(a, b); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file is replaced: %v", err)
	}
	has("d/b", "two")
	switch err := Exchange(a, b); {
	case errors.Is(err, errors.ErrUnsupported):
		t.Skip("this system cannot")
	case err != nil:
		t.Fatal(err)
	}
	has("a", "two")
	has("d/b", "one")
	if err := Exchange(a, c); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("exchanged with nothing: %v", err)
	}
	if err := linkNew(a, c); err != nil {
		t.Fatal(err)
	}
	has("d/c", "two")
	if err := linkNew(b, c); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file is replaced: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "a")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it has both names: %v", err)
	}
}
