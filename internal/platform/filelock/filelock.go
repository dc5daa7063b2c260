// Package filelock uses lock files to tell whether a process is alive, and to let one process at a
// time do a piece of work. The operating system releases a lock when its process ends, for whatever
// reason.
//
// Some locks last as long as a session, an agent or a conductor: [Take] takes such a lock, [Held]
// and [Wait] ask about it. Others last for the moment in which files are written, and other
// processes wait for them: [Acquire] and [Queue].
//
// A lock file is never removed while it may be in use: a second process could lock the old inode
// while a third locks the new one. On Unix, symbolic links are not followed.
//
// Like everything below internal/platform it knows nothing of ferrus. The folder has files (atomicfile, rootfs, jsonx), locks
// (filelock), processes (proc), sandboxes (sandbox), time (clock) and text (format, safetext).
//
// Start reading at filelock/filelock.go.
package filelock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/gofrs/flock"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// ErrHeld means that another process, or another caller of this one, has the lock.
var ErrHeld = errors.New("somebody else holds the lock")

// A Lock is exclusive until Close or the end of the process. No child process inherits it.
type Lock struct {
	flock *flock.Flock
	file  fs.FileInfo
	since time.Time
	queue *Queue // nil of a lock that was taken
}

// Close releases the lock. A second call does nothing.
func (l *Lock) Close() error {
	err := l.unlock()
	if l.queue != nil {
		l.queue.released(l)
	}
	return err
}

// unlock releases the lock before the file is closed: a leaked descriptor must not keep it. If that
// fails, the file stays open, and this process would wait for itself.
func (l *Lock) unlock() error {
	if l.flock.Unlock() != nil {
		return l.flock.Unlock()
	}
	return nil
}

// checked returns the lock that was just taken. Neither lock nor error means that its file was
// removed or replaced before.
func (l *Lock) checked() (*Lock, error) {
	var err error
	if l.file, err = regular(l.flock); err == nil {
		var here fs.FileInfo
		if here, err = os.Stat(l.flock.Path()); err == nil && os.SameFile(here, l.file) {
			l.since = time.Now()
			return l, nil
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	_ = l.unlock()
	return nil, err
}

// Held reports whether the lock at path is held, possibly by this process. It neither creates nor
// writes the file. With an error the answer is false: fs.ErrNotExist means that there is no file;
// rootfs.ErrLink, ErrNotRegular and ErrIsDir that it is not a lock file; others that the answer is
// unknown. It never waits for a named pipe.
func Held(path string) (bool, error) {
	// Shared, so that two callers that ask at once do not take each other for a holder.
	lock := flock.New(path, flock.SetFlag(look))
	free, err := lock.TryRLock()
	if free {
		_, err = regular(lock)
		_ = lock.Close()
	}
	return err == nil && !free, named(path, err)
}

// Wait returns nil when the lock at path is free, within a millisecond after the end of its holder.
// Until then it blocks a thread. The error is one of Held.
func Wait(path string) error {
	lock := flock.New(path, flock.SetFlag(look))
	if err := lock.RLock(); err != nil {
		return named(path, err)
	}
	_, err := regular(lock)
	return errors.Join(err, lock.Close())
}

// regular refuses a lock on a file that is not regular: such a lock proves nothing.
func regular(lock *flock.Flock) (fs.FileInfo, error) {
	info, err := lock.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s %w", lock.Path(), rootfs.ErrNotRegular)
	}
	return info, err
}

// named returns the error for an entry at path that cannot be a lock file.
func named(path string, err error) error {
	if err == nil {
		return nil
	}
	info, wrong := os.Lstat(path)
	switch {
	case wrong != nil:
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s %w", path, rootfs.ErrLink)
	case info.IsDir():
		return fmt.Errorf("%s %w", path, rootfs.ErrIsDir)
	}
	return err
}

// tries is how often, a millisecond apart, Take tries to find a moment without a call of Held.
const tries = 1000

// Take takes the lock at path. It creates a missing file, for the user alone. The error is ErrHeld,
// at once, if the lock is held, possibly by this process. Take waits for calls of Held, which take
// the lock shared for a moment.
func Take(path string) (*Lock, error) {
	for range tries {
		// A new one each time: two callers with one *flock.Flock would both get the lock.
		lock := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR|noFollow), flock.SetPermissions(0o600))
		got, err := lock.TryLock()
		if err != nil {
			return nil, named(path, err)
		}
		if got {
			if lock, err := (&Lock{flock: lock}).checked(); lock != nil || err != nil {
				return lock, err
			}
			continue
		}
		if held, _ := Held(path); held {
			return nil, ErrHeld
		}
		time.Sleep(time.Millisecond)
	}
	return nil, errors.New("other processes test it without a pause")
}
