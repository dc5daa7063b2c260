package packet

import (
	"strings"
	"sync"
)

// SteerPrefix begins the id of what a person has said unasked; the number of its entry follows, which is never another's.
const SteerPrefix = "steer-"

// Shown is which of these sessions have been shown. The zero one is ready, and may be used by several goroutines.
type Shown struct {
	mu sync.Mutex
	of map[listener]bool
}

type listener struct{ session, steer string }

// Has reports whether a session has been shown the one with an id.
func (s *Shown) Has(session, id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of[listener{session, id}]
}

// Take has read gather what a session is to be shown now, and notes that it is shown that. Two calls at a time are shown
// nothing twice.
func (s *Shown) Take(session string, read func(shown func(id string) bool) ([]Decision, error)) ([]Decision, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, err := read(func(id string) bool { return s.of[listener{session, id}] })
	s.note(session, list)
	return list, err
}

// Note notes that a session has been shown decisions. One that was cut is yet to be shown.
func (s *Shown) Note(session string, list []Decision) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(session, list)
}

func (s *Shown) note(session string, list []Decision) {
	for _, d := range list {
		if s.of == nil {
			s.of = map[listener]bool{}
		}
		if strings.HasPrefix(d.ID, SteerPrefix) && !IsCut(d.Answer) {
			s.of[listener{session, d.ID}] = true
		}
	}
}
