package proc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// LookPath returns the absolute path of a program in one of the folders of a PATH. It skips
// relative folders and those in the folder not, with links resolved: a project's files are not the
// person's programs. not may be "".
func LookPath(name, path, not string) (string, error) {
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) || not != "" && Within(not, dir) {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("%s: %w in an absolute folder of PATH outside of the project", name, exec.ErrNotFound)
}

// Within reports whether path is dir or lies in it, links resolved as far as the paths exist.
func Within(dir, path string) bool {
	for _, p := range []*string{&dir, &path} {
		if real, err := filepath.EvalSymlinks(*p); err == nil {
			*p = real
		}
	}
	return rootfs.Within(dir, path)
}

// WorkTree returns the work tree that dir belongs to: of the nearest folder with a .ferrus, or of dir where there is
// none, the nearest folder at it or above it that has a .git; else that folder itself. A repository within a project, and the
// work tree of a branch, belong to the project.
func WorkTree(dir string) string {
	branches := string(filepath.Separator) + filepath.Join(".ferrus", "worktrees") + string(filepath.Separator)
	dir, _, _ = strings.Cut(dir+string(filepath.Separator), branches)
	project := nearest(filepath.Clean(dir), func(at string) bool {
		_, err := os.Lstat(filepath.Join(at, ".ferrus"))
		return err == nil
	})
	return nearest(project, rootfs.IsWorkTree)
}

// nearest returns the folder, dir or above it, that is one; dir if there is none.
func nearest(dir string, is func(string) bool) string {
	for at := dir; ; at = filepath.Dir(at) {
		if is(at) {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// Outside returns environ with a PATH that has only absolute folders outside of the folder not.
func Outside(environ []string, not string) []string {
	out := make([]string, len(environ))
	for i, kv := range environ {
		out[i] = kv
		name, list, ok := strings.Cut(kv, "=")
		if !ok || !strings.EqualFold(name, "PATH") {
			continue
		}
		var keep []string
		for _, dir := range filepath.SplitList(list) {
			if filepath.IsAbs(dir) && !Within(not, dir) {
				keep = append(keep, dir)
			}
		}
		out[i] = name + "=" + strings.Join(keep, string(filepath.ListSeparator))
	}
	return out
}
