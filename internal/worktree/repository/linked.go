package repository

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

const (
	branches = "refs/heads/ferrus/"
	making   = "ferrus is making " // then the branch: why git leaves an unfinished work tree alone
)

// Add makes a linked work tree in dir, on a new branch ferrus/<branch> at the HEAD of the main work tree, with all of its
// files, also in a sparse checkout. It is an error if the branch exists, or if dir does and is not empty, or if there is
// no commit yet. What a killed Add has left is cleared away first, or finished if it is whole; one that was killed when it
// had finished counts as done. Of all calls with the same private folder, in whatever process, one is carried out at a time:
// another for the same branch is refused, one for another branch waits.
//
// The error is [git.ErrNoGit] without git; it needs git 2.33.
func (r *Repository) Add(ctx context.Context, dir, branch string) error {
	return r.AddAt(ctx, dir, branch, head)
}

// AddAt is Add with the new branch at another commit than the HEAD of the main work tree.
func (r *Repository) AddAt(ctx context.Context, dir, branch, commit string) error {
	err := noLink(dir)
	if err == nil {
		err = r.alone(ctx, branch, func() error { return r.add(ctx, git.Resolve(dir), branch, commit) })
	}
	if err != nil {
		return fmt.Errorf("add work tree %s on ferrus/%s: %w", dir, branch, err)
	}
	return nil
}

// add makes the work tree beside its place, moves it there, and only then makes the branch: a branch means that all is
// there. The git of a killed process may go on for a while, and clears up when it fails: it knows but the folder beside.
func (r *Repository) add(ctx context.Context, dir, branch, at string) error {
	if err := git.Needs(ctx, 2, 33, "to lock a work tree that is being made"); err != nil {
		return err
	}
	all, err := r.admins()
	for _, a := range all {
		if err == nil {
			err = noLink(a.dir)
		}
	}
	if err != nil {
		return err
	}
	tip, err := r.resolve(ctx, branches+branch)
	if err != nil {
		return err
	}
	if tip != "" {
		for _, a := range all {
			if a.reason == making+branch && a.at(dir) {
				return r.unlock(a) // killed when all but this was done
			}
		}
		return errors.New("there is such a branch; remove it or take another name")
	}
	if err := r.clearUnfinished(dir, branch); err != nil {
		return err
	}
	if !vacate(dir) {
		return errors.New("the folder exists; remove it or take another one")
	}
	commit, err := r.begin(ctx, at)
	if err != nil {
		return err
	}
	if err := r.grow(ctx, dir, branch, commit); err != nil {
		return errors.Join(err, r.clearUnfinished(dir, branch))
	}
	return nil
}

// ErrNoCommit says that the main work tree has no commit from which a linked one could begin.
var ErrNoCommit error = &refusal.Kind{Code: refusal.StoreError, Text: "the repository has no commit yet", Person: true,
	Remedy: "commit once, then try again:\ngit add -A && git commit -m \"begin\""}

// CanAdd returns nil if [Repository.Add] has a commit to begin from, else [ErrNoCommit], or [git.ErrNoGit] without git.
func (r *Repository) CanAdd(ctx context.Context) error {
	if !r.Git() {
		return git.ErrNoGit
	}
	_, err := r.begin(ctx, head)
	return err
}

// head is the commit of the main work tree.
const head = "main-worktree/HEAD"

// begin is the commit from which a linked work tree begins at.
func (r *Repository) begin(ctx context.Context, at string) (string, error) {
	commit, err := r.resolve(ctx, at+"^{commit}")
	if err == nil && commit == "" {
		err = ErrNoCommit
	}
	return commit, err
}

// clearUnfinished removes what an Add of the branch has left in dir, or beside it.
func (r *Repository) clearUnfinished(dir, branch string) error {
	all, err := r.admins()
	for _, a := range all {
		if a.reason != making+branch {
			continue
		}
		// Beside it a git that outlived its ferrus may still be at work; that is no matter, and cleared another time.
		if err := r.clear(a, dir); err != nil && a.at(dir) {
			return err
		}
	}
	if err != nil {
		return err
	}
	return sweepAside(dir)
}

// grow makes the work tree and the branch.
func (r *Repository) grow(ctx context.Context, dir, branch, commit string) error {
	aside, err := aside(dir)
	if err != nil {
		return err
	}
	off, err := r.withoutNewFilters(ctx)
	if err != nil {
		return err
	}
	c := git.Command{Dir: r.dir, Flags: []string{"--git-dir=" + r.gitDir}, Config: off}
	if _, _, err := c.Run(ctx, "worktree", "add", "--detach", "--lock", "--reason", making+branch, aside, commit); err != nil {
		return err
	}
	in := git.Command{Dir: aside}
	if _, _, err := in.Run(ctx, "symbolic-ref", "HEAD", branches+branch); err != nil {
		return err
	}
	r.Changing()
	if err := os.Rename(aside, dir); err != nil {
		return err
	}
	if err := r.moved(dir, branch); err != nil {
		return err
	}
	// Its old value is no object: it must be new.
	if err := r.updateRefs(ctx, "update "+branches+branch+" "+commit+" "+r.nothing+"\n"); err != nil {
		return err
	}
	all, err := r.admins()
	for _, a := range all {
		if a.reason == making+branch && a.at(dir) {
			err = r.unlock(a)
		}
	}
	return err
}

// moved tells git that an unfinished work tree lies in dir now, beside its old place. git worktree move refuses one with submodules,
// and git worktree repair writes into other work trees as well: into one in which an agent has a git directory of its own.
func (r *Repository) moved(dir, branch string) error {
	all, err := r.admins()
	if err != nil {
		return err
	}
	root, err := rootfs.Open(r.common)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, a := range all {
		if a.reason != making+branch || !a.at(dir) {
			continue
		}
		name := "worktrees/" + filepath.Base(a.path) + "/gitdir"
		text, err := root.ReadFile(name, maxAdmin)
		if err != nil {
			return err
		}
		was := path.Dir(strings.TrimSpace(string(text))) // with slashes, absolute or relative
		r.Changing()
		return root.WriteFile(name, []byte(path.Join(path.Dir(was), filepath.Base(dir), ".git")+"\n"), 0o644)
	}
	return fmt.Errorf("git has no folder for the work tree %s", dir)
}

// unlock is the end of an Add: from here on git treats the work tree as any other.
func (r *Repository) unlock(a admin) error {
	r.Changing()
	return os.Remove(filepath.Join(a.path, "locked"))
}

// Remove removes the linked work tree in dir with all that is in it, and the branch ferrus/<branch>, wherever that
// points. What is gone already is no error, so that a killed Remove can be called again; nor is what a killed [Repository.Add]
// has left. A folder that is no linked work tree of this repository is refused, as is a work tree that the user has
// locked, and a branch that is checked out elsewhere. It waits for others as Add does. The error is [git.ErrNoGit] without git.
func (r *Repository) Remove(ctx context.Context, dir, branch string) error {
	err := noLink(dir)
	if err == nil {
		err = r.alone(ctx, branch, func() error { return r.uproot(ctx, git.Resolve(dir), branch) })
	}
	if err != nil {
		return fmt.Errorf("remove work tree %s on ferrus/%s: %w", dir, branch, err)
	}
	return nil
}

func (r *Repository) uproot(ctx context.Context, dir, branch string) error {
	all, err := r.admins()
	if err != nil {
		return err
	}
	var ours []admin
	for _, a := range all {
		switch half := a.reason == making+branch; {
		case half:
			ours = append(ours, a)
		case a.at(dir) || a.dir == dir:
			if a.locked {
				return fmt.Errorf("it is locked (%s); run git worktree unlock, then try again", a.reason)
			}
			ours = append(ours, a)
		case a.head == branches+branch:
			return fmt.Errorf("the branch is checked out in %s; check out another one there, then try again", a.dir)
		}
	}
	head, _ := os.ReadFile(filepath.Join(r.common, "HEAD"))
	if strings.TrimSpace(string(head)) == "ref: "+branches+branch {
		return errors.New("the branch is checked out in the main work tree; check out another one there, then try again")
	}
	for _, a := range ours {
		if err := r.clear(a, dir); err != nil {
			return err
		}
	}
	if err := sweepAside(dir); err != nil {
		return err
	}
	if !vacate(dir) {
		return errors.New("the folder is not a linked work tree of this repository; look into it and remove it by hand")
	}
	tip, err := r.resolve(ctx, branches+branch)
	if err != nil || tip == "" {
		return err
	}
	return r.updateRefs(ctx, "option no-deref\ndelete "+branches+branch+"\n")
}

// LinkedTrees returns the folders of the linked work trees of the repository, links resolved.
func (r *Repository) LinkedTrees() ([]string, error) {
	all, err := r.admins()
	var dirs []string
	for _, a := range all {
		if a.dir != "" {
			dirs = append(dirs, git.Resolve(a.dir))
		}
	}
	return dirs, err
}
