package checkout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// IncludeFile is the file at the top of the project's own work tree that names the files. It has the syntax of .gitignore.
const IncludeFile = ".worktreeinclude"

// Limits of what is copied.
const (
	maxPatterns = 1 << 20  // bytes of the file
	maxFiles    = 500      // that match
	maxFile     = 16 << 20 // bytes of one of them
	maxAll      = 64 << 20 // bytes of all
)

// An IncludedFile is one that can be copied.
type IncludedFile struct {
	Name string // from the top of the work tree, with slashes
	Size int64
	Time time.Time // of its last change
}

// An IncludeList is what the patterns name in a work tree.
type IncludeList struct {
	Files   []IncludedFile // by name
	LeftOut []string       // what matches and is not copied: "NAME: why", with a printable name
	Missing []string       // patterns without wildcards that match no file here
}

// Names returns the names of the files.
func (l IncludeList) Names() []string {
	var names []string
	for _, f := range l.Files {
		names = append(names, f.Name)
	}
	return names
}

// Only returns the files that have one of the names.
func (l IncludeList) Only(names []string) []IncludedFile {
	return slices.DeleteFunc(slices.Clone(l.Files), func(f IncludedFile) bool { return !slices.Contains(names, f.Name) })
}

// FindIncluded lists what .worktreeinclude of the work tree t names there. Without that file, and without git, it is empty. A file of patterns that
// is not used, such as a link, is in LeftOut itself.
func FindIncluded(ctx context.Context, t *worktree.Tree) (IncludeList, error) {
	if !t.Git() {
		return IncludeList{}, nil
	}
	root, err := rootfs.Open(t.Top())
	if err != nil {
		return IncludeList{}, err
	}
	defer root.Close()
	text, err := root.ReadFile(IncludeFile, maxPatterns)
	if errors.Is(err, fs.ErrNotExist) {
		return IncludeList{}, nil
	}
	if err != nil {
		return IncludeList{LeftOut: []string{IncludeFile + ": " + rootfs.Cause(err).Error()}}, nil
	}
	names, err := matchesInclude(ctx, t, text)
	if err != nil {
		return IncludeList{}, err
	}
	l := IncludeList{}
	if strings.Contains(strings.ToLower(string(text)), ".ferrus") {
		l.LeftOut = append(l.LeftOut, ".ferrus: ferrus never copies its own files")
	}
	if n := len(names); n > maxFiles {
		why := fmt.Sprintf("%s: it matches %d files, and ferrus copies at most %d; name fewer, and let [branches] setup make the others", IncludeFile, n, maxFiles)
		return IncludeList{LeftOut: append(l.LeftOut, why)}, nil
	}
	l.choose(root, names)
	l.missing(text, names)
	return l, nil
}

// matchesInclude asks git for the untracked files that match the patterns, and that it ignores. One that ends in a slash is a repository.
func matchesInclude(ctx context.Context, t *worktree.Tree, patterns []byte) ([]string, error) {
	err := t.Prepare(ctx)
	if err == nil {
		err = t.CopySharedIndex()
	}
	if err != nil {
		return nil, err
	}
	dir, err := t.TempDir("restore-*")
	if err != nil {
		return nil, err
	}
	defer t.RemoveTemp(dir)
	file := filepath.Join(dir, "patterns") // that which was read, and no link
	if err := os.WriteFile(file, patterns, 0o600); err != nil {
		return nil, err
	}
	out, _, err := t.IndexCommand().Run(ctx, "ls-files", "-z", "-o", "-i", "--exclude-from="+file, "--", ":(top)", ":(top,exclude,icase,glob)**/.ferrus/**")
	if err != nil {
		return nil, err
	}
	var found, repositories []string
	for _, name := range git.Split(out) {
		if strings.HasSuffix(name, "/") {
			repositories = append(repositories, name)
		} else {
			found = append(found, name)
		}
	}
	if len(found) > 0 {
		c := t.IndexCommand()
		c.Stdin = git.List(found)
		if out, _, err = c.Run(ctx, "check-ignore", "-z", "--stdin"); err != nil && !git.SaidNo(err) {
			return nil, err
		}
		found = git.Split(out)
	}
	return append(found, repositories...), nil
}

// choose sorts the names into files that can be copied, and the rest.
func (l *IncludeList) choose(root *rootfs.Root, names []string) {
	var sum int64
	for _, name := range names {
		info, why := lookAtIncluded(root, name)
		switch {
		case why != "":
		case info.Size() > maxFile:
			why = fmt.Sprintf("larger than %d MiB", maxFile>>20)
		case sum+info.Size() > maxAll:
			why = fmt.Sprintf("the files are larger than %d MiB together", maxAll>>20)
		default:
			sum += info.Size()
			l.Files = append(l.Files, IncludedFile{name, info.Size(), info.ModTime()})
			continue
		}
		l.LeftOut = append(l.LeftOut, git.Printable(name)+": "+why)
	}
	slices.SortFunc(l.Files, func(a, b IncludedFile) int { return cmp.Compare(a.Name, b.Name) })
	slices.Sort(l.LeftOut)
}

// lookAtIncluded says what a name is, and why it is not copied, if it is not.
func lookAtIncluded(root *rootfs.Root, name string) (info fs.FileInfo, why string) {
	switch {
	case strings.HasSuffix(name, "/"):
		return nil, "a repository of its own"
	case !utf8.ValidString(name) || git.Printable(name) != name:
		return nil, "a name with characters that cannot be read"
	case !filepath.IsLocal(filepath.FromSlash(name)):
		return nil, "not in the project"
	}
	for at := path.Dir(name); at != "."; at = path.Dir(at) {
		if _, err := root.Lstat(at + "/.git"); err == nil {
			return nil, "in a repository of its own"
		}
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.EqualFold(part, ".git") || strings.EqualFold(part, ".ferrus") {
			return nil, "in a folder of git or ferrus"
		}
	}
	info, err := root.Lstat(name)
	switch {
	case err != nil:
		return nil, rootfs.Cause(err).Error()
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, "a link"
	case !info.Mode().IsRegular():
		return nil, "not a regular file"
	}
	return info, ""
}

// missing notes the patterns that say exactly what they name, and name nothing here.
func (l *IncludeList) missing(patterns []byte, names []string) {
	for line := range strings.Lines(string(patterns)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.ContainsAny(line, `*?[\!#`) || strings.Contains(strings.ToLower(line), ".ferrus") {
			continue
		}
		literal := strings.Trim(line, "/")
		anchored := strings.Contains(strings.TrimSuffix(line, "/"), "/")
		if !slices.ContainsFunc(names, func(name string) bool {
			inside := "/" + strings.TrimSuffix(name, "/") + "/"
			return anchored && strings.HasPrefix(inside, "/"+literal+"/") || !anchored && strings.Contains(inside, "/"+literal+"/")
		}) {
			l.Missing = append(l.Missing, git.Printable(literal))
		}
	}
}

// CopyIncluded copies the files of the work tree with the top level from into the folder to, beside what is there: a file that to has already stays.
// It returns the names of those that it has not copied, with the reason.
func CopyIncluded(files []IncludedFile, from, to string) (left []string, err error) {
	if len(files) == 0 {
		return nil, nil
	}
	source, err := rootfs.Open(from)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	target, err := rootfs.Open(to)
	if err != nil {
		return nil, err
	}
	defer target.Close()
	for _, f := range files {
		_, why := lookAtIncluded(source, f.Name)
		if why == "" {
			err := copyIncluded(source, target, f.Name)
			switch {
			case errors.Is(err, fs.ErrExist):
				why = "the work tree has a file there"
			case err != nil:
				why = rootfs.Cause(err).Error()
			}
		}
		if why != "" {
			left = append(left, git.Printable(f.Name)+": "+why)
		}
	}
	return left, nil
}

// copyIncluded makes a new file with the content of another and its permissions for the owner.
func copyIncluded(from, to *rootfs.Root, name string) error {
	in, err := from.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if dir := path.Dir(name); dir != "." {
		if err := to.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	out, err := to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(in, maxFile+1))
	if err == nil && n > maxFile {
		err = fmt.Errorf("larger than %d MiB", maxFile>>20)
	}
	if err == nil {
		err = out.Chmod(info.Mode().Perm() & 0o700)
	}
	if err = errors.Join(err, out.Close()); err != nil {
		err = errors.Join(err, to.Remove(name))
	}
	return err
}
