package sharing

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/queue"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/store/file"
	"github.com/ferrus-go/ferrus/internal/store/postgres"
)

// Join lets the folder root take part in a project of the database at url. which is its id or its name; "" for one named like the folder, or the
// only one. The tasks in the queue of the folder become tasks of the project.
func Join(ctx context.Context, root, url, which string, now time.Time) (Moved, error) {
	main := project.At(root, "")
	if err := os.MkdirAll(main.Dir(), 0o700); err != nil {
		return Moved{}, refusal.Folder(err)
	}
	if err := main.CheckFolders(); err != nil {
		return Moved{}, err
	}
	lock, err := alone(main)
	if err != nil {
		return Moved{}, err
	}
	defer lock.Close()
	if at, err := main.Arriving(); err != nil || at != nil {
		if err == nil {
			_, err = main.Shared()
		}
		if err != nil {
			return Moved{}, err
		}
	}
	places, err := inFiles(main)
	if err != nil {
		return Moved{}, err
	}
	if err := locked(ctx, unfrozen(places), fresh, func() error { return nil }); err != nil {
		return Moved{}, err
	}
	at, _, found, err := find(ctx, root, url, which)
	if err != nil {
		return Moved{}, err
	}
	at.Project = found.ID
	var left *project.Shared // the project that the folder belonged to
	if was, err := main.Shared(); err == nil && was != nil && was.Project == at.Project {
		at.Node = was.Node
	} else if err == nil {
		left = was
	}
	d, err := at.Database(ctx, nil)
	if err != nil {
		return Moved{}, err
	}
	if err := d.Join(ctx, at.Project); err != nil {
		return Moved{}, err
	}
	reached(ctx, "joining")
	// Under the locks: an agent of this computer may make the first task of the folder at this moment.
	err = locked(ctx, unfrozen(places), fresh, func() error { return main.Share(at) })
	if err != nil {
		return Moved{}, errors.Join(err, d.Part(ctx, at.Project))
	}
	reached(ctx, "shared")
	if left != nil {
		if old, err := left.Database(ctx, nil); err == nil {
			_ = old.Part(ctx, left.Project) // which only says who uses the project
		}
	}
	if file.Initialised(main.Dir()) { // the journal of ferrus init, which has no event
		if _, err := setAside(ctx, places, now); err != nil {
			return Moved{}, err
		}
	}
	did := Moved{Project: at.Project, Name: found.Name, URL: url, Machines: 1 + found.Branches}
	if did.Queued, err = queue.Collect(main.Dir()); err != nil {
		return did, err
	}
	m, err := main.Open(project.StoreOptions{})
	if err != nil {
		return did, err
	}
	defer m.Close()
	is, err := m.View()
	if err != nil || is.Top == nil {
		return did, err
	}
	did.Events = is.Task.Seq
	first, err := m.LineAt(0)
	if err != nil {
		return did, err
	}
	return did, seen(main, first.H, is.Journal)
}

// unfrozen are the places whose machines are in use in their files.
func unfrozen(places []project.Place) []project.Place {
	return slices.DeleteFunc(slices.Clone(places), func(p project.Place) bool { return !file.Initialised(p.Dir()) || file.Frozen(p.Dir()) })
}

// fresh refuses a machine that has events: it would be lost to a folder that joins.
func fresh(p project.Place, now store.Snapshot) error {
	if now.Top == nil {
		return nil
	}
	return &refusal.RefusedError{Code: refusal.WrongState, Message: p.Dir() + " has tasks of its own", Person: true,
		Remedy: "nothing was changed: move that folder away first, or take a fresh clone"}
}

// find returns the project of the database at url that is meant by which, its id or its name; with "", that which is named like the folder root,
// or the only one. at is how the folder reaches the database, as a new computer.
func find(ctx context.Context, root, url, which string) (at *project.Shared, d *postgres.Database, found postgres.Project, err error) {
	at = &project.Shared{URL: url, Node: uuid.New(), Root: root}
	if d, err = at.Database(ctx, nil); err != nil {
		return nil, nil, found, err
	}
	all, err := d.Projects(ctx)
	if err != nil {
		return nil, nil, found, err
	}
	found, err = choose(all, which, filepath.Base(root))
	return at, d, found, err
}

// choose returns the project that is meant.
func choose(all []postgres.Project, which, folder string) (postgres.Project, error) {
	var named []postgres.Project
	for _, p := range all {
		if p.ID.String() == which || which != "" && p.Name == which || which == "" && p.Name == folder {
			named = append(named, p)
		}
	}
	if which == "" && len(named) == 0 && len(all) == 1 {
		named = all
	}
	if len(named) == 1 {
		return named[0], nil
	}
	var list []string
	for _, p := range all {
		list = append(list, fmt.Sprintf("%s (%s)", p.Name, p.ID))
	}
	message := "the database has no such project"
	if len(named) > 1 {
		message = "the database has several such projects"
	}
	if len(all) > 0 {
		message += "; it has " + strings.Join(list, ", ")
	}
	return postgres.Project{}, &refusal.RefusedError{Code: refusal.InvalidInput, Message: message, Person: true, Remedy: "name one by its id: ferrus store join --project ID; ferrus store remove ID removes one that a move has left which did not succeed"}
}
