package branch

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/store/live"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/restore"
	"github.com/ferrus-go/ferrus/internal/worktree/snapshots"
)

// A Fetched is what became of the work tree of a branch whose files were fetched.
type Fetched struct {
	Place  project.Place
	Commit string         // that was fetched
	Tree   string         // of it; the work tree has these files
	New    bool           // the work tree was made
	Saved  string         // the ref that has the files as they were, "" where they were the same or there were none
	Edited []restore.Edit // what somebody edited meanwhile; it is saved
}

// WithFiles calls do, and once more if it is refused because another computer has newer files of the task, which are brought here before.
func WithFiles(ctx context.Context, s *engine.Session, do func() error) error {
	err := do()
	if refusal.CodeOf(err) != refusal.FilesElsewhere {
		return err
	}
	if err := Bring(ctx, s); err != nil {
		return err
	}
	return do()
}

// Bring is Fetch of the newest files for the place of a session, unless its work tree has them.
func Bring(ctx context.Context, s *engine.Session) error {
	name := s.Engine().Place().Branch
	has, err := same(ctx, s.Engine())
	if err == nil && !has {
		_, err = Fetch(ctx, s, name, "")
	}
	return err
}

// same reports whether the work tree has the newest files that the journal names: they were fetched before, or are the same anyway.
func same(ctx context.Context, e *engine.Engine) (bool, error) {
	now, err := e.View()
	if err != nil || e.Place().Here() != nil || now.Files.Commit != "" {
		return false, err
	}
	if now.Files.Elsewhere() && e.Place().HasFiles(now.Files) == nil {
		return true, nil
	}
	tree, err := e.Tree(ctx, now)
	if err != nil {
		return false, err
	}
	id, err := tree.Fingerprint(ctx)
	if err != nil {
		return false, refusal.Git(err)
	}
	if id != now.Task.Newest() {
		return false, nil
	}
	return true, e.Place().RecordFiles(now.Files)
}

// Fetch makes the work tree of a branch on this computer, or brings that which is here up to date. commit is one that [engine.Engine.Publish] has
// returned on another computer; "" is for the newest files: those that a computer has handed over, else those that the journal names, while a
// submission is reviewed those that were submitted.
//
// The files that a work tree here has are saved before they are replaced, and so is what somebody edits meanwhile. Fetch may be killed at any
// moment; until the same call has finished it, nobody works in the work tree. The error is a *refusal.RefusedError: for the project's own work tree,
// which is a person's, for one in which somebody on this computer works on the task, and where the files were not published.
func Fetch(ctx context.Context, s *engine.Session, name, commit string) (Fetched, error) {
	if name == "" {
		return Fetched{}, &refusal.RefusedError{Code: refusal.WrongState, Message: "the project's own work tree is yours: no files are fetched into it", Person: true,
			Remedy: "work on a branch: ferrus branch NAME makes one"}
	}
	if err := s.Engine().Trusted(); err != nil { // its setup command runs
		return Fetched{}, err
	}
	on, err := project.At(s.Engine().Place().Root, "").On(name)
	if err != nil {
		return Fetched{}, err
	}
	lock, err := holdBranch(on)
	if err != nil {
		return Fetched{}, err
	}
	defer lock.Close()
	e, err := s.Engine().Beside(on)
	if err != nil {
		return Fetched{}, err
	}
	defer e.Close()
	now, err := e.View()
	if err != nil {
		return Fetched{}, err
	}
	if err := fetchable(on, now); err != nil {
		return Fetched{}, err
	}
	b := &bringing{e: e, on: on, now: now, done: Fetched{Place: on}}
	if err := b.fetch(ctx, commit); err != nil {
		return b.done, err
	}
	return b.done, b.writeFiles(ctx)
}

// fetchable refuses a branch without a task, and one on which somebody works on this computer.
func fetchable(on project.Place, now store.Snapshot) error {
	t := now.Task
	switch {
	case t.TaskID == "":
		return &refusal.RefusedError{Code: refusal.WrongState, Message: on.Branch + " has no task yet, and so there are no files to fetch", Person: true,
			Remedy: refusal.Say(`ferrus task --branch %s "what is to be done" gives it one`, on.Branch)}
	case t.BaseTree == "":
		return &refusal.RefusedError{Code: refusal.WrongState, Message: "the task of " + on.Branch + " began without git, and so its files are not published", Person: true,
			Remedy: "work on it on the computer that has the files"}
	case t.ClaimedBy != "" && live.In(on.Dir()).Probe(t.Session) == lease.Alive:
		return &refusal.RefusedError{Code: refusal.WrongState, Message: t.ClaimedBy + " works on " + on.Branch + " on this computer: its files are the newest", Person: true,
			Remedy: refusal.Say("ferrus stop --branch %s ends it", on.Branch)}
	}
	return nil
}

// A bringing is one call of Fetch.
type bringing struct {
	e    *engine.Engine
	on   project.Place
	now  store.Snapshot
	done Fetched
}

// fetch brings the objects, and has them kept in the repository, where every work tree has them. The work tree is not needed for that.
func (b *bringing) fetch(ctx context.Context, commit string) error {
	tree, err := b.open(ctx, b.on.Root)
	if err != nil {
		return err
	}
	handed := b.now.Files.Commit
	got, err := b.e.Published().Fetch(ctx, tree.Repository, b.now.Task, cmp.Or(commit, handed))
	if err != nil && commit == "" && handed != "" {
		b.e.Log().Warn("the files that were handed over cannot be fetched; those that the journal names are", "branch", b.on.Branch, "error", err)
		got, err = b.e.Published().Fetch(ctx, tree.Repository, b.now.Task, "")
	}
	if err != nil {
		return err
	}
	b.done.Commit, b.done.Tree = got.Commit, got.Tree
	_, err = snapshots.KeepAs(ctx, tree, b.ref("base"), b.now.Task.BaseTree)
	if err == nil {
		_, err = snapshots.KeepAs(ctx, tree, b.ref(strconv.FormatUint(b.now.Task.Seq, 10)), got.Tree)
	}
	return err
}

// ref is the name under which something of the task is saved.
func (b *bringing) ref(what string) string {
	return snapshots.Name(b.on.Branch, b.now.Task.TaskID, what)
}

// Which part of the work is under way stands in the file project.Bringing. A work tree of which only the making had begun is made anew.
const (
	making = "making\n"
	laying = "laying\n" // a new work tree: its files, then its setup
	moving = "moving\n" // the files of one that was there
)

// writeFiles makes the work tree, if there is none, and gives it the files.
func (b *bringing) writeFiles(ctx context.Context) error {
	home, err := b.on.OpenDir()
	if err != nil {
		return err
	}
	defer home.Close()
	mark := func(step string) error { return refusal.Folder(home.WriteFile(project.Bringing, []byte(step), 0o600)) }
	step, there := begun(b.on), rootfs.Exists(b.on.WorkTree())
	switch {
	case there && step == "":
		step = moving
	case there && step != making:
	default:
		if err := mark(making); err != nil {
			return err
		}
		if err := b.add(ctx, step == making); err != nil {
			return err
		}
		step, there = laying, false
	}
	if err := mark(step); err != nil {
		return err
	}
	first := b.done.Tree
	if b.done.New = step != moving; b.done.New {
		if first, err = b.first(ctx); err != nil {
			return err
		}
	}
	if err := b.move(ctx, first, "", there); err != nil {
		return err
	}
	if b.done.New {
		if err := b.copyIgnored(ctx, first); err != nil {
			return err
		}
		if err := b.setUp(ctx); err != nil {
			return err
		}
	}
	if first != b.done.Tree {
		if err := b.move(ctx, b.done.Tree, first, false); err != nil {
			return err
		}
	}
	if err := b.on.RecordFiles(b.now.Files); err != nil {
		return err
	}
	return refusal.Folder(home.Remove(project.Bringing))
}

// begun returns how far a call of Fetch that was cut off has come, "" for none.
func begun(on project.Place) (step string) {
	root, err := on.OpenDir()
	if err != nil {
		return ""
	}
	defer root.Close()
	text, _ := root.ReadFile(project.Bringing, 1<<10)
	return string(text)
}

// add makes the linked work tree. again says that a call which was killed may have left some of it.
func (b *bringing) add(ctx context.Context, again bool) error {
	own, err := project.Repository(ctx, b.on.Root)
	if err != nil {
		return err
	}
	if again {
		if rootfs.Exists(b.on.WorkTree()) {
			_, _, _ = b.saved(ctx, true) // somebody may have looked in; one that git does not know yet has nothing of theirs
		}
		if _, err := own.KeepHead(ctx, b.on.Branch, lost(b.e, b.on.Branch)); err != nil {
			return refusal.Git(err)
		}
		if err := own.Remove(ctx, b.on.WorkTree(), b.on.Branch); err != nil {
			return refusal.Git(err)
		}
	}
	if err := own.Add(ctx, b.on.WorkTree(), b.on.Branch); err != nil {
		return refusal.Git(err)
	}
	return nil
}

// saved opens the work tree, and saves the files that it has.
func (b *bringing) saved(ctx context.Context, save bool) (tree *worktree.Tree, was string, err error) {
	if tree, err = b.open(ctx, b.on.WorkTree()); err != nil {
		return nil, "", err
	}
	if was, err = tree.Snapshot(ctx); err != nil {
		return nil, "", refusal.Git(err)
	}
	if !save || was == b.done.Tree {
		return tree, was, nil
	}
	as, err := snapshots.KeepAs(ctx, tree, b.ref(fmt.Sprintf("%d.replaced", b.now.Task.Seq)), was)
	b.done.Saved = "refs/ferrus/" + as
	return tree, was, err
}

// open opens a work tree of the repository, with the private folder of the branch.
func (b *bringing) open(ctx context.Context, dir string) (*worktree.Tree, error) {
	gate, err := b.e.Gate(b.now)
	if err != nil {
		return nil, err
	}
	tree, err := worktree.Open(ctx, dir, b.on.Path("git"), worktree.Options{Root: b.on.Root, Ignore: gate.Checks.Ignore})
	if err != nil {
		return nil, refusal.Git(err)
	}
	return tree, nil
}

// first are the files on which the set-up runs: those that the task began with, if an executor in a sandbox has made the others.
func (b *bringing) first(ctx context.Context) (string, error) {
	gate, err := b.e.Gate(b.now)
	if err != nil || !gate.HQ.Sandbox.On() {
		return b.done.Tree, err
	}
	conf, err := b.e.Config()
	if err != nil {
		return "", refusal.Config(err)
	}
	if err := used(b.on.Dir()); err != nil || strings.TrimSpace(conf.Branches.Setup) == "" {
		return b.done.Tree, err
	}
	first := b.now.Task.SetUpOn()
	tree, err := b.open(ctx, b.on.Root)
	if err == nil {
		_, err = snapshots.KeepAs(ctx, tree, b.ref("base-setup"), first)
	}
	if err != nil {
		return "", &refusal.RefusedError{Code: refusal.StoreError, Message: "the files on which [branches] setup runs are not here: " + err.Error(), Person: true,
			Remedy: refusal.Say("work on %s on the computer that has them", b.on.Branch)}
	}
	return first, nil
}

// move gives the work tree the files to, and saves those that it had, unless this call has made it. What a set-up has changed in the files
// first stays; first is "" where none has run.
func (b *bringing) move(ctx context.Context, to, first string, save bool) error {
	tree, was, err := b.saved(ctx, save)
	if err != nil {
		return err
	}
	if first != "" {
		if to, err = withSetUp(ctx, tree, first, was, to); err != nil {
			return refusal.Git(err)
		}
	}
	moved, err := restore.In(tree).Restore(ctx, was, to, b.e.EditsName(b.now))
	b.done.Edited = append(b.done.Edited, moved.Edited...)
	if len(moved.Edited) > 0 {
		b.e.Log().Warn("files of a branch were edited while others were fetched", "branch", b.on.Branch, "edits", restore.Text(moved.Edited))
	}
	if err != nil {
		return &refusal.RefusedError{Code: refusal.TreeChanged, Message: restore.WithEdits(err, moved.Edited).Error(), Person: true,
			Remedy: refusal.Say("ferrus branch --fetch %s finishes it", b.on.Branch)}
	}
	return refusal.Folder(os.MkdirAll(b.on.Work, 0o755)) // the project may be a folder of the repository that no commit has
}

// copyIgnored copies the ignored files that the project has on this computer, and says which are missing.
func (b *bringing) copyIgnored(ctx context.Context, first string) error {
	c, err := copies(ctx, b.e)
	if err != nil {
		return err
	}
	tree, err := b.open(ctx, b.on.WorkTree())
	if err != nil {
		return err
	}
	if err := copyIgnored(ctx, b.e, c, tree, first, b.done.Tree); err != nil {
		return refusal.Git(err)
	}
	return nil
}

// setUp runs the command that a new work tree needs.
func (b *bringing) setUp(ctx context.Context) error {
	conf, err := b.e.Config()
	if err != nil {
		return refusal.Config(err)
	}
	env, err := b.e.Environment(b.now)
	if err != nil {
		return err
	}
	return setUp(ctx, b.e, b.on, conf, b.on.Dir(), env)
}
