package ui

import (
	"context"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/status/review"
	"github.com/ferrus-go/ferrus/internal/ui/terminal"
)

// task reads a task. The act that rejects its submission begins with the comments that the person has kept.
func (r *reader) task(ctx context.Context, e *engine.Engine) (*status.Detail, error) {
	d, err := status.ReadDetail(ctx, e, entries)
	if err != nil {
		return nil, err
	}
	if about, ok := review.SubjectOf(d); ok {
		draft, err := r.reviews.Store.Read(about)
		if err != nil {
			return nil, err
		}
		draft.Offer(d.Acts)
	}
	return d, nil
}

// Review reads what a task has changed, file by file.
func (r *reader) Review(ctx context.Context, key terminal.Key, since string) (*terminal.Review, error) {
	e, err := r.at(key)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	d, err := r.task(ctx, e)
	if err != nil {
		return nil, err
	}
	v, err := r.reviews.Read(ctx, e, d, since, "")
	return &terminal.Review{Review: v, Task: d}, err
}

// Comment keeps a comment on a line until the person decides.
func (r *reader) Comment(_ context.Context, of review.Subject, c review.Comment) error {
	if err := r.may(); err != nil {
		return err
	}
	return r.reviews.Comment(of, c)
}

// Viewed marks a file as viewed by the person, or takes the mark away.
func (r *reader) Viewed(_ context.Context, of review.Subject, path, id string, viewed bool) error {
	if err := r.may(); err != nil {
		return err
	}
	return r.reviews.View(of, path, id, viewed)
}

// branch opens the machine of a branch for reading.
func (r *reader) branch(name string) (*engine.Engine, error) {
	return r.at(terminal.Key{Kind: terminal.Task, Name: name})
}

// Compare reads the attempts at the task of a branch.
func (r *reader) Compare(ctx context.Context, key terminal.Key) (*review.Comparison, error) {
	names, err := project.Branches(r.root)
	if err != nil {
		return nil, err
	}
	return r.reviews.Compare(ctx, r.branch, names, key.Name)
}

// Between reads what differs between the work of two attempts.
func (r *reader) Between(ctx context.Context, c *review.Comparison, from, to string) (*review.Patch, error) {
	return c.Between(ctx, r.branch, from, to)
}

// settle removes the comments that have become a rejection, and puts them back when the person takes it back. One that stays, or is lost,
// changes nothing of what was decided.
func (r *reader) settle(done status.Act) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case done.Report == nil:
	case done.Name == "reject":
		r.rejected, _ = r.reviews.Remove(review.SubjectOfAct(done))
	case done.Name == "rollback" && r.rejected.Subject.Task == done.On.Task:
		_ = r.reviews.PutBack(r.rejected)
		r.rejected = review.Draft{}
	}
}
