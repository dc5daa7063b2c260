package act

import (
	"context"
	"fmt"

	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/conductor/schedule"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project/queue"
	"github.com/ferrus-go/ferrus/internal/status"
)

// enqueue adds a task to those that wait.
func enqueue(_ context.Context, s *engine.Session, r Request) (Result, error) {
	place := s.Engine().Place()
	it, err := queue.Put(place.Dir(), r.Item, r.Text)
	if err != nil {
		return Result{}, err
	}
	waiting, facts := waits(place.Dir(), it)
	got := Result{Facts: facts, Lines: []string{fmt.Sprintf("%s waits; %s in the queue", it.Name, format.Count(waiting, "task is", "tasks are"))}}
	if h, busy := conductor.Conductor(schedule.Dir(place.Root)); busy {
		got.Lines = append(got.Lines, fmt.Sprintf("  the active run takes it (process %d)", h.Pid))
		return got, nil
	}
	start := status.Step{Command: place.RunAll("2"), Why: "starts them, two at a time"}
	if place.InDatabase() {
		start.Why += ", on this computer; the node of any other takes them too"
	}
	got.Next = []status.Step{start, {Command: "ferrus queue", Why: "lists them"}}
	return got, nil
}

// waits returns how many tasks wait, and the facts of one of them for a program.
func waits(home string, it queue.Item) (int, map[string]any) {
	all, _ := queue.List(home) // the command that lists it says what else is wrong
	facts := map[string]any{"name": it.Name, "waiting": len(all)}
	if it.Path != "" {
		facts["path"] = it.Path
	}
	return len(all), facts
}

// requeue replaces the text of a task that waits.
func requeue(_ context.Context, s *engine.Session, r Request) (Result, error) {
	home := s.Engine().Place().Dir()
	it, err := queue.Find(home, r.Item)
	if err == nil {
		err = queue.Replace(it, r.Text)
	}
	_, facts := waits(home, it)
	return Result{Facts: facts, Lines: []string{it.Name + " has its new text"}}, err
}

// dequeue removes a task that waits.
func dequeue(_ context.Context, s *engine.Session, r Request) (Result, error) {
	it, err := queue.Find(s.Engine().Place().Dir(), r.Item)
	if err == nil {
		err = queue.Remove(it)
	}
	return Result{Facts: map[string]any{"name": it.Name}, Lines: []string{"removed " + it.Name + " from the queue"}}, err
}
