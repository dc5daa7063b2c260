package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/ferrus-go/ferrus/internal/git"
	"github.com/ferrus-go/ferrus/internal/rootfs"
	"github.com/ferrus-go/ferrus/internal/worktree/filestat"
	"github.com/ferrus-go/ferrus/internal/worktree/gitpath"
)

// A file is a path that counts, with what is there.
type file struct {
	path string
	entry
	is filestat.Stat // what lstat says; the zero value where id is known without it
}

// A listing is what counts now: what git tracks and is on disk, and what it does not ignore. All of it is in the order of
// paths, which is also that of trees.
type listing struct {
	files []file   // entry is yet to be found for those that have a fileStat
	index []string // the ids that the user's index has; a hint for where objects are

	hidden []string // what a sparse checkout keeps off the disk, and counts as the index has it
	empty  []string // repositories without a commit: nothing of them counts

	// When the tree of the files is made; then index is nil.
	id    string
	trees map[string]bool // the ids of its folders, and its own
}

// list asks git what is tracked and what is not ignored, and lstat what is there. Git looks at no file but for the rules:
// not at the times in its index, nor at what its index says may be passed over.
func (t *Tree) list(ctx context.Context) (*listing, error) {
	if err := t.copyShared(); err != nil {
		return nil, err
	}
	var out []byte
	var never []string
	err := git.Together(func() error {
		args := append([]string{"ls-files", "-z", "-t", "-s", "-c", "-o", "--exclude-standard"}, excludes(t.exclude)...)
		text, said, err := t.onIndex().Run(ctx, args...)
		if err == nil {
			err = unread(said)
		}
		out = text
		return err
	}, func() (err error) {
		never, err = t.never(ctx, t.onIndex())
		return err
	})
	if err != nil {
		return nil, err
	}
	return t.look(ctx, out, never)
}

// onIndex is a call in the private git directory on the user's index. It reads the index as a list.
func (t *Tree) onIndex() git.Command {
	c := t.storing()
	c.Env = append(c.Env, "GIT_INDEX_FILE="+t.index)
	return c
}

// look turns git's lines, "? path" and "H mode id stage\tpath", into a listing.
func (t *Tree) look(ctx context.Context, out []byte, never []string) (*listing, error) {
	l := &listing{}
	left := gitpath.Set{}
	for _, name := range never {
		left.Add(name)
	}
	var hidden []file // kept off the disk by a sparse checkout, maybe
	folders := &folders{t: t, known: map[string]bool{".": true}}
	last := ""
	for _, line := range gitpath.Split(out) {
		if name, ok := strings.CutPrefix(line, "? "); ok {
			if repo, ok := strings.CutSuffix(name, "/"); ok {
				if id := t.headOf(ctx, repo); id != "" {
					l.files = append(l.files, file{path: repo, entry: entry{modeLink, id}})
				} else {
					l.empty = append(l.empty, repo)
				}
			} else {
				l.files = append(l.files, file{path: name})
			}
			continue
		}
		info, name, ok := strings.Cut(line, "\t")
		mark, info, _ := strings.Cut(info, " ")
		mode, info, _ := strings.Cut(info, " ")
		id, _, full := strings.Cut(info, " ")
		if !ok || !full {
			return nil, fmt.Errorf("git ls-files: cannot read %q", line)
		}
		if name == last || left[name] || t.isOurs(name) {
			continue // a conflict has up to three entries for a path, one after the other
		}
		last = name
		l.index = append(l.index, id)
		f := file{path: name, entry: entry{mode, id}}
		switch {
		case mode == modeLink && folders.real(name):
			inside, err := t.inLink(ctx, &f)
			if err != nil {
				return nil, err
			}
			l.files = append(l.files, inside...)
		case mark == "S":
			hidden = append(hidden, f)
		default:
			l.files = append(l.files, file{path: name})
		}
	}
	if err := t.stat(l, folders); err != nil {
		return nil, err
	}
	for _, f := range hidden {
		seen := &listing{files: []file{{path: f.path}}}
		if err := t.stat(seen, folders); err != nil {
			return nil, err
		}
		switch {
		case len(seen.files) > 0:
			l.files = append(l.files, seen.files[0])
		case !folders.blocked(f.path):
			l.files = append(l.files, f)
			l.hidden = append(l.hidden, f.path)
		}
	}
	slices.SortFunc(l.files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	return l, nil
}

// inLink is what counts of a folder that the index has as a submodule: the commit that it has checked out; that of the
// index where it is not checked out; its files where it is no repository.
func (t *Tree) inLink(ctx context.Context, f *file) ([]file, error) {
	if !filestat.Exists(filepath.Join(t.path(f.path), ".git")) {
		if !t.filled(f.path) {
			return []file{*f}, nil
		}
		c := t.storing()
		c.Env = append(c.Env, "GIT_INDEX_FILE="+filepath.Join(t.private, "none"))
		args := append([]string{"ls-files", "-z", "-o", "--exclude-standard"}, excludes(t.exclude)...)
		out, said, err := c.Run(ctx, append(args, "--", ":(top,literal)"+f.path+"/")...)
		if err == nil {
			err = unread(said)
		}
		var inside []file
		for _, name := range gitpath.Split(out) {
			if repo, ok := strings.CutSuffix(name, "/"); !ok {
				inside = append(inside, file{path: name})
			} else if id := t.headOf(ctx, repo); id != "" {
				inside = append(inside, file{path: repo, entry: entry{modeLink, id}})
			}
		}
		return inside, err
	}
	if id := t.headOf(ctx, f.path); id != "" {
		f.id = id
	}
	return []file{*f}, nil
}

// isOurs reports whether name is in the project's own .ferrus, or in the private folder.
func (t *Tree) isOurs(name string) bool {
	return slices.ContainsFunc(t.left, func(dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") })
}

// stat fills in the identities of files that have no entry, several at a time. It drops what is not there: a file that is
// gone, is none that git knows (a FIFO), or is reached through a link.
func (t *Tree) stat(l *listing, folders *folders) error {
	there := make([]bool, len(l.files))
	for i, f := range l.files {
		there[i] = f.exists() || folders.real(path.Dir(f.path))
	}
	hands := min(runtime.GOMAXPROCS(0), 1+len(l.files)/256)
	errs := make([]error, hands)
	var wg sync.WaitGroup
	for h := range hands {
		wg.Go(func() {
			in := &filestat.Statter{}
			defer in.Close()
			for i := len(l.files) * h / hands; i < len(l.files)*(h+1)/hands; i++ {
				f := &l.files[i]
				if f.exists() || !there[i] {
					continue
				}
				is, err := in.Lstat(t.dir, f.path)
				if filestat.Gone(err) {
					there[i] = false
					continue
				}
				if err != nil {
					errs[h] = err
					return
				}
				f.is, there[i] = is, is.Mode.IsRegular() || is.Mode&fs.ModeSymlink != 0
			}
		})
	}
	wg.Wait()
	kept := l.files[:0]
	for i, f := range l.files {
		if there[i] {
			kept = append(kept, f)
		}
	}
	l.files = kept
	return errors.Join(errs...)
}

// folders remembers which folders of the work tree are folders, and not links.
type folders struct {
	t     *Tree
	known map[string]bool
}

// real reports whether dir and all above it are folders of the work tree itself.
func (f *folders) real(dir string) bool {
	is, ok := f.known[dir]
	if !ok {
		if is = f.real(path.Dir(dir)); is {
			info, err := os.Lstat(f.t.path(dir))
			is = err == nil && info.IsDir()
		}
		f.known[dir] = is
	}
	return is
}

// blocked reports whether a file or a link stands where a folder above name would be, or anything at name.
func (f *folders) blocked(name string) bool {
	for ; name != "."; name = path.Dir(name) {
		if !f.real(name) && f.real(path.Dir(name)) {
			return filestat.Exists(f.t.path(name))
		}
	}
	return false
}

// copyShared copies what a split index leaves in the project's git directory: git looks for it in the directory that it
// works in.
func (t *Tree) copyShared() error {
	shared, _ := filepath.Glob(filepath.Join(gitpath.EscapeGlob(t.gitDir), "sharedindex.*"))
	if len(shared) == 0 {
		return nil
	}
	root, err := t.ours()
	if err != nil {
		return err
	}
	defer root.Close()
	for _, from := range shared {
		text, err := rootfs.ReadRegular(from, 1<<30)
		if err == nil {
			err = root.WriteFile("repository/"+filepath.Base(from), text, 0o600)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// onDisk reports whether name is a file or link of the work tree itself, not one seen through a link.
func (t *Tree) onDisk(name string) bool {
	info, err := os.Lstat(t.path(name))
	if err != nil || info.IsDir() {
		return false
	}
	return t.folder(path.Dir(name))
}

// folder reports whether name is a folder of the work tree itself.
func (t *Tree) folder(name string) bool {
	return (&folders{t: t, known: map[string]bool{".": true}}).real(path.Clean(name))
}

// filled reports whether the folder has files. A submodule that is not checked out is empty.
func (t *Tree) filled(path string) bool {
	f, err := os.Open(t.path(path))
	if err != nil {
		return false
	}
	defer f.Close()
	names, _ := f.Readdirnames(1)
	return len(names) > 0
}

// unread makes an error of the warnings by which git passes over what it may not read: such a file would not count,
// and change unseen.
func unread(stderr string) error {
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "warning: could not open directory ") ||
			!strings.HasPrefix(line, "warning: ") && strings.HasSuffix(line, ": Permission denied") {
			return errors.New(line + "; make it readable or have git ignore it")
		}
	}
	return nil
}
