package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// movedOn is the error of Retire for a journal that has gone on.
func movedOn() error {
	return &refusal.RefusedError{Code: refusal.StoreError, Message: "somebody has written to the project meanwhile", Remedy: "nothing was changed: stop the agents of all computers, then try again"}
}

// errWorking ends a transaction that takes out a project at which something is at work.
var errWorking = errors.New("the project is at work")

// Retire takes a project out of the database, into the files of this computer, if the journals of all its machines end where ends says, by
// branch. One computer can do so: for any other the error says who has done it. It may be called again. Where something is at work, which alive
// helps to tell as in Working, that is returned, and nothing is changed; nor if a journal has gone on meanwhile.
func (d *Database) Retire(ctx context.Context, project uuid.UUID, ends map[string]store.Position, alive func(branch, session string) bool) (busy []Work, err error) {
	ctx, cancel := context.WithTimeout(ctx, d.opts.Wait)
	defer cancel()
	err = d.change(ctx, "move the project", func(tx pgx.Tx) error {
		// First, so that no branch is made and no post is taken meanwhile.
		w, err := d.lockProject(ctx, tx, project)
		if err == nil && !w.There() && !w.Taken() {
			err = w.Refusal()
		}
		if err != nil || !w.There() {
			return err
		}
		rows, err := tx.Query(ctx, "select m.branch, encode(h.h, 'hex') from machine m join head h on h.machine = m.id where project = $1 and gone is null for update of h", project)
		if err != nil {
			return err
		}
		n := 0
		var branch, h string
		if _, err = pgx.ForEachRow(rows, []any{&branch, &h}, func() error {
			n++
			if end, ok := ends[branch]; !ok || end.H != h {
				return movedOn()
			}
			return nil
		}); err != nil {
			return err
		}
		if n != len(ends) {
			return movedOn()
		}
		if busy, err = d.working(ctx, tx, project, alive); err == nil && len(busy) > 0 {
			err = errWorking
		}
		if err != nil {
			return err
		}
		return d.takeOut(ctx, tx, project, ToFiles)
	})
	if len(busy) > 0 {
		return busy, nil
	}
	return nil, err
}

// lockProject locks a project and returns where it is. It writes, so that the commit is acknowledged for what others have done too.
func (d *Database) lockProject(ctx context.Context, tx pgx.Tx, project uuid.UUID) (Whereabouts, error) {
	if _, err := tx.Exec(ctx, "update project set moved = moved where id = $1", project); err != nil {
		return Whereabouts{}, err
	}
	return d.whereabouts(ctx, tx, project)
}

// takeOut takes a project out of the database.
func (d *Database) takeOut(ctx context.Context, tx pgx.Tx, project uuid.UUID, how Taking) error {
	_, err := tx.Exec(ctx, "update project set moved = clock_timestamp(), moved_how = $2, moved_node = $3, moved_host = $4, moved_root = $5 where id = $1",
		project, string(how), d.opts.Node, d.opts.Host, d.opts.Root)
	if err == nil {
		_, err = tx.Exec(ctx, "update head set closed = true from machine m where m.id = machine and m.project = $1", project)
	}
	return err
}

// Withdraw gives up the arrival of a project whose move was cut off: an earlier call of AddProject cannot succeed any more. arrived says that it has
// succeeded already; then nothing is changed.
func (d *Database) Withdraw(ctx context.Context, project uuid.UUID, label string) (arrived bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, d.opts.Wait)
	defer cancel()
	err = d.change(ctx, "give up the move", func(tx pgx.Tx) error {
		var made bool
		err := tx.QueryRow(ctx, insertProject+" returning xmax = 0", project, label).Scan(&made)
		if err == nil && made {
			err = d.takeOut(ctx, tx, project, Withdrawn)
		}
		if err != nil {
			return err
		}
		w, err := d.whereabouts(ctx, tx, project)
		arrived = w.How != Withdrawn
		return err
	})
	return arrived, err
}

// A Use says why a project is not a leftover.
type Use struct {
	Members []Member  // folders that take part
	Worked  bool      // a computer has started agents, made checks or taken tasks there
	Written time.Time // of the newest line, if that is newer than the project is in the database; zero otherwise
}

// None reports whether nobody uses the project.
func (u Use) None() bool { return len(u.Members) == 0 && !u.Worked && u.Written.IsZero() }

// Discard takes a project out of the database that nobody uses: that a move of an older ferrus has left which did not succeed. Its lines stay in the
// tables. Where somebody uses it, it returns how, and changes nothing.
func (d *Database) Discard(ctx context.Context, project uuid.UUID) (use Use, err error) {
	ctx, cancel := context.WithTimeout(ctx, d.opts.Wait)
	defer cancel()
	err = d.change(ctx, "remove the project", func(tx pgx.Tx) error {
		w, err := d.lockProject(ctx, tx, project)
		if err == nil && !w.There() && w.How != Removed {
			err = w.Refusal()
		}
		if err != nil || !w.There() {
			return err
		}
		if use, err = d.use(ctx, tx, project); err == nil && !use.None() {
			err = errWorking
		}
		if err != nil {
			return err
		}
		return d.takeOut(ctx, tx, project, Removed)
	})
	if !use.None() {
		return use, nil
	}
	return use, err
}

// use looks for who uses a project.
func (d *Database) use(ctx context.Context, tx pgx.Tx, project uuid.UUID) (use Use, err error) {
	if use.Members, err = members(ctx, tx, project); err != nil {
		return use, err
	}
	// Its heads are locked: nobody writes meanwhile.
	var made time.Time
	err = tx.QueryRow(ctx, `with of as (select h.machine from head h join machine m on m.id = h.machine where m.project = $1 for update of h)
		select made, exists (select from of join session using (machine)) or exists (select from of join post using (machine)) or exists (select from of join run using (machine))
			or exists (select from queue where project = $1 and (taken is not null or session is not null)) from project where id = $1`, project).Scan(&made, &use.Worked)
	if err != nil {
		return use, err
	}
	err = d.newest(ctx, tx, project, "true", func(_ string, l *store.Line) {
		if l.At.After(made) {
			use.Written = l.At
		}
	})
	return use, err
}
