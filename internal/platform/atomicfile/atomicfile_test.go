package atomicfile_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/platform/atomicfile/atomicfiletest"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// long has several sectors.
var long = strings.Repeat("x", 1500) + "\n"

// An act is a call that must survive a power cut, and what may be found of its file before and after it.
type act struct {
	name     string
	file     string
	old, new string // "" for no file
	torn     bool   // the file may end with a part of the new line
	do       func(r *rootfs.Root) error
}

var acts = []act{
	{"replace", "d/a", "old\n", long, false, func(r *rootfs.Root) error { return atomicfile.Replace(r, "d/a", []byte(long), 0o600) }},
	{"replace what is missing", "b", "", long, false, func(r *rootfs.Root) error { return atomicfile.Replace(r, "b", []byte(long), 0o600) }},
	{"create", "d/new", "", "new\n", false, func(r *rootfs.Root) error { return atomicfile.Create(r, "d/new", []byte("new\n"), 0o600) }},
	{"append", "d/a", "old\n", "old\n" + long, true, func(r *rootfs.Root) error { return atomicfile.Append(r, "d/a", []byte(long), 0o600) }},
	{"append to nothing", "d/log", "", "one\n", true, func(r *rootfs.Root) error { return atomicfile.Append(r, "d/log", []byte("one\n"), 0o600) }},
	{"append behind a torn line", "d/torn", "one\ntw", "one\ntw\nthree\n", true, func(r *rootfs.Root) error { return atomicfile.Append(r, "d/torn", []byte("three\n"), 0o600) }},
	{"remove", "d/a", "old\n", "", false, func(r *rootfs.Root) error { return atomicfile.Remove(r, "d/a") }},
	{"a file in new folders", "x/y/z", "", "z", false, func(r *rootfs.Root) error {
		return errors.Join(atomicfile.MkdirAll(r, "x/y", 0o700), atomicfile.Create(r, "x/y/z", []byte("z"), 0o600))
	}},
	{"a folder that becomes visible whole", "made/f", "", long, false, func(r *rootfs.Root) error {
		return errors.Join(r.Mkdir("draft", 0o700), atomicfile.WriteNew(r, "draft/f", strings.NewReader(long), 0o600),
			atomicfile.SyncDir(r, "draft"), r.Rename("draft", "made"), atomicfile.SyncDir(r, "."))
	}},
}

func folder(t *testing.T) *rootfs.Root {
	t.Helper()
	dir := t.TempDir()
	r, err := rootfs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"a": "old\n", "torn": "one\ntw"} {
		if err := os.WriteFile(filepath.Join(dir, "d", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// found says what is wrong with a file after the act was begun, nil when it is the old or the new one.
func (a act) found(dir string, done bool) error {
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(a.file)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	got := string(text)
	switch {
	case done && got != a.new:
		return fmt.Errorf("it was done, and %s is %.20q of %d bytes", a.file, got, len(got))
	case got == a.new, got == a.old, a.torn && strings.HasPrefix(got, a.old):
		return nil
	}
	return fmt.Errorf("%s is %.20q of %d bytes", a.file, got, len(got))
}

// TestAPowerCutLeavesTheOldOrTheNewContent, and the new one after the call has returned.
func TestAPowerCutLeavesTheOldOrTheNewContent(t *testing.T) {
	total := 0
	for _, a := range acts {
		r, done := folder(t), ""
		disk := atomicfiletest.Record(t, r.Dir(), func() string { return done }, func() {
			if err := a.do(r); err != nil {
				t.Fatalf("%s: %v", a.name, err)
			}
			done = "done"
		})
		cases, err := disk.Cut(t, true, func(dir, note string) error { return a.found(dir, note == "done") })
		if err != nil {
			t.Errorf("%s: %v", a.name, err)
		}
		total += cases
	}
	t.Logf("rig: cases=%d bad=0; power cuts of a simulated disk during one call", total)
}

// TestAFailingDiskLeavesTheOldOrTheNewContent, no temporary file where the disk works on, and the next call works.
func TestAFailingDiskLeavesTheOldOrTheNewContent(t *testing.T) {
	broken := syscall.EIO
	for _, a := range acts {
		for _, all := range []bool{false, true} {
			for n := 1; ; n++ {
				r := folder(t)
				var err error
				if !atomicfiletest.Fail(t, r.Dir(), n, all, broken, func() { err = a.do(r) }) {
					break
				}
				if !errors.Is(err, broken) {
					t.Errorf("%s: operation %d failed, and the call returns %v", a.name, n, err)
				}
				a := a
				if a.torn = false; strings.HasPrefix(a.name, "append") {
					a.new = a.old // it is taken back
				}
				if err := a.found(r.Dir(), false); err != nil {
					t.Errorf("%s: operation %d failed: %v", a.name, n, err)
				}
				left, err := filepath.Glob(filepath.Join(r.Dir(), "*", ".*.tmp"))
				if len(left) > 0 || err != nil {
					t.Errorf("%s: operation %d failed, and %q are left, %v", a.name, n, left, err)
				}
			}
		}
	}
}

// TestTheNextWriterRemovesWhatAKilledOneLeft, and nothing that may be another's.
func TestTheNextWriterRemovesWhatAKilledOneLeft(t *testing.T) {
	r := folder(t)
	day := 25 * time.Hour
	for _, f := range []struct {
		name  string
		age   time.Duration
		stays bool
	}{
		{".a.0123456789abc.tmp", day, false},
		{".a.0123456789a.tmp", day, false},
		{".a.1123456789abc.tmp", 23 * time.Hour, true}, // its writer may live
		{".b.0123456789abc.tmp", day, true},            // of another file
		{".a.0123456789ABC.tmp", day, true},            // of another program
		{".a.012345.tmp", day, true},
		{"a.0123456789abc.tmp", day, true},
	} {
		for _, dir := range []string{"", "d/"} {
			at := filepath.Join(r.Dir(), filepath.FromSlash(dir+f.name))
			then := time.Now().Add(-f.age)
			if err := errors.Join(os.WriteFile(at, nil, 0o600), os.Chtimes(at, then, then), atomicfile.Replace(r, dir+"a", []byte("new"), 0o600)); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Lstat(at); (err == nil) != f.stays {
				t.Errorf("%s, %v old: %v", dir+f.name, f.age, err)
			}
		}
	}
}

// TestTheSimulatedDiskSeesWhatIsNotDurable: writers that leave out a step are noticed.
func TestTheSimulatedDiskSeesWhatIsNotDurable(t *testing.T) {
	at := func(r *rootfs.Root, name string) string { return filepath.Join(r.Dir(), name) }
	for name, do := range map[string]func(r *rootfs.Root) error{
		"in place": func(r *rootfs.Root) error {
			return errors.Join(os.WriteFile(at(r, "d/a"), []byte(long), 0o600), atomicfile.Sync(at(r, "d/a")))
		},
		"no sync": func(r *rootfs.Root) error { return r.WriteFile("d/a", []byte(long), 0o600) },
		"sync behind": func(r *rootfs.Root) error {
			return errors.Join(r.WriteFile("d/a", []byte(long), 0o600), atomicfile.Sync(at(r, "d/a")), atomicfile.SyncDir(r, "d"))
		},
		"no sync of the folder": func(r *rootfs.Root) error {
			return errors.Join(os.WriteFile(at(r, "d/t"), []byte(long), 0o600), atomicfile.Sync(at(r, "d/t")), r.Rename("d/t", "d/a"))
		},
	} {
		r, done := folder(t), ""
		disk := atomicfiletest.Record(t, r.Dir(), func() string { return done }, func() {
			if err := do(r); err != nil {
				t.Fatal(err)
			}
			done = "done"
		})
		a := acts[0]
		if _, err := disk.Cut(t, true, func(dir, note string) error { return a.found(dir, note == "done") }); err == nil {
			t.Errorf("%s: nothing was noticed", name)
		}
	}
}

// TestCreateReplacesNothing: neither a file nor a link; and Replace replaces a link itself.
func TestCreateReplacesNothing(t *testing.T) {
	r := folder(t)
	if err := os.Symlink("a", filepath.Join(r.Dir(), "d", "link")); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{"d/a", "d/link"} {
		if err := atomicfile.Create(r, name, []byte("mine"), 0o600); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := atomicfile.Append(r, "d/link", []byte("mine\n"), 0o600); !errors.Is(err, rootfs.ErrLink) {
		t.Errorf("appended through a link: %v", err)
	}
	if err := atomicfile.Replace(r, "d/link", []byte("mine"), 0o600); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(filepath.Join(r.Dir(), "d", "a")); string(text) != "old\n" || err != nil {
		t.Errorf("the file behind the link is %q, %v", text, err)
	}
	entries, err := r.ReadDir("d")
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := []string{"a", "link", "torn"}; !slices.Equal(names, want) || err != nil {
		t.Errorf("left are %q, %v", names, err)
	}
}
