package branch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/checkrun"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
	"github.com/ferrus-go/ferrus/internal/worktree/restore"
)

// A Merged is what a merge brought into the project.
type Merged struct {
	store.Snapshot                // the project's machine, after it
	Tree           string         // the project's files, after it
	Files          restore.Change // what was moved
	Empty          bool           // the work of the branch changed no file
	Ignored        []string       // paths of the approved work that the project ignores, so that they are no part of it
	Checks         *checks.Result // of the gate on that tree; nil where it is the very tree that was approved
}

// A ConflictError is why approved work does not fit the project as it is, or what else a new branch is to begin with: git cannot merge the two, or the
// checks fail on what comes of it. Nothing was changed.
type ConflictError struct {
	refusal.RefusedError
	Conflicts []worktree.Conflict
	Failures  []checks.Command
	Branch    string // of [Fork.Begin]: whose work does not fit

	tree, ours string   // what came of it, and of which files of the project
	marks      []string // of the conflicts in tree
	work       string   // of [Fork.Begin]: that of all with which the branch was to begin, see [Standing.WorkID]
}

// Unwrap returns the refusal.
func (c *ConflictError) Unwrap() error { return &c.RefusedError }

// A merging is one attempt to bring the work of a branch into the project.
type merging struct {
	to, from   *engine.Session // of the project's machine, and of the branch's
	now, was   store.Snapshot
	into, work *worktree.Tree
	ours       string         // the project's files
	theirs     string         // those that were approved
	edits      []restore.Edit // what was edited on the branch while files were moved there
	ignored    []string       // paths that are left out of what comes of it
	kind
}

// A kind is what differs between a merge into the project, which a person makes, and that of a delegate into the work tree of
// its executor.
type kind struct {
	mergeable func(m *merging) error // refuses what cannot be merged
	judged    bool                   // the gate judges what comes of it
	begin     func(m *merging, ctx context.Context, goal state.FileMove) (engine.Done, error)
	end       func(m *merging, ctx context.Context, goal state.FileMove, tree string) (engine.Done, error)
	again     string // the command that finishes it
}

// byPerson is the merge of a branch into the project.
func byPerson(name string) kind {
	return kind{mergeable: (*merging).fits, judged: true, begin: (*merging).beginByPerson, end: (*merging).endByPerson, again: "call ferrus merge " + name + " again"}
}

// Merge brings the approved work of a branch, that of the session from, into the files of the project, that of s: git's
// three-way merge from where the work began. The gate is run on the result, in the branch's work tree, before anything of
// the project's is moved. What somebody edits meanwhile in files that the merge does not change stays, unjudged. The
// project's index, commits and branches are not touched. If its own task is the one that was branched, that is Complete too,
// and who held it is fenced, and ended by fenced, which may be nil. All or nothing: the error is a *ConflictError or another
// *refusal.RefusedError, and neither side has changed. The same call finishes one that was interrupted.
func Merge(ctx context.Context, s, from *engine.Session, fenced func() error) (Merged, error) {
	lock, err := alone(s.Engine())
	if err != nil {
		return Merged{}, err
	}
	defer lock.Close()
	m, err := look(ctx, s, from, byPerson(from.Engine().Place().Branch))
	if err != nil {
		return Merged{}, err
	}
	done, err := m.run(ctx, fenced)
	done.Files.Edited, done.Empty, done.Ignored = append(done.Files.Edited, m.edits...), m.was.Task.Submission.Empty(), m.ignored
	return done, restore.WithEdits(err, done.Files.Edited)
}

// run carries the merge out.
func (m *merging) run(ctx context.Context, fenced func() error) (Merged, error) {
	if m.now.Task.Returning.From == m.from.Engine().Place().Branch {
		return m.fenceAndMove(ctx, m.now, nil, fenced)
	}
	for range 3 { // a person may edit files of the project while the gate runs
		tree, res, err := m.mergeTrees(ctx)
		if err != nil {
			return Merged{}, err
		}
		tree, apart, err := m.followEdits(ctx, tree)
		if err != nil {
			return Merged{}, err
		}
		if apart {
			return m.fence(ctx, tree, res, fenced)
		}
	}
	return Merged{}, &refusal.RefusedError{Code: refusal.TreeChanged, Message: "files that are merged change in the project meanwhile", Person: true,
		Remedy: "let who edits them finish, then try again"}
}

// followEdits looks at the project's files again, when the gate has judged a merged tree. Edits at other paths than those that the merge
// changes belong to what is to be the project's, as they would a moment later, without a judgement. apart is false if somebody has edited
// what the merge changes: then all is merged and judged again.
func (m *merging) followEdits(ctx context.Context, tree string) (with string, apart bool, err error) {
	was := m.ours
	if m.ours, err = m.into.Snapshot(ctx); err != nil {
		return "", false, refusal.Git(err)
	}
	if m.ours == was {
		return tree, true, nil
	}
	brought, err := m.into.Deltas(ctx, was, tree)
	if err != nil {
		return "", false, refusal.Git(err)
	}
	edited, err := m.into.Deltas(ctx, was, m.ours)
	if err != nil {
		return "", false, refusal.Git(err)
	}
	paths := git.Set{}
	for _, d := range brought {
		paths.Add(d.Path)
	}
	if slices.ContainsFunc(edited, func(d repository.Delta) bool { return paths[d.Path] }) {
		return "", false, nil
	}
	got, err := m.into.Merge(ctx, was, m.ours, tree)
	if err != nil {
		return "", false, refusal.Git(err)
	}
	return got.Tree, len(got.Conflicts) == 0, nil
}

// Merging reports whether a merge into the project of e is in progress, in whatever process.
func Merging(e *engine.Engine) bool {
	held, _ := filelock.Held(e.Place().Path("live", mergeLock))
	return held
}

const mergeLock = "merge.lock"

// alone lets one merge at a time look at the project's files and move them.
func alone(e *engine.Engine) (*filelock.Lock, error) {
	lock, err := e.Place().Lock("live/" + mergeLock)
	if errors.Is(err, filelock.ErrHeld) {
		err = &refusal.RefusedError{Code: refusal.LockBusy, Message: "another merge is at work", Remedy: "try again when it is done", Person: true}
	}
	return lock, err
}

// look looks at both sides and refuses what cannot be merged.
func look(ctx context.Context, s, from *engine.Session, as kind) (m *merging, err error) {
	if err := s.Engine().Known(); err != nil {
		return nil, err
	}
	m = &merging{to: s, from: from, kind: as}
	if m.now, err = s.Engine().View(); err != nil {
		return nil, err
	}
	if m.was, err = from.Engine().View(); err != nil {
		return nil, err
	}
	if err := from.On.Present(m.was.Task); err != nil {
		return nil, err
	}
	if m.into, err = s.Engine().Tree(ctx, m.now); err != nil {
		return nil, err
	}
	if m.work, err = from.Engine().Tree(ctx, m.was); err != nil {
		return nil, err
	}
	if m.now.Task.Returning.From == from.Engine().Place().Branch {
		return m, nil
	}
	if err := m.mergeable(m); err != nil {
		if m.was.Task.State != state.Complete { // a Resolve may have been cut off when all but this was done
			err = errors.Join(err, m.forget(ctx))
		}
		return nil, err
	}
	m.theirs = m.was.Task.Submission.Tree
	if err := m.unresolved(ctx); err != nil {
		return nil, err
	}
	// The other work tree's store does not have it.
	name := refOf(from.Engine(), m.was.Task.TaskID, fmt.Sprint(m.was.Task.Seq))
	if err := m.work.SaveRef(ctx, name, m.theirs); err != nil {
		return nil, refusal.Git(err)
	}
	if m.judged {
		err = m.undo(ctx)
	}
	if err != nil {
		return nil, restore.WithEdits(err, m.edits)
	}
	if m.ours, err = m.into.Snapshot(ctx); err != nil {
		return nil, refusal.Git(err)
	}
	return m, nil
}

// fits refuses what a person cannot merge into the project.
func (m *merging) fits() error {
	here, there, name := m.now.Task, m.was.Task, m.from.Engine().Place().Branch
	refuse := func(remedy refusal.Own, format string, args ...any) error {
		return &refusal.RefusedError{Code: refusal.WrongState, Message: fmt.Sprintf(format, args...), Remedy: remedy, Person: true}
	}
	if _, err := state.Step(here, state.MergeBegun, m.to.Role, state.Limits{}); err != nil {
		return refusal.From(err)
	}
	switch {
	case there.IsDelegate():
		return refuse("its executor merges it into its own work, and that is what a person merges", "%s is a delegate of %s", name, parentName(there.Parent))
	case there.Merged != "":
		return refuse(refusal.Say("ferrus branch --remove %s clears it away", name), "%s is merged already", name)
	case there.State != state.Complete:
		return refuse(refusal.Say("ferrus status --branch %s shows how it stands", name), "%s is %s, and only what was approved is merged", name, there.State)
	case here.Underway() && here.TaskID != there.TaskID:
		return refuse("merge when it has ended, or end it with ferrus reset{branch}", "the project's own task has not ended: %s", here.Title)
	}
	if first := Before(there, viewer(m.from.Engine())); first != "" {
		return refuse(refusal.Say("ferrus merge %s; or ferrus branch --remove %s --force, if its work is not wanted", first, first),
			"%s began with the work of %s, which is not merged", name, first)
	}
	return nil
}

// undo puts the files of the branch back to those that were approved, if a merge that was cut off has left others there.
func (m *merging) undo(ctx context.Context) error {
	name := m.from.Engine().Place().Branch
	id, err := m.work.Fingerprint(ctx)
	if err != nil {
		return refusal.Git(err)
	}
	if id == m.theirs {
		return m.forget(ctx)
	}
	cut, _, err := m.triedTree(ctx)
	if err != nil {
		return err
	}
	changed := m.from.Engine().Changed(ctx, m.was, m.theirs, id)
	if cut != "" {
		changed = edited(ctx, m.from.Engine(), m.was, id, m.theirs, cut)
	}
	if len(changed) > 0 {
		return &refusal.RefusedError{Code: refusal.TreeChanged, Message: "the files of " + name + " are no longer those that were approved: " + format.OneLine(strings.Join(changed, " "), 600),
			Remedy: refusal.Say(`ferrus reopen --branch %s -m "..." has them checked and reviewed; or put them back`, name), Person: true}
	}
	return m.back(ctx, cut)
}

// edited are the paths at which a tree has neither what the one has nor what the other has: between the two files have not
// been moved there, but edited. It knows of the first hundred that differ from each.
func edited(ctx context.Context, e *engine.Engine, snap store.Snapshot, tree, one, other string) []string {
	two := e.Changed(ctx, snap, other, tree)
	return slices.DeleteFunc(e.Changed(ctx, snap, one, tree), func(path string) bool {
		return !slices.Contains(two, path) || strings.HasPrefix(path, "… and ")
	})
}

// back returns the branch's files from what they are, or were to be, to what was approved.
func (m *merging) back(ctx context.Context, from string) error {
	if err := m.clear(ctx); err != nil {
		return err
	}
	if err := m.moveBranch(ctx, from, m.theirs); err != nil {
		return refusal.Git(err)
	}
	return m.forget(ctx)
}

// moveBranch makes the files of the branch those of a tree.
func (m *merging) moveBranch(ctx context.Context, from, to string) error {
	moved, err := restore.In(m.work).Restore(ctx, from, to, m.from.Engine().EditsName(m.was))
	m.edits = append(m.edits, moved.Edited...)
	return err
}

// mark is the name under which the tree that is tried in the branch's work tree is saved for as long as it lies there.
func (m *merging) mark() string { return refOf(m.from.Engine(), m.was.Task.TaskID, "merging") }

func (m *merging) forget(ctx context.Context) error {
	if _, err := m.work.DeleteRefs(ctx, m.mark()); err != nil {
		return refusal.Git(err)
	}
	return nil
}

// mergeTrees makes of both sides the tree that is to be the project's, and has the gate judge it.
func (m *merging) mergeTrees(ctx context.Context) (tree string, res *checks.Result, err error) {
	got, err := m.into.Merge(ctx, m.was.Task.BaseTree, m.ours, m.theirs)
	if err != nil {
		return "", nil, refusal.Git(err)
	}
	if len(got.Conflicts) > 0 {
		return "", nil, m.clash(got, "and the project have changed the same: "+conflicts(got.Conflicts))
	}
	if got.Tree == m.theirs || !m.judged {
		return got.Tree, nil, nil // the gate and a reviewer have seen this very tree
	}
	whole := got.Tree
	if got.Tree, err = m.leaveOut(ctx, whole); err != nil {
		return "", nil, err
	}
	run, err := m.judge(ctx, whole, got.Tree)
	if err != nil {
		return "", nil, err
	}
	if run.Status != checks.Passed {
		c := m.clash(got, "fails its checks with the project's changes in it: "+checkrun.Verdict(run))
		c.Failures, c.Output = run.Failures(), checks.Output(run.Failures())
		return "", nil, c
	}
	return got.Tree, &run, nil
}

// parentName is how a person names the machine that a delegate works for.
func parentName(p state.Parent) string {
	if p.Branch == "" {
		return "the project's task"
	}
	return p.Branch
}

// Notice names the files that were edited while the merge moved them, "" for none.
func (m Merged) Notice() string { return restore.Text(m.Files.Edited) }

// Adding returns the error with a text added to its message.
func (c *ConflictError) Adding(text string) error {
	named := *c
	named.Message += text
	return &named
}
