package worktree

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// cleaned returns those of the files that the filters of .gitattributes do not make what the plan saw: for the others
// the snapshot has all that git would ever keep.
func (m *move) cleaned(ctx context.Context, odd []*taken) (edited []*taken) {
	filtered := map[string][]*taken{}
	for _, f := range odd {
		if f.holds.mode == f.was.mode || f.holds.mode == f.to.mode {
			filtered[f.base] = append(filtered[f.base], f)
		}
	}
	for base, files := range filtered {
		ids, err := m.clean(ctx, base, files)
		for i, id := range ids {
			if as := (entry{files[i].holds.mode, id}); err == nil && (as == files[i].was || as == files[i].to) {
				files[i].safe = append(files[i].safe, files[i].holds)
			}
		}
	}
	return slices.DeleteFunc(odd, (*taken).kept)
}

// clean returns the ids that git would give to the files, by the attributes of the tree that the plan saw.
func (m *move) clean(ctx context.Context, base string, files []*taken) ([]string, error) {
	c := m.t.storing()
	index := filepath.Join(m.dir, "was")
	c.env = append(c.env, "GIT_INDEX_FILE="+index)
	if !exists(index) {
		if _, _, err := c.run(ctx, "read-tree", m.now); err != nil {
			return nil, err
		}
	}
	if base != "" {
		c.dir = base
		c.env = append(c.env, "GIT_WORK_TREE="+base)
		var list strings.Builder
		for _, f := range files {
			list.WriteString(cQuoted(f.path) + "\n")
		}
		c.stdin = strings.NewReader(list.String())
		out, _, err := c.run(ctx, "hash-object", "--stdin-paths")
		return fieldsOf(out, len(files), err)
	}
	var ids []string
	for _, f := range files {
		out, _, err := c.run(ctx, "hash-object", "--path="+f.path, "--", f.at)
		id, err := fieldsOf(out, 1, err)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id...)
	}
	return ids, nil
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
		batch, rest, paths := []*taken{}, []*taken{}, set{}
		for _, f := range edited {
			if paths[f.path] || paths.above(f.path) || slices.ContainsFunc(batch, func(o *taken) bool { return strings.HasPrefix(o.path, f.path+"/") }) {
				rest = append(rest, f)
				continue
			}
			paths.add(f.path)
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
	c := m.t.storing()
	index := filepath.Join(m.dir, "edits")
	c.env = append(c.env, "GIT_INDEX_FILE="+index)
	var entries strings.Builder
	for i, f := range batch {
		fmt.Fprintf(&entries, "%s %s\t%s\x00", held[i].mode, held[i].id, f.path)
	}
	os.Remove(index)
	c.stdin = strings.NewReader(entries.String())
	if _, _, err := c.run(ctx, "update-index", "-z", "--index-info"); err != nil {
		return err
	}
	c.stdin = nil
	out, _, err := c.run(ctx, "write-tree")
	if err != nil {
		return err
	}
	name, err := m.t.free(ctx, m.edits)
	if err == nil {
		err = m.t.keep(ctx, name, strings.TrimSpace(string(out)))
	}
	if err != nil {
		return err
	}
	for i, f := range batch {
		f.safe = append(f.safe, held[i])
		f.edit = Edit{Path: printable(f.path), Ref: refs + name, Show: "git show " + shellQuoted(refs+name+":"+f.path)}
	}
	return nil
}

// write makes objects of what the files hold now, and returns which.
func (m *move) write(ctx context.Context, batch []*taken) ([]entry, error) {
	held := make([]entry, len(batch))
	var list strings.Builder
	var regular []int
	for i, f := range batch {
		info, err := os.Lstat(f.at)
		if err != nil {
			return nil, err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			held[i].mode = modeOf(info)
			regular = append(regular, i)
			list.WriteString(cQuoted(f.at) + "\n")
			continue
		}
		to, err := os.Readlink(f.at)
		if err != nil {
			return nil, err
		}
		c := m.t.storing()
		c.stdin = strings.NewReader(to)
		out, _, err := c.run(ctx, "hash-object", "-w", "--stdin")
		if err != nil {
			return nil, err
		}
		held[i] = entry{modeSymlink, strings.TrimSpace(string(out))}
	}
	if len(regular) == 0 {
		return held, nil
	}
	c := m.t.storing()
	c.stdin = strings.NewReader(list.String())
	out, _, err := c.run(ctx, "hash-object", "-w", "--no-filters", "--stdin-paths")
	ids, err := fieldsOf(out, len(regular), err)
	if err != nil {
		return nil, err
	}
	for n, i := range regular {
		held[i].id = ids[n]
	}
	return held, nil
}

// free is name, or name.2 and so on if that is taken.
func (t *Tree) free(ctx context.Context, name string) (string, error) {
	for n := 1; ; n++ {
		as := name
		if n > 1 {
			as = fmt.Sprintf("%s.%d", name, n)
		}
		if had, err := t.Kept(ctx, as); err != nil || had == "" {
			return as, err
		}
	}
}

// cQuoted is how git reads a path that may hold a line end.
func cQuoted(path string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(path) {
		if c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			fmt.Fprintf(&b, `\%03o`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String() + `"`
}

// shellQuoted is one word of a command that a person can paste.
func shellQuoted(word string) string {
	plain := func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("/._-:@+=,", r)
	}
	if strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	if printable(word) != word { // for a shell with $'...'
		return "$" + "'" + strings.ReplaceAll(strings.Trim(cQuoted(word), `"`), `'`, `\'`) + "'"
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
