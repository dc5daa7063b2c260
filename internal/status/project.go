package status

import (
	"github.com/ferrus-go/ferrus/internal/project/queue"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A QueuedTask is a task that waits in the queue.
type QueuedTask struct {
	Name  string `json:"name"` // of the branch that it will have
	Title string `json:"title"`

	text string // "" where it is longer than what is read of it
}

// wholeText is the length from which a text of the queue may have been cut, in bytes.
const wholeText = 4000

// Queue returns the tasks that wait below a .ferrus folder, in their order. It leaves out what is no valid task:
// ferrus queue names them.
func Queue(home string) []QueuedTask {
	items, _ := queue.Peek(home)
	tasks := make([]QueuedTask, len(items))
	for i, it := range items {
		tasks[i] = QueuedTask{Name: it.Name, Title: it.Title()}
		if len(it.Text) < wholeText {
			tasks[i].text = it.Text
		}
	}
	return tasks
}

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
