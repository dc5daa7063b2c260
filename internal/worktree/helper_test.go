package worktree_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/ferrus-go/ferrus/internal/worktree"
)

// isolate skips a test where there is no git. What there is knows no configuration but that of the test: see TestMain.
func isolate(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git on PATH")
	}
}

// runGit runs the user's git.
func runGit(t testing.TB, dir string, args ...string) string {
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

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func remove(t testing.TB, dir, name string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// seeds lets one test at a time make what is copied.
var seeds sync.Mutex

// copied is a folder with what make makes, which it does for the first test that asks for that name.
func copied(t testing.TB, name string, make func(dir string)) string {
	t.Helper()
	isolate(t)
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

// repository is a fresh one without a commit.
func repository(t testing.TB) string {
	t.Helper()
	return copied(t, "repository", func(dir string) { runGit(t, dir, "init", "-q", "-b", "main", "--template=") })
}

// committed has three files and a commit.
func committed(t testing.TB) string {
	t.Helper()
	dir := copied(t, "committed", func(dir string) {
		runGit(t, dir, "init", "-q", "-b", "main", "--template=")
		write(t, dir, "a.txt", "a\n")
		write(t, dir, "src/b.go", "package b\n")
		write(t, dir, ".gitignore", "*.o\n/build/\n")
		runGit(t, dir, "add", ".")
		runGit(t, dir, "commit", "-qm", "one")
	})
	runGit(t, dir, "update-index", "--refresh") // it would doubt files that are copies
	return dir
}

// configure adds to the configuration of a repository.
func configure(t testing.TB, dir, text string) {
	t.Helper()
	path := filepath.Join(dir, ".git", "config")
	had, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, ".git/config", string(had)+text)
}

func open(t testing.TB, dir string, ignore ...string) *worktree.Tree {
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

func fingerprint(t testing.TB, tree *worktree.Tree) string {
	t.Helper()
	id, err := tree.Fingerprint(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// fresh is the fingerprint of a Tree with an empty private folder: what it is without a past.
func fresh(t testing.TB, dir string, ignore ...string) string {
	t.Helper()
	tree, err := worktree.Open(t.Context(), dir, filepath.Join(t.TempDir(), "git"), worktree.Options{Ignore: ignore})
	if err != nil {
		t.Fatal(err)
	}
	return fingerprint(t, tree)
}

// inventory is every file below dir with its content.
func inventory(t testing.TB, dir string) map[string]string {
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
