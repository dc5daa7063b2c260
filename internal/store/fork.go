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

// Fork makes another machine from the beginning of this journal. The new machine has the lines up
// to the byte upto, where a line ends, and then the event that decide makes of the state at that
// point. Fork builds it in draft, beside dir, and renames draft to dir when it is complete; other
// files in draft move with it. Neither dir nor the journal of draft may exist. opts are those of
// the new machine. The error is an *Error, or that of decide.
func (s *Store) Fork(ctx context.Context, draft, dir string, upto int64, opts Options, decide func(Snapshot) (*Change, error)) error {
	if err := s.beginning(draft, upto); err != nil {
		return &Error{Code: StoreError, What: "make " + dir, Err: err, Remedy: "check whether the folder is writable and the disk has space"}
	}
	first := opts
	first.Backup = nil // the name belongs to another machine until this one is complete
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
		return &Error{Code: StoreError, What: "make " + dir, Err: err, Remedy: "check whether the folder is writable"}
	}
	opts.own = true // a removed machine of that name may have left its copy
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
