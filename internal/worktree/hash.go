package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/worktree/filestat"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// inMemory is the size up to which a file is read once, for its id and for the store.
const inMemory = 4 << 20

// A hashing finds the ids of files by their content.
type hashing struct {
	t     *Tree
	now   time.Time       // before any file was looked at
	known map[string]bool // ids of objects that are in a store, and
	trees map[string]bool // those of trees

	mu    sync.Mutex
	dated map[uint64]bool // by device: see dated
}

// files finds the ids of those files, and reports which of them may be known again by what lstat says of them. Without
// filters none of them has one.
func (h *hashing) files(ctx context.Context, files []*file, filters bool) (again []bool, err error) {
	again = make([]bool, len(files))
	var filtered map[string]string
	if filters {
		if filtered, err = h.t.filtered(ctx, files); err != nil {
			return nil, err
		}
	}
	hands := min(2*runtime.GOMAXPROCS(0), len(files))
	errs := make([]error, hands)
	var wg sync.WaitGroup
	for hand := range hands {
		wg.Go(func() {
			for i := hand; i < len(files) && errs[hand] == nil && ctx.Err() == nil; i += hands {
				if filtered[files[i].path] == "" {
					again[i], errs[hand] = h.file(files[i])
				}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(append(errs, ctx.Err())...); err != nil {
		return nil, err
	}
	return again, h.byGit(ctx, files, filtered, again)
}

// file hashes one file or link, and stores it if it is in no store yet.
func (h *hashing) file(f *file) (again bool, err error) {
	defer func() {
		if errors.Is(err, fs.ErrPermission) {
			err = fmt.Errorf("%w; make it readable or have git ignore it", err)
		}
	}()
	path := h.t.Path(f.path)
	if f.is.Mode&fs.ModeSymlink != 0 {
		target, err := filestat.Readlink(path)
		if filestat.Gone(err) {
			return false, nil // it has gone since it was listed
		}
		if err != nil {
			return false, err
		}
		id := h.t.ID("blob", []byte(target))
		f.Entry = repository.Entry{Mode: repository.ModeSymlink, ID: id}
		return false, h.store("blob", id, []byte(target))
	}
	in, err := filestat.Open(path)
	if filestat.Gone(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer in.Close()
	for try := 0; ; try++ {
		before, err := filestat.Fstat(in)
		if err != nil || !before.Mode.IsRegular() {
			return false, err // it became something else
		}
		// Only what is old enough to be known again is worth a write of its pages.
		may := h.isDated(before.Dev, path) && before.Settled(h.now)
		if may {
			if err := filestat.WriteBack(in); err != nil {
				may = false
			} else if before, err = filestat.Fstat(in); err != nil {
				return false, err
			}
		}
		if f.ID, err = h.content(in, before.Size); err != nil {
			return false, err
		}
		after, err := filestat.Fstat(in)
		if err != nil {
			return false, err
		}
		f.Mode, f.is, f.dear = repository.ModeOf(after.Mode), after, after.Size > inMemory
		if before.Same(after) && f.ID != "" {
			return may && before.Settled(h.now), nil
		}
		if f.ID != "" && try > 2 {
			return false, nil // somebody writes to it all the time: this is what it held
		}
		if try > 100 {
			return false, fmt.Errorf("read %s: it changes while it is read", path)
		}
	}
}

// content hashes and stores what a file of that size holds; the id is "" if it holds another number of bytes.
func (h *hashing) content(in *os.File, size int64) (id string, err error) {
	if size <= inMemory {
		data := make([]byte, size)
		n, err := in.ReadAt(data, 0)
		if err != nil && err != io.EOF {
			return "", err
		}
		if int64(n) < size {
			return "", nil
		}
		id = h.t.ID("blob", data)
		return id, h.store("blob", id, data)
	}
	return h.t.WriteLarge(in, size, h.has)
}

// isDated is dated, asked once for each device.
func (h *hashing) isDated(dev uint64, path string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	is, ok := h.dated[dev]
	if !ok {
		is = filestat.Dated(path)
		h.dated[dev] = is
	}
	return is
}

// has reports whether an object is in a store.
func (h *hashing) has(id string) bool {
	return h.known[id] || h.trees[id] || h.t.HasLoose(id)
}

// store writes an object that is in no store yet.
func (h *hashing) store(kind, id string, data []byte) error {
	if h.has(id) {
		return nil
	}
	return h.t.WriteObject(kind, id, data)
}

// filtered has for those of the files whose content a filter of the person's, or of the frozen configuration, makes its name.
func (t *Tree) filtered(ctx context.Context, files []*file) (map[string]string, error) {
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = f.path
	}
	return t.Converted(ctx, t.Command(), names)
}

// byGit has git hash those files that have filters.
func (h *hashing) byGit(ctx context.Context, files []*file, filtered map[string]string, again []bool) error {
	var those []int
	var names strings.Builder
	for i, f := range files {
		if filtered[f.path] != "" && f.is.Mode.IsRegular() {
			those = append(those, i)
			names.WriteString(quotePath(f.path) + "\n")
		} else if filtered[f.path] != "" {
			if _, err := h.file(f); err != nil {
				return err
			}
		}
	}
	if len(those) == 0 {
		return nil
	}
	c := h.t.Filtering(h.t.Command())
	c.Stdin = strings.NewReader(names.String())
	out, _, err := c.Run(ctx, "hash-object", "-w", "--stdin-paths")
	if err != nil {
		return err
	}
	ids := strings.Fields(string(out))
	if len(ids) != len(those) {
		return fmt.Errorf("git hash-object: %d ids of %d files", len(ids), len(those))
	}
	for n, i := range those {
		f := files[i]
		after, err := filestat.Lstat(h.t.Path(f.path))
		if err != nil {
			return err
		}
		again[i] = f.is.Same(after) && after.Settled(h.now) && h.isDated(after.Dev, h.t.Path(f.path))
		f.Entry, f.dear = repository.Entry{Mode: repository.ModeOf(after.Mode), ID: ids[n]}, true
	}
	return nil
}

// quotePath writes a path as git reads it from a line.
func quotePath(name string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(name) {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + `"`
}
