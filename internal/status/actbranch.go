package status

import (
	"context"
	"errors"
	"fmt"

	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/conductor/schedule"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
)

// OpenBranch opens a branch of the project for the person of the session s, who decides there on what was shown. The caller closes the
// engine.
func OpenBranch(s *engine.Session, name string, on engine.Subject) (*engine.Session, error) {
	place, err := s.Engine().Place().On(name)
	if err != nil {
		return nil, err
	}
	e, err := s.Engine().Beside(place)
	if err != nil {
		return nil, err
	}
	caller := s.Caller
	caller.On = on
	return e.Session(caller), nil
}

// onBranch carries out an act on the branch of the request, in the session of the project and that of the branch.
func onBranch(do func(ctx context.Context, s, from *engine.Session, r Request) (ActResult, error)) func(context.Context, *engine.Session, Request) (ActResult, error) {
	return func(ctx context.Context, s *engine.Session, r Request) (ActResult, error) {
		from, err := OpenBranch(s, r.Branch, r.On)
		if err != nil {
			return ActResult{}, err
		}
		defer from.Engine().Close()
		return do(ctx, s, from, r)
	}
}

func merge(ctx context.Context, s, from *engine.Session, r Request) (ActResult, error) {
	got, err := branch.Merge(ctx, s, from, func() error { return schedule.EndAll(ctx, s.Engine()) })
	if err != nil {
		return ActResult{}, err
	}
	var lines []string
	if got.Empty {
		lines = append(lines, fmt.Sprintf("notice: empty: the work on %s changed no file", r.Branch))
	}
	judged := "; the project had not changed, so the checks did not run again"
	if got.Checks != nil {
		judged = "; the checks passed on the merged result, in " + format.Duration(got.Checks.Duration)
	}
	lines = append(lines, fmt.Sprintf("merged %s: %s, %s%s", r.Branch, format.Count(len(got.Files.Written), "file written", "files written"),
		format.Count(len(got.Files.Removed), "removed", "removed"), judged))
	for _, path := range got.Files.Left {
		lines = append(lines, "  not changed: "+path)
	}
	for _, path := range got.Ignored {
		lines = append(lines, "  ignored by the project, and left out: "+path)
	}
	for _, e := range got.Files.Edited {
		lines = append(lines, "  "+format.Line(e.String()))
	}
	return ActResult{Lines: lines, Facts: mergedFacts(r.Branch, got), Next: []Step{{Command: "git diff", Why: "shows the uncommitted changes"},
		{Command: "ferrus branch --remove " + r.Branch, Why: "deletes the branch"}}}, nil
}

// mergedFacts are those of a merge, for a program.
func mergedFacts(name string, got branch.Merged) map[string]any {
	listed := func(list []string) []string { return append([]string{}, list...) } // never null
	m := map[string]any{"merged": name, "tree": got.Tree, "written": listed(got.Files.Written), "removed": listed(got.Files.Removed), "left": listed(got.Files.Left)}
	if got.Empty {
		m["empty"] = true
	}
	if len(got.Ignored) > 0 {
		m["ignored"] = got.Ignored
	}
	if len(got.Files.Edited) > 0 {
		m["edited"] = got.Files.Edited
	}
	if got.Checks != nil {
		m["gate"] = map[string]any{"status": got.Checks.Status, "seconds": got.Checks.Duration.Seconds()}
	}
	return m
}

// resolve merges, or gives work that does not fit the project back to its executor.
func resolve(ctx context.Context, s, from *engine.Session, r Request) (ActResult, error) {
	merged, err := merge(ctx, s, from, r)
	var clash *branch.ConflictError
	if !errors.As(err, &clash) {
		return merged, err
	}
	done, err := branch.Resolve(ctx, s, from, clash)
	if err != nil {
		return ActResult{}, err
	}
	lines := []string{format.Line(clash.Message), fmt.Sprintf("%s is %s again, with the project's changes in its files", r.Branch, done.Task.State)}
	report, err := Read(from.Engine())
	if err != nil {
		lines = append(lines, "  it cannot be continued here: "+format.Line(err.Error()))
	}
	return ActResult{Done: done, Report: report, Lines: lines,
		Next: []Step{{Command: "ferrus resume --branch " + r.Branch, Why: "starts the agents that fix and review it"},
			{Command: "ferrus merge " + r.Branch, Why: "merges it afterwards"}}}, nil
}

// selected approves an attempt, if it is for a person to say so, enters that it is taken, merges it and removes the others. A merge
// holds, whatever keeps the others.
func selected(ctx context.Context, s, from *engine.Session, r Request) (ActResult, error) {
	now, err := from.Engine().View()
	if err != nil {
		return ActResult{}, err
	}
	if now.Task.State == state.Reviewing {
		done, err := from.Approve(ctx, r.Text, now.Task.Submission.ID)
		if err != nil {
			return ActResult{}, err
		}
		now = done.Snapshot
	}
	if now.Task.State != state.Complete || !now.Task.Selected && now.Task.Merged == "" {
		if _, err := from.Select(ctx, r.Text); err != nil {
			return ActResult{}, err
		}
	}
	got, err := merge(ctx, s, from, r)
	if err != nil || r.Keep {
		return got, err
	}
	names, err := project.Branches(s.Engine().Place().Root)
	for _, other := range branch.Group(names, r.Branch) {
		if other == r.Branch || err != nil {
			continue
		}
		if _, err = removeBranch(ctx, s, Request{Branch: other, Force: true}); err == nil {
			got.Lines = append(got.Lines, fmt.Sprintf("removed %s; its log and files are saved", other))
		}
	}
	got.Left = err
	return got, nil
}

func remove(ctx context.Context, s *engine.Session, r Request) (ActResult, error) {
	kept, err := removeBranch(ctx, s, r)
	return ActResult{Facts: map[string]any{"removed": r.Branch, "kept": kept},
		Lines: []string{fmt.Sprintf("removed %s; its log is in .ferrus/archive/branches/%s, its files are in refs/ferrus/%s", r.Branch, kept, kept)}}, err
}

// removeBranch removes a branch without running agents; with force also one with running agents. It returns the name under which its
// log and files are kept.
func removeBranch(ctx context.Context, s *engine.Session, r Request) (kept string, err error) {
	_, err = s.Engine().Place().On(r.Branch)
	at := project.At(s.Engine().Place().Root, r.Branch)
	if err != nil && !at.Left() {
		return "", err
	}
	if other, busy := conductor.Conductor(at.Path()); busy {
		return "", &conductor.BusyError{Holder: other}
	}
	if err != nil {
		return branch.Remove(ctx, s, r.Branch, r.Force)
	}
	from, err := OpenBranch(s, r.Branch, r.On)
	if err != nil {
		return "", err
	}
	defer from.Engine().Close()
	now, err := from.Engine().View()
	if err == nil {
		err = r.On.Present(now.Task)
	}
	if err == nil && (r.Force || !now.Task.Underway()) {
		err = schedule.EndAll(ctx, from.Engine())
	}
	if err != nil {
		return "", err
	}
	return branch.Remove(ctx, s, r.Branch, r.Force)
}
