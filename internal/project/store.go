package project

import (
	"sync"

	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/store/file"
)

// StoreOptions say how the machine of a place is opened.
type StoreOptions = file.Options

// Open opens the machine of a place, wherever it is kept.
func (p Place) Open(opts StoreOptions) (store.Machine, error) {
	s, err := file.Open(p.Dir(), opts)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Initialised reports whether there is a machine at the place.
func (p Place) Initialised() bool { return file.Initialised(p.Dir()) }

// Archive copies a task of the machine of the place, as it was at snap, into its archive: the documents and the journal lines. It runs after
// the task has ended, and may run again at any time.
func (p Place) Archive(from store.Machine, snap store.Snapshot) error {
	return file.Archive(p.Dir(), from, snap)
}

// Archived reports whether a task has been archived.
func (p Place) Archived(task string) bool { return file.Archived(p.Dir(), task) }

// Create makes the machine of a place, or brings it back from the hard-linked copy of its journal. It sets opts.Backup.
func Create(place Place, opts StoreOptions) (restored bool, err error) {
	opts.Backup = sync.OnceValue(place.Backup) // which asks git
	if err := place.CheckFolders(); err != nil {
		return false, err
	}
	s, restored, err := file.Create(place.Dir(), opts)
	if err != nil {
		return false, refusal.From(err)
	}
	return restored, s.Close()
}
