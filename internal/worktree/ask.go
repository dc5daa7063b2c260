package worktree

import (
	"context"
	"strings"

	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// Version returns what the git that is used for dir says of its version, such as "git version 2.47.3". The error is
// [ErrNoGit] without git.
func Version(ctx context.Context, dir string) (string, error) {
	out, _, err := git.Command{Dir: dir}.Run(ctx, "version")
	return strings.TrimSpace(string(out)), err
}

// Inside reports whether dir is in a git work tree, as far as git can be asked.
func Inside(ctx context.Context, dir string) bool {
	at, err := repository.Locate(ctx, dir)
	return err == nil && at.Top != ""
}

// Ignored reports whether git ignores a path, relative to dir.
func Ignored(ctx context.Context, dir, path string) bool {
	_, _, err := git.Command{Dir: dir}.Run(ctx, "check-ignore", "-q", "--no-index", path)
	return err == nil
}

// Tracked reports whether git tracks a path, relative to dir, or anything below it.
func Tracked(ctx context.Context, dir, path string) bool {
	out, _, err := git.Command{Dir: dir}.Run(ctx, "ls-files", "-z", "--", ":(literal)"+path)
	return err == nil && len(out) > 0
}

// Embedded returns the repositories that lie in the work tree of dir, below dir: submodules and others, relative to dir.
func Embedded(ctx context.Context, dir string) (inside []string, err error) {
	staged, _, err := git.Command{Dir: dir}.Run(ctx, "ls-files", "-s", "-z")
	if err != nil {
		return nil, err
	}
	for entry := range strings.SplitSeq(string(staged), "\x00") {
		if mode, path, ok := strings.Cut(entry, "\t"); ok && strings.HasPrefix(mode, "160000 ") {
			inside = append(inside, git.Printable(path))
		}
	}
	others, _, err := git.Command{Dir: dir}.Run(ctx, "ls-files", "-o", "--exclude-standard", "-z")
	for path := range strings.SplitSeq(string(others), "\x00") {
		// git lists a folder only where it is a repository of its own.
		if repo, ok := strings.CutSuffix(path, "/"); ok && repo != ".ferrus" {
			inside = append(inside, git.Printable(repo))
		}
	}
	return inside, err
}
