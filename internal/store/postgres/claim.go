package postgres

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// A Claim is the right of one process to make a branch of a task of the queue. It ends with the process.
type Claim struct {
	s       *Store
	name    string
	session string
	life    io.Closer
	waits   bool
	done    bool
	host    string // the other computer of a process that began to take the task and ended without a word, "" for none

	Text   []byte
	Branch bool      // a branch was made of the task by a process that ended before the branch had the task
	Since  time.Time // when a process of this computer began and ended so; zero for none
}

// ClaimQueued claims a task that waits. It returns nil without an error when the task does not wait any more, or another process claims it. The claim
// of a process that has ended, or of a computer that is lost, is void. here says that nobody else can tell what another computer has begun: then its claim
// stays, and the error says so.
func (s *Store) ClaimQueued(ctx context.Context, name string, here bool) (*Claim, error) {
	c := &Claim{s: s, name: name, session: uuid.NewString()}
	free := false
	look := func(tx pgx.Tx) (err error) {
		if free, err = c.lock(ctx, tx); err == nil && free && here && c.host != "" {
			err = &refusal.RefusedError{Code: refusal.LockBusy, Message: c.host + " has begun to start " + name + ", and may have done so",
				Remedy: refusal.Say("ferrus pipeline start on that computer finishes it; ferrus queue --remove %s takes it out of the queue", name)}
		}
		return err
	}
	what := "take the task " + name
	if _, err := s.db.lockQueue(ctx, what, s.name.Project, look); err != nil || !free {
		return nil, err
	}
	life, err := s.Announce(c.session)
	if err != nil {
		return nil, err
	}
	c.life = life
	_, err = s.db.lockQueue(ctx, what, s.name.Project, func(tx pgx.Tx) error {
		if err := look(tx); err != nil || !free {
			return err
		}
		began := c.Since
		if began.IsZero() {
			began = s.now().Truncate(time.Microsecond)
		}
		_, err := tx.Exec(ctx, "update queue set session = $3, node = $4, since = $5 where project = $1 and name = $2", s.name.Project, name, c.session, s.db.opts.Node, began)
		return err
	})
	if err != nil || !free {
		return nil, errors.Join(err, life.Close())
	}
	return c, nil
}

// lock locks the row of the task and reads it. It reports whether the task waits and nobody else claims it.
func (c *Claim) lock(ctx context.Context, tx pgx.Tx) (free bool, err error) {
	s := c.s
	var session *string
	var node *uuid.UUID
	err = tx.QueryRow(ctx, "select session, node, text from queue where project = $1 and name = $2 and taken is null for update", s.name.Project, c.name).Scan(&session, &node, &c.Text)
	if errors.Is(err, pgx.ErrNoRows) {
		c.waits = false
		return false, nil
	}
	if err != nil {
		return false, err
	}
	c.waits = true
	// The rest by a second statement: one that has waited for the lock would see it as it was before.
	var over, lost bool
	var host string
	var since *time.Time
	err = tx.QueryRow(ctx, `select s.id is null or s.ended is not null, coalesce(n.until < clock_timestamp(), true), coalesce(n.host, ''), q.since, m.id is not null
		from queue q left join session s on s.id = q.session left join node n on n.id = q.node left join machine m on m.id = q.machine and m.gone is null
		where q.project = $1 and q.name = $2`, s.name.Project, c.name).Scan(&over, &lost, &host, &since, &c.Branch)
	c.host, c.Since = "", time.Time{}
	switch {
	case err != nil:
		return false, err
	case session == nil || node == nil || *session == c.session:
		return true, nil
	case *node == s.db.opts.Node:
		if since != nil {
			c.Since = *since
		}
		return over || s.sessions.Probe(*session) != lease.Alive, nil
	}
	c.host = host
	return over || lost, nil
}

// Done records that the task was taken: its branch has it. A process that has taken the claim over finds the same.
func (c *Claim) Done(ctx context.Context) error {
	err := c.s.db.changeQueue(ctx, "take the task "+c.name, c.s.name.Project, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `update queue set taken = clock_timestamp(), session = null, n = default
			where project = $1 and name = $2 and session = $3`, c.s.name.Project, c.name, c.session)
		return err
	})
	c.done = c.done || err == nil
	return err
}

// Close gives the claim up. The task waits for others, unless Done was called.
func (c *Claim) Close(ctx context.Context) error {
	if c.done {
		return c.life.Close()
	}
	_, err := c.s.db.lockQueue(ctx, "leave the task "+c.name, c.s.name.Project, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "update queue set session = null where project = $1 and name = $2 and session = $3", c.s.name.Project, c.name, c.session)
		return err
	})
	return errors.Join(err, c.life.Close())
}
