package rootfs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestAPathIsDividedAtTheOutermostStateFolder(t *testing.T) {
	for _, c := range []struct{ path, dir, name string }{
		{"/p/.ferrus/live/a.lock", "/p/.ferrus", "live/a.lock"},
		{"/p/.ferrus/branches/b/live/a.lock", "/p/.ferrus", "branches/b/live/a.lock"},
		{"/p/.ferrus/a", "/p/.ferrus", "a"},
		{"/p/.ferrus/x/../live/a", "/p/.ferrus", "live/a"},
		{"/p/.ferrus/w/.ferrus/a", "/p/.ferrus", "w/.ferrus/a"},
		{"/p/.ferrus", "/", "p/.ferrus"},
		{"/p/pipes/run/workers/a.lock", "/p/pipes/run", "workers/a.lock"},
		{"/p/x.ferrus/y/a", "/p/x.ferrus", "y/a"},
		{"/a", "/", "a"},
	} {
		dir, name := Split(filepath.FromSlash(c.path))
		if filepath.ToSlash(dir) != c.dir || name != c.name {
			t.Errorf("%s is %s and %s, not %s and %s", c.path, dir, name, c.dir, c.name)
		}
	}
}

func TestAPathLiesInAFolder(t *testing.T) {
	for _, c := range []struct {
		folder, path string
		in           bool
	}{
		{"/p", "/p", true},
		{"/p", "/p/a", true},
		{"/p", "/p/..a", true},
		{"/p/", "/p/a/../b", true},
		{"/", "/p", true},
		{"/p", "/pa", false},
		{"/p", "/p/../a", false},
		{"/p", "/", false},
		{"/p/a", "/p/b", false},
		{"/p", "a", false},
	} {
		if in := Within(filepath.FromSlash(c.folder), filepath.FromSlash(c.path)); in != c.in {
			t.Errorf("%s in %s: %v", c.path, c.folder, in)
		}
	}
}

func TestAnEmptyGitFolderIsNoWorkTree(t *testing.T) {
	for name, c := range map[string]struct {
		make func(git string) error
		is   bool
	}{
		"nothing":         {func(string) error { return nil }, false},
		"an empty folder": {func(git string) error { return os.Mkdir(git, 0o755) }, false},
		"a folder with a HEAD": {func(git string) error {
			return errors.Join(os.Mkdir(git, 0o755), os.WriteFile(filepath.Join(git, "HEAD"), []byte("ref: refs/heads/main\n"), 0o644))
		}, true},
		"a file":          {func(git string) error { return os.WriteFile(git, []byte("gitdir: /elsewhere\n"), 0o644) }, true},
		"a dangling link": {func(git string) error { return os.Symlink("nowhere", git) }, true},
	} {
		dir := t.TempDir()
		if err := c.make(filepath.Join(dir, ".git")); err != nil {
			t.Fatal(err)
		}
		if is := IsWorkTree(dir); is != c.is {
			t.Errorf("a folder with %s as .git: IsWorkTree is %v", name, is)
		}
	}
}
