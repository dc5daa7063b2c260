package file

import (
	"bufio"
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

// importFile is a journal from elsewhere that is not accepted yet.
const importFile = journalFile + ".import"

// Receive writes a journal from elsewhere beside the one in dir, durably, and verifies each line and the chain. It returns where the journal
// ends. [Accept] puts it into its place. The error is a *refusal.RefusedError, of code Corrupt when a line is not valid.
func Receive(dir string, journal io.Reader) (end store.Position, err error) {
	failed := func(err error) (store.Position, error) {
		return end, refusal.Because(refusal.StoreError, "write "+filepath.Join(dir, importFile), rootfs.Cause(err),
			"check whether the folder can be written and the disk has space")
	}
	root, err := rootfs.Open(dir)
	if err != nil {
		return failed(err)
	}
	defer root.Close()
	if err := root.Remove(importFile); err != nil && !errors.Is(err, os.ErrNotExist) {
		return failed(err)
	}
	f, err := root.OpenFile(importFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return failed(err)
	}
	defer f.Close()
	var prev *store.Line
	for r := bufio.NewReaderSize(journal, 1<<16); ; {
		raw, err := store.ReadLine(r)
		if errors.Is(err, io.EOF) && len(raw) == 0 {
			break
		}
		if err == nil || errors.Is(err, io.EOF) {
			prev, err = store.Follow(prev, raw, end.Bytes)
		}
		if err != nil {
			return end, refusal.Because(refusal.Corrupt, fmt.Sprintf("the line at byte %d is not valid", end.Bytes), err,
				"nothing was changed: import a journal that is whole")
		}
		if _, err := f.Write(raw); err != nil {
			return failed(err)
		}
		end = store.Position{Bytes: prev.End, Last: prev.Off, H: prev.H}
	}
	if err := f.Sync(); err != nil {
		return failed(err)
	}
	return end, nil
}

// Accept makes the journal that [Receive] has written the one in dir.
func Accept(dir string) error {
	err := os.Rename(filepath.Join(dir, importFile), filepath.Join(dir, journalFile))
	if err == nil {
		err = atomicfile.Sync(dir)
	}
	if err != nil {
		return refusal.Because(refusal.StoreError, "put the journal into its place", err, "try again")
	}
	return nil
}

// Drop removes what [Receive] has written, instead of Accept.
func Drop(dir string) error {
	if err := os.Remove(filepath.Join(dir, importFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return refusal.Because(refusal.StoreError, "remove a journal that is not needed", err, "try again")
	}
	return nil
}

// Has reports whether the journal in dir has the line at which another one ends: it is that journal, or goes on from it.
func Has(dir string, end store.Position) bool {
	root, err := rootfs.Open(dir)
	if err != nil {
		return false
	}
	defer root.Close()
	f, err := root.Open(journalFile)
	if err != nil {
		return false
	}
	defer f.Close()
	if end.Bytes == end.Last || end.Bytes-end.Last > store.MaxLine {
		return end.Bytes == 0
	}
	raw := make([]byte, end.Bytes-end.Last)
	if _, err := f.ReadAt(raw, end.Last); err != nil {
		return false
	}
	h, err := store.Sealed(raw)
	return err == nil && h == end.H
}
