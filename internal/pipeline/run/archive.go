package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/rootfs"
)

// archive moves the folder to the archive. Sent results stay sent whatever happens: a later tick
// tries again.
func (b *runState) archive(ctx context.Context, l Line) error {
	f := b.f
	d, err := f.delivery()
	if err != nil {
		return err
	}
	if by(d) && d.State == pipeline.Delivered && d.Target == config.ToStdout && !f.printed() {
		text, err := f.slurp(finalFile)
		if err == nil {
			err = f.target().print(ctx, f, b.o, text)
		}
		if err != nil {
			return err
		}
		if err := f.replace(printedFile, nil, 0o600); err != nil {
			return err
		}
	}
	for _, name := range []string{toldLock, deliveryLock} { // nobody is telling or delivering any more when the folder moves
		lock, err := f.take(ctx, name)
		if err != nil {
			return err
		}
		defer lock.Close()
	}
	f.spread(ctx, b.o)
	root, from, err := f.in()
	if err != nil {
		return err
	}
	defer root.Close()
	into, err := filepath.Rel(f.Settings.Root, f.Settings.Archive)
	if err != nil {
		return err
	}
	into = filepath.ToSlash(into)
	if err := atomicfile.MkdirAll(root, into, 0o700); err != nil {
		return err
	}
	// In the archive no tick restores it from the journal. The sync of the folder covers all names
	// in it.
	if err := b.writeStatus(f.durably); err != nil {
		return err
	}
	b.o.at("begun move")
	to, err := move(root, from, into, f.Name())
	if err != nil {
		return fmt.Errorf("archive %s: %v", f.Name(), err)
	}
	f.Dir = root.Join(to)
	b.o.at("after move")
	if b.o.Told != nil {
		l.Why, l.Status = f.Dir, b.status
		b.o.Told(l)
	}
	return nil
}

// archived reports whether the run is in the archive. Then it has ended, whatever happens to its
// files.
func (f *Folder) archived() bool {
	archive, err := os.Lstat(f.Settings.Archive)
	above, err2 := os.Lstat(filepath.Dir(f.Dir))
	return err == nil && err2 == nil && os.SameFile(archive, above)
}

// printedFile says that a result that its worker has delivered was printed.
const printedFile = "printed"

func (f *Folder) printed() bool {
	_, err := f.lstat(printedFile)
	return err == nil
}

// rename is that of a Root. A test replaces it to simulate an archive on another disk.
var rename = (*rootfs.Root).Rename

// move moves a folder into another one and returns its new name, which differs if another run has
// the name. If an earlier, interrupted move has copied the folder, move only removes it. Names are
// relative to the root.
func move(root *rootfs.Root, from, into, name string) (string, error) {
	for n := 1; ; n++ {
		to := path.Join(into, name)
		if n > 1 {
			to = path.Join(into, fmt.Sprintf("%s-%d", name, n))
		}
		if _, err := root.Lstat(to); err == nil {
			if same(root, from, to) {
				return to, discard(root, from)
			}
			continue
		}
		err := rename(root, from, to)
		switch {
		case err == nil:
			err = errors.Join(atomicfile.SyncDir(root, into), atomicfile.SyncDir(root, path.Dir(from)))
		case errors.Is(err, syscall.EXDEV):
			err = haul(root, from, to)
		}
		if errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.ENOTEMPTY) {
			continue
		}
		return to, err
	}
}

// same reports whether two folders belong to one run.
func same(root *rootfs.Root, a, b string) bool {
	var at [2]Line
	for i, dir := range []string{a, b} {
		var err error
		if at[i], err = firstLine(root, path.Join(dir, journalFile)); err != nil {
			return false
		}
	}
	one, err := json.Marshal(at[0])
	other, err2 := json.Marshal(at[1])
	return err == nil && err2 == nil && string(one) == string(other)
}

// haul moves a folder to another disk: it makes a complete copy, renames that into place in one
// step, and removes the original.
func haul(root *rootfs.Root, from, to string) error {
	part := path.Join(path.Dir(to), "."+path.Base(to)+".part")
	if err := root.RemoveAll(part); err != nil {
		return err
	}
	err := root.WalkDir(from, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return carry(root, name, path.Join(part, strings.TrimPrefix(name, from)), e)
	})
	if err == nil {
		err = root.WalkDir(part, func(name string, e fs.DirEntry, err error) error {
			if err == nil && e.IsDir() {
				err = atomicfile.SyncDir(root, name)
			}
			return err
		})
	}
	if err == nil {
		err = root.Rename(part, to)
	}
	if err != nil {
		return errors.Join(err, root.RemoveAll(part))
	}
	if err := atomicfile.SyncDir(root, path.Dir(to)); err != nil {
		return err
	}
	return discard(root, from)
}

// discarded is the suffix of names of folders that are to be removed; they also start with a dot.
const discarded = ".discarded"

// discard removes a folder that was copied. It first renames it, because half a folder would look
// like a run. The next launch removes what a kill leaves.
func discard(root *rootfs.Root, dir string) error {
	gone := path.Join(path.Dir(dir), "."+path.Base(dir)+discarded)
	if err := root.RemoveAll(gone); err != nil {
		return err
	}
	if err := root.Rename(dir, gone); err != nil {
		return err
	}
	return root.RemoveAll(gone)
}

// sweep removes the rest of discarded folders.
func sweep(root *rootfs.Root, dir string) {
	entries, _ := root.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") && strings.HasSuffix(e.Name(), discarded) {
			_ = root.RemoveAll(path.Join(dir, e.Name())) // the next call tries again
		}
	}
}

// carry copies one entry of a folder, durably. It omits links, which are not part of a run.
func carry(root *rootfs.Root, from, to string, e fs.DirEntry) error {
	info, err := e.Info()
	if err != nil {
		return err
	}
	switch {
	case e.IsDir():
		return root.Mkdir(to, 0o700)
	case !info.Mode().IsRegular():
		return nil // a link or a pipe, which is not part of a run
	}
	in, err := root.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := atomicfile.WriteNew(root, to, in, info.Mode().Perm()); err != nil {
		return err
	}
	// By path: at worst this changes the time of a link that was put there meanwhile.
	return os.Chtimes(root.Join(to), info.ModTime(), info.ModTime())
}
