package schedule

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/project/queue"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// take makes a branch of the next task in the queue and returns its name, "" if there is none. It
// first finishes one that was interrupted.
func (f *fleet) take(ctx context.Context) (string, error) {
	list, err := Queued(f.e.Place().Dir())
	if err != nil {
		f.trouble("", err) // the good ones are taken all the same
	}
	for _, it := range list {
		if was, tried := f.untaken[it.Name]; tried && was.item.Same(it) && (was.until.IsZero() || time.Now().Before(was.until)) {
			continue
		}
		delete(f.untaken, it.Name)
		task, err := Take(f.following(ctx, it.Name), f.s, it)
		if ctx.Err() != nil {
			return "", nil
		}
		if err != nil {
			f.trouble(it.Name, err)
			f.note(it.Name, err)
			was := untaken{item: it}
			if f.Node {
				was.until = time.Now().Add(f.Retry)
			}
			f.untaken[it.Name] = was
			continue
		}
		f.note(it.Name, nil)
		if task == nil {
			continue // another computer takes it
		}
		f.Tell(Event{Branch: it.Name, Kind: Taken, Text: task.Title})
		return it.Name, nil
	}
	return "", nil
}

// Queued returns the tasks in the queue of a .ferrus folder that [Take] can take, the next one first, with the beginnings of their texts. A pipeline that
// waits is none of them: ferrus pipeline starts it. The error is that of [queue.Heads].
func Queued(home string) ([]queue.Item, error) {
	list, err := queue.Heads(home)
	return slices.DeleteFunc(list, func(it queue.Item) bool { _, _, pipeline := it.Pipeline(); return pipeline }), err
}

// Take takes a task out of the queue and makes its branch, with the task, for the caller of a session of the project. It
// finishes one that was interrupted, on whatever computer. It returns nil without an error if another process takes the task.
func Take(ctx context.Context, s *engine.Session, it queue.Item) (*state.Task, error) {
	claim, err := queue.Take(ctx, it)
	if err != nil || claim == nil {
		return nil, err
	}
	task, err := makeBranch(ctx, s, claim)
	if err == nil {
		err = claim.Done()
	}
	if err = errors.Join(err, claim.Close()); err != nil {
		return nil, err
	}
	return &task, nil
}

// makeBranch makes the branch of a claimed task, or finishes it.
func makeBranch(ctx context.Context, s *engine.Session, it *queue.Claim) (state.Task, error) {
	e, err := branch.Open(s.Engine(), it.Name)
	if err == nil && it.Branch && lacksFiles(e) {
		// Another computer has made it and ended before it had the task: its work tree is nowhere else.
		e.Close()
		if _, err = branch.Remove(ctx, s, it.Name, false); err != nil {
			return state.Task{}, err
		}
		e, err = branch.Open(s.Engine(), it.Name)
	}
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
				Remedy: refusal.Say("%s", it.Renaming())}
		}
		return now.Task, err
	}
	done, err := e.Session(s.Caller).CreateTask(ctx, it.Text, "")
	return done.Task, err
}

// lacksFiles reports whether a branch has no task, and its work tree is on another computer.
func lacksFiles(e *engine.Engine) bool {
	now, err := e.View()
	return err == nil && now.Task.TaskID == "" && e.Place().Here() != nil
}
