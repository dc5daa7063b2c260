package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// writeback is longer than any kernel leaves a written page in memory only.
const writeback = time.Hour

// syncedByGit is for a system where a file that one may only read cannot be synced, nor a folder at all.
var syncedByGit = func() []string {
	if runtime.GOOS == "windows" {
		return []string{"core.fsync=objects", "core.fsyncMethod=batch"}
	}
	return nil
}()

// sync brings every recent loose object to disk, and the names that lead to it. Git's own core.fsync is not enough: it
// does not sync folders, nor an object that an earlier call, or the user's `git add`, has already written. Packs git
// syncs itself.
func (t *Tree) sync() error {
	if runtime.GOOS == "windows" {
		return nil
	}
	since := time.Now().Add(-writeback)
	for _, store := range []string{t.store(), t.objects} {
		if err := syncStore(store, since); err != nil {
			return err
		}
	}
	for _, dir := range []string{t.store(), t.private, filepath.Dir(t.private)} {
		if err := syncFile(dir); err != nil {
			return err
		}
	}
	return nil
}

// syncStore syncs the loose objects written since then, and their folders.
func syncStore(store string, since time.Time) error {
	fans, err := os.ReadDir(store)
	if err != nil {
		return err
	}
	for _, fan := range fans {
		if len(fan.Name()) != 2 || !fan.IsDir() {
			continue
		}
		dir := filepath.Join(store, fan.Name())
		objects, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		recent := false
		for _, o := range objects {
			info, err := o.Info()
			if err != nil || info.ModTime().Before(since) {
				continue // gone: packed, or renamed to its final name
			}
			recent = true
			if err := syncFile(filepath.Join(dir, o.Name())); err != nil {
				return err
			}
		}
		if !recent {
			continue
		}
		if err := syncFile(dir); err != nil {
			return err
		}
	}
	return nil
}

// syncFile syncs a file or folder that may be gone.
func syncFile(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
