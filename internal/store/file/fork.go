package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// Fork is [store.Machine.Fork]. It builds the machine in as.Draft, beside as.Dir, and renames the one to the other when it is
// complete.
func (s *Store) Fork(ctx context.Context, as store.Branch, upto int64, decide func(store.Snapshot) (*store.Change, error)) error {
	draft, dir := as.Draft, as.Dir
	opts := Options{Backup: as.Backup, Begin: as.Begin, Now: s.opts.Now, Log: s.opts.Log}
	if err := s.beginning(draft, upto); err != nil {
		return refusal.Because(refusal.StoreError, "make "+dir, err, "check whether the folder is writable and the disk has space")
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
		return refusal.Because(refusal.StoreError, "make "+dir, err, "check whether the folder is writable")
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
