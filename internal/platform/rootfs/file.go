package rootfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// tries bounds how often a file that another program replaces meanwhile is opened again.
const tries = 10

// Open opens the regular file name for reading.
func (r *Root) Open(name string) (*os.File, error) { return r.OpenFile(name, os.O_RDONLY, 0) }

// OpenFile opens the regular file name as os.OpenFile does. A link, folder, FIFO, device or socket is refused, and
// nothing is truncated before that is known. A FIFO is never waited for.
func (r *Root) OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	at, err := r.at(name)
	if err != nil {
		return nil, err
	}
	defer at.done()
	for range tries {
		f, err := at.open(flag, perm)
		if f != nil || err != nil {
			return f, err
		}
	}
	return nil, fmt.Errorf("%s %w", at.path, ErrChanged)
}

// open opens the file once; neither file nor error means that it was replaced meanwhile.
func (p place) open(flag int, perm fs.FileMode) (*os.File, error) {
	if flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL {
		f, err := p.dir.OpenFile(p.base, flag|nonblock, perm) // follows no link
		return f, named(err, p.path)
	}
	info, err := p.dir.Lstat(p.base)
	if errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0 {
		f, err := p.dir.OpenFile(p.base, flag|os.O_EXCL|nonblock, perm)
		if errors.Is(err, fs.ErrExist) {
			return nil, nil
		}
		return f, named(err, p.path)
	}
	if err != nil {
		return nil, named(err, p.path)
	}
	if err := regular(p.path, info); err != nil {
		return nil, err
	}
	f, err := p.dir.OpenFile(p.base, flag&^(os.O_CREATE|os.O_TRUNC)|nonblock, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0:
		return nil, nil
	case err != nil:
		return nil, named(err, p.path)
	}
	opened, err := f.Stat()
	switch {
	case err != nil:
		f.Close()
		return nil, err
	case !os.SameFile(info, opened):
		f.Close()
		return nil, nil
	}
	if flag&os.O_TRUNC != 0 && opened.Size() > 0 {
		if err := f.Truncate(0); err != nil {
			f.Close()
			return nil, named(err, p.path)
		}
	}
	return f, nil
}

// ReadFile reads the regular file name, which may have max bytes; a larger one is not read at all.
func (r *Root) ReadFile(name string, max int64) ([]byte, error) {
	f, err := r.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return bounded(f, max)
}

// ReadTail reads the last bytes of the regular file name, at most most.
func (r *Root) ReadTail(name string, most int64) ([]byte, error) {
	f, err := r.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	from := max(0, info.Size()-most)
	return io.ReadAll(io.NewSectionReader(f, from, info.Size()-from)) // not what is appended meanwhile
}

// ReadRegular reads a regular file anywhere, which may have max bytes, and follows links to it. It is for files that
// a person may keep elsewhere, such as a configuration; below .ferrus a Root is used.
func ReadRegular(path string, max int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if err := regular(path, info); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	if err := regular(path, info); err != nil {
		return nil, err
	}
	return bounded(f, max)
}

// bounded reads a file of at most max bytes.
func bounded(f *os.File, max int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size := info.Size()
	if size <= max {
		data := make([]byte, size+1)
		n, err := io.ReadFull(io.LimitReader(f, size+1), data)
		if err == nil { // it grew
			var more []byte
			more, err = io.ReadAll(io.LimitReader(f, max+1-int64(n)))
			data = append(data, more...)
			n = len(data)
		}
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, err
		}
		if int64(n) <= max {
			return data[:n:n], nil
		}
		size = int64(n)
	}
	return nil, fmt.Errorf("%s has %d bytes, of which at most %d are read: it %w", f.Name(), size, max, ErrTooLarge)
}

// Fits returns an error that is ErrUnreadable if data has more than the max bytes that readers of the file name accept. A file that
// ferrus reads with a limit is written only if it fits: it could not be read again.
func Fits(name string, data []byte, max int64) error {
	if int64(len(data)) <= max {
		return nil
	}
	return fmt.Errorf("%s would have %d bytes, of which at most %d are read: %w", name, len(data), max, ErrUnreadable)
}

// WriteFile replaces the file name by way of a new file beside it, which is renamed: a reader finds the old or
// the new text, and a link or FIFO at name is replaced, not written through. It does not sync.
func (r *Root) WriteFile(name string, data []byte, perm fs.FileMode) error {
	at, err := r.at(name)
	if err != nil {
		return err
	}
	defer at.done()
	f, base, err := at.temp(at.base+".", ".tmp", perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = named(at.dir.Rename(base, at.base), at.path)
	}
	if err != nil {
		_ = at.dir.Remove(base)
	}
	return err
}
