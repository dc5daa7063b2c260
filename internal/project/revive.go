package project

import (
	"context"
	"errors"
	"time"

	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/store/file"
)

// Revive is Init for any machine of a project. That of a branch is not made so, but brought back. record tells which
// journals were made on this machine; nil takes every journal.
func Revive(place Place, record *trust.Project) (restored bool, err error) {
	return Create(place, copyOptions(place, record))
}

// copyOptions are those of a store that is opened to look at the copies of its journal.
func copyOptions(place Place, record *trust.Project) file.Options {
	opts := file.Options{Backup: place.Backup}
	if record != nil {
		opts.Judge = NewJudge(context.Background(), place, record, time.Time{}).Journal
	}
	return opts
}

// Copies examines the journal of a place and its hard-linked copy, and changes nothing.
func Copies(place Place, record *trust.Project) (c file.Copies, err error) {
	err = withCopies(place, record, func(s *file.Store) error {
		c = s.Copies()
		return nil
	})
	return c, err
}

// Reconcile makes the journal of a place and its hard-linked copy one file; see file.Store.Reconcile. The error is a
// *refusal.RefusedError.
func Reconcile(ctx context.Context, place Place, record *trust.Project, adopt bool) (did file.Reconciled, err error) {
	err = withCopies(place, record, func(s *file.Store) (err error) {
		did, err = s.Reconcile(ctx, adopt)
		return err
	})
	return did, err
}

func withCopies(place Place, record *trust.Project, do func(*file.Store) error) error {
	if err := place.CheckFolders(); err != nil {
		return err
	}
	s, err := file.Open(place.Dir(), copyOptions(place, record))
	if err != nil {
		return err
	}
	return errors.Join(do(s), s.Close())
}
