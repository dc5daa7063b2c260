package branch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// A Committing is approved work that is to be committed in the project's work tree. Nothing was changed yet.
type Committing struct {
	Files   []string // that the commit changes, printable
	Earlier []string // those of them that were changed before the work began, or not by the work
	Hooks   []string // that run with the commit
	On      string   // the branch that is checked out, "" on none

	s      *engine.Session
	tree   *worktree.Tree
	name   string // under which the tree is saved
	commit repository.Commit
	deltas []repository.Delta
	staged git.Set
}

// PrepareCommit prepares the commit of the approved work of the project's own task, that of the session s, or with from of the merge of that
// branch into the project. message replaces the title and the summary of the task, unless it is "". It refuses work that is not in the files
// as it was approved or merged, a git configuration or a hook that the agents could have written, and what git has not finished. It reads
// only.
//
// The error is a *refusal.RefusedError.
func PrepareCommit(ctx context.Context, s, from *engine.Session, message string) (*Committing, error) {
	if err := s.Engine().Known(); err != nil {
		return nil, err
	}
	c := &Committing{s: s}
	now, err := s.Engine().View()
	if err != nil {
		return nil, err
	}
	if c.tree, err = s.Engine().Tree(ctx, now); err != nil {
		return nil, err
	}
	was, frozen := now, c.tree // where the work was done
	if from != nil {
		if was, err = from.Engine().View(); err == nil {
			frozen, err = from.Engine().Tree(ctx, was)
		}
		if err != nil {
			return nil, err
		}
		s = from
	}
	if err := c.fits(was.Task, from); err != nil {
		return nil, err
	}
	c.name = refOf(s.Engine(), was.Task.TaskID, fmt.Sprint(was.Task.Seq))
	if err := c.unmoved(ctx); err != nil {
		return nil, err
	}
	began, by, err := c.history(s.Engine(), was)
	if err == nil {
		err = c.onHead(ctx, was.Task, from == nil, frozen, began)
	}
	if err != nil {
		return nil, asRefusal(err)
	}
	if len(c.deltas) == 0 {
		return nil, &refusal.RefusedError{Code: refusal.WrongState, Message: "nothing to commit: the work is committed already", Remedy: "git log -1 shows the newest commit", Person: true}
	}
	c.commit.Message, err = c.message(ctx, s.Engine(), was, message, by)
	return c, err
}

// fits refuses work that is not approved, and takes its tree.
func (c *Committing) fits(t state.Task, from *engine.Session) error {
	refuse := func(message string, remedy refusal.Own) error {
		return &refusal.RefusedError{Code: refusal.WrongState, Message: message, Remedy: remedy, Person: true}
	}
	c.commit.Tree = t.Submission.Tree
	switch {
	case from == nil && c.s.Engine().Place().Branch != "":
		return refuse("only the project's own work tree is committed", refusal.Say("ferrus merge %s --commit merges the branch and commits that", c.s.Engine().Place().Branch))
	case from == nil && t.State != state.Complete:
		return refuse(fmt.Sprintf("the task is %s, and only approved work is committed", t.State), "ferrus status{branch} shows what it waits for")
	case from != nil && t.Merged == "":
		return refuse("the branch is not merged", refusal.Say("ferrus merge %s --commit merges and commits it", from.Engine().Place().Branch))
	case from != nil:
		c.commit.Tree = t.Merged
	}
	if c.commit.Tree == "" {
		return refuse("the work was not approved in a git repository", "git add and git commit commit the files")
	}
	if doing := c.tree.InProgress(); doing != "" {
		return refuse("git has not finished in this work tree: "+doing, "finish or abort that (git status says how), then try again")
	}
	return nil
}

// unmoved refuses files that are not those that were approved.
func (c *Committing) unmoved(ctx context.Context) error {
	id, err := c.tree.Snapshot(ctx)
	if err != nil {
		return refusal.Git(err)
	}
	if id == c.commit.Tree {
		return nil
	}
	paths, err := c.tree.Changed(ctx, c.commit.Tree, id)
	if err != nil {
		return refusal.Git(err)
	}
	return &refusal.RefusedError{Code: refusal.TreeChanged, Message: "the files are no longer those that were approved: " + format.OneLine(strings.Join(paths, " "), 600),
		Remedy: `ferrus reopen{branch} -m "..." has them checked and reviewed; or put them back; or commit with git`, Person: true}
}

// history is when the work began, and who approved it: "" for a rule, and for what is not known.
func (c *Committing) history(e *engine.Engine, was store.Snapshot) (began time.Time, by string, err error) {
	began = time.Now()
	if parts := strings.SplitN(was.Task.TaskID, "-", 4); len(parts) == 4 { // the work of a branch began with the task from which it was made
		if at, err := time.Parse("20060102-150405", parts[1]+"-"+parts[2]); err == nil {
			began = at.Add(time.Second)
		}
	}
	for l, err := range e.Store().HistoryFrom(was.Task.Docs[state.TaskDoc].Off) {
		if err != nil {
			return began, "", err
		}
		if l.At.Before(began) {
			began = l.At
		}
		switch {
		case l.Event != state.Approve || l.State.TaskID != was.Task.TaskID:
		case l.Rule != "":
			by = ""
		default:
			by = l.Actor.Agent
		}
	}
	return began, by, nil
}

// onHead finds what a commit on the one that is checked out changes, and which hooks run. frozen is where the work was done.
func (c *Committing) onHead(ctx context.Context, t state.Task, own bool, frozen *worktree.Tree, began time.Time) (err error) {
	if c.commit.Parent, c.On, err = c.tree.Head(ctx); err != nil {
		return err
	}
	if own && t.Head != "" && c.commit.Parent != t.Head {
		if how, err := c.tree.RelationOf(ctx, t.Head, cmp.Or(c.commit.Parent, t.Head)); err != nil || !how.Later {
			return &refusal.RefusedError{Code: refusal.TreeChanged, Message: "HEAD was moved to a commit that does not follow the one at which the task began",
				Remedy: "commit with git", Person: true}
		}
	}
	start := t.Head
	if !own {
		start = c.commit.Parent
	}
	changed, err := c.compare(ctx, t, start, own)
	if err != nil {
		return err
	}
	if c.staged, err = c.tree.Staged(ctx, c.commit.Parent); err != nil {
		return err
	}
	if err := c.agreeConfig(ctx, frozen); err != nil {
		return err
	}
	return c.agreeHooks(ctx, changed, began)
}

// compare finds what the commit changes, and what of it is older than the work. start is the commit at which the work began. It returns the paths that the
// commit or the work changes.
func (c *Committing) compare(ctx context.Context, t state.Task, start string, own bool) (changed git.Set, err error) {
	var trees [5]string // of HEAD, of the commit at the beginning, of the files then, of the work, and to be committed
	for i, id := range []string{c.commit.Parent, start, t.BaseTree, t.Submission.Tree, c.commit.Tree} {
		if trees[i] = id; i < 2 {
			if trees[i], err = c.treeOf(ctx, id); err != nil {
				return nil, err
			}
		}
	}
	between := func(a, b int) (paths git.Set, deltas []repository.Delta, err error) {
		deltas, err = c.tree.Deltas(ctx, trees[a], trees[b])
		paths = git.Set{}
		for _, d := range deltas {
			paths.Add(d.Path)
		}
		return paths, deltas, err
	}
	changed, deltas, err1 := between(0, 4)
	worked, _, err2 := between(2, 3)
	before, _, err3 := between(1, 2)
	sinceHead, _, err4 := between(0, 2)
	if err := errors.Join(err1, err2, err3, err4, c.leaveOut(ctx, deltas)); err != nil {
		return nil, err
	}
	for _, d := range c.deltas {
		name := git.Printable(d.Path)
		c.Files = append(c.Files, name)
		if !worked[d.Path] || own && before[d.Path] && sinceHead[d.Path] {
			c.Earlier = append(c.Earlier, name)
		}
	}
	maps.Copy(changed, worked)
	return changed, nil
}

// treeOf is the tree of a commit, that without files for "".
func (c *Committing) treeOf(ctx context.Context, commit string) (tree string, err error) {
	if commit == "" {
		return c.tree.TreeID("")
	}
	if _, tree, err = c.tree.Commit(ctx, commit); err == nil && tree == "" {
		err = fmt.Errorf("the commit %.12s is gone", commit)
	}
	return tree, err
}

// leaveOut keeps what does not count in the work tree as it is in HEAD: tracked files that [checks] ignore names, or of ferrus itself.
func (c *Committing) leaveOut(ctx context.Context, all []repository.Delta) error {
	names, err := c.tree.LeftOut(ctx, c.tree.IndexCommand())
	if err != nil {
		return err
	}
	left := git.SetOf(names)
	for _, d := range all {
		if !d.New.Exists() && (left[d.Path] || c.tree.IsOwn(d.Path)) {
			c.commit.Keep = append(c.commit.Keep, repository.TreeEntry{Entry: d.Old, Path: d.Path})
		} else {
			c.deltas = append(c.deltas, d)
		}
	}
	return nil
}

// agreeConfig refuses a configuration of git that the agents could have written.
func (c *Committing) agreeConfig(ctx context.Context, frozen *worktree.Tree) error {
	other, err := frozen.ConfigChanged(ctx)
	if other && err == nil {
		return &refusal.RefusedError{Code: refusal.Untrusted, Message: "the repository's git configuration changed since the task was created, and it can name programs that git commit runs",
			Remedy: "look at it: git config --local --list; then commit with git", Person: true}
	}
	return err
}

// agreeHooks refuses hooks that the agents could have written.
func (c *Committing) agreeHooks(ctx context.Context, changed git.Set, began time.Time) (err error) {
	c.commit.Hooks, err = c.tree.CommitHooks(ctx, changed, c.commit.Tree, began)
	if c.Hooks = c.commit.Hooks.Names; err != nil || len(c.commit.Hooks.Changed) == 0 {
		return err
	}
	var names []string
	for _, file := range c.commit.Hooks.Changed {
		names = append(names, git.Printable(file))
	}
	return &refusal.RefusedError{Code: refusal.Untrusted, Message: "hooks of git were changed by the task, or since it began, and do not run: " + format.OneLine(strings.Join(names, " "), 600),
		Remedy: "read them, then commit with git, which runs them; git commit --no-verify runs fewer", Person: true}
}

// Make makes the commit. The hooks run, and what they and the signing print goes to said. The error is a *refusal.RefusedError; if it comes with
// an id the commit is made, and the index of the person is as it was.
func (c *Committing) Make(ctx context.Context, said io.Writer) (id string, err error) {
	lock, err := alone(c.s.Engine())
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := c.saveTree(ctx); err != nil {
		return "", err
	}
	c.commit.Said = said
	c.commit.Unchanged = func(ctx context.Context) error {
		err := c.unmoved(ctx)
		if refusal.CodeOf(err) == refusal.TreeChanged {
			r := *refusal.Of(err)
			r.Message = strings.Replace(r.Message, "the files are no longer", "while the hooks ran files changed, and nothing was committed; they are no longer", 1)
			err = &r
		}
		return err
	}
	id, err = c.tree.MakeCommit(ctx, c.commit, c.deltas, c.staged)
	switch {
	case err == nil || refusal.CodeOf(err) != "":
	case id != "":
		err = refusal.Because(refusal.StoreError, "the commit is made, but the index could not be updated", err, "git reset -q -- . makes the index that of the commit")
	default:
		err = refusal.Because(refusal.StoreError, "nothing was committed", err, "fix what it names, then try again; or commit with git")
	}
	return id, err
}

// saveTree has the repository have the tree, whose objects are what their ids say: git would commit whatever lies under an id.
func (c *Committing) saveTree(ctx context.Context) error {
	err := c.tree.SaveRef(ctx, c.name, c.commit.Tree)
	parent := ""
	if err == nil {
		parent, err = c.treeOf(ctx, c.commit.Parent)
	}
	if err == nil {
		_, err = c.tree.Verify(ctx, parent, c.commit.Tree, 0, worktree.MaxShown)
	}
	return asRefusal(err)
}

// message is that of the commit.
func (c *Committing) message(ctx context.Context, e *engine.Engine, was store.Snapshot, text, by string) (string, error) {
	if text == "" {
		summary, err := store.Text(e.Store(), was, state.SubmissionDoc)
		if err != nil {
			return "", err
		}
		text = unclosing(format.Line(was.Task.Title) + "\n\n" + Summary(summary))
	}
	text = strings.TrimSpace(text) + "\n\nFerrus-Task: " + was.Task.TaskID + "\n"
	if by == "human" {
		by = c.tree.Person(ctx)
	}
	if by != "" {
		text += "Reviewed-by: " + format.Line(by) + "\n"
	}
	return text, nil
}

// closing is what a forge takes for the order to close an issue when the commit arrives on its default branch.
var closing = safetext.Lazily(`(?i)\b(close[sd]?|fix(?:e[sd])?|resolve[sd]?)(?::\s*|\s+)((?:[\w.-]+/[\w.-]+)?#[0-9]|gh-[0-9]|https?://)`)

// unclosing is a text of others, such as an agent or the author of an issue, by which no forge closes an issue.
func unclosing(text string) string { return closing().ReplaceAllString(text, "$1, see $2") }

// Summary is what the executor said of its work, of the document that it handed in with it.
func Summary(submission string) string {
	text, _, _ := strings.Cut(strings.TrimPrefix(submission, "## Summary\n"), "\n## Verification\n")
	return strings.TrimSpace(text)
}

// Uncommitted lists the files of the project that differ from the commit that is checked out, printable. The error is a *refusal.RefusedError.
func Uncommitted(ctx context.Context, s *engine.Session) ([]string, error) {
	now, err := s.Engine().View()
	if err != nil {
		return nil, err
	}
	c := &Committing{s: s}
	if c.tree, err = s.Engine().Tree(ctx, now); err != nil {
		return nil, err
	}
	id, err := c.tree.Snapshot(ctx)
	head := ""
	if err == nil {
		if c.commit.Parent, _, err = c.tree.Head(ctx); err == nil {
			head, err = c.treeOf(ctx, c.commit.Parent)
		}
	}
	var all []repository.Delta
	if err == nil {
		all, err = c.tree.Deltas(ctx, head, id)
	}
	if err == nil {
		err = c.leaveOut(ctx, all)
	}
	var names []string
	for _, d := range c.deltas {
		names = append(names, git.Printable(d.Path))
	}
	return names, asRefusal(err)
}

// asRefusal is the error as a refusal, nil for nil.
func asRefusal(err error) error {
	if err == nil || refusal.CodeOf(err) != "" {
		return err
	}
	return refusal.Git(err)
}
