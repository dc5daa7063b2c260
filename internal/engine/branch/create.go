// Package branch makes branches of a project, each a machine with a work tree of its own, compares them, merges the approved
// work of one into the project's files, and removes them.
package branch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/agreement"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/internal/worktree/remote"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
	"github.com/ferrus-go/ferrus/internal/worktree/snapshots"
)

// A Fork says how branches are made.
type Fork struct {
	Names []string
	At    uint64 // the entry of the present task at which they begin; 0 for the present
	Own   bool   // they are for tasks of their own, and begin without one
	Base  string // with Own: the commit at which they begin, as a person names it; "" for where the project is
	Fetch bool   // Base is a remote branch, which is fetched before

	Variants []state.Variant // the executor of each; nil where all have that of the gate

	Tree   string       // the files that they begin with; "" for those that follow from the rest
	Parent state.Parent // whose delegates they are; the zero one for branches of a person

	BeganWith []state.Beginning // whose approved work is in Tree
	SetUp     string            // the files on which the set-up runs; "" for those that follow from the rest
}

// A start is where branches begin.
type start struct {
	upto  int64  // where the journal of a branch leaves that of its parent
	entry uint64 // the number of the newest entry that they share, 0 for none
	task  string // that they share, "" for none
	tree  string // the files
	at    string // the commit of the git branch; "" for that of the project
	setUp string // the files on which the set-up runs, where an executor in a sandbox has made those of tree; "" otherwise

	copies agreement.Copies // ignored files of the project that the work trees get
}

// Create makes branches: machines of their own, each with a work tree of its own on the git branch ferrus/NAME, all from
// the same point. They go on with the present task as it is, or was at an entry, or have none yet; then their files are
// those from which the present task began, or where none is under way the files as they are. The machine that they come
// from is not touched. Those that were made before an error are returned with it. What a killed call has left is cleared
// away by the same one.
func Create(ctx context.Context, s *engine.Session, f Fork) ([]project.Place, error) {
	if err := s.Engine().Trusted(); err != nil { // its setup command runs
		return nil, err
	}
	for _, name := range f.Names {
		if err := newBranch(s.Engine(), name); err != nil {
			return nil, err
		}
	}
	now, err := s.Engine().View()
	if err != nil {
		return nil, err
	}
	from, err := startOf(ctx, s, now, f)
	if err != nil {
		return nil, err
	}
	if from.copies, err = copies(ctx, s.Engine()); err != nil {
		return nil, err
	}
	var made []project.Place
	for i, name := range f.Names {
		on := project.At(s.Engine().Place().Root, name)
		as := state.Task{Parent: f.Parent, BeganWith: f.BeganWith, SetUpTree: f.SetUp}
		if f.Variants != nil {
			as.Variant = f.Variants[i]
		}
		if err := add(ctx, s, now, on, from, as); err != nil {
			return made, err
		}
		made = append(made, on)
	}
	return made, nil
}

// newBranch refuses a name that is none, or is taken.
func newBranch(e *engine.Engine, name string) error {
	if err := state.CheckBranch(name); err != nil {
		return &refusal.RefusedError{Code: refusal.InvalidInput, Message: err.Error(), Remedy: "take another name", Person: true}
	}
	if project.At(e.Place().Root, name).Initialised() {
		return &refusal.RefusedError{Code: refusal.InvalidInput, Message: "there is a branch " + name + " already",
			Remedy: refusal.Say("take another name, or remove it: ferrus branch --remove %s", name), Person: true}
	}
	return nil
}

// startOf finds where branches begin, and has their files kept.
func startOf(ctx context.Context, s *engine.Session, now store.Snapshot, f Fork) (start, error) {
	tree, err := s.Engine().Tree(ctx, now)
	if err != nil {
		return start{}, err
	}
	if !tree.Git() {
		return start{}, &refusal.RefusedError{Code: refusal.WrongState, Message: "a branch has a work tree of its own, and there is no git repository here",
			Remedy: "git init and a first commit, then try again", Person: true}
	}
	from := start{upto: now.Journal.Bytes, entry: now.Task.Seq, task: now.Task.TaskID}
	if f.At != 0 && f.At != now.Task.Seq {
		l, err := s.Engine().Entry(now, f.At)
		if err != nil {
			return start{}, err
		}
		from.upto, from.entry = l.End, l.Seq
	}
	if f.Tree != "" || f.At != 0 || !f.Own {
		from.setUp = SetUpTree(s.Engine(), now)
	}
	from.setUp = cmp.Or(f.SetUp, from.setUp)
	switch {
	case f.Base != "":
		base := f.Base
		if f.Fetch {
			base, err = fetchBase(ctx, tree, f.Base)
		}
		if err == nil {
			from.at, from.tree, err = commitOf(ctx, tree, base)
		}
	case f.Tree != "":
		from.tree = f.Tree
	case f.At != 0:
		if from.tree, err = s.Engine().Files(ctx, now, f.At); err == nil && from.tree == "" {
			err = &refusal.RefusedError{Code: refusal.InvalidInput, Message: fmt.Sprintf("no files were kept at entry %d or before", f.At),
				Remedy: "leave --at out: the branch begins with the files as they are", Person: true}
		}
	case f.Own && now.Task.Underway():
		from.tree = now.Task.BaseTree
	default:
		if from.tree, err = tree.Snapshot(ctx); err != nil {
			err = refusal.Git(err)
		}
	}
	if f.Own {
		from.upto, from.entry, from.task = 0, 0, ""
	} else if err == nil && from.task == "" {
		err = &refusal.RefusedError{Code: refusal.WrongState, Message: "there is no task to branch from",
			Remedy: `ferrus branch NAME --task "what is to be done" gives the branch one of its own`, Person: true}
	}
	return from, err
}

// fetchBase fetches the remote branch that a person names, and returns its commit.
func fetchBase(ctx context.Context, tree *worktree.Tree, base string) (commit string, err error) {
	of, name, ok := strings.Cut(base, "/")
	if !ok || repository.CheckName(base) != nil {
		return "", &refusal.RefusedError{Code: refusal.InvalidInput, Person: true, Message: git.Printable(base) + " is no remote branch, and --fetch gets one",
			Remedy: "name the remote and its branch, as in --base origin/main --fetch"}
	}
	commit, err = remote.FetchBranch(ctx, tree.Repository, of, name)
	r := &refusal.RefusedError{Code: refusal.InvalidInput, Person: true}
	switch {
	case err == nil:
		return commit, nil
	case errors.Is(err, remote.ErrNoRemote):
		r.Message, r.Remedy = "there is no remote "+of+" here", "git remote -v lists the remotes"
	case errors.Is(err, remote.ErrNoBranch):
		r.Message, r.Remedy = of+" has no branch "+name, refusal.Say("git ls-remote --heads %s lists its branches", of)
	default:
		r.Code, r.Message, r.Remedy = refusal.StoreError, base+" cannot be fetched: "+err.Error(), "without --fetch the branch starts at what was fetched last"
	}
	return "", r
}

// commitOf finds the commit that a person names, and its files.
func commitOf(ctx context.Context, tree *worktree.Tree, base string) (commit, files string, err error) {
	commit, files, err = tree.Commit(ctx, base)
	if err != nil {
		return "", "", refusal.Git(err)
	}
	if commit != "" {
		return commit, files, nil
	}
	var remedy refusal.Own = "name a commit, a branch, a remote branch such as origin/main, or a tag; --fetch gets a remote branch first"
	if there, _, _ := tree.Commit(ctx, "refs/remotes/origin/"+base); there != "" {
		remedy = refusal.Say("name the remote branch: --base origin/%s", base)
	}
	return "", "", &refusal.RefusedError{Code: refusal.InvalidInput, Person: true, Message: "there is no commit " + git.Printable(base) + " here", Remedy: remedy}
}

// add makes one branch: its work tree, then its machine, which is there whole or not at all.
func add(ctx context.Context, s *engine.Session, now store.Snapshot, on project.Place, from start, as state.Task) error {
	draft := on.Draft()
	lock, err := holdBranch(on)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := newBranch(s.Engine(), on.Branch); err != nil {
		return err
	}
	if on.Left() {
		if _, err := clearLeft(ctx, s, on); err != nil {
			return err
		}
	}
	tree, err := s.Engine().Tree(ctx, now)
	if err != nil {
		return err
	}
	if err := writeFiles(ctx, s, now, tree, on, from, draft); err != nil {
		return err
	}
	carry(s, now, draft)
	note := "from the project's files"
	if from.task != "" {
		note = fmt.Sprintf("from entry %d of %s", from.entry, cmp.Or(s.Engine().Place().Branch, "the project"))
	}
	if as.Variant.Agent != "" {
		note += ", worked on by " + as.Variant.String()
	}
	for _, b := range as.BeganWith {
		note += ", with the work of " + b.Branch
	}
	return s.Fork(ctx, draft, on, from.upto, as, format.OneLine(note, handover.MaxLine))
}

// holdBranch lets one process at a time make or remove a branch.
func holdBranch(on project.Place) (*filelock.Lock, error) {
	if err := on.CheckFolders(); err != nil {
		return nil, err
	}
	home, err := on.OpenHome()
	if err != nil {
		return nil, err
	}
	defer home.Close()
	lock, err := project.LockIn(home, "branches/."+on.Branch+".lock")
	if errors.Is(err, filelock.ErrHeld) {
		err = &refusal.RefusedError{Code: refusal.LockBusy, Message: "another process is making or removing the branch " + on.Branch, Remedy: "try again when it is done"}
	}
	return lock, err
}

// writeFiles makes the work tree with its files, and has them kept for the branch.
func writeFiles(ctx context.Context, s *engine.Session, now store.Snapshot, tree *worktree.Tree, on project.Place, from start, draft string) error {
	dir := on.WorkTree()
	own, err := project.Repository(ctx, s.Engine().Place().Root)
	if err != nil {
		return err
	}
	home, err := on.OpenHome()
	if err != nil {
		return err
	}
	defer home.Close()
	below := "branches/" + filepath.Base(draft)
	if _, err := home.Lstat(below); err == nil { // a call that was killed has left it
		if _, err := own.KeepHead(ctx, on.Branch, lost(s.Engine(), on.Branch)); err != nil {
			return refusal.Git(err)
		}
		if err := own.Remove(ctx, dir, on.Branch); err != nil {
			return refusal.Git(err)
		}
		if err := home.RemoveAll(below); err != nil {
			return refusal.Folder(err)
		}
	}
	if err := home.Mkdir(below, 0o700); err != nil {
		return refusal.Folder(err)
	}
	if err := own.AddAt(ctx, dir, on.Branch, cmp.Or(from.at, "main-worktree/HEAD")); err != nil {
		return errors.Join(refusal.Git(err), home.Remove(below))
	}
	// One of that name whose removal was cut off, or the making, may have left some, under numbers that are ours now.
	if _, err := own.DeleteRefs(ctx, on.Branch); err != nil {
		return refusal.Git(err)
	}
	if err := tree.SaveRef(ctx, on.Branch+"/"+cmp.Or(from.task, "start")+"/"+strconv.FormatUint(from.entry+1, 10), from.tree); err != nil {
		return refusal.Git(err)
	}
	if from.task != "" {
		shared := func(name string) bool { n, ok := snapshots.Entry(name); return ok && n <= from.entry }
		if _, err := tree.CopyRefs(ctx, refOf(s.Engine(), from.task, ""), on.Branch+"/"+from.task, shared); err != nil {
			return refusal.Git(err)
		}
	}
	return fill(ctx, s, now, tree, on, from, draft)
}

// maxCarried is how much of a log or a patch goes with a branch: a larger one stays with its parent.
const maxCarried = 256 << 20

// carry copies what the task names by its path, if it is there, into the folder of the branch.
func carry(s *engine.Session, now store.Snapshot, draft string) {
	from, err := s.Engine().Place().OpenDir()
	if err != nil {
		return
	}
	defer from.Close()
	to, err := rootfs.OpenBelow(draft, project.DirName, 0)
	if err != nil {
		return
	}
	defer to.Close()
	for _, name := range []string{now.Task.Check.Log, now.Task.Submission.Patch} {
		if name == "" {
			continue
		}
		if text, err := from.ReadFile(name, maxCarried); err == nil && to.MkdirAll(path.Dir(name), 0o700) == nil {
			_ = to.WriteFile(name, text, 0o600)
		}
	}
}

// lost is a name for commits of a branch that is removed, which no other has.
func lost(e *engine.Engine, branch string) string {
	return branch + "@" + e.Now().Format(project.RemovedLayout)
}
