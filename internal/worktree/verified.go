package worktree

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// verify compares the objects by which two trees differ with their ids: both listings, and the blobs of every path that is
// not the same in both. Git shows a blob under whatever id it lies, and whoever works in the tree can write to the object
// stores: a reviewer would be shown a good file in place of the bad one that is submitted. "" stands for the empty tree.
func (t *Tree) verify(ctx context.Context, from, to string) error {
	var lists [2]*treeListing
	for i, id := range []string{from, to} {
		lists[i] = &treeListing{at: map[string]treeEntry{}}
		if id == "" {
			continue
		}
		tree, err := t.treeOfObject(ctx, id)
		if err != nil {
			return err
		}
		if lists[i], err = t.verifiedListing(ctx, tree); err != nil {
			return err
		}
	}
	names := map[string]string{} // by the id of a blob
	for i, l := range lists {
		other := lists[1-i]
		for _, e := range l.entries {
			if !e.link() && other.at[e.path].entry != e.entry {
				names[e.id] = e.path
			}
		}
	}
	return t.verifyBlobs(ctx, names)
}

// treeOfObject is the id of a tree, or of that of a commit.
func (t *Tree) treeOfObject(ctx context.Context, id string) (string, error) {
	out, _, err := t.storing().run(ctx, "rev-parse", "-q", "--verify", "--end-of-options", id+"^{tree}")
	return strings.TrimSpace(string(out)), err
}

// verifyBlobs compares blobs with their ids; the values are names of files that have them.
func (t *Tree) verifyBlobs(ctx context.Context, names map[string]string) error {
	if len(names) == 0 {
		return nil
	}
	var ids strings.Builder
	for id := range names {
		ids.WriteString(id + "\n")
	}
	read, write := io.Pipe()
	done := make(chan error, 1)
	go func() {
		c := t.storing()
		c.stdin, c.stdout = strings.NewReader(ids.String()), write
		_, _, err := c.run(ctx, "cat-file", "--batch")
		write.CloseWithError(err)
		done <- err
	}()
	err := compareBlobs(bufio.NewReaderSize(read, 64<<10), names)
	read.CloseWithError(err) // git's next write fails
	if failed := <-done; err == nil {
		err = failed
	}
	return err
}

// compareBlobs reads what git cat-file --batch writes: "id kind size", the content, and a newline, for each.
func compareBlobs(r *bufio.Reader, names map[string]string) error {
	seen := 0
	for {
		head, err := r.ReadString('\n')
		if err == io.EOF && head == "" {
			break
		}
		f := strings.Fields(head)
		if err != nil || len(f) != 3 || f[1] != "blob" || names[f[0]] == "" {
			return fmt.Errorf("git cat-file: cannot read %q", head)
		}
		size, err := strconv.ParseInt(f[2], 10, 64)
		if err != nil {
			return fmt.Errorf("git cat-file: cannot read %q", head)
		}
		h := hashOf(f[0])
		fmt.Fprintf(h, "blob %d\x00", size)
		if _, err := io.CopyN(h, r, size); err != nil {
			return err
		}
		if hex.EncodeToString(h.Sum(nil)) != f[0] {
			return damaged(names[f[0]])
		}
		if _, err := r.Discard(1); err != nil {
			return err
		}
		seen++
	}
	if seen != len(names) {
		return fmt.Errorf("git cat-file: %d of %d objects", seen, len(names))
	}
	return nil
}
