package checkout_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/checkout"
)

// laidOut is every file below dir: its kind, its executable bit and its content.
func laidOut(t testing.TB, dir string) string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		switch {
		case info.IsDir():
			all = append(all, name+"/")
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			all = append(all, name+" -> "+to)
			return err
		default:
			data, err := os.ReadFile(path)
			all = append(all, fmt.Sprintf("%s %v %q", name, info.Mode()&0o100 != 0, data))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, "\n")
}

// shop is a work tree with a file of each kind, and the checkout of a project of it.
func shop(t testing.TB) (dir string, tree *worktree.Tree, c *checkout.Checkout) {
	t.Helper()
	dir = committed(t)
	write(t, dir, "run.sh", "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(dir, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a.txt", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "src/deep/er/c.go", "package c\n")
	write(t, dir, "src/bö.go", "package b\n")
	write(t, dir, "build/x.o", "ignored by git\n")
	c = checkout.New(filepath.Join(t.TempDir(), "checkout"))
	return dir, open(t, dir), c
}

const shopFiles = `.gitignore false "*.o\n/build/\n"
a.txt false "a\n"
link -> a.txt
run.sh true "#!/bin/sh\n"
src/
src/b.go false "package b\n"
src/bö.go false "package b\n"
src/deep/
src/deep/er/
src/deep/er/c.go false "package c\n"`

func lay(t testing.TB, c *checkout.Checkout, tree *worktree.Tree, l checkout.Layout) {
	t.Helper()
	if err := c.Prepare(context.Background(), tree, l); err != nil {
		t.Fatal(err)
	}
	c.Release()
}

// TestACheckoutIsTheTree: whatever was done to it, Prepare makes it the tree again, in the process that laid it out before and
// in another, by the times of its files and by their content.
func TestACheckoutIsTheTree(t *testing.T) {
	t.Parallel()
	dir, tree, c := shop(t)
	l := checkout.Layout{Tree: fingerprint(t, tree)}
	lay(t, c, tree, l)
	if got := laidOut(t, c.Files()); got != shopFiles {
		t.Fatalf("%s\nwant\n%s", got, shopFiles)
	}
	at := func(name string) string { return filepath.Join(c.Files(), name) }
	old := time.Unix(1_600_000_000, 0)
	tricks := map[string]func() error{
		"nothing":             func() error { return nil },
		"an edit":             func() error { return os.WriteFile(at("a.txt"), []byte("evil\n"), 0o644) },
		"a mode":              func() error { return os.Chmod(at("src/b.go"), 0o755) },
		"a file":              func() error { return os.WriteFile(at("src/evil_test.go"), []byte("package b\n"), 0o644) },
		"a removal":           func() error { return os.RemoveAll(at("src")) },
		"a git repository":    func() error { return os.Mkdir(at(".git"), 0o755) },
		"what git ignores":    func() error { return os.WriteFile(at("x.o"), nil, 0o644) },
		"a folder for a file": func() error { return errors.Join(os.Remove(at("a.txt")), os.MkdirAll(at("a.txt/b/c"), 0o755)) },
		"a file for a folder": func() error { return errors.Join(os.RemoveAll(at("src")), os.WriteFile(at("src"), nil, 0o644)) },
		"a link for a file":   func() error { return errors.Join(os.Remove(at("a.txt")), os.Symlink("run.sh", at("a.txt"))) },
		"another link":        func() error { return errors.Join(os.Remove(at("link")), os.Symlink("run.sh", at("link"))) },
		"a link for a folder": func() error {
			return errors.Join(os.Rename(at("src"), at("../elsewhere")), os.Symlink("../elsewhere", at("src")))
		},
		"a closed folder": func() error {
			return errors.Join(os.MkdirAll(at("new/folder"), 0o755), os.WriteFile(at("new/folder/x"), nil, 0o644), os.Chmod(at("new/folder"), 0),
				os.Chmod(at("src/deep"), 0o100))
		},
		"a second name": func() error {
			return errors.Join(os.Link(at("a.txt"), at("../name")), os.WriteFile(at("../name"), []byte("b\n"), 0o644))
		},
		"the same size and time": func() error {
			return errors.Join(os.WriteFile(at("a.txt"), []byte("b\n"), 0o644), os.Chtimes(at("a.txt"), old, old))
		},
	}
	for name, trick := range tricks {
		for _, how := range []struct {
			another, honest bool
		}{{false, true}, {true, true}, {false, false}} {
			c.Believe(how.honest)
			if err := os.Chtimes(at("a.txt"), old, old); err != nil {
				t.Fatal(err)
			}
			lay(t, c, tree, l)
			if err := trick(); err != nil {
				t.Fatal(err)
			}
			use := c
			if how.another {
				use = checkout.New(filepath.Dir(c.Files()))
				use.Believe(how.honest)
			}
			lay(t, use, tree, l)
			if got := laidOut(t, c.Files()); got != shopFiles {
				t.Errorf("%s, %+v: %s\nwant\n%s", name, how, got, shopFiles)
			}
			os.RemoveAll(at("../elsewhere"))
			os.Remove(at("../name"))
		}
	}

	// The next tree.
	write(t, dir, "a.txt", "two\n")
	remove(t, dir, "src/deep")
	l.Tree = fingerprint(t, tree)
	lay(t, c, tree, l)
	if got := laidOut(t, c.Files()); !strings.Contains(got, `a.txt false "two\n"`) || strings.Contains(got, "deep") {
		t.Error(got)
	}
}

// TestASecondLayoutTouchesNothing: files that are as they should be are not written again.
func TestASecondLayoutTouchesNothing(t *testing.T) {
	t.Parallel()
	_, tree, c := shop(t)
	l := checkout.Layout{Tree: fingerprint(t, tree)}
	lay(t, c, tree, l)
	var infos []fs.FileInfo
	names := []string{"a.txt", "run.sh", "link", "src/deep/er/c.go"}
	for _, name := range names {
		info, err := os.Lstat(filepath.Join(c.Files(), name))
		if err != nil {
			t.Fatal(err)
		}
		infos = append(infos, info)
	}
	for _, use := range []*checkout.Checkout{c, checkout.New(filepath.Dir(c.Files()))} {
		lay(t, use, tree, l)
		for i, name := range names {
			if info, err := os.Lstat(filepath.Join(c.Files(), name)); err != nil || !os.SameFile(info, infos[i]) || info.ModTime() != infos[i].ModTime() {
				t.Errorf("%s was laid out again: %v", name, err)
			}
		}
	}
}

// TestAnObjectThatIsAnotherIsRefused: an executor can write to the object stores, and git reads what stands there under an
// id. The tree of the good file under the id of the bad one would be green, and the bad one submitted.
func TestAnObjectThatIsAnotherIsRefused(t *testing.T) {
	for _, kind := range []string{"blob", "folder", "tree"} {
		dir, tree, c := shop(t)
		store := "--git-dir=" + filepath.Join(dir, ".git")
		t.Setenv("GIT_ALTERNATE_OBJECT_DIRECTORIES", filepath.Join(dir, ".ferrus/git/objects"))
		in := func(tree, name string) string {
			return strings.TrimSpace(runGit(t, dir, store, "rev-parse", tree+":"+name))
		}
		good := fingerprint(t, tree)
		write(t, dir, "src/b.go", "package bad\n")
		bad := fingerprint(t, tree)
		from, to := good, bad
		switch kind {
		case "blob":
			from, to = in(good, "src/b.go"), in(bad, "src/b.go")
		case "folder":
			from, to = in(good, "src"), in(bad, "src")
		}
		object := func(id string) string {
			for _, store := range []string{".ferrus/git/objects", ".git/objects"} {
				path := filepath.Join(dir, store, id[:2], id[2:])
				if _, err := os.Lstat(path); err == nil {
					return path
				}
			}
			t.Fatalf("no object %s", id)
			return ""
		}
		text, err := os.ReadFile(object(from))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(object(to)); err != nil {
			if _, there := os.Lstat(filepath.Join(dir, ".ferrus/git/objects", to[:2], to[2:])); there == nil {
				t.Fatal(err)
			}
		}
		write(t, dir, filepath.Join(".ferrus/git/objects", to[:2], to[2:]), string(text))
		if err := c.Prepare(t.Context(), tree, checkout.Layout{Tree: bad}); err == nil || !strings.Contains(err.Error(), "is not what its id says") && !strings.Contains(err.Error(), "hash mismatch") {
			t.Errorf("%s: %v\n%s", kind, err, laidOut(t, c.Files()))
		}
		var patch strings.Builder
		if err := tree.Patch(t.Context(), good, bad, &patch); err == nil || !strings.Contains(err.Error(), "is not what its id says") && !strings.Contains(err.Error(), "hash mismatch") {
			t.Errorf("%s: a reviewer is shown %v\n%s", kind, err, patch.String())
		}
	}
}

// installing is a layout whose set-up makes files beside those of the tree, and changes one of them.
func installing(tree *worktree.Tree, id string, ran *int) checkout.Layout {
	return checkout.Layout{Tree: id, Base: id, Key: "install", SetUp: func(_ context.Context, dir string) error {
		*ran++
		return errors.Join(os.MkdirAll(filepath.Join(dir, "vendor", "empty"), 0o755), os.WriteFile(filepath.Join(dir, "vendor", "lib.js"), []byte("lib\n"), 0o600),
			os.WriteFile(filepath.Join(dir, ".env"), []byte("A=1\n"), 0o644), os.Symlink("lib.js", filepath.Join(dir, "vendor", "link.js")),
			os.WriteFile(filepath.Join(dir, "a.txt"), []byte("changed by the set-up\n"), 0o644))
	}}
}

const installed = `.env false "A=1\n"
` + shopFiles + `
vendor/
vendor/empty/
vendor/lib.js false "lib\n"
vendor/link.js -> lib.js`

// TestWhatTheSetUpMadeComesBack: from the copy that was taken when it had run, and only there.
func TestWhatTheSetUpMadeComesBack(t *testing.T) {
	t.Parallel()
	dir, tree, c := shop(t)
	ran := 0
	l := installing(tree, fingerprint(t, tree), &ran)
	at := func(name string) string { return filepath.Join(c.Files(), name) }
	for name, trick := range map[string]func() error{
		"nothing": func() error { return nil },
		"edits": func() error {
			return errors.Join(os.WriteFile(at("vendor/lib.js"), []byte("bad\n"), 0o600), os.Remove(at(".env")), os.RemoveAll(at("vendor/empty")),
				os.WriteFile(at("vendor/more.js"), nil, 0o644), os.Remove(at("vendor/link.js")))
		},
		"another mode": func() error { return os.Chmod(at("vendor/lib.js"), 0o644) },
	} {
		for _, use := range []*checkout.Checkout{c, checkout.New(filepath.Dir(c.Files()))} {
			lay(t, use, tree, l)
			if err := trick(); err != nil {
				t.Fatal(err)
			}
			lay(t, use, tree, l)
			if got := laidOut(t, c.Files()); got != installed {
				t.Errorf("%s: %s\nwant\n%s", name, got, installed)
			}
		}
	}
	if ran != 1 {
		t.Errorf("the set-up ran %d times", ran)
	}
	// The private copy is not believed either, and neither is a list of it that is not whole.
	for _, name := range []string{"../made/vendor/lib.js", "../made.list"} {
		if err := errors.Join(os.WriteFile(at(name), []byte("bad\n"), 0o600), os.Remove(at("vendor/lib.js"))); err != nil {
			t.Fatal(err)
		}
		was := ran
		lay(t, checkout.New(filepath.Dir(c.Files())), tree, l)
		if got := laidOut(t, c.Files()); got != installed || ran != was+1 {
			t.Errorf("%s: the set-up ran %d times more: %s", name, ran-was, got)
		}
	}
	// What the tree has by now is the tree's.
	write(t, dir, "vendor", "a file\n")
	l.Tree = fingerprint(t, tree)
	lay(t, c, tree, l)
	if got := laidOut(t, c.Files()); !strings.Contains(got, `vendor false "a file\n"`) {
		t.Error(got)
	}
}

// TestIgnoredFilesComeAsTheyStand: those of [checks] ignore are in no tree, and the gate sees them all the same.
func TestIgnoredFilesComeAsTheyStand(t *testing.T) {
	t.Parallel()
	dir, _, c := shop(t)
	tree := open(t, dir, "*.txt", "/notes/")
	write(t, dir, "notes/n", "one\n")
	l := checkout.Layout{Tree: fingerprint(t, tree)}
	lay(t, c, tree, l)
	write(t, dir, "a.txt", "as it stands\n")
	remove(t, dir, "notes")
	write(t, filepath.Dir(c.Files()), "files/a.txt", "changed by a check\n")
	lay(t, c, tree, l)
	got := laidOut(t, c.Files())
	if !strings.Contains(got, `a.txt false "as it stands\n"`) || strings.Contains(got, "notes") || strings.Contains(got, ".ferrus") {
		t.Error(got)
	}
}

// TestACutLayoutIsFinishedByTheNext: killed before any of its changes, the next one makes the checkout what it should be.
func TestACutLayoutIsFinishedByTheNext(t *testing.T) {
	t.Parallel()
	dir, tree, c := shop(t)
	ran := 0
	one := installing(tree, fingerprint(t, tree), &ran)
	write(t, dir, "a.txt", "two\n")
	remove(t, dir, "link")
	two := one
	two.Tree = fingerprint(t, tree)
	cuts := 0
	for left := 0; ; left++ {
		if err := os.RemoveAll(filepath.Dir(c.Files())); err != nil {
			t.Fatal(err)
		}
		killed, n := errors.New("killed"), left
		cut := checkout.New(filepath.Dir(c.Files()))
		cut.Cut(func() error {
			if n--; n < 0 {
				return killed
			}
			return nil
		})
		err := cut.Prepare(t.Context(), tree, two)
		if err == nil {
			err = cut.Prepare(t.Context(), tree, one)
			cut.Release()
		}
		lay(t, checkout.New(filepath.Dir(c.Files())), tree, one)
		if got := laidOut(t, c.Files()); got != installed {
			t.Fatalf("cut before change %d: %s\nwant\n%s", left, got, installed)
		}
		if err == nil || !errors.Is(err, killed) {
			break
		}
		cuts++
	}
	if cuts < 8 {
		t.Errorf("cut %d times", cuts)
	}
}

func TestACheckoutIsForOneAtATime(t *testing.T) {
	t.Parallel()
	_, tree, c := shop(t)
	l := checkout.Layout{Tree: fingerprint(t, tree)}
	if err := c.Prepare(t.Context(), tree, l); err != nil {
		t.Fatal(err)
	}
	other := checkout.New(filepath.Dir(c.Files()))
	if err := other.Prepare(t.Context(), tree, l); !errors.Is(err, checkout.ErrInUse) {
		t.Error(err)
	}
	c.Release()
	lay(t, other, tree, l)
}

func TestNoCheckoutInAWorkTree(t *testing.T) {
	t.Parallel()
	dir, tree, _ := shop(t)
	l := checkout.Layout{Tree: fingerprint(t, tree)}
	for _, at := range []string{filepath.Join(dir, "x"), filepath.Join(dir, ".ferrus", "x"), filepath.Join(dir, "no", "such", "folder")} {
		err := checkout.New(at).Prepare(t.Context(), tree, l)
		if _, made := os.Lstat(at); err == nil || made == nil {
			t.Errorf("%s: %v, %v", at, err, made)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if err := checkout.New(filepath.Join(link, "x")).Prepare(t.Context(), tree, l); err == nil {
		t.Error("a link leads there")
	}
}

// TestWhatTheCommandsChangedIsSeen: of the tracked files, by content.
func TestWhatTheCommandsChangedIsSeen(t *testing.T) {
	t.Parallel()
	_, tree, c := shop(t)
	for _, honest := range []bool{true, false} {
		c.Believe(honest)
		if err := c.Prepare(t.Context(), tree, checkout.Layout{Tree: fingerprint(t, tree)}); err != nil {
			t.Fatal(err)
		}
		write(t, c.Files(), "src/b.go", "package b\n") // touched
		write(t, c.Files(), "new.txt", "new\n")
		write(t, c.Files(), "src/b.o", "ignored by git\n")
		if got, err := c.Changed(); err != nil || len(got) > 0 {
			t.Errorf("%q, %v", got, err)
		}
		if got, err := c.Beside(t.Context(), tree); err != nil || !slices.Equal(got, []string{"new.txt"}) {
			t.Errorf("beside the tree: %q, %v", got, err)
		}
		write(t, c.Files(), "a.txt", "b\n")
		remove(t, c.Files(), "link")
		if got, err := c.Changed(); err != nil || !slices.Equal(got, []string{"a.txt", "link"}) {
			t.Errorf("%q, %v", got, err)
		}
		c.Release()
	}
}

// TestAFilterMakesItsFiles: those of the person's configuration, such as git-lfs, run; what they make is compared by what
// they make of it again.
func TestAFilterMakesItsFiles(t *testing.T) {
	t.Parallel()
	dir, _, c := shop(t)
	configure(t, dir, "[filter \"up\"]\n\tclean = tr A-Z a-z\n\tsmudge = tr a-z A-Z\n")
	write(t, dir, ".gitattributes", "*.up filter=up\n")
	write(t, dir, "x.up", "SHOUT\n")
	tree := open(t, dir)
	for _, honest := range []bool{true, false} {
		c.Believe(honest)
		lay(t, c, tree, checkout.Layout{Tree: fingerprint(t, tree)})
		if got := laidOut(t, c.Files()); !strings.Contains(got, `x.up false "SHOUT\n"`) {
			t.Error(got)
		}
		if got, err := c.Changed(); err != nil || len(got) > 0 {
			t.Errorf("%v: %q, %v", honest, got, err)
		}
	}
}
