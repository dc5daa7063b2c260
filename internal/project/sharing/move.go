package sharing

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/queue"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/store/file"
	"github.com/ferrus-go/ferrus/internal/store/postgres"
)

// Move moves all machines of the project at root and its queue from its files into the database at url. Nothing may be at work on this computer. The files
// that were moved stay in the archive. A call that was cut off is finished by the next one, whatever its url, as the same project.
//
// First the record says where the project goes. Then the files of all machines are frozen, under all of their locks. Then one transaction of the database has
// all of them. What is left after it is the tidying up of files that nobody uses.
func Move(ctx context.Context, root, url string, now time.Time) (did Moved, err error) {
	main := project.At(root, "")
	lock, err := alone(main)
	if err != nil {
		return did, err
	}
	defer lock.Close()
	places, err := inFiles(main)
	if err != nil {
		return did, err
	}
	at, err := main.Arriving()
	switch {
	case err != nil:
		return did, err
	case at == nil && main.InDatabase():
		return leftovers(ctx, main, now)
	case at != nil && !main.InDatabase(): // nothing was sent yet
		if err := stay(places); err != nil {
			return did, err
		}
		url, at = cmp.Or(url, at.URL), nil
	}
	again := at != nil
	if !again {
		at = &project.Shared{URL: url, Project: uuid.New(), Node: uuid.New(), Root: root}
	}
	d, err := at.Database(ctx, nil)
	if err != nil {
		return did, err
	}
	is, err := d.Whereabouts(ctx, at.Project)
	if err != nil {
		return did, err
	}
	did = Moved{Project: at.Project, Name: filepath.Base(root), URL: at.URL, Machines: len(places)}
	for _, p := range places {
		if l, err := project.LastEvent(p.Dir()); err == nil {
			did.Events += l.Seq
		}
	}
	switch {
	case is.How == postgres.Withdrawn:
		return did, errors.Join(stay(places), givenUp(main))
	case !is.Known:
		if err := send(ctx, d, at, places, again); err != nil {
			return did, err
		}
	}
	if err := settle(ctx, main, at, places, now, &did); err != nil || !is.Known || is.There() {
		return did, err
	}
	return did, is.Refusal()
}

// folders returns the places of the machines of a project that have a folder here, its own first.
func folders(main project.Place) ([]project.Place, error) {
	names, err := project.Folders(main.Path("branches"))
	places := []project.Place{main}
	for _, name := range names {
		if state.CheckBranch(name) == nil {
			places = append(places, project.At(main.Root, name))
		}
	}
	return places, err
}

// inFiles returns the places of the machines of a project that have their journals in files, its own first, also while the files are frozen.
func inFiles(main project.Place) ([]project.Place, error) {
	places, err := folders(main)
	return slices.DeleteFunc(places, func(p project.Place) bool { return p.Branch != "" && !file.Initialised(p.Dir()) }), err
}

// send freezes the files of the machines and brings them into the database. again says that an earlier call may have done so, whose end nobody knows. After an
// error the files are used as before, unless that cannot be told.
func send(ctx context.Context, d *postgres.Database, at *project.Shared, places []project.Place, again bool) error {
	main := places[0]
	if again && !file.Initialised(main.Dir()) { // its folder was lost meanwhile
		return errors.Join(withdraw(ctx, d, at, places), &refusal.RefusedError{Code: refusal.NotInitialised, Message: "the move of the project was cut off, and its journal is gone from " + main.Dir(),
			Person: true, Remedy: "ferrus doctor{branch} --fix restores the journal from its hard-linked copy; then ferrus store move"})
	}
	busy, err := here(places, claimants(places))
	if err == nil {
		err = atWork(busy)
	}
	if err != nil {
		return err
	}
	if err := at.Announce(main); err != nil {
		return err
	}
	reached(ctx, "announced")
	err = freeze(ctx, at, places)
	if err == nil {
		reached(ctx, "frozen")
		if busy, err = here(places, nil); err == nil { // what has begun meanwhile; nothing does after this
			err = atWork(busy)
		}
	}
	sent := false
	if err == nil {
		sent = true
		err = insertAll(ctx, d, at, places)
	}
	switch {
	case err == nil:
		reached(ctx, "arrived")
		return nil
	case sent && (again || refusal.CodeOf(err) == refusal.OutcomeUnknown):
		return &refusal.RefusedError{Code: refusal.OutcomeUnknown, Message: "the project may or may not be in the database: " + err.Error(), Person: true,
			Remedy: "nothing works on it meanwhile: ferrus store move finishes the move, ferrus store move --files gives it up"}
	case again:
		return err // what an earlier call has sent may still arrive
	}
	return errors.Join(err, stay(places))
}

// freeze ends the use of the files of all machines at one moment, if nobody has claimed their work.
func freeze(ctx context.Context, at *project.Shared, places []project.Place) error {
	var open []project.Place
	for _, p := range places {
		if !file.Frozen(p.Dir()) { // by a call that was cut off
			open = append(open, p)
		}
	}
	return locked(ctx, open, idle, func() error {
		for _, p := range slices.Backward(places) { // the project's own last: until then the same call begins anew
			if err := file.Freeze(p.Dir()); err != nil {
				return refusal.Folder(err)
			}
			reached(ctx, "froze "+p.Branch)
		}
		return at.Mark(places[0])
	})
}

// stay lets the files of the machines, the project's own first, be used again: the project has not arrived in the database, and will not.
func stay(places []project.Place) error {
	for _, p := range places[1:] {
		if err := file.Thaw(p.Dir()); err != nil {
			return refusal.Folder(err)
		}
	}
	return places[0].Share(nil)
}

// moveIn brings the frozen files of the machines and the queue into the database, in one transaction.
func insertAll(ctx context.Context, d *postgres.Database, at *project.Shared, places []project.Place) error {
	main := places[0]
	all := postgres.Arrival{Project: at.Project, Label: filepath.Base(main.Root)}
	for _, p := range places {
		all.Journals = append(all.Journals, postgres.Journal{Branch: p.Branch, Open: func() (io.ReadCloser, error) {
			reached(ctx, "sends "+p.Branch)
			dir, err := p.OpenDir()
			if err != nil {
				return nil, err
			}
			defer dir.Close()
			f, err := dir.Open(store.JournalName)
			if err != nil {
				return nil, refusal.Because(refusal.StoreError, "read the journal", err, "nothing was changed: check the disk, then try again")
			}
			return f, nil
		}})
	}
	var err error
	if all.Queue, err = queue.Departing(main.Dir(), at.Node); err != nil {
		return err
	}
	return d.AddProject(ctx, all)
}

// settle tidies up after the project has arrived.
func settle(ctx context.Context, main project.Place, at *project.Shared, places []project.Place, now time.Time, did *Moved) error {
	for _, p := range places { // those that a call of an older ferrus has left as they were, too
		if err := file.Freeze(p.Dir()); err != nil {
			return refusal.Folder(err)
		}
	}
	if err := main.Share(at); err != nil {
		return err
	}
	reached(ctx, "shared")
	var err error
	if did.Queued, err = queue.MoveIn(main.Dir()); err != nil {
		return err
	}
	reached(ctx, "queue moved")
	did.Kept, err = setAside(ctx, places, now)
	return err
}

// leftovers sets the files aside that a move has left which was cut off.
func leftovers(ctx context.Context, main project.Place, now time.Time) (did Moved, err error) {
	at, err := main.Shared()
	if err != nil {
		return did, err
	}
	places, err := inFiles(main)
	if err != nil {
		return did, err
	}
	if !file.Initialised(main.Dir()) {
		if places = places[1:]; len(places) == 0 {
			return did, &refusal.RefusedError{Code: refusal.WrongState, Message: "the project is in a database already: " + at.URL, Person: true,
				Remedy: "ferrus store shows it; ferrus store move --files moves it back"}
		}
	}
	did = Moved{Project: at.Project, Name: filepath.Base(main.Root), URL: at.URL, Machines: len(places)}
	return did, settle(ctx, main, at, places, now, &did)
}

// withdraw gives up a move into the database that was cut off, so that it cannot end later, and lets the files be used again. A project that has
// arrived stays where it is; that is an error.
func withdraw(ctx context.Context, d *postgres.Database, at *project.Shared, places []project.Place) error {
	arrived, err := d.Withdraw(ctx, at.Project, filepath.Base(at.Root))
	switch {
	case err != nil:
		return err
	case arrived:
		return &refusal.RefusedError{Code: refusal.WrongState, Message: "the project has arrived in the database at " + at.URL, Person: true,
			Remedy: "ferrus store move finishes the move; then ferrus store move --files moves it back"}
	}
	reached(ctx, "withdrawn")
	return stay(places)
}

// givenUp says that a move was given up before.
func givenUp(main project.Place) error {
	return &refusal.RefusedError{Code: refusal.WrongState, Message: "the move of the project was given up; it is in the files of " + main.Root, Person: true,
		Remedy: "ferrus store move moves it"}
}

// setAside moves what the files of machines had into a folder of the archive, and takes away the second names of their journals. The project's own journal goes last:
// while it is there, the same call goes on.
func setAside(ctx context.Context, places []project.Place, now time.Time) (kept string, err error) {
	kept = path.Join("archive", "moved-"+now.UTC().Format("20060102-150405.000"))
	home, err := places[0].OpenHome()
	if err != nil {
		return "", err
	}
	defer home.Close()
	names := []string{}
	for _, doc := range state.Docs() {
		names = append(names, string(doc))
	}
	names = append(names, store.JournalName)
	for _, p := range slices.Backward(places) {
		within, to := ".", kept
		if p.Branch != "" {
			within, to = path.Join("branches", p.Branch), path.Join(kept, "branches", p.Branch)
		}
		if err := home.MkdirAll(to, 0o700); err != nil {
			return "", refusal.Folder(err)
		}
		if link := p.Backup(); link != "" {
			if err := os.Rename(link, link+".moved"); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return "", refusal.Folder(err)
			}
		}
		for _, name := range names {
			if err := home.Rename(path.Join(within, name), path.Join(to, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return "", refusal.Folder(err)
			}
		}
		reached(ctx, "set aside "+p.Branch)
	}
	return kept, nil
}
