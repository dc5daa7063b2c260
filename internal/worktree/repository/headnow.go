package repository

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/worktree/filestat"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
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
	branch = git.Printable(branch)
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
	out, _, err := c.Run(ctx, "rev-list", "--left-right", "--count", from+"..."+to)
	if err != nil {
		return how, err
	}
	lost := 0 // commits of the history of from that are not in that of to
	if _, err := fmt.Sscan(string(out), &lost, &how.Commits); err != nil {
		return how, fmt.Errorf("git rev-list: cannot read %q", out)
	}
	how.Later, how.Earlier = lost == 0, how.Commits == 0
	if how.Later || how.Earlier {
		return how, nil
	}
	out, _, err = c.Run(ctx, "rev-list", "--no-walk=unsorted", "--parents", from, to)
	was, now, _ := strings.Cut(strings.TrimSpace(string(out)), "\n") // "id parents" of each
	how.Amended = err == nil && parentsIn(was) == parentsIn(now)
	return how, err
}

// parentsIn are the ids of a commit's parents, of a line in which its own comes first.
func parentsIn(line string) string {
	_, ids, _ := strings.Cut(line, " ")
	return ids
}
