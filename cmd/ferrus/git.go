package main

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// git asks git something about a folder and returns what it printed. A hook's environment, which names another
// repository, does not reach it.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(kv, "GIT_") && !strings.HasPrefix(kv, "GIT_CONFIG_") && !strings.HasPrefix(kv, "GIT_CEILING_")
	}), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0")
	out, err := cmd.Output()
	return string(out), err
}

// inGit reports whether dir is in a git work tree, as far as git can be asked.
func inGit(ctx context.Context, dir string) bool {
	out, err := git(ctx, dir, "rev-parse", "--is-inside-work-tree")
	return err == nil && strings.TrimSpace(out) == "true"
}

// ignored reports whether git ignores .ferrus in root.
func ignored(ctx context.Context, root string) bool {
	_, err := git(ctx, root, "check-ignore", "-q", "--no-index", ".ferrus/journal.jsonl")
	return err == nil
}
