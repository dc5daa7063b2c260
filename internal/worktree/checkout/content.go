package checkout

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/filestat"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// holds reports whether the file at a path below the checkout has this content, see contentOf: by its identity where that
// is enough, else by reading it.
func (c *Checkout) holds(name, content string) bool {
	file := filepath.Join(c.Files(), filepath.FromSlash(name))
	now, err := filestat.Lstat(file)
	if err != nil {
		return false
	}
	c.mu.Lock()
	was, ok := c.known[name]
	c.mu.Unlock()
	if ok && c.honest && was.identity.Same(now) {
		return was.content == content
	}
	if !sameContent(file, content) {
		return false
	}
	c.note(name, known{identity: now, content: content})
	return true
}

// note remembers a file that had its identity before its content was compared.
func (c *Checkout) note(name string, k known) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[name] = k
	c.newest = max(c.newest, k.identity.Ctime)
}

// sameContent reports whether a file is of the kind, has the executable bit and the bytes that content names: git's mode
// and id, or mode and digest in the form of madeRow.content.
func sameContent(file, content string) bool {
	mode, id, _ := strings.Cut(content, " ")
	info, err := os.Lstat(file)
	if err != nil {
		return false
	}
	if mode == repository.ModeSymlink {
		to, err := os.Readlink(file)
		return err == nil && info.Mode()&fs.ModeSymlink != 0 && repository.IDLike(id, "blob", []byte(to)) == id
	}
	if !info.Mode().IsRegular() || !samePermissions(info, mode) {
		return false
	}
	got, err := blobID(id, file, info.Size())
	return err == nil && got == id
}

// blobID is git's id of a regular file's bytes, in the hash that like is an id of.
func blobID(like, file string, size int64) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := repository.HashOf(like)
	fmt.Fprintf(h, "blob %d\x00", size)
	n, err := io.Copy(h, f)
	if err == nil && n != size {
		err = fmt.Errorf("%s changed while it was read", git.Printable(file))
	}
	return hex.EncodeToString(h.Sum(nil)), err
}

// samePermissions: git knows the executable bit alone; of what the set-up made all bits count. A file that its owner may
// not read or write is not as git would make it.
func samePermissions(info fs.FileInfo, mode string) bool {
	if perm, ok := strings.CutPrefix(mode, "made:"); ok {
		return perm == fmt.Sprintf("%o", info.Mode().Perm())
	}
	perm := info.Mode()
	if perm&(fs.ModeSetuid|fs.ModeSetgid) != 0 || perm&0o600 != 0o600 {
		return false
	}
	return runtime.GOOS == "windows" || (perm&0o100 != 0) == (mode == repository.ModeExec)
}

// checkOut has git make files of the tree, and compares what it made with their ids.
func (c *Checkout) checkOut(ctx context.Context, t *worktree.Tree, root *os.Root, names []string) error {
	if len(names) == 0 {
		return nil
	}
	dir, err := t.TempDir("restore-*")
	if err != nil {
		return err
	}
	defer t.RemoveTemp(dir)
	call := t.Filtering(t.Command())
	call.Dir = c.Files()
	call.Env = append(call.Env, "GIT_WORK_TREE="+c.Files(), "GIT_INDEX_FILE="+filepath.Join(dir, "index"))

	// An index of the listing that was verified, and not of the tree's id: the object could be another by now.
	wanted := make(git.Set, len(names))
	for _, name := range names {
		wanted.Add(name)
	}
	var lines strings.Builder
	for _, e := range c.want.Entries {
		if wanted[e.Path] || e.IsAttributes() {
			fmt.Fprintf(&lines, "%s %s\t%s\x00", e.Mode, e.ID, e.Path)
		}
	}
	call.Stdin = strings.NewReader(lines.String())
	if _, _, err := call.Run(ctx, "update-index", "-z", "--index-info"); err != nil {
		return err
	}
	if err := c.at(); err != nil {
		return err
	}
	call.Stdin = git.List(names)
	_, said, err := call.Run(ctx, "checkout-index", "-z", "--stdin")
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var filtered []string
	err = git.Each(names, func(name string) error {
		if c.holds(name, c.want.At[name].Content()) {
			return nil
		}
		if _, err := root.Lstat(filepath.FromSlash(name)); err != nil {
			return fmt.Errorf("git checkout-index made no %s: %s", git.Printable(name), git.FirstLine(said))
		}
		mu.Lock()
		defer mu.Unlock()
		filtered = append(filtered, name)
		return nil
	})
	if err != nil || len(filtered) == 0 {
		return err
	}
	return c.compareFiltered(ctx, call, filtered)
}

// compareFiltered compares files that are not the bytes of their blobs: what the filter of git-lfs or of a repository
// makes of them must be.
func (c *Checkout) compareFiltered(ctx context.Context, call git.Command, names []string) error {
	var lines strings.Builder
	found := make([]known, len(names))
	for i, name := range names {
		if strings.Contains(name, "\n") || c.want.At[name].Mode == repository.ModeSymlink {
			return repository.Damaged(name)
		}
		e, file := c.want.At[name], filepath.Join(c.Files(), filepath.FromSlash(name))
		before, err := filestat.Lstat(file)
		if err != nil {
			return err
		}
		raw, err := blobID(e.ID, file, before.Size)
		if err != nil {
			return err
		}
		found[i] = known{identity: before, content: e.Content(), raw: e.Mode + " " + raw}
		lines.WriteString(name + "\n")
	}
	call.Stdin = strings.NewReader(lines.String())
	out, _, err := call.Run(ctx, "hash-object", "--stdin-paths")
	if err != nil {
		return err
	}
	ids := strings.Fields(string(out))
	if len(ids) != len(names) {
		return fmt.Errorf("git hash-object: %d ids of %d files", len(ids), len(names))
	}
	for i, name := range names {
		if ids[i] != c.want.At[name].ID {
			return repository.Damaged(name)
		}
		c.note(name, found[i])
	}
	return nil
}

// Changed lists tracked files that no longer are what [Checkout.Prepare] made them, by content: those that the commands of a
// gate changed while it ran. Only the owner of the checkout calls it.
func (c *Checkout) Changed() ([]string, error) {
	if c.want == nil {
		return nil, errors.New("nothing is laid out")
	}
	var names []string
	for _, e := range c.want.Entries {
		if !e.IsLink() {
			names = append(names, e.Path)
		}
	}
	var mu sync.Mutex
	changed := git.Set{}
	err := git.Each(names, func(name string) error {
		mu.Lock()
		was := c.known[name]
		mu.Unlock()
		file := filepath.Join(c.Files(), filepath.FromSlash(name))
		now, err := filestat.Lstat(file)
		if err == nil && (c.honest && now.Same(was.identity) || sameContent(file, cmp.Or(was.raw, c.want.At[name].Content()))) {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		changed.Add(name)
		return nil
	})
	return git.Sorted(changed), err
}

// settle waits until the file system's clock is past every file that was compared, so that none can be changed and keep
// its identity. Where the clock does not move, the files are compared again next time.
func (c *Checkout) settle() error {
	if !c.honest {
		return nil
	}
	f, err := os.CreateTemp(c.dir, "clock-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	for range 5000 {
		if _, err := f.WriteAt([]byte("."), 0); err != nil {
			return err
		}
		now, err := filestat.Lstat(f.Name())
		if err != nil {
			return err
		}
		if now.Ctime > c.newest {
			return nil
		}
		time.Sleep(200 * time.Microsecond)
	}
	clear(c.known)
	c.newest = 0
	return nil
}
