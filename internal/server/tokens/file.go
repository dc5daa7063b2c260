package tokens

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

const (
	fileName = "tokens.json"
	lockName = "tokens.lock"

	maxFile = 1 << 20
)

func (b *Book) path(name string) string { return filepath.Join(b.dir, name) }

// read returns the entries of the file, none if there is no file. Callers must not change them.
func (b *Book) read() ([]entry, error) {
	path := b.path(fileName)
	if b.guard != nil {
		if err := b.guard(); err != nil {
			return nil, refuse(ErrUnsafe, path+" is not trusted: "+err.Error(), "run ferrus doctor{branch}")
		}
	}
	root, err := rootfs.Open(b.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, disk("read", path, err)
	}
	defer root.Close()
	f, err := root.Open(fileName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, disk("read", path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, disk("read", path, err)
	}
	// A user who could read it knows the names and hashes; one who could write it may have added
	// tokens. Windows stores permissions differently.
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, refuse(ErrUnsafe, fmt.Sprintf("%s is open to other users (mode %04o)", path, mode), refusal.Say("chmod 600 %s, then see whether ferrus token list shows only what you made", path))
	}
	if !ours(info) {
		return nil, refuse(ErrUnsafe, path+" belongs to another user", "remove it, then make the tokens anew with ferrus token new")
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, disk("read", path, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	// The bytes are compared, not date and size: two writes in a moment may have the same, and a
	// revoked token must not be accepted because of that.
	if len(text) > 0 && bytes.Equal(text, b.text) {
		return b.list, nil
	}
	list, err := parse(text)
	if len(text) > maxFile {
		err = fmt.Errorf("it has more than %d bytes", maxFile)
	}
	if err != nil {
		return nil, refuse(ErrDamaged, fmt.Sprintf("%s is not valid: %v", path, err), "move it away, then create new tokens with ferrus token new; until then every token is refused")
	}
	b.text, b.list = text, list
	return list, nil
}

// change replaces the entries by the result of next, unless that is an error, under the lock of all
// writers.
func (b *Book) change(next func([]entry) ([]entry, error)) error {
	unlock, err := b.lock()
	if err != nil {
		return err
	}
	defer unlock()
	list, err := b.read()
	if err != nil {
		return err
	}
	if list, err = next(slices.Clone(list)); err != nil {
		return err
	}
	text, err := encode(list)
	if err != nil {
		return err
	}
	if len(text) > maxFile {
		return invalid("one more", fmt.Sprintf("%d bytes of them; revoke what is not used", maxFile))
	}
	return b.write(text)
}

// lock takes the lock of all writers. The lock file is never removed: a second process could lock
// the old one while a third locks the new one.
func (b *Book) lock() (unlock func(), err error) {
	path := b.path(lockName)
	root, err := rootfs.Open(b.dir)
	if err != nil {
		return nil, disk("lock", path, err)
	}
	defer root.Close()
	if _, err := root.Path(lockName); err != nil {
		return nil, disk("lock", path, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), b.wait)
	defer cancel()
	lock, err := filelock.Acquire(ctx, path)
	switch {
	case err == nil:
		return func() { _ = lock.Close() }, nil
	case ctx.Err() != nil:
		return nil, refuse(ErrBusy, fmt.Sprintf("%s is held by another process, for %v at least", path, b.wait), "try again; if that process is stopped, continue or kill it")
	}
	return nil, disk("lock", path, err)
}

// write replaces the file durably: a power cut must not restore a revoked token.
func (b *Book) write(text []byte) error {
	path := b.path(fileName)
	root, err := rootfs.Open(b.dir)
	if err != nil {
		return disk("write", path, err)
	}
	defer root.Close()
	if err := atomicfile.Replace(root, fileName, text, 0o600); err != nil {
		return disk("write", path, err)
	}
	return nil
}

// disk returns the error of a file operation: the file is not safe to use, or could not be read or
// written.
func disk(what, path string, err error) error {
	for _, unsafe := range []error{rootfs.ErrLink, rootfs.ErrNotRegular, rootfs.ErrIsDir, rootfs.ErrNotDir} {
		if errors.Is(err, unsafe) {
			said, remedy, _ := strings.Cut(err.Error(), "; ")
			return refuse(ErrUnsafe, said, refusal.Say("%s", remedy))
		}
	}
	return refuse(ErrDisk, fmt.Sprintf("%s %s: %v", what, path, rootfs.Cause(err)), "check whether the folder is readable and writable")
}
