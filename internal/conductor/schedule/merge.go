package schedule

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// view reads the state of a branch.
func (f *fleet) view(name string) (store.Snapshot, error) {
	e, err := branch.Open(f.e, name)
	if err != nil {
		return store.Snapshot{}, err
	}
	defer e.Close()
	return e.View()
}

// merge merges the next branch with approved work, one at a time, if ferrus.toml says so. It first
// finishes an interrupted merge of any process: until then the project can do nothing else.
func (f *fleet) merge(ctx context.Context, names []string) error {
	conf, err := f.e.Config()
	if err != nil {
		return err
	}
	if f.merging != "" || branch.Merging(f.e) {
		return nil
	}
	project, err := f.e.View()
	if err != nil {
		return err
	}
	if project.Task.Returning.Of != "" {
		return nil // a delegate of the project's own task moves in, which its executor ends
	}
	cut := project.Task.Returning.From
	if cut == "" && (conf.Branches.OnApprove != config.Merge || f.e.Trusted() != nil) {
		return nil // unfinished work must not decide, by a line in ferrus.toml, that it is merged
	}
	for _, name := range names {
		if f.busy[name] || cut != "" && name != cut {
			continue
		}
		now, err := f.view(name)
		if err != nil || cut == "" && (now.Task.Parent != (state.Parent{}) || now.Task.State != state.Complete || now.Task.Merged != "") {
			continue // a failed read was already reported
		}
		if why := f.unchosen(names, name, now.Task); cut == "" && why != "" {
			f.refuse(name, refused{Why: why}) // until the others change
			continue
		}
		if r, ok := f.refused[name]; ok && r.Branch == now.Task.Seq && r.Project == project.Task.Seq {
			continue
		}
		f.busy[name], f.merging = true, name
		f.Tell(Event{Branch: name, Kind: Merging})
		go func() {
			got, err := f.merged(ctx, name)
			f.ended <- ended{branch: name, merged: true, got: got, err: err}
		}()
		return nil
	}
	return nil
}

func (f *fleet) merged(ctx context.Context, name string) (branch.Merged, error) {
	e, err := branch.Open(f.e, name)
	if err != nil {
		return branch.Merged{}, err
	}
	defer e.Close()
	return branch.Merge(ctx, f.s, e.Session(f.Caller), func() error { return conductor.EndAll(ctx, f.e) })
}

func (f *fleet) mergeEnded(done ended) {
	f.merging = ""
	if done.err == nil {
		text := ""
		if done.got.Empty {
			text = "empty: its work changed no file"
		}
		f.Tell(Event{Branch: done.branch, Kind: Merged, Text: text})
		if notice := done.got.Notice(); notice != "" {
			f.Tell(Event{Branch: done.branch, Kind: Trouble, Text: notice})
		}
		return
	}
	if errors.Is(done.err, context.Canceled) {
		return // the fleet is stopping
	}
	now, err := f.view(done.branch)
	project, wrong := f.e.View()
	if err == nil && wrong == nil {
		var clash *branch.ConflictError
		f.refuse(done.branch, refused{now.Task.Seq, project.Task.Seq, done.err.Error(), errors.As(done.err, &clash)})
	}
}

// refuse stores why work is not merged, and reports it once.
func (f *fleet) refuse(name string, r refused) {
	if f.refused[name].Why != r.Why {
		f.Tell(Event{Branch: name, Kind: Unmerged, Text: r.Why})
	}
	f.refused[name] = r
}

// unchosen is Unchosen for the branches as they are now.
func (f *fleet) unchosen(names []string, name string, t state.Task) string {
	return Unchosen(names, name, t, func(other string) (state.Task, error) {
		now, err := f.view(other)
		return now.Task, err
	})
}

// Unchosen returns why one of several attempts at a task is not merged yet, "" for one that may be
// merged: it was selected, or is the only approved one. t is its task, and view returns those of
// other branches.
func Unchosen(names []string, name string, t state.Task, view func(name string) (state.Task, error)) string {
	if t.Selected {
		return ""
	}
	var others []string
	for _, other := range branch.Group(names, name) {
		if other == name {
			continue
		}
		is, err := view(other)
		switch {
		case err != nil:
		case is.Underway():
			return "other attempts at it are running"
		case is.Merged != "" || is.Selected:
			return other + " was taken"
		case is.State == state.Complete:
			others = append(others, other)
		}
	}
	if len(others) == 0 {
		return ""
	}
	return fmt.Sprintf("%s is approved, too: ferrus select shows both, and ferrus select NAME takes one", strings.Join(others, ", "))
}

// outcome returns the result of the run.
func (f *fleet) outcome(ctx context.Context) (Outcome, error) {
	names, err := project.Branches(f.e.Place().Root)
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Exit: exitNothing}
	for _, a := range branch.Attempts(ctx, f.e, names) {
		if a.Snap.Task.Parent != (state.Parent{}) {
			continue // it is a part of another task
		}
		s := BranchStatus{Attempt: a}
		if r, ok := f.refused[a.Branch]; ok && a.State == state.Complete && !a.Merged {
			s.Unmerged, s.Clashes = r.Why, r.clash
		}
		if l := f.left[a.Branch]; l.err != nil && l.seq == a.Snap.Task.Seq {
			s.Trouble = l.err.Error()
		}
		out.Tasks = append(out.Tasks, s)
		out.Exit = worse(out.Exit, s.exit())
	}
	if len(f.untaken) > 0 {
		out.Exit = exitFailure
	}
	return out, nil
}

const (
	exitFailure = 1
	exitNothing = 3
	exitPerson  = 6
)

// exit returns the contribution of a branch to the exit code.
func (s BranchStatus) exit() int {
	switch {
	case s.State == state.Failed || s.Error != "" || s.Trouble != "":
		return exitFailure
	case s.Snap.Task.Underway() || s.Unmerged != "":
		return exitPerson
	case s.State == state.Complete:
		return 0
	}
	return exitNothing
}

// worse returns the more important exit code: failure before question before success before
// nothing.
func worse(a, b int) int {
	for _, code := range []int{exitFailure, exitPerson, 0} {
		if a == code || b == code {
			return code
		}
	}
	return exitNothing
}
