package project

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/store/file"
)

// StoreOptions say how the machine of a place is opened. A machine in a database is judged by its opener, and has no copy: of them it takes
// Begin, Now and Log.
type StoreOptions = file.Options

// Open opens the machine of a place, wherever it is kept.
func (p Place) Open(opts StoreOptions) (store.Machine, error) {
	if p.InDatabase() {
		m, err := p.openShared(opts)
		if err != nil {
			return nil, err
		}
		return m, nil
	}
	return p.OpenFiles(opts)
}

// OpenFiles opens the machine of a place in its files, also while those are frozen: then every use is refused.
func (p Place) OpenFiles(opts StoreOptions) (store.Machine, error) {
	opts.Moved = p.whereTo
	s, err := file.Open(p.Dir(), opts)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Initialised reports whether there is a machine at the place. Where a database does not answer, it goes by the folder.
func (p Place) Initialised() bool {
	if !p.InDatabase() {
		return file.Initialised(p.Dir())
	}
	if p.Branch == "" {
		return true
	}
	there, err := p.thereIs(context.Background())
	if err != nil {
		_, err = os.Lstat(p.Dir())
		return err == nil
	}
	return there
}

// Remove makes the machine of a branch be gone, and keeps what is left of it on this computer as archive/branches/kept.
func (p Place) Remove(ctx context.Context, kept string) error {
	if p.InDatabase() {
		if err := p.retire(ctx); err != nil {
			return err
		}
	}
	return p.SetAside(kept)
}

// SetAside keeps the folder of a branch, which is here alone, as archive/branches/kept.
func (p Place) SetAside(kept string) error {
	if err := os.MkdirAll(p.Dir(), 0o700); err != nil {
		return refusal.Folder(err)
	}
	home, err := p.OpenHome()
	if err != nil {
		return err
	}
	defer home.Close()
	if err := home.MkdirAll(ArchivedBranches, 0o700); err != nil {
		return refusal.Folder(err)
	}
	return refusal.Folder(home.Rename(filepath.ToSlash(filepath.Join("branches", p.Branch)), ArchivedBranches+"/"+kept))
}

// Archive copies a task of the machine of the place, as it was at snap, into its archive: the documents and the journal lines. It runs after
// the task has ended, and may run again at any time.
func (p Place) Archive(from store.Machine, snap store.Snapshot) error {
	return file.Archive(p.Dir(), from, snap)
}

// Archived reports whether a task has been archived.
func (p Place) Archived(task string) bool { return file.Archived(p.Dir(), task) }

// Create makes the machine of a place, or brings it back from the hard-linked copy of its journal. It sets opts.Backup.
func Create(place Place, opts StoreOptions) (restored bool, err error) {
	if err := place.CheckFolders(); err != nil {
		return false, err
	}
	if place.InDatabase() {
		return false, nil
	}
	if !file.Initialised(place.Dir()) {
		if at, _, err := place.Recorded(); err != nil {
			return false, err
		} else if at != nil { // its folder was lost
			return true, at.Mark(place)
		}
	}
	return CreateFiles(place, opts)
}

// CreateFiles is Create for the files of a machine, wherever the project says that it is.
func CreateFiles(place Place, opts StoreOptions) (restored bool, err error) {
	opts.Backup, opts.Moved = sync.OnceValue(place.Backup), place.whereTo // the former asks git
	s, restored, err := file.Create(place.Dir(), opts)
	if err != nil {
		return false, err
	}
	return restored, s.Close()
}

// Bringing is the name of a file in the folder of a branch: its work tree is being brought to this computer, and is not whole before the file
// is gone.
const Bringing = "bringing"

// Forgotten reports whether the machines of the project are in a database, and its folder, which says so, is gone or does not say it any more.
func (p Place) Forgotten() bool {
	if p.InDatabase() || file.Initialised(At(p.Root, "").Dir()) {
		return false
	}
	at, _, err := p.Recorded()
	return err == nil && at != nil
}

// Draft is the folder in which the machine of a branch is made, until it becomes Dir.
func (p Place) Draft() string { return filepath.Join(filepath.Dir(p.Dir()), "."+p.Branch+".new") }

// Left reports whether this computer has the folder or the work tree of a branch that another computer has removed.
func (p Place) Left() bool {
	if p.Branch == "" || !p.InDatabase() || rootfs.Exists(p.Draft()) || !rootfs.Exists(p.Dir()) && !rootfs.Exists(p.WorkTree()) {
		return false
	}
	there, err := p.thereIs(context.Background())
	return err == nil && !there
}

// Here returns nil if the work tree of the place is on this computer, and whole. That of a branch which was made on another computer is not
// before it was fetched: then the error is a *refusal.RefusedError.
func (p Place) Here() error {
	if p.Branch == "" || !p.InDatabase() {
		return nil
	}
	what := "the work tree of " + p.Branch + " is on another computer"
	if rootfs.Exists(p.WorkTree()) {
		if !rootfs.Exists(p.Path(Bringing)) {
			return nil
		}
		what = "the work tree of " + p.Branch + " has not been fetched completely"
	}
	return &refusal.RefusedError{Code: refusal.WrongState, Message: what, Remedy: refusal.Say("ferrus branch --fetch %s fetches it; ferrus store shows the computers", p.Branch)}
}

// InDatabase reports whether the folder of the project says that its machines are in a database. Which one, a person has told this computer.
func (p Place) InDatabase() bool { return rootfs.Exists(filepath.Join(p.Root, DirName, SharedName)) }
