package file

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store/live"
)

// staleLive is how long the file of an ended session stays, for processes that still probe it.
const staleLive = 24 * time.Hour

// Announce takes the lock of a session, which must be new. It proves that the session is alive: the kernel releases it when the process
// ends, and no child process inherits it. The file stays when the session ends, because a missing file would prove nothing.
func (s *Store) Announce(session string) (io.Closer, error) {
	name, err := live.File(session)
	if err != nil {
		return nil, err
	}
	s.sweepLive()
	f, err := s.disk.open(name, os.O_RDWR|os.O_CREATE)
	if errors.Is(err, fs.ErrNotExist) {
		if err = s.disk.mkdir(liveDir); err == nil {
			f, err = s.disk.open(name, os.O_RDWR|os.O_CREATE)
		}
	}
	if err != nil {
		return nil, refusal.Because(refusal.StoreError, "announce the session", err,
			refusal.Say("see whether %s can be written", s.dir))
	}
	f.Close()
	lock, err := s.sessions.Take(session)
	if err != nil {
		return nil, refusal.Because(refusal.StoreError, "lock "+name, err, "start the server again")
	}
	return lock, nil
}

// Probe tests whether a session is alive.
func (s *Store) Probe(session string) lease.Probe { return s.sessions.Probe(session) }

// sweepLive removes the files of old sessions that have ended. It keeps the file of the session
// that has the claim: that file proves that the task may be claimed.
func (s *Store) sweepLive() {
	entries, err := s.disk.readDir(liveDir)
	now, ok := s.readFast()
	if err != nil || !ok {
		return
	}
	for _, e := range entries {
		session, ok := strings.CutSuffix(e.Name(), ".lock")
		info, err := e.Info()
		if !ok || err != nil || session == now.Task.Session || uuid.Validate(session) != nil || s.now().Sub(info.ModTime()) < staleLive {
			continue
		}
		if s.Probe(session) == lease.Gone {
			_ = s.disk.remove(liveDir + "/" + e.Name())
		}
	}
}

// SessionDone returns a channel that is closed within a millisecond after the end of a session's process; nil if the session has no
// lock.
func (s *Store) SessionDone(session string) <-chan struct{} { return s.sessions.Done(session) }
