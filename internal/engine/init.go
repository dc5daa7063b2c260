package engine

import (
	"context"
	"errors"

	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/trust"
)

// Init makes the machine of a project in root where there is none. restored tells that a journal which had been lost
// with its folder came back from its hard-linked copy.
func Init(root string) (restored bool, err error) { return Revive(At(root, ""), nil) }

// Revive is Init for any machine of a project. That of a branch is not made so, but brought back. project tells which
// journals were made on this machine; nil takes every journal.
func Revive(place Place, project *trust.Project) (restored bool, err error) {
	if err := place.CheckFolders(); err != nil {
		return false, err
	}
	s, restored, err := store.Create(place.Dir(), copyOptions(place, project))
	if err != nil {
		return false, refusal(err)
	}
	return restored, s.Close()
}

// copyOptions are those of a store that is opened to look at the copies of its journal.
func copyOptions(place Place, project *trust.Project) store.Options {
	opts := store.Options{Backup: place.backup}
	if project != nil {
		opts.Judge = (&origin{place: place, project: project, ctx: context.Background()}).journal
	}
	return opts
}

// Copies examines the journal of a place and its hard-linked copy, and changes nothing.
func Copies(place Place, project *trust.Project) (c store.Copies, err error) {
	err = withCopies(place, project, func(s *store.Store) error {
		c = s.Copies()
		return nil
	})
	return c, err
}

// Reconcile makes the journal of a place and its hard-linked copy one file; see store.Store.Reconcile. The error is a
// *Refusal.
func Reconcile(ctx context.Context, place Place, project *trust.Project, adopt bool) (did store.Reconciled, err error) {
	err = withCopies(place, project, func(s *store.Store) (err error) {
		did, err = s.Reconcile(ctx, adopt)
		return err
	})
	return did, err
}

func withCopies(place Place, project *trust.Project, do func(*store.Store) error) error {
	if err := place.CheckFolders(); err != nil {
		return err
	}
	s, err := store.Open(place.Dir(), copyOptions(place, project))
	if err != nil {
		return refusal(err)
	}
	return refusal(errors.Join(do(s), s.Close()))
}
