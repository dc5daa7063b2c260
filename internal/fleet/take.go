package fleet

import (
	"context"
	"strings"

	"github.com/ferrus-go/ferrus/internal/branch"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/queue"
	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// take makes a branch of the next task in the queue and returns its name, "" if there is none. It
// first finishes one that was interrupted.
func (f *fleet) take(ctx context.Context) (string, error) {
	list, err := queue.List(f.e.Place().Dir())
	if err != nil {
		f.trouble("", err) // the good ones are taken all the same
	}
	for _, it := range list {
		if _, _, ok := it.Pipeline(); ok {
			continue // ferrus pipeline starts it
		}
		if text, tried := f.untaken[it.Name]; tried && text == it.Text {
			continue
		}
		delete(f.untaken, it.Name)
		task, err := f.branch(ctx, it)
		if ctx.Err() != nil {
			return "", nil
		}
		if err == nil {
			err = queue.Taken(it)
		}
		if err != nil {
			f.trouble(it.Name, err)
			f.untaken[it.Name] = it.Text
			continue
		}
		f.Tell(Event{Branch: it.Name, Kind: Taken, Text: task.Title})
		return it.Name, nil
	}
	return "", nil
}

// branch makes the branch of a queued task, with the task.
func (f *fleet) branch(ctx context.Context, it queue.Item) (state.Task, error) {
	return Branch(ctx, f.s, it)
}

// Branch makes the branch of a queued task, with the task, for the caller of a session of the
// project. It finishes one that was interrupted.
func Branch(ctx context.Context, s *engine.Session, it queue.Item) (state.Task, error) {
	e, err := branch.Open(s.Engine(), it.Name)
	if refusal.CodeOf(err) == refusal.UnknownBranch {
		if _, err := branch.Create(ctx, s, branch.Fork{Names: []string{it.Name}, Own: true}); err != nil {
			return state.Task{}, err
		}
		e, err = branch.Open(s.Engine(), it.Name)
	}
	if err != nil {
		return state.Task{}, err
	}
	defer e.Close()
	now, err := e.View()
	if err != nil {
		return state.Task{}, err
	}
	if now.Task.TaskID != "" { // taken before, by one that was killed, or somebody else's
		text, err := store.Text(e.Store(), now, state.TaskDoc)
		if err == nil && strings.TrimSpace(text) != strings.TrimSpace(it.Text) {
			err = &refusal.RefusedError{Code: refusal.InvalidInput, Message: "there is a branch of that name with another task",
				Remedy: "call the file " + it.Path + " by another name"}
		}
		return now.Task, err
	}
	done, err := e.Session(s.Caller).CreateTask(ctx, it.Text, "")
	return done.Task, err
}
