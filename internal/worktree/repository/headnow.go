package repository

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ferrus-go/ferrus/internal/git"
	"github.com/ferrus-go/ferrus/internal/rootfs"
	"github.com/ferrus-go/ferrus/internal/worktree/filestat"
	"github.com/ferrus-go/ferrus/internal/worktree/gitpath"
)

// maxBranch bounds the name of a branch, in bytes.
const maxBranch = 200

// HeadNow is [Repository.Head] for what is looked at often: it starts no process where refs are files, and both are "" where they
// cannot be told. The branch is printable and clipped.
func (r *Repository) HeadNow(ctx context.Context) (commit, branch string) {
	if !r.Git() {
		return "", ""
	}
	if filestat.Exists(filepath.Join(r.common, "reftable")) {
		commit, branch, _ = r.Head(ctx)
		return commit, clipped(branch)
	}
	text, _ := rootfs.ReadRegular(filepath.Join(r.gitDir, "HEAD"), maxRef)
	if ref, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "ref: refs/heads/"); ok {
		branch = clipped(ref)
	}
	return r.HeadCommit(ctx), branch
}

func clipped(branch string) string {
	branch = gitpath.Printable(branch)
	return strings.ToValidUTF8(branch[:min(len(branch), maxBranch)], "")
}

// A Relation says how one commit comes from another.
type Relation struct {
	Later   bool // its history has the other
	Earlier bool // the other's history has it
	Amended bool // it has the parents of the other, and replaces it
	Commits int  // of its history, those that are not in the other's
}

// RelationOf says how the commit to comes from the commit from. It reads commits only.
func (r *Repository) RelationOf(ctx context.Context, from, to string) (how Relation, err error) {
	c := r.UserCommand()
	out, _, err := c.Run(ctx, "rev-list", "--count", from+".."+to)
	if err != nil {
		return how, err
	}
	if how.Commits, err = strconv.Atoi(strings.TrimSpace(string(out))); err != nil {
		return how, err
	}
	is := func(a, b string) (bool, error) {
		_, _, err := c.Run(ctx, "merge-base", "--is-ancestor", a, b)
		if git.SaidNo(err) {
			return false, nil
		}
		return err == nil, err
	}
	if how.Later, err = is(from, to); err != nil || how.Later {
		return how, err
	}
	if how.Earlier, err = is(to, from); err != nil || how.Earlier {
		return how, err
	}
	was, err := r.parents(ctx, from)
	if err != nil {
		return how, err
	}
	now, err := r.parents(ctx, to)
	how.Amended = was == now
	return how, err
}

// parents are the ids of a commit's parents in a line.
func (r *Repository) parents(ctx context.Context, commit string) (string, error) {
	out, _, err := r.UserCommand().Run(ctx, "rev-list", "--parents", "-n", "1", commit)
	_, of, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	return of, err
}
