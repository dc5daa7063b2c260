// Package worktreetest makes repositories and work trees for tests, looks at them from outside, and kills processes that work
// on them.
package worktreetest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ferrus-go/ferrus/internal/worktree"
)

// Isolate skips a test where there is no git. What there is knows no configuration but that of the test: see TestMain.
func Isolate(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git on PATH")
	}
}

// RunGit runs the user's git.
func RunGit(t testing.TB, dir string, args ...string) string {
	t.Helper()
	args = append([]string{"-c", "user.name=u", "-c", "user.email=u@example.com", "-c", "protocol.file.allow=always"}, args...)
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// Write writes a file, and makes its folder.
func Write(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Remove removes a file or a folder.
func Remove(t testing.TB, dir, name string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// seeds lets one test at a time make what is copied.
var seeds sync.Mutex

// Copied is a folder with what make makes, which it does for the first test that asks for that name.
func Copied(t testing.TB, name string, make func(dir string)) string {
	t.Helper()
	Isolate(t)
	seed := filepath.Join(scratch, name)
	func() {
		seeds.Lock()
		defer seeds.Unlock()
		if _, err := os.Lstat(seed); err != nil {
			made := t.TempDir()
			make(made)
			if err := os.Rename(made, seed); err != nil {
				t.Fatal(err)
			}
		}
	}()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.CopyFS(dir, os.DirFS(seed)), os.MkdirAll(filepath.Join(dir, ".ferrus"), 0o700)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Repository is a fresh one without a commit.
func Repository(t testing.TB) string {
	t.Helper()
	return Copied(t, "repository", func(dir string) { RunGit(t, dir, "init", "-q", "-b", "main", "--template=") })
}

// Committed has three files and a commit.
func Committed(t testing.TB) string {
	t.Helper()
	dir := Copied(t, "committed", func(dir string) {
		RunGit(t, dir, "init", "-q", "-b", "main", "--template=")
		Write(t, dir, "a.txt", "a\n")
		Write(t, dir, "src/b.go", "package b\n")
		Write(t, dir, ".gitignore", "*.o\n/build/\n")
		RunGit(t, dir, "add", ".")
		RunGit(t, dir, "commit", "-qm", "one")
	})
	RunGit(t, dir, "update-index", "--refresh") // it would doubt files that are copies
	return dir
}

// Configure adds to the configuration of a repository.
func Configure(t testing.TB, dir, text string) {
	t.Helper()
	path := filepath.Join(dir, ".git", "config")
	had, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	Write(t, dir, ".git/config", string(had)+text)
}

// Open opens the work tree in dir; its private folder is .ferrus/git.
func Open(t testing.TB, dir string, ignore ...string) *worktree.Tree {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, ".ferrus"), 0o700); err != nil {
		t.Fatal(err)
	}
	tree, err := worktree.Open(t.Context(), dir, filepath.Join(dir, ".ferrus", "git"), worktree.Options{Ignore: ignore})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// Fingerprint is that of the work tree now.
func Fingerprint(t testing.TB, tree *worktree.Tree) string {
	t.Helper()
	id, err := tree.Fingerprint(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// Fresh is the fingerprint of a Tree with an empty private folder: what it is without a past.
func Fresh(t testing.TB, dir string, ignore ...string) string {
	t.Helper()
	tree, err := worktree.Open(t.Context(), dir, filepath.Join(t.TempDir(), "git"), worktree.Options{Ignore: ignore})
	if err != nil {
		t.Fatal(err)
	}
	return Fingerprint(t, tree)
}

// Inventory is every file below dir with its content.
func Inventory(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all[path] = fmt.Sprintf("%x", sha256.Sum256(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Collect deletes whatever nothing of the repository leads to.
func Collect(t testing.TB, dir string) {
	t.Helper()
	RunGit(t, dir, "reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
	RunGit(t, dir, "prune", "--expire=now")
}

// Whole checks that the user's repository alone has all of a tree, and that the tree is saved under that name.
func Whole(t testing.TB, dir, name, tree string) {
	t.Helper()
	Wholes(t, dir, map[string]string{name: tree})
}

// Wholes does so for trees by their names.
func Wholes(t testing.TB, dir string, trees map[string]string) {
	t.Helper()
	kept := strings.Fields(RunGit(t, dir, "for-each-ref", "--format=%(refname)=%(tree)", "refs/ferrus"))
	for name, tree := range trees {
		if !slices.Contains(kept, "refs/ferrus/"+name+"="+tree) {
			t.Errorf("%s is not kept as %s: %q", tree, name, kept)
		}
	}
	// It fails where an object is missing to which a ref leads.
	if said := RunGit(t, dir, "fsck", "--strict", "--no-dangling"); strings.Contains(said, "refs/ferrus") {
		t.Errorf("fsck: %s", said)
	}
}

// Save saves the work tree under a name.
func Save(t testing.TB, tree *worktree.Tree, name string) string {
	t.Helper()
	id, err := tree.Save(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// Disturb makes a work tree in which every kind of file differs from HEAD, and the private store borrows from the
// user's.
func Disturb(t testing.TB, dir string) {
	t.Helper()
	Write(t, dir, "a.txt", "borrowed\n")
	RunGit(t, dir, "add", "a.txt")
	Write(t, dir, "new/deep/x", "new\n")
	Remove(t, dir, "src/b.go")
}

// Elsewhere is a folder on another disk than the test's.
func Elsewhere(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "ferrus-test-")
	if err != nil {
		t.Skip("no second disk")
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	Write(t, dir, "probe", "")
	if os.Link(filepath.Join(dir, "probe"), filepath.Join(t.TempDir(), "probe")) == nil {
		t.Skip("no second disk")
	}
	return dir
}

// Wrap puts a script before git on PATH. It is run with the arguments of git; where it goes on to its end, so does git.
func Wrap(t testing.TB, script string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text := "#!/bin/sh\nREAL='" + real + "'\n" + script + "\nexec \"$REAL\" \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// Manifest is every file of a work tree, ignored ones too: its kind, executable bit and bytes.
func Manifest(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if name == ".git" || name == ".ferrus" {
			return fs.SkipDir
		}
		info, err := e.Info()
		switch {
		case err != nil || e.IsDir():
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			all[name] = "link " + target
			return err
		case !info.Mode().IsRegular():
			all[name] = info.Mode().Type().String()
			return nil
		}
		data, err := os.ReadFile(path)
		all[name] = fmt.Sprintf("%v %q", info.Mode()&0o100 != 0, data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Users is all that the user's repository holds but objects and kept trees.
func Users(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := Inventory(t, filepath.Join(dir, ".git"))
	for path := range all {
		if strings.Contains(path, "/.git/objects/") || strings.Contains(path, "/.git/refs/ferrus/") {
			delete(all, path)
		}
	}
	return all
}

// Link makes a symbolic link.
func Link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Skip(err)
	}
}

// Embed makes a repository in a work tree, with a commit or without.
func Embed(t *testing.T, dir, name string, commit bool) {
	t.Helper()
	Write(t, dir, name+"/x", "x")
	RunGit(t, filepath.Join(dir, name), "init", "-q")
	if commit {
		RunGit(t, filepath.Join(dir, name), "add", ".")
		RunGit(t, filepath.Join(dir, name), "commit", "-qm", "sub")
	}
}

// Chmod sets the permissions of a file.
func Chmod(t *testing.T, dir, name string, mode os.FileMode) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("windows has no executable bit")
	}
	if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
		t.Fatal(err)
	}
}

// Rename moves a file.
func Rename(t *testing.T, dir, from, to string) {
	t.Helper()
	if err := os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
		t.Fatal(err)
	}
}

// Mkdir makes a folder.
func Mkdir(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
		t.Fatal(err)
	}
}

// Paths are those that differ between two trees.
func Paths(t testing.TB, tree *worktree.Tree, from, to string) []string {
	t.Helper()
	all, err := tree.Changed(t.Context(), from, to)
	if err != nil {
		t.Fatal(err)
	}
	return all
}
