package project_test

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/ferrus-go/ferrus/internal/project"
)

// TestABlockIsOfOneFolderWhileThatExists: also when many are asked for at once, when the file was damaged, and when all are in use.
func TestABlockIsOfOneFolderWhileThatExists(t *testing.T) {
	state, trees := t.TempDir(), t.TempDir()
	t.Setenv("FERRUS_STATE_DIR", state)
	dirs := make([]string, 40)
	for i := range dirs {
		dirs[i] = filepath.Join(trees, strconv.Itoa(i))
		if err := os.Mkdir(dirs[i], 0o755); err != nil {
			t.Fatal(err)
		}
	}
	ask := func() []int {
		t.Helper()
		bases, errs := make([]int, len(dirs)), make([]error, len(dirs))
		var wg sync.WaitGroup
		for i, dir := range dirs {
			wg.Go(func() { bases[i], errs[i] = project.PortBase(dir) })
		}
		wg.Wait()
		owner := map[int]string{}
		for i, base := range bases {
			if errs[i] != nil || base < 20000 || base > 29990 || base%10 != 0 || owner[base] != "" {
				t.Fatalf("%s: %d, %v; %q has it too", dirs[i], base, errs[i], owner[base])
			}
			owner[base] = dirs[i]
		}
		return bases
	}
	was := ask()
	for i, base := range ask() {
		if base != was[i] {
			t.Errorf("%s: %d, then %d", dirs[i], was[i], base)
		}
	}
	if err := os.WriteFile(filepath.Join(state, "ports.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	ask()

	// The blocks of folders that are gone are given to others: there are more folders than blocks.
	for i := range 30 {
		for j := range dirs {
			if err := os.Rename(dirs[j], filepath.Join(trees, "again"+strconv.Itoa(40*i+j))); err != nil {
				t.Fatal(err)
			}
			dirs[j] = filepath.Join(trees, "again"+strconv.Itoa(40*i+j))
		}
		ask()
	}
	if _, err := project.PortBase(filepath.Join(trees, "gone")); err == nil {
		t.Error("a folder that does not exist has a block")
	}
}
