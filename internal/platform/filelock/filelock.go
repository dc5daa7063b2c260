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
package filelock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/gofrs/flock"

	"github.com/ferrus-go/ferrus/internal/rootfs"
)

// ErrHeld says that another holds the lock.
var ErrHeld = errors.New("somebody else holds the lock")

// A Lock is held exclusively until Close or the end of the process. No child process inherits it.
type Lock struct {
	flock *flock.Flock
	file  fs.FileInfo
	since time.Time
	queue *Queue // nil of a lock that was taken
}

// Close gives the lock back. A second call does nothing.
func (l *Lock) Close() error {
	err := l.unlock()
	if l.queue != nil {
		l.queue.released(l)
	}
	return err
}

// unlock drops the lock before the file is closed: a leaked descriptor must not keep it. Where that fails the file stays
// open, and this process would wait for itself.
func (l *Lock) unlock() error {
	if l.flock.Unlock() != nil {
		return l.flock.Unlock()
	}
	return nil
}

// checked returns the lock that was just got. Neither lock nor error means that its file was removed or replaced before.
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

// Held reports whether somebody holds the lock at path, be it this process. The file is neither made nor written to. The
// error says that it cannot be known, fs.ErrNotExist that there is no file, rootfs.ErrLink, ErrNotRegular or ErrIsDir that
// what lies there is none; the answer is false then. A named pipe is not waited for.
func Held(path string) (bool, error) {
	// Shared, so that two who ask at once do not take each other for a holder.
	lock := flock.New(path, flock.SetFlag(look))
	free, err := lock.TryRLock()
	if free {
		_, err = regular(lock)
		_ = lock.Close()
	}
	return err == nil && !free, named(path, err)
}

// Wait returns nil when nobody holds the lock at path, within a millisecond of the end of its holder. Until then it costs
// a blocked thread. The error is one of Held.
func Wait(path string) error {
	lock := flock.New(path, flock.SetFlag(look))
	if err := lock.RLock(); err != nil {
		return named(path, err)
	}
	_, err := regular(lock)
	return errors.Join(err, lock.Close())
}

// regular refuses a lock on what is no regular file: that is nobody's proof of anything.
func regular(lock *flock.Flock) (fs.FileInfo, error) {
	info, err := lock.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s %w", lock.Path(), rootfs.ErrNotRegular)
	}
	return info, err
}

// named says what lies at path where that is why it could not be opened.
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

// tries is how often, a millisecond apart, Take looks for a moment in which nobody looks.
const tries = 1000

// Take takes the lock at path, and makes the file, for the user alone, where there is none. The error is ErrHeld, at once,
// when somebody holds it, be it this process. Those who only look hold it for a moment, shared: they are waited for.
func Take(path string) (*Lock, error) {
	for range tries {
		// A new one each time: two callers of one *flock.Flock would both be told that they hold it.
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
	return nil, errors.New("others look at it all the time")
}
