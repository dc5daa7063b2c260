package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// StaleLocks returns the lock files that a killed git has left, as absolute paths: on what ferrus keeps (refs/ferrus and the
// branches ferrus/...), on packed-refs, and in the admin folders of ferrus's own linked work trees. Each stands in the way of
// every later change of its file. It is nil without git.
func StaleLocks(ctx context.Context, dir string, now time.Time) ([]string, error) {
	common, err := CommonDir(ctx, dir)
	if err != nil || common == "" {
		return nil, err
	}
	var stale []string
	look := func(path string) {
		if git.Stale(path, now) {
			stale = append(stale, path)
		}
	}
	for _, below := range git.LocksBelow {
		err := filepath.WalkDir(filepath.Join(common, below), func(path string, d fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".lock") && !d.IsDir() {
				look(path)
			}
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	look(filepath.Join(common, "packed-refs.lock"))
	ours := filepath.Join(".ferrus", "worktrees") + string(filepath.Separator)
	admins, _ := fs.Glob(os.DirFS(common), "worktrees/*/*.lock")
	for _, name := range admins {
		lock := filepath.Join(common, filepath.FromSlash(name))
		of, err := os.ReadFile(filepath.Join(filepath.Dir(lock), "gitdir"))
		if err == nil && strings.Contains(filepath.FromSlash(string(of)), string(filepath.Separator)+ours) {
			look(lock)
		}
	}
	return stale, nil
}

// SetAside moves a stale lock into a folder and returns its new path. It is no error if it is gone.
func SetAside(lock, dir string, now time.Time) (string, error) {
	to := filepath.Join(dir, fmt.Sprintf("stale-%s-%d", filepath.Base(lock), now.UnixNano()))
	err := os.Rename(lock, to)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err == nil {
		return to, nil
	}
	text, err := os.ReadFile(lock) // another file system: what it holds is the id of a commit, or less
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err == nil {
		err = os.Remove(lock)
	}
	return to, err
}
