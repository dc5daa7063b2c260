package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// A Taking is the way in which a project was taken out of a database, for ever. A project is taken out once.
type Taking string

const (
	ToFiles   Taking = "files"     // its machines were moved into the files of a folder, which goes on with them
	Removed   Taking = "removed"   // a person has removed it, as nobody used it
	Withdrawn Taking = "withdrawn" // it never arrived: its move was given up, and may not end later
)

// Whereabouts say whether a database has a project, and otherwise who has taken it out. Those of a project that the database has never had are zero.
type Whereabouts struct {
	Known bool      // it has the project, or had it
	Moved time.Time // when the project was taken out, zero while it is there
	How   Taking    // "" where an older ferrus has moved it to files
	Host  string    // on which computer that was done, "" where nobody knows
	Root  string    // in which folder there
	Here  bool      // it was this one
}

// There reports whether the database has the project.
func (w Whereabouts) There() bool { return w.Known && w.Moved.IsZero() }

// Taken reports whether this computer has moved the project into its files. It alone may finish that.
func (w Whereabouts) Taken() bool { return w.How == ToFiles && w.Here }

// String says what has become of the project, for people.
func (w Whereabouts) String() string {
	on := ""
	if w.Host != "" {
		on = " on " + w.Host
	}
	when := " at " + w.Moved.Local().Format(time.DateTime)
	switch {
	case !w.Known:
		return "the database does not have the project"
	case w.There():
		return "the project is in the database"
	case w.How == Removed:
		return "the project was removed from the database" + on + when
	case w.How == Withdrawn:
		return "the move of the project into the database was given up" + on + when
	case w.Root == "":
		return "the project was moved into files on another computer" + when
	}
	return "the project was moved into the files of " + w.Root + on + when
}

// remedy is what helps somebody who looks for the project in the database.
func (w Whereabouts) remedy() refusal.Own {
	switch {
	case w.Taken():
		return "ferrus store move --files finishes that"
	case w.How == ToFiles || w.Known && w.How == "":
		return "work on it there, or move it into the database again there (ferrus store move), then here: ferrus store join"
	}
	return "ferrus store join takes part in another project"
}

// Refusal is the error of a caller that looks for the project, of code NotInitialised.
func (w Whereabouts) Refusal() error {
	return &refusal.RefusedError{Code: refusal.NotInitialised, Message: w.String(), Remedy: w.remedy()}
}

// A querier is a transaction, or the connections for reading.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// whereabouts reads where a project is.
func (d *Database) whereabouts(ctx context.Context, in querier, project uuid.UUID) (Whereabouts, error) {
	w := Whereabouts{Known: true}
	var moved *time.Time
	err := in.QueryRow(ctx, "select moved, moved_how, moved_host, moved_root, coalesce(moved_node = $2, false) from project where id = $1", project, d.opts.Node).
		Scan(&moved, &w.How, &w.Host, &w.Root, &w.Here)
	if errors.Is(err, pgx.ErrNoRows) {
		return Whereabouts{}, nil
	}
	w.Moved = at(moved)
	return w, err
}

// Whereabouts returns where a project is. Only what a later write confirms may be promised to somebody.
func (d *Database) Whereabouts(ctx context.Context, project uuid.UUID) (w Whereabouts, err error) {
	err = d.query(ctx, func(ctx context.Context) (err error) {
		w, err = d.whereabouts(ctx, d.read, project)
		return err
	})
	return w, d.failed("look for the project", err)
}

// noProject is the error of a change of a project that is not in the database any more.
func (d *Database) noProject(ctx context.Context, in querier, project uuid.UUID) error {
	w, err := d.whereabouts(ctx, in, project)
	if err != nil {
		return err
	}
	return w.Refusal()
}

// shareProject locks a project so that nobody takes it out of the database before the end of the transaction.
func (d *Database) shareProject(ctx context.Context, tx pgx.Tx, project uuid.UUID) error {
	var moved bool
	err := tx.QueryRow(ctx, "select moved is not null from project where id = $1 for share", project).Scan(&moved)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && moved {
		return d.noProject(ctx, tx, project)
	}
	return err
}

// missing is the error of somebody who opens a machine that is not there.
func (d *Database) missing(ctx context.Context, name Name) error {
	w, err := d.Whereabouts(ctx, name.Project)
	switch {
	case err != nil:
		return err
	case w.There():
		return &refusal.RefusedError{Code: refusal.NotInitialised, Message: "the database does not have " + name.String() + " any more", Remedy: "it was removed: ferrus branches lists what there is"}
	}
	return w.Refusal()
}

// gone is the error of the uses of a machine that was open when it was removed, or when its project was taken out of the database.
func (s *Store) gone() error {
	removed := &refusal.RefusedError{Code: refusal.StoreGone, Message: s.name.String() + " was removed", Remedy: "ferrus branches lists what there is"}
	w, err := s.db.Whereabouts(s.db.ctx, s.name.Project)
	if err != nil || w.There() {
		return removed
	}
	again := w.remedy()
	if w.Taken() {
		again = "then start it again; if the move was cut off, ferrus store move --files finishes it"
	}
	return &refusal.RefusedError{Code: refusal.StoreGone, Message: w.String(), Remedy: refusal.Say("end this server or command; %s", again)}
}
