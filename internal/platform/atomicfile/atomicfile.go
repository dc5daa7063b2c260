// Package atomicfile writes files that must survive the end of a process and a power cut.
//
// After a power cut at any moment a file has its complete old content or its complete new content.
// When a function returns nil, the new content and its name are on disk. When it returns an error,
// the file has the old or the new content. Unless the function says otherwise, the caller must read
// the file to know which.
//
// Files are opened through a [rootfs.Root], so no link is followed. Callers decide what the files
// contain, and take the locks that several writers need.
//
// On Windows a folder cannot be synced, and neither can a file that is open only for reading. Both
// are skipped there.
package atomicfile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

// Replace gives the file name a new content, and creates it if it is missing. It replaces a link or
// FIFO at name. perm is the mode of a new file, before the umask.
func Replace(root *rootfs.Root, name string, data []byte, perm fs.FileMode) error {
	return publish(root, name, data, perm, rename)
}

// Create creates the file name with its content in one step. The error is fs.ErrExist if the name
// exists; then nothing is changed.
func Create(root *rootfs.Root, name string, data []byte, perm fs.FileMode) error {
	return publish(root, name, data, perm, renameNew)
}

// Install moves the file from, which another program has written, to the name to, durably. It
// replaces what is there. Both are on one disk. The error is fs.ErrNotExist if there is no file.
func Install(root *rootfs.Root, from, to string) error {
	f, err := root.Open(from)
	if err != nil {
		return err
	}
	if runtime.GOOS != "windows" {
		err = sync(f, root.Join(from))
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := rename(root, from, to); err != nil {
		return err
	}
	return SyncDir(root, path.Dir(to))
}

// publish writes a temporary file beside name and renames it. A process that is killed may leave
// the temporary file; a later publish of the same name removes it when it is a day old.
func publish(root *rootfs.Root, name string, data []byte, perm fs.FileMode, move func(root *rootfs.Root, from, to string) error) error {
	dir, base := path.Split(name)
	sweep(root, dir, base)
	temp := dir + "." + base + "." + strconv.FormatUint(rand.Uint64(), 36) + ".tmp"
	if err := WriteNew(root, temp, bytes.NewReader(data), perm); err != nil {
		return err
	}
	if err := move(root, temp, name); err != nil {
		_ = root.Remove(temp)
		return err
	}
	return SyncDir(root, path.Dir(name))
}

// random is what publish puts into the name of a temporary file, but for one of thousands that is shorter.
var random = safetext.Lazily(`^[0-9a-z]{11,13}$`)

// sweep removes temporary files of the file base whose writers were killed. It leaves young files,
// which may have a writer, and entries that are not files.
func sweep(root *rootfs.Root, dir, base string) {
	entries, _ := root.ReadDir(path.Clean(dir)) // an error means only that they stay
	for _, e := range entries {
		middle, begins := strings.CutPrefix(e.Name(), "."+base+".")
		middle, ends := strings.CutSuffix(middle, ".tmp")
		if !begins || !ends || !random().MatchString(middle) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > 24*time.Hour {
			_ = root.Remove(dir + e.Name())
		}
	}
}

// WriteNew copies from into a new file and syncs it. A power cut may leave part of the file, and its name is durable only
// after [SyncDir] of its folder: it is for files that become visible later, with a folder that is renamed. The error is
// fs.ErrExist if there is anything of that name. After any other error there is no such file.
func WriteNew(root *rootfs.Root, name string, from io.Reader, perm fs.FileMode) error {
	at := root.Join(name)
	if err := step("create", at); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	if err = fill(f, at, from); err != nil {
		_ = root.Remove(name) // it may be what fills the disk
	}
	return err
}

// Fill copies from into f, which is open for writing, then syncs and closes it. It is for files
// that were created by their path.
func Fill(f *os.File, from io.Reader) error { return fill(f, f.Name(), from) }

func fill(f *os.File, at string, from io.Reader) error {
	err := step("write", at)
	if err == nil {
		_, err = io.Copy(f, from)
	}
	if err == nil {
		err = sync(f, at)
	}
	return errors.Join(err, f.Close())
}

// Append adds a line to the file name, which is made where it is missing. line ends with its newline. A line that a power
// cut has left torn at the end of the file is ended first, and is for the readers to skip. What a failed call has
// written is taken back, unless another process has written behind it.
func Append(root *rootfs.Root, name string, line []byte, perm fs.FileMode) error {
	at := root.Join(name)
	if err := step("open", at); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, perm)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	if last := []byte{'\n'}; size > 0 {
		if _, err := f.ReadAt(last, size-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			line = append([]byte("\n"), line...)
		}
	}
	n := 0
	if err = step("write", at); err == nil {
		n, err = f.Write(line)
	}
	if err == nil {
		err = sync(f, at)
	}
	if err == nil && size == 0 {
		err = SyncDir(root, path.Dir(name))
	}
	if err != nil {
		if info, bad := f.Stat(); bad == nil && n > 0 && info.Size() == size+int64(n) {
			err = errors.Join(err, f.Truncate(size))
		}
	}
	return err
}

// Remove removes the file name, durably. The error is fs.ErrNotExist if there is none.
func Remove(root *rootfs.Root, name string) error {
	if err := step("remove", root.Join(name)); err != nil {
		return err
	}
	if err := root.Remove(name); err != nil {
		return err
	}
	return SyncDir(root, path.Dir(name))
}

// MkdirAll creates the folder name and missing folders above it. Existing entries on the path must
// be folders.
func MkdirAll(root *rootfs.Root, name string, perm fs.FileMode) error {
	if name = path.Clean(name); name == "." {
		return nil
	}
	err := root.Mkdir(name, perm)
	if errors.Is(err, fs.ErrNotExist) {
		if err := MkdirAll(root, path.Dir(name), perm); err != nil {
			return err
		}
		err = root.Mkdir(name, perm)
	}
	if errors.Is(err, fs.ErrExist) {
		return root.CheckDir(name)
	}
	if err != nil {
		return err
	}
	return SyncDir(root, path.Dir(name))
}

// SyncDir makes the names in the folder name durable: what was created, renamed and removed there.
func SyncDir(root *rootfs.Root, name string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := root.OpenDir(name)
	if err != nil {
		return err
	}
	return errors.Join(sync(d, root.Join(name)), d.Close())
}

// Sync makes a file or folder durable that another program, such as git, has written at an absolute path. Links are
// followed. It does nothing on Windows. The error is fs.ErrNotExist where there is none.
func Sync(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(sync(f, path), f.Close())
}

func sync(f *os.File, at string) error {
	if err := step("sync", at); err != nil {
		return err
	}
	return f.Sync()
}

// rename renames and, where a reader or a virus scanner has the target open on Windows, tries again for a second.
func rename(root *rootfs.Root, from, to string) error {
	if err := step("rename", root.Join(to)); err != nil {
		return err
	}
	for try := 0; ; try++ {
		err := root.Rename(from, to)
		if err == nil || runtime.GOOS != "windows" || try == 20 {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func renameNew(root *rootfs.Root, from, to string) error {
	if err := step("rename", root.Join(to)); err != nil {
		return err
	}
	a, err := root.Entry(from)
	if err != nil {
		return err
	}
	defer a.Dir.Close()
	b, err := root.Entry(to)
	if err != nil {
		return err
	}
	defer b.Dir.Close()
	return rootfs.RenameNew(a, b)
}

// intercept is set only by tests: see Intercept.
var intercept atomic.Pointer[func(op, path string) error]

// Intercept has f called before each operation of this package on a disk: create, open, write, sync, rename or remove, and the
// absolute path of the file or folder. An error of f is returned in place of the operation. It is for the simulated disk
// of package atomicfiletest alone.
func Intercept(f func(op, path string) error) { intercept.Store(&f) }

func step(op, path string) error {
	if f := intercept.Load(); f != nil {
		return (*f)(op, path)
	}
	return nil
}
