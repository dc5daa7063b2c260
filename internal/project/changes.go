package project

import (
	"context"

	"github.com/ferrus-go/ferrus/internal/refusal"
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
		return nil, refusal.From(err)
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

// QueueSign is what Signs calls the queue of the project. No branch has that name.
const QueueSign = postgres.QueueSign

// Signs returns for each machine of the project, by branch, and for its queue a text that is another one after each change of it.
func (c *Changes) Signs(ctx context.Context) (map[string]string, error) {
	signs, err := c.database.Signs(ctx, c.at.Project)
	return signs, refusal.From(err)
}

// Close ends the watching. It may be called on nil.
func (c *Changes) Close() {
	if c != nil {
		c.watcher.Close()
	}
}
