package rootfs

import (
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
