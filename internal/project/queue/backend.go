package queue

import (
	"context"
	"path/filepath"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/project"
)

// A backend keeps the tasks that wait: as files of this computer, or as rows of the database of the project.
type backend interface {
	// list returns the tasks that wait, in the order of inOrder. The error names what is no task; the tasks are valid all the same.
	list() ([]Item, error)
	// heads is list for those who need the beginnings of the texts alone.
	heads() ([]Item, error)
	// put adds a valid text under a valid name, or a numbered variant of it; an issue under its name, or not at all.
	put(name, text string, h Head) (Item, error)
	// change replaces the content of a task, head and text, by what do returns of the whole content as it is. The time at which it was added stays.
	change(it Item, do func(content string) (string, error)) error
	remove(it Item) error
	// claim is [Take].
	claim(ctx context.Context, it Item) (*Claim, error)
}

// of returns the backend of a .ferrus folder.
func of(home string) (backend, error) {
	if !rootfs.Exists(filepath.Join(home, project.SharedName)) {
		return fileQueue{home}, nil
	}
	return openTable(home)
}

// A Claim lets one process alone make a branch of a task.
type Claim struct {
	Item // with its text as it is now

	// Branch reports whether a branch of the task was made, perhaps on another computer, by a process that ended before the branch had the task.
	Branch bool
	// Since is when a process of this computer may have begun to take the task and was ended; zero if none has.
	Since time.Time

	done, close func() error
}

// Done takes the task out of the queue: its branch has it.
func (c *Claim) Done() error { return c.done() }

// Close gives the claim up.
func (c *Claim) Close() error { return c.close() }

// Take claims a task that waits. It returns nil without an error when the task does not wait any more, or another process takes it.
// What another computer has begun to take is finished here, but for a pipeline: then the error says what to do.
func Take(ctx context.Context, it Item) (*Claim, error) { return it.in.claim(ctx, it) }
