package repository

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
)

const (
	writeback = time.Hour       // longer than any kernel leaves a written page in memory only
	tick      = 2 * time.Second // the coarsest date of a file
)

// syncedByGit is for a system where a file that one may only read cannot be synced, nor a folder at all.
var syncedByGit = func() []string {
	if runtime.GOOS == "windows" {
		return []string{"core.fsync=objects", "core.fsyncMethod=batch"}
	}
	return nil
}()

// SyncObjects brings every recent object of both stores to disk.
func (r *Repository) SyncObjects() error {
	for _, store := range []string{r.store(), r.objects} {
		if err := r.sync(store); err != nil {
			return err
		}
	}
	return nil
}

// sync brings every recent loose object of a store to disk, and the names that lead to it. Git's own core.fsync is not
// enough: it does not sync folders, nor an object that an earlier call, or the user's `git add`, has already written.
// Packs git syncs itself.
//
// A folder in which nothing has appeared since the last sync is not looked into: the store's mark is as old as that sync.
func (r *Repository) sync(store string) error {
	if syncedByGit != nil {
		return nil
	}
	f, err := r.tempFile("draft-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone when it has become the mark
	if err := f.Close(); err != nil {
		return err
	}
	mark := filepath.Join(r.private, "synced-private")
	if store == r.objects {
		mark = filepath.Join(r.private, "synced-user")
	}
	var synced time.Time
	if info, err := os.Lstat(mark); err == nil {
		synced = info.ModTime().Add(-tick)
	}
	if err := syncStore(store, synced); err != nil {
		return err
	}
	for _, dir := range []string{store, r.private, filepath.Dir(r.private)} {
		if err := SyncFile(dir); err != nil {
			return err
		}
	}
	return os.Rename(f.Name(), mark)
}

// syncStore syncs the recent loose objects of those folders that have changed since then, and the folders.
func syncStore(store string, synced time.Time) error {
	fans, err := os.ReadDir(store)
	if err != nil {
		return err
	}
	for _, fan := range fans {
		if len(fan.Name()) != 2 || !fan.IsDir() {
			continue
		}
		if info, err := fan.Info(); err == nil && info.ModTime().Before(synced) {
			continue
		}
		if err := syncFan(filepath.Join(store, fan.Name()), time.Now().Add(-writeback)); err != nil {
			return err
		}
	}
	return nil
}

// syncFan syncs a folder of objects, and those of them that have been written since then.
func syncFan(dir string, since time.Time) error {
	objects, err := os.ReadDir(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // packed
		}
		return err
	}
	for _, o := range objects {
		info, err := o.Info()
		if err != nil || info.ModTime().Before(since) {
			continue // gone: packed, or renamed to its final name
		}
		if err := SyncFile(filepath.Join(dir, o.Name())); err != nil {
			return err
		}
	}
	return SyncFile(dir)
}

// SyncFile syncs a file or folder that may be gone.
func SyncFile(path string) error {
	if err := atomicfile.Sync(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
