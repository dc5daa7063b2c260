package postgres

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// A Queued is a task in the queue of a project.
type Queued struct {
	Name  string
	Text  []byte
	Taken bool // it has become a branch
	Added time.Time
}

// Queue returns the whole queue of a project in the order in which the tasks were added, with the tasks that were taken. It also does so for a project that was moved
// to files; in says whether the project is still in the database.
func (d *Database) Queue(ctx context.Context, project uuid.UUID) (list []Queued, in bool, err error) {
	err = d.query(ctx, func(ctx context.Context) error {
		if err := d.read.QueryRow(ctx, "select count(*) > 0 from project where id = $1 and moved is null", project).Scan(&in); err != nil {
			return err
		}
		rows, err := d.read.Query(ctx, `select name, text, taken is not null, added from queue where project = $1 order by added, name collate "C"`, project)
		if err == nil {
			list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Queued])
		}
		return err
	})
	return list, in, d.failed("read the queue", err)
}

// A Waiting is a task that waits in the queue of a project.
type Waiting struct {
	Name   string
	Text   []byte
	Change int64 // another one after each change of it
	Size   int   // of the whole text
	Added  time.Time
}

// Waiting returns the tasks that wait, in the order in which they were added, by name where that is the same moment, with at most so many bytes of their texts. in says whether the project is still in
// the database.
func (d *Database) Waiting(ctx context.Context, project uuid.UUID, most int) (list []Waiting, in bool, err error) {
	err = d.query(ctx, func(ctx context.Context) error {
		rows, err := d.read.Query(ctx, `select q.name, substring(q.text from 1 for $2), q.n, octet_length(q.text), q.added
			from project p left join queue q on q.project = p.id and q.taken is null where p.id = $1 and p.moved is null order by q.added, q.name collate "C"`, project, most)
		if err != nil {
			return err
		}
		list, in = nil, false
		var name *string
		var text []byte
		var change *int64
		var size *int
		var added *time.Time
		_, err = pgx.ForEachRow(rows, []any{&name, &text, &change, &size, &added}, func() error {
			if in = true; name != nil { // of an empty queue there is one row
				list = append(list, Waiting{*name, bytes.Clone(text), *change, *size, *added})
			}
			return nil
		})
		return err
	})
	return list, in, d.failed("read the queue", err)
}

// An Entry is what is added to a queue.
type Entry struct {
	Text   []byte
	Added  time.Time          // zero for the time of the transaction that adds it
	Source uuid.UUID          // a second entry of the same source is none
	Name   func(n int) string // the nth name to try, from 1 on
	Keep   bool               // the first name may be that of a branch, which was made of this task
	Once   bool               // nothing is added, and "" returned, where there is a task or a branch of the first name
	Taken  bool               // it was taken before, as the first name; nothing is added where there is such a task
}

// Enqueue adds a task to the queue of a project under the first name that no task has had and no branch has, and returns the name.
func (d *Database) Enqueue(ctx context.Context, project uuid.UUID, e Entry) (name string, err error) {
	err = d.changeQueue(ctx, "add to the queue", project, func(tx pgx.Tx) (err error) {
		name, err = addQueued(ctx, tx, project, e)
		return err
	})
	return name, err
}

// addQueued is Enqueue in a transaction.
func addQueued(ctx context.Context, tx pgx.Tx, project uuid.UUID, e Entry) (name string, err error) {
	var added *time.Time
	if !e.Added.IsZero() {
		added = &e.Added
	}
	// It writes in any case, so that the commit is acknowledged for what is there already too.
	err = tx.QueryRow(ctx, "update queue set source = source where source = $1 returning name", e.Source).Scan(&name)
	for n := 1; errors.Is(err, pgx.ErrNoRows); n++ {
		if (e.Once || e.Taken) && n > 1 {
			return name, nil
		}
		err = tx.QueryRow(ctx, `insert into queue (project, name, text, source, taken, added)
			select $1::uuid, $2::text, $3::bytea, $4::uuid, case when $6::boolean then clock_timestamp() end, coalesce($7::timestamptz, now())
			where $5::boolean or not exists (select from machine where project = $1 and branch = $2 and gone is null)
			on conflict (project, name) do nothing returning name`, project, e.Name(n), e.Text, e.Source, (e.Keep || e.Taken) && n == 1, e.Taken, added).Scan(&name)
	}
	return name, err
}

// changeQueue is lockQueue for a change that others must see, for which it rings.
func (d *Database) changeQueue(ctx context.Context, what string, project uuid.UUID, do func(tx pgx.Tx) error) error {
	own, err := d.lockQueue(ctx, what, project, do)
	if err == nil {
		d.changed(own)
	}
	return err
}

// lockQueue changes the queue of a project while that stays in the database, and returns the project's own machine. do may be called again after an
// answer that was lost.
func (d *Database) lockQueue(ctx context.Context, what string, project uuid.UUID, do func(tx pgx.Tx) error) (own int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, d.opts.Wait)
	defer cancel()
	for try := 0; ; try++ {
		err := d.change(ctx, what, func(tx pgx.Tx) error {
			err := tx.QueryRow(ctx, `select m.id from project p join machine m on m.project = p.id and m.branch = '' and m.gone is null
				where p.id = $1 and p.moved is null for share of p`, project).Scan(&own)
			if errors.Is(err, pgx.ErrNoRows) {
				return d.noProject(ctx, tx, project)
			}
			if err != nil {
				return err
			}
			return do(tx)
		})
		var known *refusal.RefusedError
		if errors.As(err, &known) && (known.Code == refusal.OutcomeUnknown || known.Cause != nil && transient(known.Cause)) && wait(ctx, try) {
			continue
		}
		return own, err
	}
}

// notWaiting is the error of a change of a task that does not wait.
func notWaiting(name string) error {
	return &refusal.RefusedError{Code: refusal.InvalidInput, Message: "no task waits as " + name, Remedy: "ferrus queue lists the tasks that wait"}
}

// Requeue replaces the text of a task that waits and that nobody takes at this moment by what do returns of the whole text. do may be called again after
// an answer that was lost.
func (s *Store) Requeue(ctx context.Context, name string, do func(text []byte) ([]byte, error)) error {
	return s.db.changeQueue(ctx, "change the task "+name, s.name.Project, func(tx pgx.Tx) error {
		was, err := s.idleQueued(ctx, tx, name)
		if err != nil {
			return err
		}
		text, err := do(was)
		if err == nil {
			_, err = tx.Exec(ctx, "update queue set text = $3, n = default where project = $1 and name = $2", s.name.Project, name, text)
		}
		return err
	})
}

// Dequeue removes a task that waits and that nobody takes at this moment.
func (s *Store) Dequeue(ctx context.Context, name string) error {
	removed := false // by a try whose answer was lost
	return s.db.changeQueue(ctx, "remove the task "+name, s.name.Project, func(tx pgx.Tx) error {
		_, err := s.idleQueued(ctx, tx, name)
		if known := (*refusal.RefusedError)(nil); removed && errors.As(err, &known) {
			err = nil
		}
		if err == nil {
			_, err = tx.Exec(ctx, "delete from queue where project = $1 and name = $2 and taken is null", s.name.Project, name)
			removed = err == nil
		}
		return err
	})
}

// idleQueued locks a task and returns its text. It refuses one that does not wait or that somebody takes.
func (s *Store) idleQueued(ctx context.Context, tx pgx.Tx, name string) ([]byte, error) {
	c := Claim{s: s, name: name}
	switch free, err := c.lock(ctx, tx); {
	case err != nil:
		return nil, err
	case !c.waits:
		return nil, notWaiting(name)
	case !free:
		return nil, &refusal.RefusedError{Code: refusal.LockBusy, Message: "a branch is being made of the task " + name, Remedy: "ferrus queue lists the tasks that still wait"}
	}
	return c.Text, nil
}

// linkQueued records in the transaction that makes a branch that it is made of the task of that name, which a process of this computer takes. It refuses
// a branch of a task that another computer takes.
func (d *Database) linkQueued(ctx context.Context, tx pgx.Tx, name Name, machine int64) error {
	var node uuid.UUID
	err := tx.QueryRow(ctx, "update queue set machine = $3 where project = $1 and name = $2 and taken is null and session is not null returning node",
		name.Project, name.Branch, machine).Scan(&node)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err == nil && node != d.opts.Node {
		return &refusal.RefusedError{Code: refusal.LockBusy, Message: "another computer makes " + name.String() + " of a task of the queue", Remedy: "take another name, or try again"}
	}
	return err
}
