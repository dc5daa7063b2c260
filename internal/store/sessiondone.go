package store

import (
	"os"

	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/platform/filelock"
)

// SessionDone returns a channel that is closed within a millisecond of the end of a session's process; nil where there is no
// liveness lock to wait for. The waiting costs a blocked thread until that process ends, so callers share it: a second
// call for the same session returns the same channel.
func (s *Store) SessionDone(session string) <-chan struct{} {
	if !sessionName.MatchString(session) || s.Probe(session) == lease.Unknown {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.deaths[session]; ok {
		return c
	}
	path := s.Path(liveDir, session+".lock")
	if _, err := os.Lstat(path); err != nil {
		return nil
	}
	dead := make(chan struct{})
	if s.deaths == nil {
		s.deaths = map[string]chan struct{}{}
	}
	s.deaths[session] = dead
	go func() {
		if filelock.Wait(path) == nil {
			close(dead)
		}
	}()
	return dead
}
