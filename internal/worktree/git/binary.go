package git

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// found is the git binary for a value of PATH, which a process does not change while it works.
var found struct {
	sync.Mutex
	path, git string
	err       error
}

// gitPath returns the absolute path of the git binary for a call in a folder. A git that lies in the work tree of that
// folder is an error: a repository could bring its own. It is ErrNoGit where there is none on PATH.
func gitPath(dir string) (string, error) {
	found.Lock()
	defer found.Unlock()
	if path := os.Getenv("PATH"); found.git == "" && found.err == nil || found.path != path {
		found.path = path
		found.git, found.err = exec.LookPath("git")
		if found.err == nil {
			found.git, found.err = filepath.Abs(found.git)
		}
	}
	if found.err != nil {
		return "", ErrNoGit
	}
	if dir == "" {
		return found.git, nil
	}
	dir = Resolve(dir)
	for _, git := range []string{found.git, Resolve(found.git)} {
		for at := filepath.Dir(git); at != filepath.Dir(at); at = filepath.Dir(at) {
			if _, in := Below(at, dir); !in && at != dir {
				continue
			}
			if rootfs.IsWorkTree(at) {
				return "", fmt.Errorf("the git on PATH, %s, lies in the work tree %s: a repository cannot bring its own; take its folder out of PATH", git, at)
			}
		}
	}
	return found.git, nil
}

// Missing says why git cannot be called in a folder, nil where it can: for what is done with no call, and must not be without git.
func Missing(dir string) error {
	_, err := gitPath(dir)
	return err
}

// Below is path relative to top, with slashes, and whether it lies below it. Links are resolved as far as path
// exists.
func Below(top, path string) (string, bool) {
	rel, err := filepath.Rel(top, Resolve(path))
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// Resolve is an absolute path without links, as far as it exists.
func Resolve(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	rest := ""
	for p := path; ; p = filepath.Dir(p) {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			return filepath.Join(real, rest)
		}
		if p == filepath.Dir(p) {
			return path
		}
		rest = filepath.Join(filepath.Base(p), rest)
	}
}
