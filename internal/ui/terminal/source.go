package terminal

import (
	"context"

	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/status/review"
)

// A Kind is a kind of item.
type Kind string

// The kinds of items.
const (
	Task     Kind = "task"     // of the project, or of a branch
	Pipeline Kind = "pipeline" // a run that is not over
	Queued   Kind = "queued"   // a task that waits in the queue
	Past     Kind = "past"     // a task that is over
)

// A Key names an item of the list. Name is the branch, the run or the id; the project's own task has none.
type Key struct {
	Kind Kind
	Name string
}

// What a person can do, in the words of package status.
type (
	Act     = status.Act
	Field   = status.Field
	Outcome = status.Outcome
)

// A Detail is an item as far as it is shown: a task or a run, and of anything else a text.
type Detail struct {
	Task *status.Detail
	Run  *status.RunStatus
	Text string
	Can  []Act // what the person can do with an item that is neither
}

// Acts are what the person can do with the item.
func (d *Detail) Acts() []Act {
	switch {
	case d == nil:
		return nil
	case d.Task != nil:
		return d.Task.Acts
	case d.Run != nil:
		return d.Run.Acts()
	}
	return d.Can
}

// A Review is a task with what it has changed.
type Review struct {
	*review.Review
	Task *status.Detail
}

// report is that of a task, nil for every other item.
func (d *Detail) report() *status.Report {
	if d == nil || d.Task == nil {
		return nil
	}
	return d.Task.Report
}

// A Source reads what is shown, and carries out what the person does. Its methods are called from several goroutines.
type Source interface {
	// Overview reads the project at a glance; quickly without what git must be asked for.
	Overview(ctx context.Context, quickly bool) (*status.Overview, error)
	Detail(context.Context, Key) (*Detail, error)
	// Diff is what the task has changed, as a patch.
	Diff(context.Context, Key) (string, error)
	// Review reads what the task has changed, file by file, since a submission of it, "" for all.
	Review(ctx context.Context, key Key, since string) (*Review, error)
	// Comment keeps a comment on a line until the person decides. An empty text removes it.
	Comment(context.Context, review.Subject, review.Comment) error
	// Viewed marks a file with that content as viewed by the person, or takes the mark away.
	Viewed(ctx context.Context, of review.Subject, path, id string, viewed bool) error
	// Compare reads the attempts at the task of a branch.
	Compare(context.Context, Key) (*review.Comparison, error)
	// Between reads what differs between the work of two attempts.
	Between(ctx context.Context, c *review.Comparison, from, to string) (*review.Patch, error)
	// Outputs are the last lines of what the agents of the task printed, the newest agent first.
	Outputs(context.Context, Key) ([]Output, error)
	// CheckLog is the end of the log of the newest check.
	CheckLog(context.Context, Key) (string, error)
	// Changed returns when something may have changed since it was called, or with the error of the context.
	Changed(context.Context) error
	// Do carries out an act that Detail of the key has listed or, for the zero key, Overview. One that is listed no longer is refused.
	Do(context.Context, Key, Act, map[string]string) (Outcome, error)
}

// An Output is what an agent has printed.
type Output struct {
	Name, About string
	Live        bool
	Lines       []string
}
