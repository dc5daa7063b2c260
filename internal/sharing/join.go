package sharing

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/queue"
	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/store/file"
	"github.com/ferrus-go/ferrus/internal/store/postgres"
)

// Join lets the folder root take part in a project of the database at url. which is its id or its name; "" for one named like the folder, or the
// only one. The tasks in the queue of the folder become tasks of the project.
func Join(ctx context.Context, root, url, which string, now time.Time) (Moved, error) {
	main := project.At(root, "")
	if !main.InDatabase() && main.Initialised() {
		m, err := main.Open(project.StoreOptions{ReadOnly: true})
		if err != nil {
			return Moved{}, refusal.From(err)
		}
		own, err := m.View()
		if err = errors.Join(err, m.Close()); err != nil {
			return Moved{}, refusal.From(err)
		}
		if own.Top != nil {
			return Moved{}, &refusal.RefusedError{Code: refusal.WrongState, Message: main.Dir() + " has tasks of its own", Person: true,
				Remedy: "move that folder away first, or take a fresh clone"}
		}
	}
	at := &project.Shared{URL: url, Node: uuid.New(), Root: root}
	d, err := at.Database(ctx, nil)
	if err != nil {
		return Moved{}, refusal.From(err)
	}
	all, err := d.Projects(ctx)
	if err != nil {
		return Moved{}, refusal.From(err)
	}
	found, err := choose(all, which, filepath.Base(root))
	if err != nil {
		return Moved{}, err
	}
	at.Project = found.ID
	if was, err := main.Shared(); err == nil && was != nil && was.Project == at.Project {
		at.Node = was.Node
	}
	if err := os.MkdirAll(main.Dir(), 0o700); err != nil {
		return Moved{}, refusal.Folder(err)
	}
	if err := main.CheckFolders(); err != nil {
		return Moved{}, err
	}
	if err := main.Share(at); err != nil {
		return Moved{}, err
	}
	if file.Initialised(main.Dir()) { // the journal of ferrus init, which has no event
		if _, err := setAside([]project.Place{main}, now); err != nil {
			return Moved{}, err
		}
	}
	did := Moved{Project: at.Project, Name: found.Name, URL: url, Machines: 1 + found.Branches}
	if did.Queued, err = queue.Collect(main.Dir()); err != nil {
		return did, refusal.From(err)
	}
	m, err := main.Open(project.StoreOptions{})
	if err != nil {
		return did, refusal.From(err)
	}
	defer m.Close()
	is, err := m.View()
	if err != nil || is.Top == nil {
		return did, refusal.From(err)
	}
	did.Events = is.Task.Seq
	return did, seen(main, m, is)
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
	return postgres.Project{}, &refusal.RefusedError{Code: refusal.InvalidInput, Message: message, Person: true, Remedy: "name one by its id: ferrus store join --project ID"}
}
