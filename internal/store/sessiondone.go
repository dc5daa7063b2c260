package store

import (
	"os"

	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/platform/filelock"
)

// SessionDone returns a channel that is closed within a millisecond after the end of a session's
// process. It returns nil if the session has no liveness lock. Waiting blocks a thread, so all
// calls for one session share one channel.
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
