package schedule

import (
	"context"
	"errors"

	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// merge starts to merge a branch.
func (f *fleet) merge(ctx context.Context, name string) {
	f.busy[name], f.merging = true, name
	f.Tell(Event{Branch: name, Kind: Merging})
	go func() {
		got, err := f.merged(ctx, name)
		f.ended <- ended{branch: name, merged: true, got: got, err: err}
	}()
}

func (f *fleet) merged(ctx context.Context, name string) (branch.Merged, error) {
	e, err := branch.Open(f.e, name)
	if err != nil {
		return branch.Merged{}, err
	}
	defer e.Close()
	return branch.Merge(f.following(ctx, name), f.s, e.Session(f.Caller), func() error { return conductor.EndAll(ctx, f.e) })
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
		f.refuse(done.branch, refused{now.Task.Seq, project.Task.Seq, done.err.Error(), errors.As(done.err, &clash), refusal.OutputOf(done.err)})
	}
}

// refuse stores why work is not merged, and reports it once.
func (f *fleet) refuse(name string, r refused) {
	if f.refused[name].Why != r.Why {
		f.Tell(Event{Branch: name, Kind: Unmerged, Text: r.Why, Output: r.output})
	}
	f.refused[name] = r
}

// outcome returns the result of the run.
func (f *fleet) outcome(ctx context.Context) (Outcome, error) {
	names, err := project.Branches(f.e.Place().Root)
	if err != nil {
		return Outcome{}, err
	}
	out, late := Outcome{Exit: exitNothing}, f.Until.Passed(f.Now())
	for _, a := range branch.Attempts(ctx, f.e, names) {
		if a.Snap.Task.IsDelegate() {
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
		code := s.exit()
		if code == exitPerson && s.Snap.Task.Underway() && s.State != state.AwaitingHuman && late {
			code = conductor.ExitLate
		}
		out.Exit = worse(out.Exit, code)
	}
	if list, err := Queued(f.e.Place().Dir()); late && err == nil && len(list) > 0 && len(f.Only) == 0 {
		out.Queued, out.Exit = len(list), worse(out.Exit, conductor.ExitLate)
	}
	if out.Blocked = f.blocked; len(out.Blocked) > 0 {
		out.Exit = worse(out.Exit, exitPerson)
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

// worse returns the more important exit code: failure before question before what was left undone before success before nothing.
func worse(a, b int) int {
	for _, code := range []int{exitFailure, exitPerson, conductor.ExitLate, 0} {
		if a == code || b == code {
			return code
		}
	}
	return exitNothing
}
