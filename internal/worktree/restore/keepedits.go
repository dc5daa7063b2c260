package restore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// cleaned returns those of the files that the filters of .gitattributes do not make what the plan saw: for the others
// the snapshot has all that git would ever keep.
func (m *move) cleaned(ctx context.Context, odd []*taken) (edited []*taken) {
	var filtered []*taken
	paths := git.Set{}
	for _, f := range odd {
		if !paths[f.path] && path.Base(f.path) != ".gitattributes" && f.holds.Mode != repository.ModeSymlink && (f.holds.Mode == f.was.Mode || f.holds.Mode == f.to.Mode) {
			paths.Add(f.path)
			filtered = append(filtered, f)
		}
	}
	ids, err := m.clean(ctx, filtered)
	for i, id := range ids {
		f := filtered[i]
		if as := (repository.Entry{Mode: f.holds.Mode, ID: id}); err == nil && (as == f.was || as == f.to) {
			f.safe = append(f.safe, f.holds)
		}
	}
	return slices.DeleteFunc(odd, (*taken).kept)
}

// clean returns the ids that git would give to the files, by the attributes of the tree that the plan saw. These are laid
// out, with the files, in a folder of their own.
func (m *move) clean(ctx context.Context, files []*taken) ([]string, error) {
	if len(files) == 0 {
		return nil, nil
	}
	dir := filepath.Join(m.dir, "clean")
	if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)); err != nil {
		return nil, err
	}
	c := m.t.Filtering(m.t.Command())
	c.Dir = dir
	c.Env = append(c.Env, "GIT_INDEX_FILE="+filepath.Join(m.dir, "was"), "GIT_WORK_TREE="+dir)
	if _, _, err := c.Run(ctx, "read-tree", m.now); err != nil {
		return nil, err
	}
	out, _, err := c.Run(ctx, "ls-files", "-z", "--", ":(top,glob)**/.gitattributes")
	if err != nil {
		return nil, err
	}
	c.Stdin = bytes.NewReader(out)
	if _, _, err := c.Run(ctx, "checkout-index", "-z", "--stdin"); err != nil {
		return nil, err
	}
	var list strings.Builder
	for _, f := range files {
		to := filepath.Join(dir, filepath.FromSlash(f.path))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return nil, err
		}
		if os.Link(f.at, to) != nil {
			if err := copyFile(f.at, to); err != nil {
				return nil, err
			}
		}
		list.WriteString(git.Quoted(f.path) + "\n")
	}
	c.Stdin = strings.NewReader(list.String())
	out, _, err = c.Run(ctx, "hash-object", "--stdin-paths")
	return fieldsOf(out, len(files), err)
}

// fieldsOf are the words that git has written, if they are so many.
func fieldsOf(out []byte, want int, err error) ([]string, error) {
	words := strings.Fields(string(out))
	if err == nil && len(words) != want {
		err = fmt.Errorf("git: cannot read %.80q", out)
	}
	return words, err
}

// keepEdits saves what the files hold, byte for byte, as trees of their own.
func (m *move) keepEdits(ctx context.Context, edited []*taken) error {
	for len(edited) > 0 {
		// A tree cannot have both a file and a folder of that name, nor a file twice.
		batch, rest, paths := []*taken{}, []*taken{}, git.Set{}
		for _, f := range edited {
			if paths[f.path] || paths.Above(f.path) || slices.ContainsFunc(batch, func(o *taken) bool { return strings.HasPrefix(o.path, f.path+"/") }) {
				rest = append(rest, f)
				continue
			}
			paths.Add(f.path)
			batch = append(batch, f)
		}
		if err := m.keepBatch(ctx, batch); err != nil {
			return err
		}
		edited = rest
	}
	return nil
}

func (m *move) keepBatch(ctx context.Context, batch []*taken) error {
	held, err := m.write(ctx, batch)
	if err != nil {
		return err
	}
	c := m.t.Command()
	index := filepath.Join(m.dir, "edits")
	c.Env = append(c.Env, "GIT_INDEX_FILE="+index)
	var entries strings.Builder
	for i, f := range batch {
		fmt.Fprintf(&entries, "%s %s\t%s\x00", held[i].Mode, held[i].ID, f.path)
	}
	os.Remove(index)
	c.Stdin = strings.NewReader(entries.String())
	if _, _, err := c.Run(ctx, "update-index", "-z", "--index-info"); err != nil {
		return err
	}
	c.Stdin = nil
	out, _, err := c.Run(ctx, "write-tree")
	if err != nil {
		return err
	}
	name, err := m.t.free(ctx, m.edits)
	if err == nil {
		err = m.t.SaveTree(ctx, name, strings.TrimSpace(string(out)))
	}
	if err != nil {
		return err
	}
	var list strings.Builder
	for i, f := range batch {
		f.safe = append(f.safe, held[i])
		f.edit = editOf(repository.RefPrefix+name, f.path)
		list.WriteString(repository.RefPrefix + name + "\x00" + f.path + "\x00")
	}
	return m.note(list.String())
}

func editOf(ref, name string) Edit {
	return Edit{Path: git.Printable(name), Ref: ref, Show: "git show " + git.ShellQuoted(ref+":"+name)}
}

// note writes down which edits are saved: if nobody learns of them because the process is killed, the next Restore names
// them.
func (m *move) note(list string) error {
	f, err := os.OpenFile(filepath.Join(m.dir, "kept"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(list)
	return errors.Join(err, f.Close())
}

// noted reads what note has written.
func (m *move) noted() (edits []Edit) {
	data, _ := os.ReadFile(filepath.Join(m.dir, "kept"))
	fields := git.Split(data)
	for i := 0; i+1 < len(fields); i += 2 {
		if strings.HasPrefix(fields[i], repository.RefPrefix) {
			edits = append(edits, editOf(fields[i], fields[i+1]))
		}
	}
	return edits
}

// write makes objects of what the files hold now, and returns which.
func (m *move) write(ctx context.Context, batch []*taken) ([]repository.Entry, error) {
	held := make([]repository.Entry, len(batch))
	var list strings.Builder
	var regular []int
	for i, f := range batch {
		info, err := os.Lstat(f.at)
		if err != nil {
			return nil, err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			held[i].Mode = repository.ModeOf(info.Mode())
			regular = append(regular, i)
			list.WriteString(git.Quoted(f.at) + "\n")
			continue
		}
		to, err := os.Readlink(f.at)
		if err != nil {
			return nil, err
		}
		c := m.t.Command()
		c.Stdin = strings.NewReader(to)
		out, _, err := c.Run(ctx, "hash-object", "-w", "--stdin")
		if err != nil {
			return nil, err
		}
		held[i] = repository.Entry{Mode: repository.ModeSymlink, ID: strings.TrimSpace(string(out))}
	}
	if len(regular) == 0 {
		return held, nil
	}
	c := m.t.Command()
	c.Stdin = strings.NewReader(list.String())
	out, _, err := c.Run(ctx, "hash-object", "-w", "--no-filters", "--stdin-paths")
	ids, err := fieldsOf(out, len(regular), err)
	if err != nil {
		return nil, err
	}
	for n, i := range regular {
		held[i].ID = ids[n]
	}
	return held, nil
}

// free is name, or name.2 and so on if that is taken.
func (t *WorkTree) free(ctx context.Context, name string) (string, error) {
	for n := 1; ; n++ {
		as := name
		if n > 1 {
			as = fmt.Sprintf("%s.%d", name, n)
		}
		if had, err := t.ReadRef(ctx, as); err != nil || had == "" {
			return as, err
		}
	}
}
