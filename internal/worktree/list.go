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

	"github.com/ferrus-go/ferrus/internal/worktree/filestat"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// A file is a path that counts, with what is there.
type file struct {
	path string
	repository.Entry
	is   filestat.Stat // what lstat says; the zero value where id is known without it
	dear bool          // to read it again is worth a write of the table
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
	if err := t.CopySharedIndex(); err != nil {
		return nil, err
	}
	var out []byte
	var never []string
	err := git.Together(func() error {
		args := append([]string{"ls-files", "-z", "-t", "-s", "-c", "-o", "--exclude-standard"}, excludes(t.exclude)...)
		text, said, err := t.IndexCommand().Run(ctx, args...)
		if err == nil {
			err = unread(said)
		}
		out = text
		return err
	}, func() (err error) {
		never, err = t.LeftOut(ctx, t.IndexCommand())
		return err
	})
	if err != nil {
		return nil, err
	}
	return t.look(ctx, out, never)
}

// look turns git's lines, "? path" and "H mode id stage\tpath", into a listing.
func (t *Tree) look(ctx context.Context, out []byte, never []string) (*listing, error) {
	l := &listing{}
	left := git.SetOf(never)
	var hidden []file // kept off the disk by a sparse checkout, maybe
	folders := &folders{t: t, known: map[string]bool{".": true}}
	last := ""
	for _, line := range git.Split(out) {
		if name, ok := strings.CutPrefix(line, "? "); ok {
			if repo, ok := strings.CutSuffix(name, "/"); ok {
				if id := t.EmbeddedHead(ctx, repo); id != "" {
					l.files = append(l.files, file{path: repo, Entry: repository.Entry{Mode: repository.ModeLink, ID: id}})
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
		if name == last || left[name] || t.IsOwn(name) {
			continue // a conflict has up to three entries for a path, one after the other
		}
		last = name
		l.index = append(l.index, id)
		f := file{path: name, Entry: repository.Entry{Mode: mode, ID: id}}
		switch {
		case mode == repository.ModeLink && folders.real(name):
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
	if !filestat.Exists(filepath.Join(t.Path(f.path), ".git")) {
		if !t.filled(f.path) {
			return []file{*f}, nil
		}
		c := t.Command()
		c.Env = append(c.Env, "GIT_INDEX_FILE="+filepath.Join(t.Private(), "none"))
		args := append([]string{"ls-files", "-z", "-o", "--exclude-standard"}, excludes(t.exclude)...)
		out, said, err := c.Run(ctx, append(args, "--", ":(top,literal)"+f.path+"/")...)
		if err == nil {
			err = unread(said)
		}
		var inside []file
		for _, name := range git.Split(out) {
			if repo, ok := strings.CutSuffix(name, "/"); !ok {
				inside = append(inside, file{path: name})
			} else if id := t.EmbeddedHead(ctx, repo); id != "" {
				inside = append(inside, file{path: repo, Entry: repository.Entry{Mode: repository.ModeLink, ID: id}})
			}
		}
		return inside, err
	}
	if id := t.EmbeddedHead(ctx, f.path); id != "" {
		f.ID = id
	}
	return []file{*f}, nil
}

// IsOwn reports whether name is in the project's own .ferrus, or in the private folder, or was copied into the work tree.
func (t *Tree) IsOwn(name string) bool {
	return t.wasCopied(name) || slices.ContainsFunc(t.left, func(dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") })
}

// stat fills in the identities of files that have no entry, several at a time. It drops what is not there: a file that is
// gone, is none that git knows (a FIFO), or is reached through a link.
func (t *Tree) stat(l *listing, folders *folders) error {
	there := make([]bool, len(l.files))
	for i, f := range l.files {
		there[i] = f.Exists() || folders.real(path.Dir(f.path))
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
				if f.Exists() || !there[i] {
					continue
				}
				is, err := in.Lstat(t.Top(), f.path)
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
			info, err := os.Lstat(f.t.Path(dir))
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
			return filestat.Exists(f.t.Path(name))
		}
	}
	return false
}

// OnDisk reports whether name is a file or link of the work tree itself, not one seen through a link.
func (t *Tree) OnDisk(name string) bool {
	info, err := os.Lstat(t.Path(name))
	if err != nil || info.IsDir() {
		return false
	}
	return t.IsFolder(path.Dir(name))
}

// IsFolder reports whether name is a folder of the work tree itself.
func (t *Tree) IsFolder(name string) bool {
	return (&folders{t: t, known: map[string]bool{".": true}}).real(path.Clean(name))
}

// filled reports whether the folder has files. A submodule that is not checked out is empty.
func (t *Tree) filled(path string) bool {
	f, err := os.Open(t.Path(path))
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

// News lists the objects of a listing's tree that those of base do not have at the same path.
func (l *listing) News(of repository.Source) (ids []string) {
	base := of.(*listing)
	for id := range l.trees {
		if !base.trees[id] {
			ids = append(ids, id)
		}
	}
	had := base.files
	for _, f := range l.files {
		for len(had) > 0 && had[0].path < f.path {
			had = had[1:]
		}
		if !f.IsLink() && (len(had) == 0 || had[0].path != f.path || had[0].ID != f.ID) {
			ids = append(ids, f.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
