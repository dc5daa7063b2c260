package checkout

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// Outside refuses a folder at or below a work tree or a project. A home folder is the person's own, and may be a work tree.
func Outside(dir string) error {
	home := ""
	if account, err := user.Current(); err == nil {
		home = git.Resolve(account.HomeDir)
	}
	for at := git.Resolve(dir); ; at = filepath.Dir(at) {
		if at == home {
			return nil
		}
		if _, err := os.Lstat(filepath.Join(at, ".ferrus")); err == nil || rootfs.IsWorkTree(at) {
			return fmt.Errorf("%s lies in the project or work tree %s; name a state folder outside of every repository in FERRUS_STATE_DIR", dir, at)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// Remove removes the checkout in dir with all that belongs to it. One that is gone is no error; one that is in use is
// ErrInUse, and stays.
func Remove(dir string) error {
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lock, err := filelock.Take(filepath.Join(dir, "lock"))
	if errors.Is(err, filelock.ErrHeld) {
		return ErrInUse
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	// Out of the way first: a process that makes another one has a lock of its own.
	gone := strings.TrimSuffix(dir, removedMark) + removedMark
	root, err := os.OpenRoot(filepath.Dir(gone))
	if err != nil {
		return err
	}
	defer root.Close()
	if gone != dir {
		if err := (&Checkout{}).removeAll(root, filepath.Base(gone)); err != nil {
			return err
		}
		if err := os.Rename(dir, gone); err != nil {
			return err
		}
	}
	return (&Checkout{}).removeAll(root, filepath.Base(gone))
}

// removedMark ends the name of a checkout that is being removed.
const removedMark = ".removed"

// InUse reports whether a process has the checkout in dir.
func InUse(dir string) bool {
	held, _ := filelock.Held(filepath.Join(dir, "lock"))
	return held
}
