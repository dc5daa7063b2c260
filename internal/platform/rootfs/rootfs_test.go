//go:build unix

package rootfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ferrus-go/ferrus/test/kit"
)

// scene is a folder with files that a Root is opened on, beside a folder that no operation may touch.
func scene(t *testing.T) (r *Root, dir, outside string) {
	t.Helper()
	above := t.TempDir()
	dir, outside = filepath.Join(above, "in"), filepath.Join(above, "out")
	for _, d := range []string{dir, filepath.Join(dir, "a/b"), outside, filepath.Join(outside, "b")} {
		must(t, os.MkdirAll(d, 0o700))
	}
	for _, f := range []string{"in/f", "in/a/f", "in/a/b/f", "out/f", "out/b/f"} {
		must(t, os.WriteFile(filepath.Join(above, f), []byte(f), 0o600))
	}
	r, err := Open(dir)
	must(t, err)
	t.Cleanup(func() { r.Close() })
	return r, dir, outside
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// tree lists everything below dir with its content.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		all.WriteString(path + " " + d.Type().String())
		if d.Type().IsRegular() {
			text, _ := os.ReadFile(path)
			all.WriteString(" " + string(text))
		}
		all.WriteString("\n")
		return err
	}))
	return all.String()
}

// operations are those that reach for a name, each with a name below the folder that is given.
var operations = map[string]func(r *Root, dir string) error{
	"Open":      func(r *Root, dir string) error { return closed(r.Open(dir + "/f")) },
	"create":    func(r *Root, dir string) error { return closed(r.OpenFile(dir+"/new", os.O_CREATE|os.O_RDWR, 0o600)) },
	"truncate":  func(r *Root, dir string) error { return closed(r.OpenFile(dir+"/f", os.O_TRUNC|os.O_RDWR, 0o600)) },
	"ReadFile":  func(r *Root, dir string) error { return second(r.ReadFile(dir+"/f", 100)) },
	"WriteFile": func(r *Root, dir string) error { return r.WriteFile(dir+"/f", []byte("x"), 0o600) },
	"ReadDir":   func(r *Root, dir string) error { return second(r.ReadDir(dir)) },
	"OpenDir":   func(r *Root, dir string) error { return closed(r.OpenDir(dir)) },
	"WalkDir": func(r *Root, dir string) error {
		return r.WalkDir(dir+"/b", func(_ string, _ fs.DirEntry, err error) error { return err })
	},
	"Lstat":      func(r *Root, dir string) error { return second(r.Lstat(dir + "/f")) },
	"Path":       func(r *Root, dir string) error { return second(r.Path(dir + "/f")) },
	"Path new":   func(r *Root, dir string) error { return second(r.Path(dir + "/new")) },
	"Mkdir":      func(r *Root, dir string) error { return r.Mkdir(dir+"/new", 0o700) },
	"MkdirAll":   func(r *Root, dir string) error { return r.MkdirAll(dir+"/new/newer", 0o700) },
	"MkdirAll 0": func(r *Root, dir string) error { return r.MkdirAll(dir, 0o700) },
	"MkdirTemp":  func(r *Root, dir string) error { return second(r.MkdirTemp(dir, "new-*")) },
	"CreateTemp": func(r *Root, dir string) error {
		f, _, err := r.CreateTemp(dir, "new-*")
		return closed(f, err)
	},
	"Remove":      func(r *Root, dir string) error { return r.Remove(dir + "/f") },
	"RemoveAll":   func(r *Root, dir string) error { return r.RemoveAll(dir + "/b") },
	"Rename":      func(r *Root, dir string) error { return r.Rename(dir+"/f", dir+"/g") },
	"Rename from": func(r *Root, dir string) error { return r.Rename(dir+"/f", "g") },
	"Rename to":   func(r *Root, dir string) error { return r.Rename("f", dir+"/g") },
	"Link from":   func(r *Root, dir string) error { return r.Link(dir+"/f", "g") },
	"Link to":     func(r *Root, dir string) error { return r.Link("f", dir+"/g") },
	"Symlink":     func(r *Root, dir string) error { return r.Symlink("f", dir+"/new") },
	"Sub": func(r *Root, dir string) error {
		sub, err := r.Sub(dir)
		if err == nil {
			sub.Close()
		}
		return err
	},
}

func closed(f *os.File, err error) error {
	if f != nil {
		f.Close()
	}
	return err
}

func second[T any](_ T, err error) error { return err }

func TestNoFolderLinkIsFollowed(t *testing.T) {
	for _, c := range []struct{ link, target, use string }{
		{"a", "../out", "a"},
		{"a", "no/such", "a"},
		{"a", ".", "a"},
		{"a", "OUT", "a"},
		{"a/b", "../../out", "a/b"},
		{"a/b", "..", "a/b"},
		{"a", "../out", "a/b"},
	} {
		for op, do := range operations {
			t.Run(op+" "+c.use+" with "+c.link+" to "+c.target, func(t *testing.T) {
				r, dir, outside := scene(t)
				link := filepath.Join(dir, c.link)
				must(t, os.RemoveAll(link))
				must(t, os.Symlink(strings.Replace(c.target, "OUT", outside, 1), link))
				before := tree(t, filepath.Dir(dir))
				err := do(r, c.use)
				if !errors.Is(err, ErrLink) || !strings.HasPrefix(err.Error(), link+" is a symbolic link") || !strings.HasSuffix(err.Error(), "remove the link") {
					t.Errorf("the error is %v", err)
				}
				if after := tree(t, filepath.Dir(dir)); after != before {
					t.Errorf("before:\n%s\nafter:\n%s", before, after)
				}
			})
		}
	}
}

func TestEveryOperationWorksInAFolder(t *testing.T) {
	for op, do := range operations {
		r, _, _ := scene(t)
		if err := do(r, "a"); err != nil {
			t.Errorf("%s: %v", op, err)
		}
	}
}

func TestOnlyRegularFilesAreOpened(t *testing.T) {
	r, dir, outside := scene(t)
	target := filepath.Join(outside, "f")
	must(t, os.Symlink(target, filepath.Join(dir, "link")))
	must(t, os.Symlink("f", filepath.Join(dir, "inner")))
	must(t, os.Symlink(filepath.Join(outside, "new"), filepath.Join(dir, "dangling")))
	must(t, os.Symlink("/dev/zero", filepath.Join(dir, "zero")))
	must(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	must(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	before := tree(t, outside)
	for name, want := range map[string]error{
		"link": ErrLink, "inner": ErrLink, "dangling": ErrLink, "zero": ErrLink, "fifo": ErrNotRegular, "folder": ErrIsDir,
	} {
		for _, flag := range []int{os.O_RDONLY, os.O_RDWR, os.O_WRONLY | os.O_APPEND, os.O_RDWR | os.O_CREATE,
			os.O_WRONLY | os.O_CREATE | os.O_TRUNC} {
			f, err := r.OpenFile(name, flag, 0o600)
			if f != nil || !errors.Is(err, want) || !strings.HasPrefix(err.Error(), filepath.Join(dir, name)+" ") {
				t.Errorf("%s with %#x: %v, %v", name, flag, f, err)
			}
		}
		if _, err := r.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s made anew: %v", name, err)
		}
		if _, err := r.ReadFile(name, 100); !errors.Is(err, want) {
			t.Errorf("%s is read: %v", name, err)
		}
		if _, err := r.Path(name); !errors.Is(err, want) && name != "folder" {
			t.Errorf("the path of %s: %v", name, err)
		}
		if err := r.Link(name, "hard"); !errors.Is(err, want) {
			t.Errorf("a hard link to %s: %v", name, err)
		}
		if name == "folder" {
			continue
		}
		if _, err := r.ReadDir(name); !errors.Is(err, ErrLink) && !errors.Is(err, ErrNotDir) {
			t.Errorf("%s is listed: %v", name, err)
		}
		if err := r.WriteFile(name, []byte("new"), 0o600); err != nil {
			t.Errorf("%s is replaced: %v", name, err)
		}
		if text, err := r.ReadFile(name, 3); string(text) != "new" {
			t.Errorf("%s replaced is %q, %v", name, text, err)
		}
	}
	if after := tree(t, outside); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

func TestADeviceIsRefused(t *testing.T) {
	r, err := Open("/dev")
	must(t, err)
	defer r.Close()
	for _, name := range []string{"zero", "null", "tty"} {
		if _, err := r.OpenFile(name, os.O_RDWR, 0); !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ReadRegular("/dev/zero", 10); !errors.Is(err, ErrNotRegular) {
		t.Error(err)
	}
}

func TestALargeFileIsNotRead(t *testing.T) {
	r, dir, _ := scene(t)
	must(t, os.WriteFile(filepath.Join(dir, "large"), nil, 0o600))
	must(t, os.Truncate(filepath.Join(dir, "large"), 5<<30))
	must(t, os.Symlink("large", filepath.Join(dir, "link")))
	allocated := testing.AllocsPerRun(1, func() {
		if _, err := r.ReadFile("large", 1<<20); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "5368709120") {
			t.Error(err)
		}
		if _, err := ReadRegular(filepath.Join(dir, "link"), 1<<20); !errors.Is(err, ErrTooLarge) {
			t.Error(err)
		}
	})
	if allocated > 1000 {
		t.Errorf("%v allocations", allocated)
	}
	for max, want := range map[int64]error{3: ErrTooLarge, 4: nil, 5: nil} {
		if text, err := r.ReadFile("f", max); !errors.Is(err, want) || want == nil && string(text) != "in/f" {
			t.Errorf("at most %d: %q, %v", max, text, err)
		}
		if text, err := ReadRegular(filepath.Join(dir, "f"), max); !errors.Is(err, want) || want == nil && string(text) != "in/f" {
			t.Errorf("at most %d anywhere: %q, %v", max, text, err)
		}
	}
}

func TestOnlyNamesBelowTheFolder(t *testing.T) {
	r, dir, outside := scene(t)
	before := tree(t, filepath.Dir(dir))
	for _, name := range []string{"", "..", "../out", "/etc", outside, "a/../..", "a/../../out", "a\x00b"} {
		for op, do := range operations {
			if err := do(r, name+"/."); !errors.Is(err, ErrName) && !(name == "" && errors.Is(err, ErrName)) {
				t.Errorf("%s of %q: %v", op, name, err)
			}
		}
		if _, err := r.Lstat(name); !errors.Is(err, ErrName) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := r.RemoveAll("."); !errors.Is(err, ErrName) {
		t.Error(err)
	}
	if after := tree(t, filepath.Dir(dir)); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

func TestTheFolderItselfIsNoLink(t *testing.T) {
	_, dir, outside := scene(t)
	link := filepath.Join(dir, "link")
	must(t, os.Symlink(outside, link))
	for path, want := range map[string]error{
		link: ErrLink, filepath.Join(dir, "f"): ErrNotDir, filepath.Join(dir, "none"): fs.ErrNotExist,
	} {
		if _, err := Open(path); !errors.Is(err, want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	r, err := Open(filepath.Join(link, "b")) // links above it are the caller's
	must(t, err)
	r.Close()
}

// TestALinkPutThereMeanwhile exchanges a folder, and a file, for a link to one like it as fast as it can. What is
// opened is the real one each time or nothing.
func TestALinkPutThereMeanwhile(t *testing.T) {
	r, dir, outside := scene(t)
	must(t, os.Mkdir(filepath.Join(dir, "d"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "d/f"), []byte("in"), 0o600))
	must(t, os.Mkdir(filepath.Join(dir, "other"), 0o700)) // a link within the folder is no better
	must(t, os.WriteFile(filepath.Join(dir, "other/f"), []byte("other"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "file"), []byte("in"), 0o600))
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		path, aside := filepath.Join(dir, "d"), filepath.Join(dir, "aside")
		file, fileAside := filepath.Join(dir, "file"), filepath.Join(dir, "fileaside")
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(path, aside)
			_ = os.Symlink([]string{outside, "other"}[i%2], path)
			_ = os.Remove(path)
			_ = os.Rename(aside, path)
			_ = os.Rename(file, fileAside)
			_ = os.Symlink([]string{filepath.Join(outside, "f"), "other/f"}[i%2], file)
			_ = os.Remove(file)
			_ = os.Rename(fileAside, file)
		}
	}()
	opened := 0
	rounds := 3000
	if kit.Full() {
		rounds *= 30
	}
	for round := 0; round < rounds || opened < 100 && round < 1e6; round++ {
		for _, name := range []string{"d/f", "file"} {
			text, err := r.ReadFile(name, 100)
			if err == nil && string(text) != "in" {
				t.Fatalf("%s is %q", name, text)
			}
			if err == nil {
				opened++
			}
		}
		f, name, err := r.CreateTemp("d", "t-*")
		if err == nil {
			f.Close()
			_ = r.Remove(name)
		}
	}
	close(stop)
	<-stopped
	for _, d := range []string{outside, filepath.Join(dir, "other")} {
		if left, err := os.ReadDir(d); err != nil || strings.Contains(tree(t, d), "t-") {
			t.Errorf("%s has %v, %v", d, left, err)
		}
	}
	if opened == 0 {
		t.Error("nothing was ever opened")
	}
}

func TestTheEndOfAFileIsRead(t *testing.T) {
	dir := t.TempDir()
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := os.WriteFile(filepath.Join(dir, "log"), []byte("one two"), 0o600); err != nil {
		t.Fatal(err)
	}
	for most, want := range map[int64]string{0: "", 3: "two", 7: "one two", 1 << 40: "one two"} {
		if text, err := r.ReadTail("log", most); err != nil || string(text) != want {
			t.Errorf("%d: %q %v", most, text, err)
		}
	}
	if _, err := r.ReadTail("missing", 3); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
