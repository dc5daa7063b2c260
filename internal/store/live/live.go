// Package live tells which sessions of a machine live. One of this computer holds the lock of a file below live/ in the folder of its
// machine: the kernel releases it when the process ends, for whatever reason. One of a caller over the network has no process to
// watch; its claim is its identity.
package live

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

// Dir is the name of the folder of the lock files, below the folder of a machine.
const Dir = "live"

// sessionName is the form of a session id, which becomes a file name.
var sessionName = safetext.NewForm(`^[0-9A-Za-z-]*$`, 1, 64)

// Sessions are those of one machine. They are safe for concurrent use.
type Sessions struct {
	dir string // the folder of the machine

	mu   sync.Mutex
	ends map[string]chan struct{} // by session, closed at its end
}

// In returns the sessions of the machine whose folder is dir.
func In(dir string) *Sessions { return &Sessions{dir: dir, ends: map[string]chan struct{}{}} }

// Folder returns the folder of the machine.
func (s *Sessions) Folder() string { return s.dir }

// File returns the name of the lock file of a session, below the folder of the machine. The error says that the id cannot be the name of a file.
func File(session string) (string, error) {
	if !sessionName.MatchString(session) {
		return "", fmt.Errorf("session %q cannot be a file name", session)
	}
	return Dir + "/" + session + ".lock", nil
}

// path returns where the lock file of a session is, "" for an id that cannot have one.
func (s *Sessions) path(session string) string {
	name, err := File(session)
	if err != nil {
		return ""
	}
	return filepath.Join(s.dir, filepath.FromSlash(name))
}

// Take takes the lock of a session. It is held until Close or the end of the process; no child process inherits it. The file stays
// afterwards, because a missing file would prove nothing.
func (s *Sessions) Take(session string) (*filelock.Lock, error) {
	name, err := File(session)
	if err != nil {
		return nil, err
	}
	return filelock.Take(filepath.Join(s.dir, filepath.FromSlash(name)))
}

// Probe tests whether a session is alive. It is lease.Unknown where there is no lock file to look at.
func (s *Sessions) Probe(session string) lease.Probe {
	path := s.path(session)
	if path == "" {
		return lease.Unknown
	}
	held, err := filelock.Held(path)
	switch {
	case err != nil:
		return lease.Unknown
	case held:
		return lease.Alive
	}
	return lease.Gone
}

// Began reports whether the process of a session has taken its lock on this computer, even if it has ended since.
func (s *Sessions) Began(session string) bool {
	_, err := os.Lstat(s.path(session))
	return !errors.Is(err, fs.ErrNotExist)
}

// Done returns a channel that is closed within a millisecond after the end of a session's process. It is nil if the session has no
// lock file. Waiting blocks a thread, so all calls for one session share one channel.
func (s *Sessions) Done(session string) <-chan struct{} {
	path := s.path(session)
	if path == "" || s.Probe(session) == lease.Unknown {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.ends[session]; ok {
		return c
	}
	if _, err := os.Lstat(path); err != nil {
		return nil
	}
	end := make(chan struct{})
	s.ends[session] = end
	go func() {
		if filelock.Wait(path) == nil {
			close(end)
		}
	}()
	return end
}
