package worktree

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

const (
	maxStat     = 60
	maxStatText = 16 << 10
	noGit       = "no git: no diff\n"
)

// Changed lists the paths that differ between two trees, relative to the top level, with slashes; at most 100 of
// them, then one line that says how many more. A path that is not printable UTF-8 is quoted as in Go. It is nil
// without git. An id is what [Tree.Fingerprint] or [Tree.Snapshot] returned, or that of a commit or tree of the
// repository; "" stands for the empty tree.
func (t *Tree) Changed(ctx context.Context, from, to string) ([]string, error) {
	paths, err := t.ChangedPaths(ctx, from, to)
	if paths == nil {
		return nil, err
	}
	return git.Listed(paths), err
}

// ChangedPaths lists every path that differs between two trees, as in [Tree.Changed], but all of them and as they are. Both
// names of a renamed file are among them. It is nil without git.
func (t *Tree) ChangedPaths(ctx context.Context, from, to string) ([]string, error) {
	if !t.Git() {
		return nil, nil
	}
	ids, err := t.ends(ctx, from, to)
	if err != nil {
		return nil, err
	}
	all, err := t.Deltas(ctx, ids[0], ids[1])
	if err != nil {
		return nil, fmt.Errorf("diff of %.12s and %.12s: %w", ids[0], ids[1], err)
	}
	var paths []string
	for _, d := range all {
		paths = append(paths, d.Path)
	}
	return paths, nil
}

// Diffstat is git's summary of what differs between two trees, as in [Tree.Changed]: a line for each of the first 60
// files and a total. Without git, or without a difference, it says so.
func (t *Tree) Diffstat(ctx context.Context, from, to string) (string, error) {
	if !t.Git() {
		return noGit, nil
	}
	var out *git.Head
	if err := t.figures(ctx, from, to, func() io.Writer {
		out = &git.Head{Max: maxStatText}
		return out
	}, "--stat=100", "--stat-count="+strconv.Itoa(maxStat)); err != nil {
		return "", err
	}
	text := strings.ToValidUTF8(out.String(), "\uFFFD")
	switch {
	case text == "":
		return "no changes\n", nil
	case out.Cut:
		return text + "\n… cut\n", nil
	}
	return text, nil
}

// asText has git take every file for text, also where it counts lines.
const asText = "--text"

// maxAlloc is how much memory git may ask for at once to compare files, more than [MaxShown].
const maxAlloc = "128m"

// figures is a diff that counts the lines of all files. Git reads both sides of each into memory, however large they are. Where
// that is too much, which git says only then, it is asked again: no renames are found, and of files of which git thinks that they are
// binary, or that have more than [MaxShown], the bytes are counted. out makes the writer, for each time.
func (t *Tree) figures(ctx context.Context, from, to string, out func() io.Writer, how ...string) error {
	c := t.Command()
	c.Stdout, c.Env = out(), append(c.Env, "GIT_ALLOC_LIMIT="+maxAlloc)
	err := t.diffBy(ctx, c, from, to, nil, append([]string{"-M", asText}, how...)...)
	if err == nil || !strings.Contains(err.Error(), "attempting to allocate") {
		return err
	}
	c = t.Command()
	c.Stdout = out()
	return t.diffBy(ctx, c, from, to, nil, append([]string{"--no-renames"}, how...)...)
}

// maxBinary is the size from which on a file that git takes for binary is written as such.
const maxBinary = 1 << 20

// Patch writes the difference between two trees, as in [Tree.Changed], in a form that `git apply` takes. Every file is
// written as text, whatever .gitattributes says of it and whatever bytes it has, so that a reader sees its lines; only
// one of more than 1 MiB that git takes for binary is written in git's binary form, and of one of more than [MaxShown] it says
// only that it differs: [Tree.Unseen] tells of those, and git does not apply them. The patch is as long as the change; w
// may refuse more with an error, which Patch returns. An object that somebody put in the place of another is an
// error, and what was written is not to be shown. Without git it writes a line that says so.
func (t *Tree) Patch(ctx context.Context, from, to string, w io.Writer) error {
	if !t.Git() {
		_, err := io.WriteString(w, noGit)
		return err
	}
	ids, err := t.ends(ctx, from, to)
	if err != nil {
		return err
	}
	large, err := t.Verify(ctx, ids[0], ids[1], maxBinary, MaxShown)
	if err != nil {
		return fmt.Errorf("diff of %.12s and %.12s: %w", ids[0], ids[1], err)
	}
	var medium, binary, huge []string
	for _, l := range large {
		if l.Size > MaxShown {
			huge = append(huge, l.Path)
		} else {
			medium = append(medium, l.Path)
		}
	}
	if binary, err = t.binaries(ctx, from, to, medium); err != nil {
		return err
	}
	once := &refusing{w: w}
	how := []string{"-p", "-M", "--full-index"}
	err = t.diffOf(ctx, from, to, once, pathspecs(":(top,exclude,literal)", append(binary, huge...)), append(how, "--binary", asText)...)
	if err == nil && len(binary) > 0 {
		err = t.diffOf(ctx, from, to, once, pathspecs(":(top,literal)", binary), append(how, "--binary")...)
	}
	if err == nil && len(huge) > 0 {
		err = t.diffOf(ctx, from, to, once, pathspecs(":(top,literal)", huge), "-p", "--full-index", "--no-renames")
	}
	if once.err != nil {
		return once.err // git only says that its pipe broke
	}
	return err
}

// binaries lists those of the files that git takes for binary.
func (t *Tree) binaries(ctx context.Context, from, to string, names []string) (binary []string, err error) {
	if len(names) == 0 {
		return nil, nil
	}
	var out strings.Builder
	if err := t.diffOf(ctx, from, to, &out, pathspecs(":(top,literal)", names), "-z", "--numstat", "--no-renames"); err != nil {
		return nil, err
	}
	for _, line := range git.Split([]byte(out.String())) {
		if name, ok := strings.CutPrefix(line, "-\t-\t"); ok {
			binary = append(binary, name)
		}
	}
	return binary, nil
}

// pathspecs puts git's magic before each of the paths.
func pathspecs(magic string, names []string) []string {
	specs := make([]string, len(names))
	for i, name := range names {
		specs[i] = magic + name
	}
	return specs
}

// diffOf compares two trees with git's plumbing, which the user's diff settings do not reach, in the paths that pathspecs name.
func (t *Tree) diffOf(ctx context.Context, from, to string, w io.Writer, specs []string, how ...string) error {
	c := t.Command()
	c.Stdout = w
	return t.diffBy(ctx, c, from, to, specs, how...)
}

// diffBy is diffOf by a call that has its environment.
func (t *Tree) diffBy(ctx context.Context, c git.Command, from, to string, specs []string, how ...string) error {
	ids, err := t.ends(ctx, from, to)
	if err != nil {
		return err
	}
	// What is larger is binary to git without having been read; with asText nothing is.
	c.Config = append(slices.Clone(c.Config), "core.bigFileThreshold="+strconv.Itoa(MaxShown))
	if slices.Contains(how, asText) {
		c.Config = append(c.Config, "diff.ferrus.binary=false")
	}
	args := append([]string{"diff-tree", "-r", "--no-color", "--no-ext-diff", "--no-textconv"}, how...)
	if _, _, err := c.Run(ctx, append(append(args, ids[0], ids[1], "--"), specs...)...); err != nil {
		return fmt.Errorf("diff of %.12s and %.12s: %w", ids[0], ids[1], err)
	}
	return nil
}

// ends are the ids of two trees, of which "" is the empty one.
func (t *Tree) ends(ctx context.Context, from, to string) (ids [2]string, err error) {
	if err := t.Prepare(ctx); err != nil {
		return ids, err
	}
	for i, id := range []string{from, to} {
		if ids[i], err = t.TreeID(id); err != nil {
			return ids, fmt.Errorf("diff of %q and %q: %w", from, to, err)
		}
	}
	return ids, nil
}

// refusing remembers the error of its writer.
type refusing struct {
	w   io.Writer
	err error
}

func (r *refusing) Write(p []byte) (n int, err error) {
	if n, err = r.w.Write(p); err != nil {
		r.err = err
	}
	return n, err
}
