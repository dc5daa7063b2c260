package project

import (
	"context"
	"slices"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/store/postgres"
)

// Changes tells what changes in a project in a database, whichever computer changes it.
type Changes struct {
	at       *Shared
	database *postgres.Database
	watcher  *store.Watcher
}

// Changes watches the project of the place; it returns nil where the machines are in files. The caller closes it.
func (p Place) Changes(ctx context.Context) (*Changes, error) {
	at, err := p.Shared()
	if err != nil || at == nil {
		return nil, err
	}
	d, err := at.Database(ctx, nil)
	if err != nil {
		return nil, err
	}
	return &Changes{at, d, d.WatchAll()}, nil
}

// C is notified when something may have changed: after each change that was announced, and each second. A nil Changes has no channel.
func (c *Changes) C() <-chan struct{} {
	if c == nil {
		return nil
	}
	return c.watcher.C
}

// Survey returns the places of the project in root and of its branches, its own first, for those who look at all of them. The machines of a project in
// a database are read now, together: one that is opened of such a place shows what was read, and is for nothing else.
func Survey(ctx context.Context, root string) (places []Place, err error) {
	main := At(root, "")
	names, err := []string(nil), error(nil)
	if main.InDatabase() {
		at, err := main.Shared()
		if err != nil {
			return nil, err
		}
		d, err := at.Database(ctx, nil)
		if err != nil {
			return nil, err
		}
		if main.survey, err = d.Survey(ctx, at.Project); err != nil {
			return nil, err
		}
		names = slices.DeleteFunc(main.survey.Branches(), func(name string) bool { return state.CheckBranch(name) != nil })
	} else if names, err = Branches(root); err != nil {
		return nil, err
	}
	places = []Place{main}
	for _, name := range names {
		p := At(root, name)
		p.survey = main.survey
		places = append(places, p)
	}
	return places, nil
}

// QueueSign is what Signs calls the queue of the project. No branch has that name.
const QueueSign = postgres.QueueSign

// Signs returns for each machine of the project, by branch, and for its queue a text that is another one after each change of it.
func (c *Changes) Signs(ctx context.Context) (map[string]string, error) {
	signs, err := c.database.Signs(ctx, c.at.Project)
	return signs, err
}

// Close ends the watching. It may be called on nil.
func (c *Changes) Close() {
	if c != nil {
		c.watcher.Close()
	}
}
