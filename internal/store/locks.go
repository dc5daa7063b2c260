package store

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/rootfs"
)

// Locks describes the holders of the machine's locks: STATE.lock, those under live, and the store's
// own in this process. It is for the log of a call that hangs. It does not wait, and proves
// nothing.
func (s *Store) Locks() string {
	said := []string{lockFile + ": " + s.queue.State(), "store: " + Mutex(s.mu.TryLock, s.mu.Unlock)}
	names, _ := filepath.Glob(s.Path(liveDir, "*.lock"))
	for _, path := range append([]string{s.Path(lockFile)}, names...) {
		name, _ := filepath.Rel(s.dir, path)
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

// Mutex describes whether a mutex is locked, without waiting for it.
func Mutex(try func() bool, unlock func()) string {
	if !try() {
		return "held"
	}
	unlock()
	return "free"
}
