package branch

import (
	"fmt"
	"slices"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/queue"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// A Queueing says what is asked of a task in the queue beside its text.
type Queueing struct {
	Needs    []string // names of tasks; nil for those that the head of the text names, else those that it has
	NoNeeds  bool     // it is to need nothing
	Priority int      // from 1, which comes first, to 9; 0 for that of the head of the text, else the one that it has
}

// Enqueue is [queue.Put] of a task that may need others. The error is a *refusal.RefusedError for a name that no task has, and for a task that can never be
// merged any more.
func Enqueue(e *engine.Engine, name, text string, q Queueing) (queue.Item, error) {
	text, h, err := queue.Split(text)
	if err == nil {
		err = q.apply(&h)
	}
	home := project.At(e.Place().Root, "").Dir()
	if err == nil && len(h.Needs) > 0 {
		list, _ := queue.List(home) // the command that lists it says what else is wrong
		err = resolve(e, list, queue.Item{}, &h)
	}
	if err != nil {
		return queue.Item{}, err
	}
	return queue.Put(home, name, h.With(text))
}

// Requeue is [queue.Replace] for a task that may need others; text is "" where only what is asked of it changes. The errors are those of Enqueue, and it
// refuses needs that lead back to the task itself.
func Requeue(e *engine.Engine, it queue.Item, text string, q Queueing) error {
	body, h, err := queue.Split(text)
	if err != nil {
		return err
	}
	if h.Conflict = (queue.Conflict{}); h.Needs == nil { // it is tried again
		h.Needs = it.Needs
	}
	if h.Priority == 0 {
		h.Priority = it.Priority
	}
	if err := q.apply(&h); err != nil {
		return err
	}
	if len(h.Needs) > 0 {
		list, _ := queue.List(project.At(e.Place().Root, "").Dir())
		if err := resolve(e, list, it, &h); err != nil {
			return err
		}
	}
	return queue.Change(it, func(was string, had queue.Head) (string, queue.Head) {
		h.Issue = had.Issue
		if body == "" {
			body = was
		}
		return body, h
	})
}

// apply writes what is asked into a head.
func (q Queueing) apply(h *queue.Head) error {
	if q.Needs != nil || q.NoNeeds {
		h.Needs = nil
	}
	if q.Priority != 0 {
		if err := h.SetPriority(fmt.Sprint(q.Priority)); err != nil {
			return err
		}
	}
	for _, name := range q.Needs {
		if err := h.AddNeeds(name); err != nil {
			return err
		}
	}
	return nil
}

// resolve records the ids of needs in a head, that of as or of a new task, and refuses what can never be met.
func resolve(e *engine.Engine, list []queue.Item, as queue.Item, h *queue.Head) error {
	as.Head = *h
	list = append(slices.DeleteFunc(list, func(it queue.Item) bool { return it.Name == as.Name }), as)
	t, err := LookAt(e, list, nil)
	if err != nil {
		return err
	}
	for i, n := range h.Needs {
		if _, waits := t.Queued[n.Name]; len(n.IDs) == 0 && !waits {
			h.Needs[i].IDs = t.IDs(n.Name)
		}
	}
	if s := t.Standing(as); s.Blocked && s.Reopen == "" {
		return &refusal.RefusedError{Code: refusal.InvalidInput, Message: "the task can never be taken: " + s.Waits,
			Remedy: "name tasks of the queue or of branches; ferrus queue and ferrus branches list them"}
	}
	return nil
}
