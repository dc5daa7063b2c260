package conductor

import (
	"context"
	"errors"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/conductor/leader"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project"
)

// take makes this the one conductor of the task: on this computer by a lock, and on all that share the machine by the post. The error is
// a *BusyError if there is another one.
func (c *conductor) take(ctx context.Context) error {
	place := c.e.Place()
	lock, err := Hold(place.Path())
	if err != nil {
		return err
	}
	c.lock = lock
	if c.post, err = leader.Take(ctx, c.e.Store(), place); err == nil {
		return nil
	}
	err = errors.Join(err, lock.Close())
	var taken *leader.TakenError
	if errors.As(err, &taken) {
		return &BusyError{Holder{Since: taken.Since, Host: taken.Host}}
	}
	return err
}

// fetchFiles brings the files of the task to this computer if they are not here. Another one may make newer ones afterwards: an agent whose conductor has
// ended there can still check and submit. So each start asks again. Those of a task that is over stay where they are: nobody works on it.
func (c *conductor) fetchFiles(ctx context.Context) error {
	for c.post.Moved() {
		if now, err := c.e.View(); err != nil || !now.Task.Underway() {
			return err
		}
		if err := c.bringFiles(ctx); err != nil {
			return err
		}
		if err := c.post.Arrived(ctx); err != nil && !errors.Is(err, leader.ErrFilesElsewhere) {
			return err
		}
	}
	return nil
}

// bringFiles brings the files that are the newest as far as the post knows.
func (c *conductor) bringFiles(ctx context.Context) error {
	place := c.e.Place()
	switch {
	case !c.post.Files.Elsewhere() && place.Here() == nil: // they were made here, and nobody has conducted the task yet
		return nil
	case c.FetchFiles != nil:
		return c.FetchFiles(ctx, c.e)
	}
	now, err := c.e.View()
	if err != nil {
		return err
	}
	return place.HasFiles(now.Files)
}

// departing bounds how long the files are handed over: a person waits for the end of the run.
const departing = time.Minute

// handOver hands the files over to other computers, after the end of all agents.
func (c *conductor) handOver() {
	if c.post == nil || c.HandOver == nil || c.e.Place().Branch == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), departing)
	defer cancel()
	err := c.post.Look(ctx)
	if err == nil && c.post.Moved() {
		return // an agent elsewhere has made newer ones
	}
	files := ""
	if err == nil {
		files, err = c.HandOver(ctx, c.e)
	}
	if err != nil {
		c.Log.Warn("other computers do not get the newest files of the task", "branch", c.e.Place().Branch, "error", err)
		return
	}
	c.files = files
}

// leave lets other conductors work on the task.
func (c *conductor) leave() {
	if err := errors.Join(c.post.Leave(context.Background(), c.files), c.lock.Close()); err != nil {
		c.Log.Warn("the post is free only after a while", "error", err)
	}
}

// AllRuns returns the runs of a task on all computers, in the order of their start. Those of other computers have no log.
func AllRuns(ctx context.Context, e *engine.Engine, task string) ([]process.Run, error) {
	own, err := process.Runs(Runs(e, task))
	if err != nil {
		return own, err
	}
	return leader.All(ctx, e.Store(), task, own), nil
}

// Node returns the other computer that conducts the task of the engine, "" for none.
func Node(e *engine.Engine) string { return leader.Node(context.Background(), e.Store()) }

// Elsewhere returns the branches of the project that other computers conduct; none where the machines are in files.
func Elsewhere(e *engine.Engine) (map[string]bool, error) {
	return leader.Elsewhere(context.Background(), e.Store())
}

// A Trouble says why a node does not work on a task.
type Trouble = leader.Trouble

// Troubles returns why nodes do not work on the task of the engine, if nobody does; none where the machine is in files.
func Troubles(e *engine.Engine) []Trouble { return leader.Troubles(context.Background(), e.Store()) }

// NoteTrouble records for the session of a node why it does not work on the task of a branch or of the queue; nil says that this is over. e has the project's own
// machine.
func NoteTrouble(ctx context.Context, e *engine.Engine, session, name string, why error) error {
	return leader.NoteTrouble(ctx, e.Store(), session, name, why)
}

// lockPath is the lock of the conductor of a place.
func lockPath(place project.Place) string { return place.Path(liveDir, lockFile) }
