package worktree

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// uncounted lists what the draft has and is not to count. Git takes longest of all to say of each file whether it is
// ignored, so it is asked only where the answer is open: what the user tracks counts, whatever the rules say, and what
// Open leaves out is in no draft but one that began as the user's index.
func (t *Tree) uncounted(ctx context.Context, d *draft, draft, users []string) (gone []string, err error) {
	if d.users {
		if gone, err = t.never(ctx, t.on(d)); err != nil {
			return nil, err
		}
	}
	untracked := slices.DeleteFunc(without(draft, users), func(path string) bool { return !t.onDisk(path) })
	ignored, err := t.ignored(ctx, t.on(d), d.path+".asked", untracked)
	return append(gone, ignored...), err
}

// trackedIgnored lists what the user tracks although git ignores it, and the draft has not: it is on disk, and not among
// the others, of which git has said that it does not ignore them.
func (t *Tree) trackedIgnored(ctx context.Context, draft, users, others []string) ([]string, error) {
	other := make(set, len(others))
	for _, path := range others {
		other.add(strings.TrimSuffix(path, "/"))
	}
	missing := slices.DeleteFunc(without(users, draft), func(path string) bool {
		return other[path] || other.above(path) || !t.onDisk(path)
	})
	if len(missing) == 0 {
		return nil, nil
	}
	never, err := t.never(ctx, t.user())
	return slices.DeleteFunc(missing, func(path string) bool { return slices.Contains(never, path) }), err
}

// never lists what c's index has and Open leaves out.
func (t *Tree) never(ctx context.Context, c command) ([]string, error) {
	out, _, err := c.run(ctx, append([]string{"ls-files", "-z", "-c", "-i"}, excludes(t.exclude)...)...)
	return zsplit(out), err
}

func excludes(patterns []string) []string {
	args := make([]string, len(patterns))
	for i, p := range patterns {
		args[i] = "--exclude=" + p
	}
	return args
}

// ignored lists which of the paths the rules ignore that c finds in its work tree, with no regard to what is tracked.
// index is a file that is not there.
func (t *Tree) ignored(ctx context.Context, c command, index string, names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	// As entries of an index, for git then answers for each path alike, whether there is such a file or not, and whatever
	// leads to it.
	c.env = append(slices.Clone(c.env), "GIT_INDEX_FILE="+index)
	var entries strings.Builder
	some := t.nothing[1:] + "1"
	for _, name := range names {
		fmt.Fprintf(&entries, "100644 %s\t%s\x00", some, name)
	}
	c.stdin = strings.NewReader(entries.String())
	if _, _, err := c.run(ctx, "update-index", "-z", "--index-info"); err != nil {
		return nil, err
	}
	defer (&draft{path: index}).discard()
	c.stdin = nil
	out, _, err := c.run(ctx, "ls-files", "-z", "-c", "-i", "--exclude-standard")
	return zsplit(out), err
}

// without is what one list has and the other has not; both are in the order of git's index.
func without(list, other []string) (rest []string) {
	for _, path := range list {
		for len(other) > 0 && other[0] < path {
			other = other[1:]
		}
		if len(other) == 0 || other[0] != path {
			rest = append(rest, path)
		}
	}
	return rest
}
