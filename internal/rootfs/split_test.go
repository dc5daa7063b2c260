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
