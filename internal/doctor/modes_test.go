package doctor

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestWhatIsNotFerrussOwnKeepsItsModes: a read-only cache in the folder of an executor or of the checks is no trouble.
func TestWhatIsNotFerrussOwnKeepsItsModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("access lists say it there")
	}
	root := t.TempDir()
	for _, name := range []string{"worktrees/one/locked", "sandbox/cache/mod", "branches/one/sandbox/cache/mod", "branches/one/executor/home/go"} {
		dir := filepath.Join(root, ".ferrus", filepath.FromSlash(name))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
	}
	if found, ok, err := nextShut(root); ok || err != nil {
		t.Errorf("%+v %v", found, err)
	}
	live := filepath.Join(root, ".ferrus", "branches", "one", "live")
	if err := os.Mkdir(live, 0o500); err != nil {
		t.Fatal(err)
	}
	if found, ok, err := nextShut(root); !ok || err != nil || found.name != ".ferrus/branches/one/live" || found.want != 0o700 {
		t.Errorf("%+v %v %v", found, ok, err)
	}
}
