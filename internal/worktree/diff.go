package worktree

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ferrus-go/ferrus/internal/safetext"
)

const (
	maxPaths    = 100
	maxStat     = 60
	maxStatText = 16 << 10
	noGit       = "no git: no diff\n"
)

// Changed lists the paths that differ between two trees, relative to the top level, with slashes; at most 100 of
// them, then one line that says how many more. A path that is not printable UTF-8 is quoted as in Go. It is nil
// without git. An id is what [Tree.Fingerprint] or [Tree.Snapshot] returned, or that of a commit or tree of the
// repository; "" stands for the empty tree.
func (t *Tree) Changed(ctx context.Context, from, to string) ([]string, error) {
	if !t.Git() {
		return nil, nil
	}
	var out strings.Builder
	if err := t.diff(ctx, from, to, &out, "-z", "--name-only", "--no-renames"); err != nil {
		return nil, err
	}
	return listed(zsplit([]byte(out.String()))), nil
}

// listed is a list of paths for a reader, as Changed describes it.
func listed(paths []string) []string {
	more := len(paths) - maxPaths
	paths = paths[:min(len(paths), maxPaths)]
	for i, p := range paths {
		paths[i] = printable(p)
	}
	if more > 0 {
		paths = append(paths, fmt.Sprintf("… and %d more", more))
	}
	return paths
}

// Diffstat is git's summary of what differs between two trees, as in [Tree.Changed]: a line for each of the first 60
// files and a total. Without git, or without a difference, it says so.
func (t *Tree) Diffstat(ctx context.Context, from, to string) (string, error) {
	if !t.Git() {
		return noGit, nil
	}
	out := &head{max: maxStatText}
	if err := t.diff(ctx, from, to, out, "-M", "--stat=100", "--stat-count="+strconv.Itoa(maxStat)); err != nil {
		return "", err
	}
	text := strings.ToValidUTF8(out.String(), "\uFFFD")
	switch {
	case text == "":
		return "no changes\n", nil
	case out.cut:
		return text + "\n… cut\n", nil
	}
	return text, nil
}

// Patch writes the difference between two trees, as in [Tree.Changed], in a form that `git apply` takes, binary files
// included. It is as long as the change; w may refuse more with an error, which Patch returns. Without git it writes a
// line that says so.
func (t *Tree) Patch(ctx context.Context, from, to string, w io.Writer) error {
	if !t.Git() {
		_, err := io.WriteString(w, noGit)
		return err
	}
	once := &refusing{w: w}
	err := t.diff(ctx, from, to, once, "-p", "-M", "--binary", "--full-index")
	if once.err != nil {
		return once.err // git only says that its pipe broke
	}
	return err
}

// diff compares two trees with git's plumbing, which the user's diff settings do not reach.
func (t *Tree) diff(ctx context.Context, from, to string, w io.Writer, how ...string) error {
	if err := t.prepare(ctx); err != nil {
		return err
	}
	ids := []string{from, to}
	for i, id := range ids {
		var err error
		if ids[i], err = t.treeID(ctx, id); err != nil {
			return fmt.Errorf("diff of %q and %q: %w", from, to, err)
		}
	}
	c := t.storing()
	c.stdout = w
	args := append([]string{"diff-tree", "-r", "--no-color", "--no-ext-diff", "--no-textconv"}, how...)
	if _, _, err := c.run(ctx, append(args, ids[0], ids[1], "--")...); err != nil {
		return fmt.Errorf("diff of %.12s and %.12s: %w", ids[0], ids[1], err)
	}
	return nil
}

// objectID is a whole id; anything else could be an option or a name that moves.
var objectID = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// printable is the path, quoted if it could be taken for something else on a screen or in a list.
func printable(path string) string {
	if utf8.ValidString(path) && !strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) || safetext.Hidden(r) }) {
		return path
	}
	return strconv.QuoteToASCII(path)
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
