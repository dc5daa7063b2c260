package engine

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/restore"
)

// An Attempt is a branch at a glance, to be compared with others.
type Attempt struct {
	Branch   string         `json:"branch"`
	TaskID   string         `json:"task_id,omitempty"`
	Title    string         `json:"title,omitempty"`
	State    state.State    `json:"state,omitempty"`
	Since    time.Time      `json:"since,omitzero"` // when it entered its state
	Holder   string         `json:"holder,omitempty"`
	Check    string         `json:"check,omitempty"` // how the newest check ended: its id, its status, "" before the first
	Why      string         `json:"why,omitempty"`   // what the gate last said, or why the task failed
	Green    bool           `json:"green"`           // the gate was green on what the task holds or has handed in
	Checks   int            `json:"checks"`
	Rejected int            `json:"rejected"` // by reviews
	Size     worktree.Size  `json:"size"`     // of its change
	Took     time.Duration  `json:"-"`        // from its beginning to its end, or to now
	Seconds  float64        `json:"seconds"`
	Selected bool           `json:"selected,omitempty"`
	Merged   bool           `json:"merged,omitempty"`
	Error    string         `json:"error,omitempty"` // why it cannot be read
	Snap     store.Snapshot `json:"-"`
}

// Group returns those of the names that are attempts at the same task as name: with "try.2" all of try.1, try.2 ...; name
// alone where it has no number.
func Group(names []string, name string) []string {
	stem, ok := stemOf(name)
	if !ok {
		return []string{name}
	}
	return slices.DeleteFunc(slices.Clone(names), func(other string) bool {
		s, ok := stemOf(other)
		return !ok || s != stem
	})
}

// stemOf is what stands before the number of try.2.
func stemOf(name string) (stem string, ok bool) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 || strings.Trim(name[i+1:], "0123456789") != "" {
		return "", false
	}
	return name[:i], true
}

// Attempts looks at branches of the engine's project. What cannot be read says so; the others are looked at all the same.
func (e *Engine) Attempts(ctx context.Context, names []string) []Attempt {
	list := make([]Attempt, len(names))
	for i, name := range names {
		list[i] = e.attempt(ctx, name)
	}
	return list
}

func (e *Engine) attempt(ctx context.Context, name string) Attempt {
	a := Attempt{Branch: name}
	b, err := e.Branched(name)
	if err != nil {
		a.Error = err.Error()
		return a
	}
	defer b.Close()
	if err := a.read(ctx, b); err != nil {
		a.Error = err.Error()
	}
	return a
}

// Branched opens the machine of a branch of the engine's project. The error is a *refusal.RefusedError of code UnknownBranch where there
// is none, of WrongState where its removal was cut off.
func (e *Engine) Branched(name string) (*Engine, error) {
	on, err := project.At(e.place.Root, "").On(name)
	if err != nil {
		return nil, err
	}
	if keptName(on) != "" {
		return nil, &refusal.RefusedError{Code: refusal.WrongState, Message: "the removal of " + name + " was cut off",
			Remedy: "ferrus branch --remove " + name + " --force finishes it", Person: true}
	}
	return Open(on, e.opts)
}

func (a *Attempt) read(ctx context.Context, b *Engine) error {
	now, err := b.View()
	if err != nil {
		return err
	}
	t := now.Task
	a.Snap, a.TaskID, a.Title, a.State, a.Since, a.Holder = now, t.TaskID, t.Title, t.State, t.Since, t.ClaimedBy
	a.Checks, a.Rejected, a.Selected, a.Merged, a.Why = t.Issued.Checks, t.ReviewCycles, t.Selected, t.Merged != "", t.FailureReason
	if t.TaskID == "" {
		return nil
	}
	if t.Check.ID != "" {
		a.Check = t.Check.ID + " " + string(t.Check.Status)
	}
	if err := a.story(b, now); err != nil {
		return err
	}
	tree, err := b.Tree(ctx, now)
	if err != nil {
		return err
	}
	files := t.Submission.Tree
	if t.State != state.Reviewing && t.State != state.Complete {
		if files, err = tree.Fingerprint(ctx); err != nil {
			return refusal.Git(err)
		}
	}
	a.Green = t.Check.Status == state.CheckGreen && t.Check.Tree == files
	if a.Size, err = tree.Size(ctx, t.BaseTree, files); err != nil {
		return refusal.Git(err)
	}
	return nil
}

// story is what only the journal tells: how long it took, and what the gate said.
func (a *Attempt) story(b *Engine, now store.Snapshot) error {
	var began, ended time.Time
	for l, err := range b.store.HistoryFrom(now.Task.Docs[state.TaskDoc].Off) {
		if err != nil {
			return refusal.From(err)
		}
		switch l.Event {
		case state.CreateTask, state.Branch:
			began = l.At
		case state.CheckPassed, state.CheckFailed, state.CheckVoid:
			if now.Task.FailureReason == "" {
				a.Why = l.Note
			}
		}
		if l.To.Over() && l.From != l.To {
			ended = l.At
		}
	}
	if !a.State.Over() {
		ended = b.opts.Now()
	}
	a.Took = ended.Sub(began)
	a.Seconds = a.Took.Round(time.Millisecond).Seconds()
	return nil
}

// Remove takes a branch of the project away: its work tree, its git branch and its machine, which stays readable under
// .ferrus/archive/branches, as its files do under refs/ferrus, both with the name that is returned. Work that is under way, or
// approved and not merged, is only removed with force. A call that was cut off is finished by the same one.
func (s *Session) Remove(ctx context.Context, name string, force bool) (kept string, err error) {
	on, err := project.At(s.e.place.Root, "").On(name)
	if err != nil {
		return "", err
	}
	lock, err := holdBranch(on)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	project, err := s.e.View()
	if err != nil {
		return "", err
	}
	if project.Task.Returning.From == name {
		return "", &refusal.RefusedError{Code: refusal.WrongState, Message: name + " stays: its work is being merged into the project", Person: true,
			Remedy: "ferrus merge " + name + " finishes that"}
	}
	b, err := Open(on, s.e.opts)
	if err != nil {
		return "", err
	}
	defer b.Close()
	now, err := b.View()
	if err != nil {
		return "", err
	}
	if err := removable(now.Task, name, force); err != nil {
		return "", err
	}
	if _, err := os.Lstat(b.workDir(now)); err == nil {
		if err := b.clearWork(ctx, now); err != nil {
			return "", err
		}
	}
	if kept = keptName(on); kept == "" {
		kept = s.e.lost(name)
		if err := writeKeptName(on, kept); err != nil {
			return "", err
		}
	}
	return kept, s.retire(ctx, on, kept)
}

// clearWork keeps the files of the work and takes them away, with what somebody edits meanwhile kept too. What git
// ignores stays.
func (e *Engine) clearWork(ctx context.Context, snap store.Snapshot) error {
	id, err := e.keepBefore(ctx, snap)
	if err != nil || id == "" {
		return err
	}
	tree, err := e.Tree(ctx, snap)
	if err != nil {
		return err
	}
	moved, err := restore.In(tree).Clear(ctx, id, e.editsOf(snap))
	if len(moved.Edited) > 0 {
		e.log.Warn("files of a branch were edited while it was removed", "branch", e.place.Branch, "edits", editsText(moved.Edited))
	}
	if err != nil {
		return &refusal.RefusedError{Code: refusal.TreeChanged, Message: withEdits(err, moved.Edited).Error(), Remedy: "nothing is lost", Person: true}
	}
	rest, err := tree.Fingerprint(ctx)
	if err != nil {
		return refusal.Git(err)
	}
	if made, err := tree.Changed(ctx, "", rest); err != nil || len(made) == 0 {
		return err
	}
	_, err = e.keepBefore(ctx, snap) // files that were made meanwhile
	return err
}

// removing is the file in the folder of a branch that is being removed. It has the name under which the branch is kept, so
// that a call that was cut off and the one that finishes it keep it under the same.
const removing = "removing"

// keptForm is the name of a removed branch: its own, and when that was.
var keptForm = regexp.MustCompile(`^@[0-9]{8}T[0-9]{6}\.[0-9]{3}$`)

// keptName is what stands there, "" where nothing whole does: it becomes a part of paths.
func keptName(on project.Place) string {
	root, err := on.OpenDir()
	if err != nil {
		return ""
	}
	defer root.Close()
	text, _ := root.ReadFile(removing, 1<<10)
	name, whole := strings.CutSuffix(string(text), "\n")
	if stamp, ours := strings.CutPrefix(name, on.Branch); !whole || !ours || !keptForm.MatchString(stamp) {
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
		Remedy: "ferrus branch --remove " + name + " --force removes it all the same, and keeps its files under refs/ferrus"}
}

// retire moves what is to be kept, and removes the rest. Its last step makes the branch be gone: until then the same
// call finds it, and goes on.
func (s *Session) retire(ctx context.Context, on project.Place, kept string) error {
	own, err := project.Repository(ctx, s.e.place.Root)
	if err != nil {
		return err
	}
	home, err := on.OpenHome()
	if err != nil {
		return err
	}
	defer home.Close()
	if err := home.MkdirAll(project.ArchivedBranches, 0o700); err != nil {
		return refusal.Folder(err)
	}
	if _, err := own.KeepHead(ctx, on.Branch, kept+"/head"); err != nil {
		return refusal.Git(err)
	}
	all := func(string) bool { return true }
	if _, err := own.CopyRefs(ctx, on.Branch, kept, all); err != nil {
		return refusal.Git(err)
	}
	if err := own.Remove(ctx, on.WorkTree(), on.Branch); err != nil {
		return refusal.Git(err)
	}
	if _, err := own.DeleteRefs(ctx, on.Branch); err != nil {
		return refusal.Git(err)
	}
	s.e.dropCheckouts(on)
	if err := dropCopy(on); err != nil {
		return err
	}
	return refusal.Folder(home.Rename(path.Join("branches", on.Branch), path.Join(project.ArchivedBranches, kept)))
}

// dropCopy removes the second name of a journal whose first one goes to the archive. Another file that has the name is kept
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
