package status

import (
	"github.com/ferrus-go/ferrus/internal/store"
)

// progress returns the newest progress note of the present task, nil if there is none.
func progress(s store.Machine, now store.Snapshot) (*Text, error) {
	notes := now.Task.Progress
	if len(notes) == 0 {
		return nil, nil
	}
	l, err := s.LineAt(notes[len(notes)-1].Off)
	if err != nil {
		return nil, err
	}
	return &Text{By: l.Actor.Agent, At: l.At, Text: l.Note}, nil
}
