package status

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/conductor/schedule"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project/queue"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// maxCopies bounds how many branches are made at once.
const maxCopies = 20

// copies is how many attempts a request makes, 0 for a branch of its own name.
func (r Request) copies() int {
	if n := len(r.Fork.Variants); n > 1 {
		return n
	}
	return r.Copies
}

// A made is a new branch.
type made struct {
	Branch string      `json:"branch"`
	Work   string      `json:"work"`
	TaskID string      `json:"task_id"`
	State  state.State `json:"state"`
	Agent  string      `json:"agent,omitempty"` // its executor, AGENT or AGENT:MODEL; "" for that of ferrus.toml
}

// makeBranches makes the branches of the request from the task of the session and gives each the task of the text, if there is one.
func makeBranches(ctx context.Context, s *engine.Session, r Request) (got ActResult, err error) {
	fork, copies := r.Fork, r.copies()
	if copies < 0 || copies > maxCopies {
		return got, &refusal.RefusedError{Code: refusal.InvalidInput, Message: fmt.Sprintf("%d is not a number of branches", copies), Remedy: refusal.Say("make at most %d at a time", maxCopies), Person: true}
	}
	fork.Names, fork.At, fork.Own = []string{r.Branch}, r.Seq, r.Text != "" || fork.Base != ""
	if copies > 0 {
		fork.Names = nil
		for n := range copies {
			fork.Names = append(fork.Names, fmt.Sprintf("%s.%d", r.Branch, n+1))
		}
	}
	places, err := branch.Create(ctx, s, fork)
	if len(places) == 0 {
		return got, err
	}
	got.Left = err
	list := make([]made, len(places))
	for i, place := range places {
		t, err := settle(ctx, s, place.Branch, r.Text)
		if err != nil {
			return got, refusal.Adding(err, "; the branch "+place.Branch+" has no task")
		}
		list[i] = made{place.Branch, place.Work, t.TaskID, t.State, t.Variant.String()}
		line := fmt.Sprintf("%-14s %s  %s", place.Branch, format.Pad(StateWords(t.State), 21), Near(place.Work))
		if by := list[i].Agent; by != "" {
			line += "  " + by
		}
		got.Lines = append(got.Lines, line)
	}
	got.Facts = map[string]any{"branches": list}
	on, first := s.Engine().Place(), list[0].Branch
	run := Step{Command: on.RunAll(fmt.Sprint(max(2, len(list)))), Why: "runs the branches"}
	if on.InDatabase() {
		run.Why += " on this computer; the node of any other does it too"
	}
	got.Next = []Step{run, {Command: "ferrus resume --branch " + first, Why: "runs this one"}, {Command: "ferrus branches", Why: "compares them"}}
	if list[0].TaskID == "" {
		got.Next = []Step{{Command: "ferrus task --branch " + first + ` "what is to be done"`, Why: "gives it a task"}}
	}
	return got, nil
}

// settle gives a new branch its task, if it has one of its own.
func settle(ctx context.Context, s *engine.Session, name, text string) (state.Task, error) {
	on, err := OpenBranch(s, name, engine.Subject{})
	if err != nil {
		return state.Task{}, err
	}
	defer on.Engine().Close()
	if text == "" {
		now, err := on.Engine().View()
		return now.Task, err
	}
	done, err := on.CreateTask(ctx, text, "")
	return done.Task, err
}

// Near is a path as it is seen from the folder of this process, where that is shorter.
func Near(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(here, path); err == nil && len(rel) < len(path) {
		return rel
	}
	return path
}

// enqueue adds a task to those that wait.
func enqueue(_ context.Context, s *engine.Session, r Request) (ActResult, error) {
	place := s.Engine().Place()
	it, err := branch.Enqueue(s.Engine(), r.Item, r.Text, r.Asked)
	if err != nil {
		return ActResult{}, err
	}
	after := ""
	if names := it.NeedNames(); names != nil {
		after = " for " + strings.Join(names, ", ")
	}
	waiting, facts := waits(place.Dir(), it)
	got := ActResult{Facts: facts, Lines: []string{fmt.Sprintf("%s waits%s; %s in the queue", it.Name, after, format.Count(waiting, "task is", "tasks are"))}}
	if h, busy := conductor.Conductor(schedule.Dir(place.Root)); busy {
		got.Lines = append(got.Lines, fmt.Sprintf("  the active run takes it (process %d)", h.Pid))
		return got, nil
	}
	start := Step{Command: place.RunAll("2"), Why: "starts them, two at a time"}
	if place.InDatabase() {
		start.Why += ", on this computer; the node of any other takes them too"
	}
	got.Next = []Step{start, {Command: "ferrus queue", Why: "lists them"}}
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
func requeue(_ context.Context, s *engine.Session, r Request) (ActResult, error) {
	home := s.Engine().Place().Dir()
	it, err := queue.Find(home, r.Item)
	line, text := it.Name+" has its new text", r.Text
	if text == it.Text { // which may begin like a head
		line, text = it.Name+" is changed", ""
	}
	if err == nil {
		err = branch.Requeue(s.Engine(), it, text, r.Asked)
	}
	_, facts := waits(home, it)
	return ActResult{Facts: facts, Lines: []string{line}}, err
}

// dropNeed has a task that waits no longer need another one.
func dropNeed(_ context.Context, s *engine.Session, r Request) (ActResult, error) {
	home := s.Engine().Place().Dir()
	it, err := queue.Find(home, r.Item)
	if err == nil {
		err = queue.Change(it, func(text string, h queue.Head) (string, queue.Head) {
			h.Conflict, h.Needs = queue.Conflict{}, slices.DeleteFunc(h.Needs, func(n queue.Need) bool { return r.ID == "" || n.Name == r.ID })
			return text, h
		})
	}
	_, facts := waits(home, it)
	return ActResult{Facts: facts, Lines: []string{it.Name + " no longer needs " + cmp.Or(r.ID, "another task")}}, err
}

// dequeue removes a task that waits.
func dequeue(_ context.Context, s *engine.Session, r Request) (ActResult, error) {
	it, err := queue.Find(s.Engine().Place().Dir(), r.Item)
	if err == nil {
		err = queue.Remove(it)
	}
	return ActResult{Facts: map[string]any{"name": it.Name}, Lines: []string{"removed " + it.Name + " from the queue"}}, err
}
