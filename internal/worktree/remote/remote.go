// Package remote carries work trees between machines through a git remote. One machine pushes the snapshot of a task, the
// journal names its commit, another machine fetches that commit.
//
// A snapshot is a commit of a tree whose parent is the base commit of the task. Author and date are fixed, so the commit is a
// function of tree and base, and it is harmless to push it again. Only what the remote does not have yet is sent: a few hundred
// bytes for a changed file. A base that was never pushed goes along with its history; [Remote.Ahead] says how much that is.
//
// The remote has one ref for each epoch of a task, <namespace>/<project>/<task>/<epoch>. Git knows no epochs, so three rules
// make them safe:
//
//   - Push first, then append the journal line that names the commit. The line decides, not the ref: a reader fetches the
//     commit of the line, by its id.
//   - A push changes only the ref of its own epoch, and only if that has the commit that the caller expects. A holder that
//     lost the task cannot overwrite the ref of its successor.
//   - Push looks first whether the remote has a later epoch of the task, and refuses with a [*LaterError] if so. If the
//     successor pushes between this look and the push, the old holder leaves a ref of its old epoch. Its journal line is
//     refused, so nobody fetches that ref, and the successor deletes it with [Remote.Sweep].
//
// Objects come from the private object store and go there. The refs, index and object store of the user are not changed.
// No hook of the repository runs. Of the repository's configuration only the address of a remote is used, and an
// Authorization header as CI services write it there; everything else is the person's configuration. See [Options].
//
// A tree has what package worktree counts. A submodule travels as the id of its commit, and a file of git-lfs as its pointer:
// what these stand for is not sent. A snapshot has the files that git does not ignore, also those that nobody has added yet: it
// publishes unfinished work.
//
// The package does not know the journal, and lays out no files. Packages restore and checkout do that with the tree that
// [Remote.Fetch] returns.
package remote

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

const (
	// Hidden is the namespace that clones and fetches of people leave alone. Some hosts refuse it.
	Hidden = "refs/ferrus"
	// Branches is for hosts that take only branches and tags. Clones fetch these refs, and the host may start CI for them.
	Branches = "refs/heads/ferrus"

	usualTimeout = 5 * time.Minute
)

// Options say where trees are exchanged.
type Options struct {
	// Remote is the name of a remote, or a URL or absolute path, which has a slash or colon. It must come from a person's
	// configuration and not from a file of the project: it decides to whom the files are published, and a push to a path
	// on this machine runs the hooks of the repository there.
	//
	// For that reason a name that only the repository's configuration explains cannot stand for a path, only for an address of
	// http, https, ssh or git.
	Remote string

	Namespace string        // Hidden or Branches; "" is Hidden
	Project   string        // the id of the project
	Timeout   time.Duration // bounds each call of git; 0 is five minutes
}

// A Remote is a git repository through which trees are exchanged. It may be used by several goroutines and processes at once.
type Remote struct {
	repo    *repository.Repository
	at      address
	project string // the namespace and the project, with a slash at the end
	space   string
	timeout time.Duration
}

// A Ref is what the remote has for one epoch of a task.
type Ref struct {
	Task   string
	Epoch  uint64 // 0 before anybody has claimed the task
	Commit string // "" where there is no such ref
}

// A Snapshot is a work tree as a commit.
type Snapshot struct {
	Commit string
	Tree   string
	Base   string // its parent; "" where there was no commit yet
}

// Open finds the address of the remote. It connects to nothing. The error is [git.ErrNoGit] without git.
func Open(ctx context.Context, repo *repository.Repository, o Options) (*Remote, error) {
	r := &Remote{repo: repo, space: o.Namespace, timeout: o.Timeout}
	if r.space == "" {
		r.space = Hidden
	}
	if r.timeout == 0 {
		r.timeout = usualTimeout
	}
	r.project = r.space + "/" + o.Project + "/"
	err := checkPart("project", o.Project)
	if r.space != Hidden && r.space != Branches {
		err = fmt.Errorf("the namespace %q is not known; use %s or %s", r.space, Hidden, Branches)
	}
	if err == nil && !repo.Git() {
		err = git.ErrNoGit
	}
	if err == nil {
		r.at, err = findAddress(ctx, repo, o.Remote)
	}
	if err != nil {
		return nil, fmt.Errorf("exchange trees by %q: %w", redact(o.Remote), err)
	}
	return r, nil
}

// CommitOf returns the id of the commit that Push makes of a tree and its base, "" for no base. It pushes and writes nothing.
func (r *Remote) CommitOf(tree, base string) string { return r.repo.CommitID(tree, base) }

// Address is where trees are fetched, without user names and passwords.
func (r *Remote) Address() string { return redact(r.at.fetch) }

// name is the whole name of a ref.
func (r *Remote) name(at Ref) string {
	return r.project + at.Task + "/" + strconv.FormatUint(at.Epoch, 10)
}

// check says why a ref cannot be used.
func (r *Remote) check(at Ref) error {
	if at.Commit != "" {
		if err := checkID(at.Commit); err != nil {
			return err
		}
	}
	return checkPart("task", at.Task)
}

func checkID(id string) error {
	if !repository.IsID(id) {
		return fmt.Errorf("%q is not an object id", id)
	}
	return nil
}

// checkPart says why a word cannot be a part of the name of a ref.
func checkPart(what, word string) error {
	if strings.Contains(word, "/") {
		return fmt.Errorf("the %s %q has a slash", what, word)
	}
	return repository.CheckName(word)
}

// list returns the refs of the project on the remote, those of one task where task is not "".
func (r *Remote) list(ctx context.Context, task string) ([]Ref, error) {
	pattern := r.project + "*"
	if task != "" {
		pattern = r.project + task + "/*"
	}
	out, _, err := r.run(ctx, nil, "ls-remote", "--refs", "--", r.at.push, pattern)
	if err != nil {
		return nil, err
	}
	var refs []Ref
	for line := range strings.Lines(out) {
		commit, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		name, ours := strings.CutPrefix(name, r.project)
		of, number, _ := strings.Cut(name, "/")
		epoch, err := strconv.ParseUint(number, 10, 64)
		at := Ref{of, epoch, commit}
		if ours && err == nil && r.check(at) == nil && r.name(at) == r.project+name && (task == "" || of == task) {
			refs = append(refs, at)
		}
	}
	return refs, nil
}

// run calls git on the remote, and returns what it and the host said on stderr as well.
func (r *Remote) run(ctx context.Context, config []string, args ...string) (stdout, stderr string, err error) {
	within, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	c := r.repo.RemoteCommand()
	c.Config = append(c.Config, config...)
	c.Env = append(c.Env, r.at.environ()...)
	var out strings.Builder
	c.Stdout = &out // where git fails because refs were refused, this lists them
	_, stderr, err = c.Run(within, args...)
	if err != nil && ctx.Err() == nil {
		err = r.explain(out.String(), stderr, within.Err(), err)
	}
	return out.String(), stderr, err
}
