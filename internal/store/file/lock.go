package file

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// ensureLock creates STATE.lock if it is missing and returns its identity. The lock file is never
// written, renamed or removed: a second process could lock the old inode while a third locks the
// new one.
func (s *Store) ensureLock() (fs.FileInfo, error) {
	f, err := s.disk.open(lockFile, os.O_RDWR|os.O_CREATE)
	if err != nil { // a read-only folder may still be read
		f, err = s.disk.open(lockFile, os.O_RDONLY)
	}
	var info fs.FileInfo
	if err == nil {
		defer f.Close()
		info, err = f.Stat()
	}
	if err != nil {
		return nil, refusal.Because(refusal.StoreError, "open "+lockFile, err,
			refusal.Say("see whether %s can be written", s.dir))
	}
	return info, nil
}

// locked runs do under the lock, which excludes other goroutines and other processes.
func (s *Store) locked(ctx context.Context, do func() error) error {
	ctx, cancel := context.WithTimeout(ctx, s.opts.LockWait)
	defer cancel()
	began := time.Now()
	lock, err := s.queue.Acquire(ctx)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return s.busy(ctx, began)
	case errors.Is(err, fs.ErrNotExist):
		return s.gone()
	default:
		return refusal.Because(refusal.StoreError, "lock "+lockFile, err, "check whether the folder is readable")
	}
	defer lock.Close()
	if !os.SameFile(lock.File(), s.lock) || !s.InPlace() {
		return s.gone()
	}
	return do()
}

// InPlace returns nil if the folder of the store is still the one that was opened, otherwise an
// *Error.
func (s *Store) InPlace() bool {
	info, err := os.Lstat(s.dir)
	return err == nil && os.SameFile(info, s.home)
}

func (s *Store) gone() error {
	return &refusal.RefusedError{Code: refusal.StoreGone, Message: s.dir + " is no longer the folder that was opened (git clean -fdx, or moved?)",
		Remedy: "run ferrus doctor{branch} --fix, then start this server again"}
}

func (s *Store) busy(ctx context.Context, began time.Time) error {
	if errors.Is(context.Cause(ctx), context.Canceled) {
		return context.Canceled
	}
	return &refusal.RefusedError{Code: refusal.LockBusy, Message: fmt.Sprintf("%s is held by %s, for %.0f s at least", lockFile,
		cmp.Or(lockHolder(s.lock), "another process"), time.Since(began).Seconds()),
		Remedy: "try again; if that process is stopped, continue or kill it"}
}

// Locks describes the holders of the machine's locks: STATE.lock, those under live, and the store's
// own in this process. It is for the log of a call that hangs. It does not wait, and proves
// nothing.
func (s *Store) Locks() string {
	said := []string{lockFile + ": " + s.queue.State(), "store: " + store.Mutex(s.mu.TryLock, s.mu.Unlock)}
	names, _ := fs.Glob(os.DirFS(s.dir), liveDir+"/*.lock")
	for _, name := range append([]string{lockFile}, names...) {
		path := s.Path(filepath.FromSlash(name))
		switch held, err := filelock.Held(path); {
		case err != nil:
			said = append(said, fmt.Sprintf("%s: %v", name, rootfs.Cause(err)))
		case held:
			by := ""
			if info, err := os.Lstat(path); err == nil {
				by = lockHolder(info)
			}
			said = append(said, name+": held by "+cmp.Or(by, "another process"))
		}
	}
	return strings.Join(said, "; ")
}
