package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/rootfs"
)

// Fork makes another machine out of the beginning of this one's journal, to be opened in dir: its lines up to the byte upto,
// where one ends, and after them the event that decide makes of how it stood there. It is built in draft, beside dir, and
// moved when it is whole; what else lies in draft moves with it. Neither dir nor the journal of draft may exist. opts are
// those of the new machine. The error is an *Error, or decide's.
func (s *Store) Fork(ctx context.Context, draft, dir string, upto int64, opts Options, decide func(Snapshot) (*Change, error)) error {
	if err := s.beginning(draft, upto); err != nil {
		return &Error{Code: StoreError, What: "make " + dir, Err: err, Remedy: "see whether the folder can be written and the disk has room"}
	}
	first := opts
	first.Backup = nil // the name of another machine, until this one is whole
	d, _, err := Create(draft, first)
	if err != nil {
		return err
	}
	_, err = d.Apply(ctx, decide)
	if err = errors.Join(err, d.Close()); err != nil {
		return err
	}
	err = os.Rename(draft, dir)
	if err == nil {
		err = atomicfile.Sync(filepath.Dir(dir))
	}
	if err != nil {
		return &Error{Code: StoreError, What: "make " + dir, Err: err, Remedy: "see whether the folder can be written"}
	}
	opts.own = true // one of that name that was removed may have left its copy
	made, _, err := Create(dir, opts)
	if err != nil {
		return err
	}
	return made.Close()
}

// beginning copies the beginning of the journal, durably.
func (s *Store) beginning(draft string, upto int64) error {
	from, err := s.openJournal(os.O_RDONLY)
	if err != nil {
		return err
	}
	defer from.Close()
	if err := os.MkdirAll(draft, 0o700); err != nil {
		return err
	}
	root, err := rootfs.OpenBelow(draft, ".ferrus", 0)
	if err != nil {
		return err
	}
	defer root.Close()
	part := io.NewSectionReader(from, 0, upto)
	if err := atomicfile.WriteNew(root, journalFile, part, 0o600); err != nil {
		return err
	}
	if n, err := part.Seek(0, io.SeekCurrent); n != upto || err != nil {
		return fmt.Errorf("the journal has %d bytes, not %d", n, upto)
	}
	return nil
}
