package worktree

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// An Index is the file in which the repository of a folder lists what git tracks, as it was found.
type Index struct{ foundFile }

// A foundFile is a file as it was found.
type foundFile struct {
	path string      // "" for no file
	info fs.FileInfo // nil where there is none
}

// FindIndex finds the index of the repository that holds dir. It starts no process and reads no more than the .git file of
// a linked work tree. Outside of a repository the Index has no file.
func FindIndex(dir string) Index {
	for at := dir; ; at = filepath.Dir(at) {
		git := filepath.Join(at, ".git")
		info, err := os.Lstat(git)
		switch {
		case err != nil, info.IsDir() && !rootfs.IsWorkTree(at):
		case info.IsDir() || info.Mode()&fs.ModeSymlink != 0:
			return Index{find(filepath.Join(git, "index"))}
		case info.Mode().IsRegular() && info.Size() < 64<<10:
			text, err := os.ReadFile(git)
			to, ok := strings.CutPrefix(string(bytes.TrimSpace(text)), "gitdir: ")
			if err != nil || !ok {
				return Index{}
			}
			if !filepath.IsAbs(to) {
				to = filepath.Join(at, to)
			}
			return Index{find(filepath.Join(to, "index"))}
		default:
			return Index{}
		}
		if at == filepath.Dir(at) {
			return Index{}
		}
	}
}

func find(path string) foundFile {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return foundFile{path: path}
	}
	return foundFile{path, info}
}

// Unchanged reports whether the file is the one that was found, with its length and time. Both having no file is unchanged.
func (f foundFile) Unchanged() bool {
	now, err := os.Stat(f.path)
	if f.info == nil || err != nil {
		return f.info == nil && (f.path == "" || err != nil)
	}
	return rootfs.Unchanged(f.info, now)
}

// maxIndex is the largest index that is read whole to save a process, in bytes.
const maxIndex = 64 << 20

// MayTrack reports whether the index may list a path with a part of that name, without parsing it. True is a guess.
func (i Index) MayTrack(name string) bool {
	if i.info == nil {
		return false
	}
	if i.info.Size() > maxIndex || runtime.GOOS == "darwin" || runtime.GOOS == "windows" { // there Name is name
		return true
	}
	text, err := os.ReadFile(i.path)
	if err != nil {
		return true
	}
	if len(text) >= 8 && text[7] > 3 {
		// Version 4 leaves out what a path has in common with the one before it.
		name = name[len(name)-min(len(name), 3):]
	}
	// An index that is split names the file with the rest of its entries by this extension.
	return bytes.Contains(text, []byte(name)) || bytes.Contains(text, []byte("link\x00"))
}

// TrackedFiles lists what git tracks in a folder of dir, relative to it, by the index of the repository that holds dir. The name
// of the folder is matched whatever its case is: a file system may be of the same mind. Without git it is none.
func TrackedFiles(ctx context.Context, dir, folder string) ([]string, error) {
	out, _, err := git.Command{Dir: dir}.Run(ctx, "ls-files", "-z", "--", ":(icase,literal)"+folder)
	if errors.Is(err, git.ErrNoGit) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for name := range strings.SplitSeq(string(out), "\x00") {
		if _, rest, ok := strings.Cut(name, "/"); ok {
			names = append(names, rest)
		} else if name != "" {
			names = append(names, ".")
		}
	}
	return names, nil
}

// Untrack takes files out of the index of the repository that holds dir and leaves them where they are.
func Untrack(ctx context.Context, dir string, names []string) error {
	_, _, err := git.Command{Dir: dir, Stdin: strings.NewReader(strings.Join(names, "\x00"))}.Run(ctx,
		"update-index", "-z", "--force-remove", "--stdin")
	return err
}

// Safe reports whether the person's or the system's configuration of git accepts a work tree that belongs to another user:
// safe.directory names it, a folder above it with /* at the end, or *. What a repository says of itself does not count.
func Safe(ctx context.Context, dir string) bool {
	safe := false
	for _, scope := range []string{"--system", "--global"} {
		out, _, err := git.Command{Dir: string(filepath.Separator)}.Run(ctx, "config", scope, "-z", "--type=path", "--get-all", "safe.directory")
		if err != nil {
			continue // nothing is set, or there is no such file
		}
		for value := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			switch above, deep := strings.CutSuffix(value, "/*"); {
			case value == "": // git forgets what stood before
				safe = false
			case value == "*" || git.Resolve(value) == dir:
				safe = true
			case deep && filepath.IsAbs(above):
				if _, in := git.Below(git.Resolve(above), dir); in {
					safe = true
				}
			}
		}
	}
	return safe
}
