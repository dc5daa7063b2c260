package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// A shut file is one of ferrus's own that its owner may not use as ferrus has to. A command of an agent can have taken the rights:
// Landlock does not stop chmod.
type shut struct {
	name string // below the project, with slashes
	mode fs.FileMode
	want fs.FileMode // with the rights that are missing
}

// foreign are folders in .ferrus whose content is not ferrus's own: work trees, and what checks and executors keep, where modules
// are read-only.
var foreign = []string{".ferrus/worktrees/*", ".ferrus/sandbox", ".ferrus/branches/*/sandbox", ".ferrus/branches/*/executor"}

// eachShut calls do for each shut file and folder in .ferrus, for a folder before it is read: do can open it.
func eachShut(root string, do func(shut) error) error {
	return fs.WalkDir(os.DirFS(root), ".ferrus", func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		info, err := os.Lstat(filepath.Join(root, name))
		if err != nil || info.Mode()&fs.ModeSymlink != 0 || !rootfs.OwnedByUser(info) {
			return nil
		}
		if want := info.Mode().Perm() | needs(name, info.Mode()); want != info.Mode().Perm() {
			if err := do(shut{name, info.Mode().Perm(), want}); err != nil {
				return err
			}
		}
		for _, pattern := range foreign {
			if match, _ := path.Match(pattern, name); match && info.IsDir() {
				return fs.SkipDir
			}
		}
		return nil
	})
}

// firstShut finds the shut file or folder with which to begin; ok is false when there is none.
func firstShut(root string) (found shut, ok bool, err error) {
	err = eachShut(root, func(s shut) error {
		found, ok = s, true
		return fs.SkipAll
	})
	return found, ok, err
}

// needs are the rights that ferrus needs: all of a folder, reading of a file, and writing of those that it keeps in .ferrus itself.
func needs(name string, mode fs.FileMode) fs.FileMode {
	switch {
	case mode.IsDir():
		return 0o700
	case path.Dir(name) == ".ferrus":
		return 0o600
	case mode.IsRegular():
		return 0o400
	}
	return 0
}

func checkModes(p *Context) Finding {
	if runtime.GOOS == "windows" {
		return Finding{} // access lists say it there
	}
	found, ok, err := firstShut(p.Place.Root)
	switch {
	case err != nil:
		return Bad(err.Error(), "check that the folder can be read")
	case !ok:
		return Fine("ferrus can use all of its files")
	}
	return Bad(fmt.Sprintf("%s has mode %04o: ferrus cannot use it", filepath.Join(p.Place.Root, filepath.FromSlash(found.name)), found.mode), "ferrus doctor{branch} --fix restores the mode")
}

// fixModes gives back the rights.
func fixModes(p *Context) (string, error) {
	root, err := os.OpenRoot(p.Place.Root)
	if err != nil {
		return "", err
	}
	defer root.Close()
	var did []string
	err = eachShut(p.Place.Root, func(found shut) error {
		if err := root.Chmod(filepath.FromSlash(found.name), found.want); err != nil {
			return err
		}
		did = append(did, fmt.Sprintf("set %s to %04o", found.name, found.want))
		return nil
	})
	return restored(did), err
}

// restored says what was done, the first of it by name.
func restored(did []string) string {
	const most = 3
	if len(did) <= most {
		return strings.Join(did, "; ")
	}
	return strings.Join(did[:most], "; ") + "; and " + format.Count(len(did)-most, "more", "more")
}
