package repository

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/worktree/filestat"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// store is the private object store.
func (r *Repository) store() string { return filepath.Join(r.private, "objects") }

// UserCommand is a call in the project's own git directory, for refs, HEAD and the index as a list: nothing else there is to be
// asked, for the rest of it can make git run programs.
func (r *Repository) UserCommand() git.Command {
	env := []string{"GIT_DIR=" + r.gitDir, "GIT_COMMON_DIR=" + r.common, "GIT_WORK_TREE=" + r.dir}
	return git.Command{Dir: r.dir, Env: append(env, git.Isolated...)}
}

// own is a call in the private git directory on one object store; the other, if any, is only read.
func (r *Repository) own(store string, others ...string) git.Command {
	env := []string{"GIT_DIR=" + r.repository(), "GIT_COMMON_DIR=" + r.repository(), "GIT_WORK_TREE=" + r.dir}
	return git.Command{Dir: r.dir, Env: slices.Concat(env, stores(store, others...), git.Isolated)}
}

// stores has git write objects to one store, and read the others as well.
func stores(store string, others ...string) []string {
	env := []string{"GIT_OBJECT_DIRECTORY=" + store}
	for i, other := range others {
		others[i] = git.Quoted(other)
	}
	if len(others) > 0 {
		env = append(env, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+strings.Join(others, string(os.PathListSeparator)))
	}
	return env
}

// Command is a call about files and objects in the private git directory, which writes to the private object store and reads both stores; git follows the
// alternates of the project's own.
func (r *Repository) Command() git.Command {
	c := r.own(r.store(), r.objects)
	c.Config = syncedByGit
	return c
}

// IndexCommand is a call in the private git directory on the user's index. It reads the index as a list.
func (r *Repository) IndexCommand() git.Command {
	c := r.Command()
	c.Env = append(c.Env, "GIT_INDEX_FILE="+r.index)
	return c
}

// CopySharedIndex copies what a split index leaves in the project's git directory: git looks for it in the directory that it
// works in.
func (r *Repository) CopySharedIndex() error {
	shared, _ := fs.Glob(os.DirFS(r.gitDir), "sharedindex.*")
	if len(shared) == 0 {
		return nil
	}
	root, err := r.OpenPrivate()
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range shared {
		text, err := rootfs.ReadRegular(filepath.Join(r.gitDir, name), 1<<30)
		if err == nil {
			err = root.WriteFile("repository/"+name, text, 0o600)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// SparseFiles lists what the user's index has and a sparse checkout need not have on disk. Where there is no sparse checkout,
// people use git's mark of it to keep a change of theirs out of git's sight: such a file is like any other.
func (r *Repository) SparseFiles(ctx context.Context) (map[string]Entry, error) {
	if !filestat.Exists(filepath.Join(r.gitDir, "info", "sparse-checkout")) {
		return nil, nil
	}
	out, _, err := r.UserCommand().Run(ctx, "ls-files", "-z", "-t", "-s")
	hidden := map[string]Entry{}
	// "S mode id stage\tpath"
	for _, line := range git.Split(out) {
		info, name, _ := strings.Cut(line, "\t")
		if of := strings.Fields(info); len(of) == 4 && of[0] == "S" {
			hidden[name] = Entry{of[1], of[2]}
		}
	}
	return hidden, err
}
