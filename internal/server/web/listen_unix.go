//go:build unix

package web

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"github.com/ferrus-go/ferrus/internal/platform/filelock"
)

// ErrUnsafe means that other users could replace the socket.
var ErrUnsafe = errors.New("other users could replace the socket")

// ListenUnix listens at a socket that only its owner can connect to, in a folder that only its
// owner can write to. It replaces the socket of a dead server, but not one that is in use. A lock
// file beside it is held until the listener is closed: if two servers find the same leftover, one
// gets it.
func ListenUnix(path string) (net.Listener, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(path)
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || info.Mode().Perm()&0o022 != 0 || int(owner.Uid) != os.Geteuid() && owner.Uid != 0 {
		return nil, fmt.Errorf("%s: %w", dir, ErrUnsafe)
	}
	lock, err := filelock.Take(path + ".lock")
	if errors.Is(err, filelock.ErrHeld) {
		return nil, fmt.Errorf("%s: another ferrus listens there", path)
	}
	if err != nil {
		return nil, err
	}
	l, err := bind(path)
	if err != nil {
		_ = lock.Close() // an error would not matter
		return nil, err
	}
	return &locked{l, lock}, nil
}

func bind(path string) (net.Listener, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return nil, err
	case info.Mode().Type() != os.ModeSocket:
		return nil, fmt.Errorf("%s exists and is not a socket", path)
	default:
		c, err := net.Dial("unix", path)
		if err == nil {
			_ = c.Close() // it was only a test
			return nil, fmt.Errorf("%s: another program listens there", path)
		}
		if !errors.Is(err, syscall.ECONNREFUSED) {
			return nil, err
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	// Between bind and chmod others could connect, so the socket must be created with its mode.
	// Nothing else of this process creates files while it starts.
	old := syscall.Umask(0o177)
	l, err := net.Listen("unix", path)
	syscall.Umask(old)
	return l, err
}

// locked is a listener with a lock.
type locked struct {
	net.Listener
	lock *filelock.Lock
}

func (l *locked) Close() error {
	err := l.Listener.Close() // removes the socket
	_ = l.lock.Close()
	return err
}
