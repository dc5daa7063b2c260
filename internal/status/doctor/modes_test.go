package doctor

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/ferrus-go/ferrus/internal/project"
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
	if found, ok, err := firstShut(root); ok || err != nil {
		t.Errorf("%+v %v", found, err)
	}
	live := filepath.Join(root, ".ferrus", "branches", "one", "live")
	if err := os.Mkdir(live, 0o500); err != nil {
		t.Fatal(err)
	}
	if found, ok, err := firstShut(root); !ok || err != nil || found.name != ".ferrus/branches/one/live" || found.want != 0o700 {
		t.Errorf("%+v %v %v", found, ok, err)
	}
}

// TestFixOpensFoldersFromAbove: what is in a shut folder is found when the folder has its rights again.
func TestFixOpensFoldersFromAbove(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("access lists say it there")
	}
	root := t.TempDir()
	names := []string{".ferrus", ".ferrus/branches", ".ferrus/branches/one", ".ferrus/live", ".ferrus/live/slot"}
	for _, name := range names {
		if err := os.MkdirAll(filepath.Join(root, filepath.FromSlash(name)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range slices.Backward(names) {
		if err := os.Chmod(filepath.Join(root, filepath.FromSlash(name)), 0); err != nil {
			t.Fatal(err)
		}
	}
	did, err := fixModes(&Context{Place: project.At(root, "")})
	if want := "set .ferrus to 0700; set .ferrus/branches to 0700; set .ferrus/branches/one to 0700; and 2 more"; err != nil || did != want {
		t.Errorf("%q %v", did, err)
	}
	for _, name := range names {
		info, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v %v", name, info, err)
		}
	}
}
