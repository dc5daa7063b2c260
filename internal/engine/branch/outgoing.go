package branch

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/worktree/remote"
)

// An Outgoing is approved work that is to be pushed as a branch of a remote.
type Outgoing struct {
	Task    state.Task
	Commit  string   // that is pushed; "" until [Outgoing.Make] has made it
	Branch  string   // of the remote
	Earlier []string // files that were changed before the work began, as those of a Committing
	Address string   // of the remote, without user names and passwords
	Ahead   int      // commits of the person that the remote does not have, as far as it is known here

	c      *Committing
	remote *remote.Remote
	was    store.Snapshot
	by     string
}

// PrepareOutgoing prepares the push of the approved work of a session's task. That of the project's own task must be committed: the commit that
// is checked out is pushed. For that of a branch one commit will be made on the commit at which it began, and the branch of git stays. as is
// the name of the branch on the remote, "" for that of git, or for one that is made of the title where the project's default branch is
// checked out. It reads only, and connects to nothing.
//
// The error is a *refusal.RefusedError.
func PrepareOutgoing(ctx context.Context, s *engine.Session, name, as string) (*Outgoing, error) {
	if err := s.Engine().Known(); err != nil {
		return nil, err
	}
	now, err := s.Engine().View()
	if err != nil {
		return nil, err
	}
	o := &Outgoing{Task: now.Task, was: now, c: &Committing{s: s}}
	if now.Task.State != state.Complete || now.Task.Submission.Tree == "" {
		return nil, &refusal.RefusedError{Code: refusal.WrongState, Person: true, Remedy: "ferrus status{branch} shows what it waits for",
			Message: fmt.Sprintf("the task is %s, and only approved work in a git repository goes out", now.Task.State)}
	}
	if o.c.tree, err = s.Engine().Tree(ctx, now); err != nil {
		return nil, err
	}
	o.c.name, o.c.commit.Tree = refOf(s.Engine(), now.Task.TaskID, fmt.Sprint(now.Task.Seq)), now.Task.Submission.Tree
	if s.Engine().Place().Branch == "" {
		err = o.committed(ctx)
	} else {
		err = o.onBase(ctx, s.Engine())
	}
	if err == nil {
		o.remote, err = remote.Named(ctx, o.c.tree.Repository, name)
	}
	if err == nil {
		o.Address = o.remote.PushAddress()
		o.Ahead, _, err = o.remote.Ahead(ctx, cmp.Or(o.Commit, o.c.commit.Parent))
	}
	if o.Branch = cmp.Or(as, o.Branch); o.Branch == "" {
		o.Branch = "ferrus/" + slug(now.Task.Title, now.Task.TaskID)
	}
	return o, asRefusal(err)
}

// committed takes the commit that is checked out, if it has the approved work.
func (o *Outgoing) committed(ctx context.Context) (err error) {
	if o.Commit, o.Branch, err = o.c.tree.Head(ctx); err != nil {
		return err
	}
	head, err := o.c.treeOf(ctx, o.Commit)
	if err != nil {
		return err
	}
	all, err := o.c.tree.Deltas(ctx, head, o.Task.Submission.Tree)
	if err == nil {
		err = o.c.leaveOut(ctx, all)
	}
	if err == nil && (o.Commit == "" || len(o.c.deltas) > 0) {
		err = &refusal.RefusedError{Code: refusal.WrongState, Message: "the approved work is not the commit that is checked out", Remedy: "ferrus commit", Person: true}
	}
	if o.Branch == "main" || o.Branch == "master" || o.Branch == "trunk" {
		o.Branch = ""
	}
	return err
}

// onBase prepares a commit of the work of a branch on the one at which it began.
func (o *Outgoing) onBase(ctx context.Context, e *engine.Engine) (err error) {
	if o.Task.Head == "" {
		return &refusal.RefusedError{Code: refusal.WrongState, Message: "the branch did not begin at a commit", Remedy: refusal.Say("ferrus merge %s", e.Place().Branch), Person: true}
	}
	o.c.commit.Parent, o.Branch = o.Task.Head, "ferrus/"+e.Place().Branch
	if _, o.by, err = o.c.history(e, o.was); err == nil {
		_, err = o.c.compare(ctx, o.Task, o.Task.Head, true)
	}
	o.Earlier = o.c.Earlier
	return err
}

// Make makes the commit where there is none yet. It is signed as the person's configuration says, and no hook runs. What the signing prints goes
// to said.
func (o *Outgoing) Make(ctx context.Context, said io.Writer) (err error) {
	if o.Commit != "" {
		return nil
	}
	if err := o.c.agreeConfig(ctx, o.c.tree); err != nil {
		return err
	}
	if o.c.commit.Message, err = o.c.message(ctx, o.c.s.Engine(), o.was, "", o.by); err != nil {
		return err
	}
	if err := o.c.saveTree(ctx); err != nil {
		return err
	}
	o.c.commit.Said = said
	if o.Commit, err = o.c.tree.SaveCommit(ctx, o.c.commit, o.ref(madeRef)); err != nil {
		return refusal.Because(refusal.StoreError, "the commit was not made", err, "fix what it names, then try again")
	}
	return nil
}

// The commit of a task that is made for a push, and that which was pushed.
const madeRef, pushedRef = "pr/commit", "pr/pushed"

// ref is the name under which something about the push is saved.
func (o *Outgoing) ref(what string) string {
	return refOf(o.c.s.Engine(), o.Task.TaskID, what)
}

// Push pushes the commit, if the branch of the remote does not have it yet. It replaces only a commit that ferrus itself has pushed from here.
func (o *Outgoing) Push(ctx context.Context) (pushed bool, err error) {
	refuse := func(err error) (bool, error) {
		if refusal.CodeOf(err) == "" {
			err = refusal.Because(refusal.StoreError, "the branch was not pushed", err, "then try again")
		}
		return false, err
	}
	have, err := o.remote.Tip(ctx, o.Branch)
	if err != nil {
		return refuse(err)
	}
	ours, err := o.c.tree.SavedCommit(ctx, o.ref(pushedRef))
	if err != nil {
		return refuse(err)
	}
	if have != "" && have != o.Commit && have != ours && !o.follows(ctx, have) {
		return refuse(&refusal.RefusedError{Code: refusal.Conflict, Person: true, Message: fmt.Sprintf("the branch %s of the remote has the commit %.12s, which is not from here", o.Branch, have),
			Remedy: "--as NAME pushes another branch; or delete that one"})
	}
	if have != o.Commit {
		if err := o.remote.PushBranch(ctx, o.Branch, have, o.Commit); err != nil {
			return refuse(err)
		}
	}
	if err := o.c.tree.RecordCommit(ctx, o.ref(pushedRef), o.Commit); err != nil {
		return refuse(err)
	}
	return have != o.Commit, nil
}

// follows reports whether the commit that is pushed comes after one.
func (o *Outgoing) follows(ctx context.Context, have string) bool {
	how, err := o.c.tree.RelationOf(ctx, have, o.Commit)
	return err == nil && how.Later
}

// slug makes a name of a title: small letters and digits of ASCII, with the end of the task's id, so that two tasks have two names.
func slug(title, task string) string {
	words := strings.FieldsFunc(strings.ToLower(format.Clip(title, 50)), func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	return strings.Join(append(words, task[len(task)-4:]), "-")
}
