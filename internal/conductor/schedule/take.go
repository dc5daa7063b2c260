package schedule

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/queue"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// take makes branches of tasks of the queue, the first that can be taken, as many as there are places. Work that
// is begun when work ends is not begun; its conductors end with ctx.
func (f *fleet) take(ctx, work context.Context, list []queue.Item, places int) {
	for _, it := range list {
		if places == 0 {
			return
		}
		task, err := Take(f.following(work, it.Name), f.s, it)
		if work.Err() != nil {
			return
		}
		if clash := (*branch.ConflictError)(nil); errors.As(err, &clash) { // the next plan finds it in the queue
			f.waits(decision{name: it.Name, why: clash.Message, blocked: true})
			continue
		}
		if err != nil {
			f.trouble(it.Name, err)
			f.note(it.Name, err)
			was := untaken{item: it, work: f.tasks.Standing(it).WorkID()}
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
		if !f.busy[it.Name] { // its branch may have been made by a fleet that was killed, and is conducted as one of those that wait
			f.conduct(ctx, it.Name)
			places--
		}
	}
}

// untried returns the tasks of the queue without those that could not be taken and have not changed since.
func (f *fleet) untried(list []queue.Item, tasks *branch.Tasks) []queue.Item {
	return slices.DeleteFunc(slices.Clone(list), func(it queue.Item) bool {
		was, tried := f.untaken[it.Name]
		again := !tried || !was.item.Same(it) || was.work != tasks.Standing(it).WorkID() || !was.until.IsZero() && !time.Now().Before(was.until)
		if again {
			delete(f.untaken, it.Name)
		}
		return !again
	})
}

// Queued returns the tasks in the queue of a .ferrus folder that [Take] can take, the next one first, with the beginnings of their texts. A pipeline that
// waits is none of them: ferrus pipeline starts it. The error is that of [queue.Heads].
func Queued(home string) ([]queue.Item, error) {
	list, err := queue.Heads(home)
	return slices.DeleteFunc(list, func(it queue.Item) bool { _, _, pipeline := it.Pipeline(); return pipeline }), err
}

// Take takes a task out of the queue and makes its branch, with the task, for the caller of a session of the project. It
// finishes one that was interrupted, on whatever computer. It returns nil without an error if another process takes the task. A *branch.ConflictError is
// recorded in the queue.
func Take(ctx context.Context, s *engine.Session, it queue.Item) (*state.Task, error) {
	claim, err := queue.Take(ctx, it)
	if err != nil || claim == nil {
		return nil, err
	}
	task, err := makeBranch(ctx, s, claim)
	if err == nil {
		recordTaken(s.Engine(), it.Name, task.TaskID)
		err = claim.Done()
	}
	clash := (*branch.ConflictError)(nil)
	switch err = errors.Join(err, claim.Close()); {
	case errors.Is(err, errWaits):
		return nil, nil
	case errors.As(err, &clash):
		if err := branch.RecordConflict(it, clash); err != nil {
			return nil, err
		}
		return nil, clash
	case err != nil:
		return nil, err
	}
	return &task, nil
}

// errWaits: what a task needs has changed since it was decided to take it.
var errWaits = errors.New("the task waits")

// recordTaken records the id of a task that is taken with those in the queue that need it, while its name is still its own. What cannot be recorded is
// recorded by a later plan.
func recordTaken(e *engine.Engine, name, id string) {
	list, _ := Queued(project.At(e.Place().Root, "").Dir())
	for _, it := range list {
		if slices.ContainsFunc(it.Needs, func(n queue.Need) bool { return n.Name == name && len(n.IDs) == 0 }) {
			recordNeeds(e, it, func(of string) []string {
				if of == name {
					return []string{id}
				}
				return nil
			})
		}
	}
}

func recordNeeds(e *engine.Engine, it queue.Item, ids func(name string) []string) {
	if err := branch.Record(it, ids); err != nil {
		e.Log().Warn("which task another one needs is not recorded yet", "name", it.Name, "error", err)
	}
}

// began returns how the branch of a task begins: with the project's files, and with the approved work that it needs and those do not have.
func began(ctx context.Context, s *engine.Session, it queue.Item) (branch.Fork, error) {
	f := branch.Fork{Names: []string{it.Name}, Own: true}
	if len(it.Needs) == 0 {
		return f, nil
	}
	list, _ := Queued(project.At(s.Engine().Place().Root, "").Dir())
	tasks, err := branch.LookAt(s.Engine(), list, nil)
	if err != nil {
		return f, err
	}
	standing := tasks.Standing(it)
	if standing.Waits != "" {
		return f, errWaits
	}
	return f, f.Begin(ctx, s, standing.Work)
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
		var fork branch.Fork
		if fork, err = began(ctx, s, it.Item); err == nil {
			_, err = branch.Create(ctx, s, fork)
		}
		if err != nil {
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
	done, err := e.Session(s.Caller).CreateQueued(ctx, it.Text, it.Issue)
	return done.Task, err
}

// lacksFiles reports whether a branch has no task, and its work tree is on another computer.
func lacksFiles(e *engine.Engine) bool {
	now, err := e.View()
	return err == nil && now.Task.TaskID == "" && e.Place().Here() != nil
}
