package project

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/store/file"
	"github.com/ferrus-go/ferrus/internal/store/live"
	"github.com/ferrus-go/ferrus/internal/store/postgres"
)

// SharedName is the name of the file in .ferrus which says that the machines of the project are in a database. It does not say in which one:
// that stands in the record of the project, which no repository writes.
const SharedName = "store.json"

// Shared is where the machines of a project are, if not in its files.
type Shared struct {
	URL     string    // of the database
	Project uuid.UUID // in the database
	Node    uuid.UUID // this folder on this computer
	Root    string    // this folder
}

// Recorded returns what the record of the project says; nil where the machines are in its files. arriving says that they are on their way into the database.
func (p Place) Recorded() (at *Shared, arriving bool, err error) {
	record, err := trust.Open(p.Root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil // of a folder that is about to be made
	}
	if err != nil {
		return nil, false, refusal.Folder(err)
	}
	r, _, err := record.Record()
	if err != nil || r.Shared == nil {
		return nil, false, refusal.Folder(err)
	}
	at = &Shared{URL: r.Shared.URL, Root: p.Root}
	if at.Project, err = uuid.Parse(r.Shared.Project); err == nil {
		at.Node, err = uuid.Parse(r.Shared.Node)
	}
	if err != nil {
		return nil, false, &refusal.RefusedError{Code: refusal.Corrupt, Message: "the record " + record.Path() + " names no project of a database", Person: true,
			Remedy: "ferrus store join names it again"}
	}
	return at, r.Shared.Arriving, nil
}

// Shared returns where the machines of the project are; nil where they are in its files. The error is a *refusal.RefusedError, of code
// ForeignState where the folder says that they are in a database, and nobody has told this computer in which one, and of code WrongState while they
// are on their way into it.
func (p Place) Shared() (*Shared, error) {
	if !p.InDatabase() {
		return nil, nil
	}
	at, arriving, err := p.Recorded()
	switch {
	case err == nil && at == nil:
		err = &refusal.RefusedError{Code: refusal.ForeignState, Message: filepath.Join(p.Root, DirName, SharedName) + " says that the project is in a database, and this computer was not told in which one",
			Remedy: "if you know it: ferrus store join; if the file came with a repository: remove it", Person: true}
	case err == nil && arriving:
		at, err = nil, &refusal.RefusedError{Code: refusal.WrongState, Message: "the project is being moved into the database at " + at.URL + ", or that was cut off", Person: true,
			Remedy: "wait until that has ended; if it was cut off, ferrus store move finishes it"}
	}
	return at, err
}

// Arriving returns where the machines of the project are on their way to, in a database; nil where no move has begun, or it is over.
func (p Place) Arriving() (*Shared, error) {
	at, arriving, err := p.Recorded()
	if err != nil || !arriving {
		return nil, err
	}
	return at, nil
}

// Returned returns the database that the project has left, if it is in its files again and the record still names that database, as a move was cut off.
func (p Place) Returned() (*Shared, error) {
	at, arriving, err := p.Recorded()
	if err != nil || arriving || p.InDatabase() || !file.Initialised(At(p.Root, "").Dir()) {
		return nil, err
	}
	return at, nil
}

// whereTo says where the machines are that were taken out of the files of the project, for people, and what one does who has them open.
func (p Place) whereTo() (what string, remedy refusal.Own) {
	const again = "end this server or command and start it again"
	at, arriving, err := p.Recorded()
	switch {
	case err != nil || at == nil:
		return "the project was moved into a database", again
	case arriving:
		return "the project is being moved into the database at " + at.URL + ", or that was cut off",
			"wait until that has ended, then " + again + "; if it was cut off, ferrus store move finishes it"
	}
	return "the project was moved into the database at " + at.URL, again
}

// Ignored returns the URL of [store] in the person's own configuration where it is another one than that of the project, whose folder was moved or has joined
// before; "" where it is not.
func (at *Shared) Ignored() (string, error) {
	person, err := config.LoadPerson()
	if err != nil {
		return "", refusal.Config(err)
	}
	if person.Store.URL == "" || postgres.SameURL(person.Store.URL, at.URL) {
		return "", nil
	}
	return person.Store.URL, nil
}

// Rejoin is the command that makes the folder use the database of Ignored, if the project is there.
func (at *Shared) Rejoin() string { return "ferrus store join --project " + at.Project.String() }

// Announce records where the machines of the project will be in a database, before anything is moved.
func (at *Shared) Announce(p Place) error { return at.record(p, true) }

// Share records that the machines of the project at the place are in a database from now on, or for nil that they are in its files.
func (p Place) Share(at *Shared) error {
	if at != nil {
		if err := at.record(p, false); err != nil {
			return err
		}
		return at.Mark(p)
	}
	if err := p.unmark(); err != nil {
		return err
	}
	return at.record(p, false)
}

// record writes the record of the project; nil says that the machines are in its files.
func (at *Shared) record(p Place, arriving bool) error {
	record, err := trust.Open(p.Root)
	if err != nil {
		return refusal.Folder(err)
	}
	return refusal.Folder(record.Update(func(r *trust.Record) error {
		r.Shared = nil
		if at != nil {
			r.Shared = &trust.Shared{URL: at.URL, Project: at.Project.String(), Node: at.Node.String(), Arriving: arriving}
		}
		return nil
	}))
}

// Mark writes the files that say so: one for this ferrus, and a STATE.json that an older one does not read.
func (at *Shared) Mark(p Place) error {
	main := At(p.Root, "")
	if err := makeFolders(main.Dir()); err != nil {
		return refusal.Folder(err)
	}
	home, err := p.OpenHome()
	if err != nil {
		return err
	}
	defer home.Close()
	if err := file.Freeze(main.Dir()); err != nil {
		return refusal.Folder(err)
	}
	text, err := json.Marshal(map[string]any{"project": at.Project, "note": "the machine is in a database: ferrus status"})
	if err == nil {
		err = home.WriteFile(SharedName, append(text, '\n'), 0o600)
	}
	return refusal.Folder(err)
}

// unmark removes them.
func (p Place) unmark() error {
	home, err := p.OpenHome()
	if err != nil {
		return err
	}
	defer home.Close()
	if err := file.Thaw(At(p.Root, "").Dir()); err != nil {
		return refusal.Folder(err)
	}
	if err := home.Remove(SharedName); err != nil && !os.IsNotExist(err) {
		return refusal.Folder(err)
	}
	return nil
}

// databases are those that this process has opened. They stay open: one without work has no connection.
var databases = struct {
	sync.Mutex
	open map[Shared]*postgres.Database
}{open: map[Shared]*postgres.Database{}}

// Database opens the database, or returns it as it was opened before. It is not closed.
func (at *Shared) Database(ctx context.Context, log *slog.Logger) (*postgres.Database, error) {
	databases.Lock()
	defer databases.Unlock()
	if d := databases.open[*at]; d != nil {
		return d, nil
	}
	person, err := config.LoadPerson()
	if err != nil {
		return nil, refusal.Config(err)
	}
	host, _ := os.Hostname()
	opts := postgres.Options{Node: at.Node, Host: host, Root: at.Root, Log: log, TTL: person.Store.TTL(),
		Folder: func(branch string) string { return At(at.Root, branch).Dir() }}
	home := At(at.Root, "").Dir()
	opts.Heard = func(sent lease.Instant) { _ = live.NoteHeard(home, sent) } // a shim that misses it ends its agent, which is safe
	d, err := postgres.Connect(ctx, at.URL, opts)
	if err != nil {
		return nil, err
	}
	databases.open[*at] = d
	return d, nil
}

// reachEvery is how often Reach looks for the database.
const reachEvery = 2 * time.Second

// Reach waits until the database of the project at the place answers. away is called with the first reason why it waits. It returns at once for a
// project in its files. It returns any other error of the database, and that of ctx when it ends.
func (p Place) Reach(ctx context.Context, away func(error)) error {
	at, err := p.Shared()
	if err != nil || at == nil {
		return err
	}
	for told := false; ; told = true {
		_, err := at.Database(ctx, nil)
		if !postgres.Away(err) {
			return err
		}
		if !told {
			away(err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(reachEvery):
		}
	}
}

// Name is that of the machine of the place in the database.
func (at *Shared) Name(p Place) postgres.Name {
	return postgres.Name{Project: at.Project, Branch: p.Branch}
}

// openShared opens the machine of the place in the database. A folder that this computer lacks, of a branch that was made on another one, is made.
func (p Place) openShared(opts StoreOptions) (*postgres.Store, error) {
	at, err := p.Shared()
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	d, err := at.Database(ctx, opts.Log)
	if err != nil {
		return nil, err
	}
	how := postgres.Opening{Begin: opts.Begin, Now: opts.Now}
	if p.survey != nil {
		if s := p.survey.Open(at.Name(p), p.Dir(), how); s != nil {
			return s, makeFolders(p.Dir())
		}
	}
	s, err := d.Open(ctx, at.Name(p), p.Dir(), how)
	if err != nil {
		return nil, err
	}
	if opts.ReadOnly {
		return s, nil
	}
	if err := makeFolders(p.Dir()); err != nil {
		return nil, refusal.Because(refusal.StoreError, "make "+p.Dir(), err, "check whether the folder can be written")
	}
	return s, nil
}

// makeFolders makes the folder of a machine, and those in it that a machine in files has from the beginning.
func makeFolders(dir string) error {
	for _, name := range []string{"logs", "live", "archive"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			return err
		}
	}
	return nil
}

// thereIs reports whether the database has the machine of the place.
func (p Place) thereIs(ctx context.Context) (bool, error) {
	at, err := p.Shared()
	if err != nil {
		return false, err
	}
	d, err := at.Database(ctx, nil)
	if err != nil {
		return false, err
	}
	return d.Initialised(ctx, at.Name(p))
}

// retire removes the machine of the place from the database, if it is there, and keeps its journal in its folder here.
func (p Place) retire(ctx context.Context) error {
	at, err := p.Shared()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(p.Dir(), 0o700); err != nil {
		return refusal.Folder(err)
	}
	d, err := at.Database(ctx, nil)
	if err != nil {
		return err
	}
	there, err := d.Initialised(ctx, at.Name(p))
	if err != nil || !there {
		return err
	}
	_, err = at.Receive(ctx, p)
	if err == nil {
		err = file.Accept(p.Dir())
	}
	if err == nil {
		err = d.Remove(ctx, at.Name(p))
	}
	return err
}

// Receive writes the journal of the machine of the place from the database beside its place in files, and returns where it ends.
// [file.Accept] puts it into its place.
func (at *Shared) Receive(ctx context.Context, p Place) (store.Position, error) {
	d, err := at.Database(ctx, nil)
	if err != nil {
		return store.Position{}, err
	}
	r, w := io.Pipe()
	go func() {
		_, err := d.Export(ctx, at.Name(p), w)
		w.CloseWithError(err)
	}()
	defer r.Close()
	return file.Receive(p.Dir(), r)
}

// sharedBranches returns the names of the project's branches in the database.
func (p Place) sharedBranches(ctx context.Context) ([]string, error) {
	at, err := p.Shared()
	if err != nil {
		return nil, err
	}
	d, err := at.Database(ctx, nil)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	names, err := d.Branches(ctx, at.Project)
	return slices.DeleteFunc(names, func(name string) bool { return state.CheckBranch(name) != nil }), err
}

// Close closes the database, if this process has opened it. It is for tests.
func (at *Shared) Close() error {
	databases.Lock()
	defer databases.Unlock()
	d := databases.open[*at]
	delete(databases.open, *at)
	if d == nil {
		return nil
	}
	return d.Close()
}
