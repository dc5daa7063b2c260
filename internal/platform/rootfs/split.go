package rootfs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// stateDir is the folder of a project in which ferrus keeps everything of its own.
const stateDir = ".ferrus"

// Split divides the path of a file of ferrus into the folder through which it is opened and its name below it: the
// outermost .ferrus folder that the path names, so that no link in it is followed. A path that names none is divided
// two folders above its end.
func Split(path string) (dir, name string) {
	clean := filepath.Clean(path)
	parts := strings.Split(clean, string(filepath.Separator))
	if i := slices.Index(parts, stateDir); i > 0 && i < len(parts)-1 {
		name = filepath.Join(parts[i+1:]...)
		return strings.TrimSuffix(clean, string(filepath.Separator)+name), filepath.ToSlash(name)
	}
	dir = filepath.Dir(filepath.Dir(clean))
	name, err := filepath.Rel(dir, clean)
	if err != nil { // the two begin with the same text
		name = filepath.Base(clean)
	}
	return dir, filepath.ToSlash(name)
}

// Within reports whether a path is a folder or lies below it. It compares the names and follows no link.
func Within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// For opens the Root through which the file of ferrus at path is reached, as Split says, and returns its name there.
// The error is fs.ErrNotExist where the folder is not there. The caller closes the Root.
func For(path string) (r *Root, name string, err error) {
	dir, name := Split(path)
	r, err = Open(dir)
	return r, name, err
}

// ReadFile reads the file at path, which must be a regular file itself and may have max bytes. Links above it are
// followed: where a project lies is a person's business, what lies in it is not.
func ReadFile(path string, max int64) ([]byte, error) {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	r, err := Open(dir)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.ReadFile(filepath.Base(path), max)
}

// IsWorkTree reports whether git takes a folder for the top of a work tree: its .git is a file, a link, or a folder with a
// HEAD. An empty .git folder is none: sandboxes of clients leave such placeholders in folders for temporary files. It does not look
// above the folder.
func IsWorkTree(folder string) bool {
	git := filepath.Join(folder, ".git")
	info, err := os.Lstat(git)
	if err == nil && info.IsDir() {
		_, err = os.Lstat(filepath.Join(git, "HEAD"))
	}
	return err == nil
}
