package worktree

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/worktree/filestat"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// The stat table has, for each file whose content ferrus has read, what lstat said of it then and the id of the
// content. It is ferrus's own: what git's index says of a file is never believed. A file is entered only if any change
// of it since must have changed that.

// A table is never changed once it is shared.
type table struct {
	rules string          // what the ids depend on beside the content; see filterRules
	files []seen          // in the order of their paths
	known map[string]bool // ids of trees that are in a store
}

// seen is what a file was when its content was read.
type seen struct {
	path string
	is   filestat.Stat
	id   string
}

const (
	tableMagic = "ferrus stat table 1\n"
	maxTable   = 1 << 30
	// saveFrom is how many files a table must have that the file has not, to be worth a write: until then another
	// process reads those few again.
	saveFrom = 16
)

// lookUp is the table as this or another process left it. Where there is none, or one that is damaged or of other rules,
// it is empty.
func (t *Tree) lookUp(rules string) *table {
	t.mu.Lock()
	tab, at := t.table, t.tableAt
	t.mu.Unlock()
	root, name, err := t.tableFile()
	if err == nil {
		defer root.Close()
		if info, err := root.Lstat(name); err == nil && !(sameFile(info, at) && tab != nil) {
			if data, err := root.ReadFile(name, maxTable); err == nil {
				if read, ok := decodeTable(data); ok && (tab == nil || len(read.files) >= saveFrom) {
					tab, at = read, info
				}
			}
		}
	}
	if tab == nil || tab.rules != rules {
		tab = &table{rules: rules}
	}
	t.mu.Lock()
	t.tableAt = at
	t.mu.Unlock()
	return tab
}

func sameFile(a, b fs.FileInfo) bool {
	return a != nil && b != nil && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// tableFile is where the table of this work tree is: outside of the repository where there is a folder for it.
func (t *Tree) tableFile() (*rootfs.Root, string, error) {
	key := sha256.Sum256([]byte(strings.Join(append([]string{t.Top(), t.GitDir(), t.Private()}, t.exclude...), "\x00")))
	name := fmt.Sprintf("stat-%x", key[:8])
	if t.state == "" {
		root, err := t.OpenPrivate()
		return root, name, err
	}
	root, err := rootfs.Open(t.state)
	return root, name, err
}

// keepTable makes tab the table of this Tree, and writes it if added is worth it. A table that cannot be written only
// costs time.
func (t *Tree) keepTable(tab *table, added int) {
	t.mu.Lock()
	t.unsaved += added
	t.table = tab
	save := t.unsaved >= saveFrom
	t.mu.Unlock()
	if !save {
		return
	}
	root, name, err := t.tableFile()
	if err != nil {
		return
	}
	defer root.Close()
	if err := root.WriteFile(name, tab.encode(), 0o600); err != nil {
		return
	}
	info, err := root.Lstat(name)
	if err != nil {
		return
	}
	t.mu.Lock()
	t.tableAt, t.unsaved = info, 0
	t.mu.Unlock()
}

// encode writes the table with a checksum: a part of it is no table.
func (tab *table) encode() []byte {
	b := []byte(tableMagic)
	text := func(s string) {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	text(tab.rules)
	b = binary.AppendUvarint(b, uint64(len(tab.known)))
	for id := range tab.known {
		text(id)
	}
	b = binary.AppendUvarint(b, uint64(len(tab.files)))
	for _, s := range tab.files {
		text(s.path)
		text(s.id)
		for _, n := range []uint64{s.is.Ino, uint64(s.is.Size), uint64(s.is.Mode), uint64(s.is.Mtime), uint64(s.is.Ctime)} {
			b = binary.LittleEndian.AppendUint64(b, n)
		}
	}
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

// decodeTable reverses encode.
func decodeTable(data []byte) (*table, bool) {
	body, ok := bytes.CutPrefix(data, []byte(tableMagic))
	if !ok || len(body) < sha256.Size {
		return nil, false
	}
	sum := sha256.Sum256(data[:len(data)-sha256.Size])
	if body, ok = bytes.CutSuffix(body, sum[:]); !ok {
		return nil, false
	}
	number := func() (n uint64) {
		n, size := binary.Uvarint(body)
		if size <= 0 {
			ok = false
			return 0
		}
		body = body[size:]
		return n
	}
	text := func() string {
		n := number()
		if n > uint64(len(body)) {
			ok = false
			return ""
		}
		s := string(body[:n])
		body = body[n:]
		return s
	}
	tab := &table{rules: text(), known: map[string]bool{}}
	for n := number(); ok && n > 0; n-- {
		tab.known[text()] = true
	}
	n := number()
	if !ok || n > uint64(len(body)) {
		return nil, false
	}
	tab.files = make([]seen, 0, n)
	for ; ok && n > 0; n-- {
		name, id := text(), text()
		if len(body) < 40 {
			return nil, false
		}
		var f [5]uint64
		for i := range f {
			f[i], body = binary.LittleEndian.Uint64(body), body[8:]
		}
		ok = ok && repository.IsID(id) && (len(tab.files) == 0 || tab.files[len(tab.files)-1].path < name)
		tab.files = append(tab.files, seen{name, filestat.Stat{Ino: f[0], Size: int64(f[1]), Mode: fs.FileMode(f[2]), Mtime: int64(f[3]), Ctime: int64(f[4])}, id})
	}
	return tab, ok && len(body) == 0
}

// filterRules is a digest of what decides what filters make of a file: the drivers, and the attributes of the work tree.
// Where there are no drivers it is "".
func (t *Tree) filterRules(ctx context.Context, l *listing) (string, error) {
	drivers, text, err := t.Filters(ctx)
	if err != nil || len(drivers) == 0 {
		return "", err
	}
	sum := sha256.New()
	sum.Write([]byte(text))
	dirs := git.Set{".": true}
	for _, f := range l.files {
		for dir := path.Dir(f.path); !dirs[dir]; dir = path.Dir(dir) {
			dirs.Add(dir)
		}
	}
	for _, dir := range git.Sorted(dirs) {
		name := filepath.Join(t.Path(dir), ".gitattributes")
		text, err := rootfs.ReadRegular(name, repository.MaxRules)
		if err != nil && !filestat.Gone(err) && !errors.Is(err, rootfs.ErrNotRegular) {
			return "", err
		}
		if len(text) > 0 {
			fmt.Fprintf(sum, "%q %q\n", dir, text)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// match gives files their entries by the table, and returns the others.
func (tab *table) match(l *listing) (changed []*file) {
	had := tab.files
	for i := range l.files {
		f := &l.files[i]
		if f.Exists() {
			continue
		}
		for len(had) > 0 && had[0].path < f.path {
			had = had[1:]
		}
		if len(had) > 0 && had[0].path == f.path && had[0].is.Same(f.is) {
			f.Entry = repository.Entry{Mode: repository.ModeOf(f.is.Mode), ID: had[0].id}
		} else {
			changed = append(changed, f)
		}
	}
	return changed
}

// with is the table after files have been hashed: of those that are listed, the ones that it had and those that may be
// known again.
func (tab *table) with(l *listing, changed []*file, again []bool) (next *table, added int) {
	next = &table{rules: tab.rules, files: tab.files, known: tab.known}
	if len(changed) == 0 && len(l.files) == len(tab.files) {
		return next, 0
	}
	next.files = make([]seen, 0, len(l.files))
	had := tab.files
	for i := range l.files {
		f := &l.files[i]
		for len(had) > 0 && had[0].path < f.path {
			had = had[1:]
		}
		switch {
		case len(changed) > 0 && changed[0] == f:
			if again[0] {
				next.files = append(next.files, seen{f.path, f.is, f.ID})
				added++
				if f.dear {
					added += saveFrom
				}
			}
			changed, again = changed[1:], again[1:]
		case len(had) > 0 && had[0].path == f.path:
			next.files = append(next.files, had[0])
		}
	}
	return next, added
}

// treeOfFiles makes the tree of what is listed. Only the content of files that the table does not know is read, and of an
// inspection, which is nil for a fingerprint, not of all of them.
func (t *Tree) treeOfFiles(ctx context.Context, l *listing, now time.Time, fresh bool, in *inspection) (string, error) {
	rules, err := t.filterRules(ctx, l)
	if err != nil {
		return "", err
	}
	tab := t.lookUp(rules)
	if fresh {
		tab = &table{rules: rules}
	}
	changed := tab.match(l)
	if in != nil {
		if changed, err = in.skip(ctx, t, changed); err != nil {
			return "", err
		}
	}
	h := &hashing{t: t, now: now, trees: tab.known, dated: map[uint64]bool{}}
	// Of a few in a large repository it is not worth to know which are in a pack: those are written once more.
	if fresh || len(changed)*100 >= len(l.index) {
		if h.known, err = t.stored(ctx, l, fresh); err != nil {
			return "", err
		}
	}
	again, err := h.files(ctx, changed, in == nil)
	if err != nil {
		return "", err
	}
	next, added := tab.with(l, changed, again)
	l.files = slices.DeleteFunc(l.files, func(f file) bool { return !f.Exists() }) // gone since
	id, made, err := h.writeTrees(ctx, l.files)
	if err != nil {
		return "", err
	}
	next.known = made
	t.keepTable(next, added)
	if in != nil {
		return id, nil
	}
	l.id, l.trees, l.index = id, made, nil
	t.mu.Lock()
	t.newest = l
	t.mu.Unlock()
	t.Remember(id, l)
	return id, nil
}

// stored are the ids of the index that are in a store: as git leaves them, all; with fresh, those that git finds.
func (t *Tree) stored(ctx context.Context, l *listing, fresh bool) (map[string]bool, error) {
	known := make(map[string]bool, len(l.index))
	for _, id := range l.index {
		known[id] = true
	}
	if !fresh {
		return known, nil
	}
	lost, err := t.Missing(ctx, slices.Collect(maps.Keys(known)))
	for _, id := range lost {
		delete(known, id)
	}
	return known, err
}
