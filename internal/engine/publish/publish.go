// Package publish publishes the work trees of tasks through the git remote that a person has named, and fetches those that other computers
// have published. It is for projects whose machines are in a database; for others it does nothing.
//
// Package remote has the rules: push first, then the journal line, one ref for each epoch of a task. This package adds what depends on the
// journal:
//
//   - A snapshot is the commit of a tree on the base commit of the task. Both are in the journal, so no line names a commit.
//   - The files with which a task begins have a ref of their own. They are needed as long as the task, and no epoch may replace them.
//   - Branches of one task have the same task id and count their epochs alone. So the name of a ref has the branch.
//   - Refs are deleted that older epochs, older tasks and removed branches have left. The journal says which these are, also where a ref
//     claims to be of a later epoch than the journal has.
//
// It lays out no files: package branch does.
package publish

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/remote"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// Trees are the published work trees of one machine. They may be used by several goroutines.
type Trees struct {
	place  project.Place
	store  store.Machine
	person func() (config.Person, error)
	log    *slog.Logger
	shared bool

	mu    sync.Mutex
	last  map[string]string // the commit that a ref has, by task and epoch, as this process has pushed it
	swept map[string]bool   // by task and epoch
}

// New returns those of the machine m at a place. person reads a person's own configuration.
func New(place project.Place, m store.Machine, person func() (config.Person, error), log *slog.Logger) *Trees {
	return &Trees{place: place, store: m, person: person, log: log, shared: place.InDatabase(), last: map[string]string{}, swept: map[string]bool{}}
}

// Shared reports whether the machines of the project are in a database.
func (t *Trees) Shared() bool { return t.shared }

// On reports whether work trees travel: the machines are in a database, and the person has named a remote. The error is a
// *refusal.RefusedError: the configuration cannot be read.
func (t *Trees) On() (bool, error) {
	if !t.shared {
		return false, nil
	}
	p, err := t.person()
	if err != nil {
		return false, refusal.Config(err)
	}
	return p.Store.Trees != "", nil
}

// Open opens the remote for a repository. It connects to nothing. limit bounds each call of git, 0 for the usual time. The error is a
// *refusal.RefusedError.
func (t *Trees) Open(ctx context.Context, repo *repository.Repository, limit time.Duration) (*remote.Remote, error) {
	p, err := t.person()
	if err != nil {
		return nil, refusal.Config(err)
	}
	if !t.shared || p.Store.Trees == "" {
		return nil, off(p.Path, t.shared)
	}
	at, err := t.place.Shared()
	if err == nil && at == nil { // it was moved into files meanwhile
		err = off(p.Path, false)
	}
	if err != nil {
		return nil, err
	}
	r, err := remote.Open(ctx, repo, remote.Options{Remote: p.Store.Trees, Namespace: p.Store.Namespace, Project: at.Project.String(), Timeout: limit})
	if err != nil {
		return nil, &refusal.RefusedError{Code: refusal.InvalidInput, Message: err.Error(), Remedy: refusal.Say("correct trees under [store] in %s", p.Path), Person: true}
	}
	return r, nil
}

// off is the refusal where work trees do not travel.
func off(path string, shared bool) error {
	if !shared {
		return &refusal.RefusedError{Code: refusal.WrongState, Message: "the project is in files of this computer, and so are its work trees", Person: true,
			Remedy: "ferrus store move URL moves it into a database"}
	}
	return &refusal.RefusedError{Code: refusal.WrongState, Message: "work trees do not travel: no git remote is named", Person: true,
		Remedy: refusal.Say(`write trees = "origin" under [store] in %s, here and on the computer that has the files`, path)}
}

// base is what is behind the task in the name of the ref of the files with which it began.
const base = "+base"

// name is what the remote calls a task of the machine of a branch, "" for the project's own.
func name(branch, task string) string {
	if branch == "" {
		return task
	}
	return branch + "@" + task
}

// split undoes name, and says whether the ref is that of the files with which the task began.
func split(name string) (branch, task string, first bool) {
	name, first = strings.CutSuffix(name, base)
	if b, of, ok := strings.Cut(name, "@"); ok {
		return b, of, first
	}
	return "", name, first
}

// ref is where the files of a task are published.
func (t *Trees) ref(task state.Task) remote.Ref {
	return remote.Ref{Task: name(t.place.Branch, task.TaskID), Epoch: task.Epoch}
}

// refused is the refusal that fits an error of the remote. remedy is what helps beside what the error itself says.
func (t *Trees) refused(what string, remedy refusal.Own, err error) error {
	if err == nil || refusal.CodeOf(err) != "" {
		return err
	}
	r := &refusal.RefusedError{Code: refusal.StoreError, Message: what + ": " + err.Error(), Remedy: remedy}
	p, wrong := t.person()
	switch path := p.Path; {
	case is[*remote.LaterError](err):
		r.Code, r.Remedy = refusal.LeaseLost, "call status to see who has claimed the task"
	case is[*remote.RefusedError](err) && wrong == nil && p.Store.Namespace != remote.Branches:
		r.Remedy, r.Person = refusal.Say("write namespace = %q under [store] in %s, on each computer, then try again", remote.Branches, path), true
	case errors.Is(err, remote.ErrAccess):
		r.Person = true
	}
	return r
}

// is reports whether an error has a type.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// Probe says whether the remote takes the refs of work trees, and returns its address, without user names and passwords. The error is a
// *refusal.RefusedError.
func (t *Trees) Probe(ctx context.Context, tree *worktree.Tree) (address string, err error) {
	r, err := t.Open(ctx, tree.Repository, brief)
	if err != nil {
		return "", err
	}
	return r.Address(), t.refused("work trees cannot be published", "then try again", r.Probe(ctx))
}
