package sharing

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/queue"
	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/store/file"
)

// Move moves all machines of the project at root and its queue from its files into the database at url. Nobody may hold their work. The files that were moved stay
// in the archive. A call that was cut off is finished by the same one.
func Move(ctx context.Context, root, url string, now time.Time) (Moved, error) {
	main := project.At(root, "")
	if main.InDatabase() {
		return finish(main, now)
	}
	places, err := machines(root)
	if err != nil {
		return Moved{}, err
	}
	at := &project.Shared{URL: url, Project: uuid.New(), Node: uuid.New(), Root: root}
	d, err := at.Database(ctx, nil)
	if err != nil {
		return Moved{}, refusal.From(err)
	}
	did := Moved{Project: at.Project, Name: filepath.Base(root), URL: url}
	err = locked(ctx, places, func(p project.Place, m store.Machine, now store.Snapshot) error {
		if who := now.Task.ClaimedBy; who != "" {
			return held(p, who)
		}
		r, err := m.Bytes(0, now.Journal.Bytes)
		if err != nil {
			return err
		}
		defer r.Close()
		did.Machines++
		did.Events += now.Task.Seq
		return d.Import(ctx, at.Name(p), did.Name, r)
	}, func() error {
		if err := main.Share(at); err != nil {
			return err
		}
		if did.Queued, err = queue.MoveIn(main.Dir()); err != nil {
			return err
		}
		did.Kept, err = setAside(places, now)
		return err
	})
	return did, refusal.From(err)
}

// finish sets the files aside that a move has left which was cut off.
func finish(main project.Place, now time.Time) (did Moved, err error) {
	at, err := main.Shared()
	if err != nil {
		return did, err
	}
	if !file.Initialised(main.Dir()) {
		return did, &refusal.RefusedError{Code: refusal.WrongState, Message: "the project is in a database already: " + at.URL, Person: true,
			Remedy: "ferrus store shows it; ferrus store move --files moves it back"}
	}
	if err := main.Share(at); err != nil {
		return did, err
	}
	names, err := project.Folders(main.Path("branches"))
	places := []project.Place{main}
	for _, name := range names {
		if state.CheckBranch(name) == nil {
			places = append(places, project.At(main.Root, name))
		}
	}
	if err == nil {
		did = Moved{Project: at.Project, Name: filepath.Base(main.Root), URL: at.URL, Machines: len(places)}
		did.Queued, err = queue.MoveIn(main.Dir())
	}
	if err == nil {
		did.Kept, err = setAside(places, now)
	}
	return did, err
}

// setAside moves what the files of machines had into a folder of the archive, and takes away the second names of their journals.
func setAside(places []project.Place, now time.Time) (kept string, err error) {
	kept = path.Join("archive", "moved-"+now.UTC().Format("20060102-150405.000"))
	home, err := places[0].OpenHome()
	if err != nil {
		return "", err
	}
	defer home.Close()
	names := []string{store.JournalName}
	for _, doc := range state.Docs() {
		names = append(names, string(doc))
	}
	for _, p := range places {
		within, to := ".", kept
		if p.Branch != "" {
			within, to = path.Join("branches", p.Branch), path.Join(kept, "branches", p.Branch)
		}
		if err := home.MkdirAll(to, 0o700); err != nil {
			return "", refusal.Folder(err)
		}
		all := names
		if p.Branch != "" {
			all = append([]string{"STATE.json"}, names...) // that of the project says where it is
		}
		if link := p.Backup(); link != "" {
			if err := os.Rename(link, link+".moved"); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return "", refusal.Folder(err)
			}
		}
		for _, name := range all {
			if err := home.Rename(path.Join(within, name), path.Join(to, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return "", refusal.Folder(err)
			}
		}
	}
	return kept, nil
}
