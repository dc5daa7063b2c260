package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/pipeline"
)

// archive moves the folder to the archive. What was sent is sent whatever becomes of it: a later tick tries again.
func (b *book) archive(ctx context.Context, l Line) error {
	f := b.f
	d, err := f.delivery()
	if err != nil {
		return err
	}
	if by(d) && d.State == pipeline.Delivered && f.Settings.Deliver.To == config.ToStdout && !f.printed() {
		text, err := slurp(f.Path(finalFile))
		if err == nil {
			err = f.target().print(ctx, f, b.o, text)
		}
		if err != nil {
			return err
		}
		if err := replace(f.Path(printedFile), nil, 0o600); err != nil {
			return err
		}
	}
	for _, name := range []string{toldLock, deliveryLock} { // nobody is telling or delivering any more when the folder moves
		lock, err := take(ctx, f.Path(name))
		if err != nil {
			return err
		}
		defer lock.Close()
	}
	f.spread(ctx, b.o)
	if err := os.MkdirAll(f.Settings.Archive, 0o700); err != nil {
		return err
	}
	b.o.at("begun move")
	to, err := move(f.Dir, f.Settings.Archive, f.Name())
	if err != nil {
		return fmt.Errorf("archive %s: %v", f.Name(), err)
	}
	f.Dir = to
	b.o.at("after move")
	if b.o.Told != nil {
		l.Why, l.Status = to, b.status
		b.o.Told(l)
	}
	return nil
}

// archived reports whether the run lies in the archive: whatever becomes of its files, it is over.
func (f *Folder) archived() bool {
	archive, err := os.Stat(f.Settings.Archive)
	above, err2 := os.Stat(filepath.Dir(f.Dir))
	return err == nil && err2 == nil && os.SameFile(archive, above)
}

// printedFile says that a result was printed which its worker has delivered.
const printedFile = "printed"

func (f *Folder) printed() bool {
	_, err := os.Lstat(f.Path(printedFile))
	return err == nil
}

// rename is os.Rename, and another where a test has the archive on another disk.
var rename = os.Rename

// move moves a folder into another one, under another name if its own is taken by another run, and returns where to. A
// folder that was copied already, by a move that was cut off, is only removed.
func move(from, into, name string) (string, error) {
	for n := 1; ; n++ {
		to := filepath.Join(into, name)
		if n > 1 {
			to = filepath.Join(into, fmt.Sprintf("%s-%d", name, n))
		}
		if _, err := os.Lstat(to); err == nil {
			if same(from, to) {
				return to, discard(from)
			}
			continue
		}
		err := rename(from, to)
		if errors.Is(err, syscall.EXDEV) {
			err = haul(from, to)
		}
		if errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.ENOTEMPTY) {
			continue
		}
		return to, err
	}
}

// same reports whether two folders are of one run.
func same(a, b string) bool {
	var at [2]Line
	for i, dir := range []string{a, b} {
		var err error
		if at[i], err = firstLine(filepath.Join(dir, journalFile)); err != nil {
			return false
		}
	}
	one, err := json.Marshal(at[0])
	other, err2 := json.Marshal(at[1])
	return err == nil && err2 == nil && string(one) == string(other)
}

// haul is a rename to another disk: a copy that becomes whole in one step, and then the end of the old one.
func haul(from, to string) error {
	part := filepath.Join(filepath.Dir(to), "."+filepath.Base(to)+".part")
	if err := os.RemoveAll(part); err != nil {
		return err
	}
	err := filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		return carry(path, filepath.Join(part, rel), e)
	})
	if err == nil {
		err = os.Rename(part, to)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(part))
	}
	if err := synced(filepath.Dir(to)); err != nil {
		return err
	}
	return discard(from)
}

// discarded is at the end of a name, after a dot at its beginning, of what is to be removed.
const discarded = ".discarded"

// discard removes a folder that was copied. It is out of the way in one step: half a folder would be taken for a run. What
// a kill leaves of it goes with the next launch.
func discard(dir string) error {
	gone := filepath.Join(filepath.Dir(dir), "."+filepath.Base(dir)+discarded)
	if err := os.RemoveAll(gone); err != nil {
		return err
	}
	if err := os.Rename(dir, gone); err != nil {
		return err
	}
	return os.RemoveAll(gone)
}

// sweep removes what is left of discarded folders.
func sweep(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") && strings.HasSuffix(e.Name(), discarded) {
			_ = os.RemoveAll(filepath.Join(dir, e.Name())) // the next one tries again
		}
	}
}

// carry copies one entry of a folder, durably.
func carry(from, to string, e fs.DirEntry) error {
	info, err := e.Info()
	if err != nil {
		return err
	}
	switch {
	case e.IsDir():
		return os.Mkdir(to, 0o700)
	case info.Mode()&fs.ModeSymlink != 0:
		at, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(at, to)
	case !info.Mode().IsRegular():
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close(), os.Chtimes(to, info.ModTime(), info.ModTime()))
}
