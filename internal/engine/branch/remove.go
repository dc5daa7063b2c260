package branch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents/confine"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/gc"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/worktree/restore"
	"github.com/ferrus-go/ferrus/internal/worktree/snapshots"
)

// Remove takes a branch of the project away: its work tree, its git branch and its machine, which stays readable under
// .ferrus/archive/branches, as its files do under refs/ferrus, both with the name that is returned. Work that is under way, or
// approved and neither merged nor pulled after a pull request, is only removed with force. A call that was cut off is finished by the same one.
func Remove(ctx context.Context, s *engine.Session, name string, force bool) (kept string, err error) {
	on, err := project.At(s.Engine().Place().Root, "").On(name)
	left := refusal.CodeOf(err) == refusal.UnknownBranch && project.At(s.Engine().Place().Root, name).Left()
	if err != nil && !left {
		return "", err
	}
	if left {
		on = project.At(s.Engine().Place().Root, name)
	}
	lock, err := holdBranch(on)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if left {
		return clearLeft(ctx, s, on)
	}
	project, err := s.Engine().View()
	if err != nil {
		return "", err
	}
	if project.Task.Returning.From == name {
		return "", &refusal.RefusedError{Code: refusal.WrongState, Message: name + " stays: its work is being merged into the project", Person: true,
			Remedy: refusal.Say("ferrus merge %s finishes that", name)}
	}
	b, err := s.Engine().Beside(on)
	if err != nil {
		return "", err
	}
	defer b.Close()
	now, err := b.View()
	if err != nil {
		return "", err
	}
	if err := removable(now.Task, name, force || pulled(ctx, s.Engine(), project, now.Task)); err != nil {
		return "", err
	}
	if _, err := os.Lstat(b.Place().Work); err == nil && begun(on) != making {
		if err := whole(on); err != nil {
			return "", err
		}
		if err := clearWork(ctx, b, now); err != nil {
			return "", err
		}
	}
	if kept = keptName(on); kept == "" {
		kept = lost(s.Engine(), name)
		if err := writeKeptName(on, kept); err != nil {
			return "", err
		}
	}
	return kept, retire(ctx, s, on, kept)
}

// whole has a work tree count as whole whose files were not fetched completely: it is about to be removed, with what is there.
func whole(on project.Place) error {
	root, err := on.OpenDir()
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Remove(project.Bringing); !errors.Is(err, os.ErrNotExist) {
		return refusal.Folder(err)
	}
	return nil
}

// clearWork keeps the files of the work and takes them away, with what somebody edits meanwhile kept too. What git
// ignores stays.
func clearWork(ctx context.Context, e *engine.Engine, snap store.Snapshot) error {
	id, err := e.Keep(ctx, snap)
	if err != nil || id == "" {
		return err
	}
	tree, err := e.Tree(ctx, snap)
	if err != nil {
		return err
	}
	moved, err := restore.In(tree).Clear(ctx, id, e.EditsName(snap))
	if len(moved.Edited) > 0 {
		e.Log().Warn("files of a branch were edited while it was removed", "branch", e.Place().Branch, "edits", restore.Text(moved.Edited))
	}
	if err != nil {
		return &refusal.RefusedError{Code: refusal.TreeChanged, Message: restore.WithEdits(err, moved.Edited).Error(), Remedy: "nothing is lost", Person: true}
	}
	rest, err := tree.Fingerprint(ctx)
	if err != nil {
		return refusal.Git(err)
	}
	if made, err := tree.Changed(ctx, "", rest); err != nil || len(made) == 0 {
		return err
	}
	_, err = e.Keep(ctx, snap) // files that were made meanwhile
	return err
}

// removing is the file in the folder of a branch that is being removed. It has the name under which the branch is saved, so
// that a call that was cut off and the one that finishes it keep it under the same.
const removing = "removing"

// keptForm is the name of a removed branch: its own, and when that was.
var keptForm = safetext.Lazily(`^@[0-9]{8}T[0-9]{6}\.[0-9]{3}$`)

// keptName is what stands there, "" where nothing whole does: it becomes a part of paths.
func keptName(on project.Place) string {
	root, err := on.OpenDir()
	if err != nil {
		return ""
	}
	defer root.Close()
	text, _ := root.ReadFile(removing, 1<<10)
	name, whole := strings.CutSuffix(string(text), "\n")
	if stamp, ours := strings.CutPrefix(name, on.Branch); !whole || !ours || !keptForm().MatchString(stamp) {
		return ""
	}
	return name
}

// writeKeptName writes it.
func writeKeptName(on project.Place, name string) error {
	root, err := on.OpenDir()
	if err != nil {
		return err
	}
	defer root.Close()
	return refusal.Folder(root.WriteFile(removing, []byte(name+"\n"), 0o600))
}

func removable(t state.Task, name string, force bool) error {
	why := ""
	switch {
	case force:
	case t.Underway():
		why = "its task has not ended: " + t.Title
	case t.State == state.Complete && t.Merged == "":
		why = "its work is approved and not merged"
	}
	if why == "" {
		return nil
	}
	return &refusal.RefusedError{Code: refusal.WrongState, Message: name + " stays: " + why, Person: true,
		Remedy: refusal.Say("ferrus branch --remove %s --force removes it all the same, and keeps its files under refs/ferrus", name)}
}

// pulled reports whether the commit that is checked out in the project comes after the one that [Outgoing.Push] has pushed of the branch's approved work.
func pulled(ctx context.Context, e *engine.Engine, own store.Snapshot, t state.Task) bool {
	tree, err := e.Tree(ctx, own)
	if err != nil || t.State != state.Complete || t.Submission.Tree == "" {
		return false
	}
	pushed, err := tree.SavedCommit(ctx, snapshots.Name(t.Branch, t.TaskID, pushedRef))
	if err != nil || pushed == "" {
		return false
	}
	_, files, err := tree.Commit(ctx, pushed)
	if err != nil || files != t.Submission.Tree {
		return false
	}
	head, _, err := tree.Head(ctx)
	if err != nil || head == "" {
		return false
	}
	how, err := tree.RelationOf(ctx, pushed, head)
	return err == nil && how.Later
}

// retire moves what is to be kept, and removes the rest. Its last step makes the branch be gone: until then the same
// call finds it, and goes on.
func retire(ctx context.Context, s *engine.Session, on project.Place, kept string) error {
	if err := retireFiles(ctx, s, on, kept); err != nil {
		return err
	}
	if err := on.Remove(ctx, kept); err != nil {
		return err
	}
	if own, err := project.Repository(ctx, s.Engine().Place().Root); err == nil {
		s.Engine().Published().Drop(ctx, own, on.Branch)
	}
	return nil
}

// retireFiles is retire for what git and this computer have of the branch.
func retireFiles(ctx context.Context, s *engine.Session, on project.Place, kept string) error {
	own, err := project.Repository(ctx, s.Engine().Place().Root)
	if err != nil {
		return err
	}
	if _, err := own.KeepHead(ctx, on.Branch, kept+"/head"); err != nil {
		return refusal.Git(err)
	}
	all := func(string) bool { return true }
	if _, err := own.CopyRefs(ctx, on.Branch, kept, all); err != nil {
		return refusal.Git(err)
	}
	if err := confine.Of(on.Dir()).Drop(); err != nil {
		return refusal.Folder(err)
	}
	if err := own.Remove(ctx, on.WorkTree(), on.Branch); err != nil {
		return refusal.Git(err)
	}
	if _, err := own.DeleteRefs(ctx, on.Branch); err != nil {
		return refusal.Git(err)
	}
	gc.DropCheckouts(on, s.Engine().Log())
	return dropCopy(on)
}

// dropCopy removes the second name of a journal whose first one goes to the archive. Another file that has the name stays
// beside it: it may be the valid one of the two.
func dropCopy(on project.Place) error {
	link := on.Backup()
	there, err := os.Lstat(link)
	if link == "" || err != nil {
		return nil
	}
	if here, err := os.Lstat(filepath.Join(on.Dir(), "journal.jsonl")); err == nil && os.SameFile(here, there) {
		return os.Remove(link)
	}
	return os.Rename(link, fmt.Sprintf("%s.%d", link, time.Now().UnixNano()))
}

// refOf is the name under which something of a task is saved.
func refOf(e *engine.Engine, task, what string) string {
	return snapshots.Name(e.Place().Branch, task, what)
}
