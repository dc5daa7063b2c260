package handover

import (
	"strings"
	"sync"
)

// SteerPrefix begins the id of a person's message to the running agent; the number of its entry follows, which is unique.
const SteerPrefix = "steer-"

// RollbackPrefix begins the id of the reason of a rollback; the number of the entry that it leads to follows.
const RollbackPrefix = "rollback-"

// News is what a session has not been shown yet, oldest first.
type News struct {
	Steers   []Decision // a person's messages to the running agent
	Messages []Message  // of other agents
}

// ids returns the ids of what is shown whole. A text that was cut is yet to be shown.
func (n News) ids() (list []string) {
	for _, d := range n.Steers {
		if strings.HasPrefix(d.ID, SteerPrefix) && !IsCut(d.Answer) {
			list = append(list, d.ID)
		}
	}
	for _, m := range n.Messages {
		if !IsCut(m.Text) {
			list = append(list, m.ID)
		}
	}
	return list
}

// maxNews is how many bytes of messages one result carries beside its first one; the rest follows with the next result.
const maxNews = 6 << 10

// Fit keeps the oldest messages, as many as one result carries.
func (n *News) Fit() {
	room := maxNews
	for i, m := range n.Messages {
		if room -= size(m); room < 0 && i > 0 {
			n.Messages = n.Messages[:i]
			return
		}
	}
}

// Shown has what was shown to which session. The zero one is ready, and may be used by several goroutines.
type Shown struct {
	mu sync.Mutex
	of map[delivery]bool
}

type delivery struct{ session, id string }

// Has reports whether a session has been shown the message with an id.
func (s *Shown) Has(session, id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of[delivery{session, id}]
}

// Take has read gather what a session is to be shown now, and notes that it is shown that. Of two calls at the same time
// only one shows a message.
func (s *Shown) Take(session string, read func(shown func(id string) bool) (News, error)) (News, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	news, err := read(func(id string) bool { return s.of[delivery{session, id}] })
	s.note(session, news)
	return news, err
}

// Note notes that a session has been shown something.
func (s *Shown) Note(session string, news News) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(session, news)
}

func (s *Shown) note(session string, news News) {
	for _, id := range news.ids() {
		if s.of == nil {
			s.of = map[delivery]bool{}
		}
		s.of[delivery{session, id}] = true
	}
}
