package repository

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// RemoteCommand is a call that talks to another repository about the objects of [Repository.Command]. It has the person's
// configuration and the machine's: proxies, credential helpers and how ssh is started are theirs. The repository's
// configuration has no part in it, for an agent can write there, nor have programs in the work tree, such as an ssh. The caller
// names the address and the allowed protocols. [Repository.PrepareRemote] comes before it.
func (r *Repository) RemoteCommand() git.Command {
	env := []string{"GIT_DIR=" + r.repository(), "GIT_COMMON_DIR=" + r.repository()}
	env = append(env, proc.Outside([]string{"PATH=" + os.Getenv("PATH")}, proc.WorkTree(r.dir))...)
	return git.Command{
		Dir: r.repository(), Env: slices.Concat(env, stores(r.store(), r.objects)), Detached: true,
		Config: []string{"core.fsync=objects", "fetch.fsckObjects=true", "protocol.version=2"},
	}
}

// maxShallow bounds the lists of commits whose parents a repository lacks.
const maxShallow = 16 << 20

// PrepareRemote is [Repository.Prepare], and has git know in the private git directory too where the history of a shallow
// clone ends. The error is [git.ErrNoGit] without git.
func (r *Repository) PrepareRemote(ctx context.Context) error {
	if !r.Git() {
		return git.ErrNoGit
	}
	if err := r.Prepare(ctx); err != nil {
		return err
	}
	theirs, err := rootfs.ReadRegular(filepath.Join(r.common, "shallow"), maxShallow)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	root, err := r.OpenPrivate()
	if err != nil {
		return err
	}
	defer root.Close()
	const name = "repository/shallow"
	ours, err := root.ReadFile(name, maxShallow) // of what was fetched here
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	ids := slices.DeleteFunc(strings.Fields(string(ours)+"\n"+string(theirs)), func(id string) bool { return !IsID(id) })
	slices.Sort(ids)
	text := strings.Join(slices.Compact(ids), "\n") + "\n"
	if text == string(ours) {
		return nil
	}
	return root.WriteFile(name, []byte(text), 0o600)
}

// ReadCommit returns the tree and the parent of a commit that [Repository.WriteCommit] wrote, here or elsewhere. The parent is
// "" where it has none. The content of the commit is compared with its id. Any other object is an error.
func (r *Repository) ReadCommit(ctx context.Context, id string) (tree, parent string, err error) {
	var text []byte
	err = r.reading(ctx, func(o *objects) error {
		return o.each([]string{id}, []string{"the commit " + id}, func(_ int, _ string, size int64, content io.Reader) (err error) {
			text, err = io.ReadAll(io.LimitReader(content, 1<<10))
			return err
		})
	})
	if err != nil {
		return "", "", err
	}
	var parents []string
	for line := range strings.Lines(string(text)) {
		switch kind, of, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " "); kind {
		case "tree":
			tree = of
		case "parent":
			parent = of
			parents = append(parents, of)
		}
	}
	if made, _ := r.commit(tree, parents...); made != id || len(parents) > 1 {
		return "", "", fmt.Errorf("%s is no commit of a work tree that ferrus made", id)
	}
	return tree, parent, nil
}

// TakeBranch gives the user's store a commit that git has fetched into the private one, with all that it lacks of it, and makes
// refs/remotes/<name> point at it.
func (r *Repository) TakeBranch(ctx context.Context, name, commit string) error {
	out, _, err := r.Command().Run(ctx, "rev-list", "--objects", "--no-object-names", commit, "--not", "--alternate-refs")
	if err != nil {
		return err
	}
	l, err := r.transferObjects(ctx, strings.Fields(string(out)))
	if err != nil {
		return err
	}
	if err := r.sync(r.objects); err != nil {
		return err
	}
	if err := r.updateRefs(ctx, "option no-deref\nupdate refs/remotes/"+name+" "+commit+"\n"); err != nil {
		return err
	}
	return r.verifyTransfer(ctx, l)
}

// SyncFetched brings to disk what git has fetched into the private store.
func (r *Repository) SyncFetched() error {
	return errors.Join(r.SyncObjects(), SyncFile(filepath.Join(r.store(), "pack")))
}
