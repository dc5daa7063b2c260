package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// ErrFilesElsewhere means that another computer has newer files of the task than this one. [Post.Files] is up to date.
var ErrFilesElsewhere = errors.New("another computer has newer files of the task")

// ErrPostLost means that this computer does not have the post any more: others may conduct the machine, so it starts no agents.
var ErrPostLost = errors.New("another computer may conduct the task now: this one was not heard of for too long")

// A TakenError means that another conductor has the post.
type TakenError struct {
	Host  string // its computer
	Since time.Time
}

func (e *TakenError) Error() string {
	return fmt.Sprintf("the task is conducted on %s since %s", e.Host, e.Since.Local().Format(time.DateTime))
}

// A Post is the right to conduct a machine. One conductor has it, wherever it runs. It is safe for concurrent use.
type Post struct {
	s       *Store
	epoch   int64
	session string
	life    io.Closer // of the session
	lost    chan struct{}
	end     context.CancelFunc

	// Files is the newest copy of the task's files, as it was when the post was taken, or at the last call of Look, Arrived or Begin.
	Files store.Copy
}

// TakePost takes the post of the machine for a session, which must be new. A post whose conductor has ended without a word is free after
// the time for which a computer may be silent: until then a new conductor of its own computer continues. The error is a *TakenError while
// another conductor has it.
func (s *Store) TakePost(ctx context.Context, session string) (*Post, error) {
	life, err := s.Announce(session)
	if err != nil {
		return nil, err
	}
	p := &Post{s: s, session: session, life: life, lost: make(chan struct{})}
	ctx, cancel := context.WithTimeout(ctx, s.db.opts.Wait)
	defer cancel()
	if err := s.db.change(ctx, "take the post of "+s.name.String(), func(tx pgx.Tx) error { return p.take(ctx, tx) }); err != nil {
		return nil, errors.Join(err, life.Close())
	}
	watching, end := context.WithCancel(s.db.ctx)
	p.end = end
	s.db.work.Go(func() { p.watch(watching) })
	return p, nil
}

func (p *Post) take(ctx context.Context, tx pgx.Tx) error {
	s := p.s
	if err := s.db.shareProject(ctx, tx, s.name.Project); err != nil { // which nobody takes out of the database meanwhile
		return err
	}
	if _, err := tx.Exec(ctx, "insert into post (machine, epoch) select id, 0 from machine where id = $1 and gone is null on conflict do nothing", s.id); err != nil {
		return err
	}
	var node *uuid.UUID
	var session *string
	err := tx.QueryRow(ctx, "select epoch, node, session from post where machine = $1 for update", s.id).Scan(&p.epoch, &node, &session)
	if errors.Is(err, pgx.ErrNoRows) {
		return s.gone()
	}
	if err != nil {
		return err
	}
	// The rest by a second statement: one that has waited for the lock would see it as it was before.
	var taken TakenError
	var over, lost bool
	err = tx.QueryRow(ctx, `select coalesce(n.host, ''), coalesce(p.since, clock_timestamp()),
		s.id is null or coalesce(s.ended < clock_timestamp() - make_interval(secs => $2), false), coalesce(n.until < clock_timestamp(), true)
		from post p left join node n on n.id = p.node left join session s on s.id = p.session
		where p.machine = $1`, s.id, s.db.opts.TTL.Seconds()).Scan(&taken.Host, &taken.Since, &over, &lost)
	if err != nil {
		return err
	}
	switch {
	case session == nil || over:
	case node != nil && *node == s.db.opts.Node:
		if s.sessions.Probe(*session) == lease.Alive {
			return &taken
		}
	case !lost:
		return &taken
	}
	p.epoch++
	_, err = tx.Exec(ctx, "update post set epoch = $2, node = $3, session = $4, since = clock_timestamp() where machine = $1", s.id, p.epoch, s.db.opts.Node, p.session)
	if err != nil {
		return err
	}
	return p.look(ctx, tx)
}

// look reads where the files are, and locks the row so that they stay there until the end of the transaction. The error is ErrPostLost if the post is another's.
func (p *Post) look(ctx context.Context, tx pgx.Tx) error {
	var n newest
	err := tx.QueryRow(ctx, `select `+copyColumns+` from post p where machine = $1 and session = $2 and epoch = $4 for no key update`,
		p.s.id, p.session, p.s.db.opts.Node, p.epoch).Scan(&n.here, &n.host, &n.seq, &n.files)
	if errors.Is(err, pgx.ErrNoRows) {
		return p.another()
	}
	if err == nil {
		p.Files = n.value()
	}
	return err
}

// writeHome queues the record that this computer has the newest files since a line, on condition that the journal ends with it.
func (s *Store) writeHome(batch *pgx.Batch, seq int64, h []byte) {
	batch.Queue(`insert into post (machine, epoch, home, host, home_seq) select machine, 0, $2, $5, seq from head where machine = $1 and seq = $3 and h = $4
		on conflict (machine) do update set home = excluded.home, host = excluded.host, home_seq = excluded.home_seq, files = ''`,
		s.id, s.db.opts.Node, seq, h, s.db.opts.Host)
}

// watch closes lost when others may have the post.
func (p *Post) watch(ctx context.Context) {
	every := time.NewTicker(p.s.db.opts.TTL / 10)
	defer every.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		if p.s.db.Silent() < p.s.db.opts.TTL*8/10 {
			if n%4 != 0 || p.has(ctx) {
				continue
			}
		}
		close(p.lost)
		return
	}
}

// has reports whether the database still says so, and true where it does not answer.
func (p *Post) has(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, p.s.db.opts.TTL/5)
	defer cancel()
	var mine bool
	err := p.s.db.read.QueryRow(ctx, "select session = $2 and epoch = $3 from post where machine = $1", p.s.id, p.session, p.epoch).Scan(&mine)
	return err != nil || mine
}

// Lost returns a channel that is closed when another computer may have the post: this one was not heard of for nearly as long as it may be
// silent.
func (p *Post) Lost() <-chan struct{} { return p.lost }

// Look reads Files anew. The error is ErrPostLost if the post is another's.
func (p *Post) Look(ctx context.Context) error {
	return p.change(ctx, "read where the files are", func(ctx context.Context, tx pgx.Tx) error { return p.look(ctx, tx) })
}

// Arrived records that the work tree of this computer has Files, the newest when they were read. The error is
// ErrFilesElsewhere if there are newer ones by now, and ErrPostLost if the post is another's.
func (p *Post) Arrived(ctx context.Context) error {
	was := p.Files.Seq
	err := p.change(ctx, "record where the files are", func(ctx context.Context, tx pgx.Tx) error {
		if err := p.look(ctx, tx); err != nil {
			return err
		}
		if p.Files.Seq != was {
			return p.refuse(ErrFilesElsewhere, "bring them here")
		}
		return p.exec(ctx, tx, "update post set home = $4, host = $5, files = '' where machine = $1 and session = $2 and epoch = $3", p.s.db.opts.Node, p.s.db.opts.Host)
	})
	if err == nil {
		p.Files = store.Copy{Host: p.s.db.opts.Host, Here: true, Seq: was}
	}
	return err
}

// Leave gives the post up. files is the commit by which another computer gets the files, "" where they were not handed over; it counts only while
// the newest files are here. Leave may be called once.
func (p *Post) Leave(ctx context.Context, files string) error {
	p.end()
	err := p.fenced(ctx, "leave the post", `update post set session = null, files = case when home = $5 then $4 else files end
		where machine = $1 and session = $2 and epoch = $3`, files, p.s.db.opts.Node)
	if errors.Is(err, ErrPostLost) {
		err = nil
	}
	p.s.db.changed(p.s.id)
	return errors.Join(err, p.life.Close())
}

// Begin records a run before its agent starts. session is that of its shim, which must be new. The error is ErrPostLost if the post is
// another's, and ErrFilesElsewhere if the newest files are not known to be here; then nothing may be started.
func (p *Post) Begin(ctx context.Context, task, name, session string, line []byte) error {
	return p.change(ctx, "record the start of an agent", func(ctx context.Context, tx pgx.Tx) error {
		if err := p.look(ctx, tx); err != nil {
			return err
		}
		if !p.Files.Here {
			return p.refuse(ErrFilesElsewhere, "bring them here")
		}
		_, err := tx.Exec(ctx, "insert into session (id, node, machine) values ($1, $2, $3) on conflict do nothing", session, p.s.db.opts.Node, p.s.id)
		if err != nil {
			return err
		}
		return p.exec(ctx, tx, `insert into run (machine, task, name, node, session, over, line)
			select machine, $4, $5, $6, $7, false, $8 from post where machine = $1 and session = $2 and epoch = $3 for share
			on conflict (machine, task, node, name) do update set session = excluded.session, over = false, line = excluded.line`,
			task, name, p.s.db.opts.Node, session, line)
	})
}

// Record replaces the record of a run of this computer.
func (p *Post) Record(ctx context.Context, task, name string, over bool, line []byte) error {
	return p.fenced(ctx, "record a run", `insert into run (machine, task, name, node, session, over, line)
		select machine, $4, $5, $6, '', $7, $8 from post where machine = $1 and session = $2 and epoch = $3 for share
		on conflict (machine, task, node, name) do update set over = excluded.over, line = excluded.line`,
		task, name, p.s.db.opts.Node, over, line)
}

// RecordLost writes the end of a run of another computer, which has not written it.
func (p *Post) RecordLost(ctx context.Context, task, name string, node uuid.UUID, line []byte) error {
	return p.fenced(ctx, "record a run", `update run set over = true, line = $7 where task = $4 and name = $5 and node = $6 and not over
		and machine = (select machine from post where machine = $1 and session = $2 and epoch = $3 for share)`,
		task, name, node, line)
}

// fenced runs a statement that changes one row if the post is ours. Its first three arguments are the machine, the session and the epoch.
func (p *Post) fenced(ctx context.Context, what, sql string, args ...any) error {
	return p.change(ctx, what, func(ctx context.Context, tx pgx.Tx) error { return p.exec(ctx, tx, sql, args...) })
}

// change runs a function in a transaction.
func (p *Post) change(ctx context.Context, what string, do func(ctx context.Context, tx pgx.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, p.s.db.opts.Wait)
	defer cancel()
	return p.s.db.change(ctx, what, func(tx pgx.Tx) error { return do(ctx, tx) })
}

func (p *Post) exec(ctx context.Context, tx pgx.Tx, sql string, args ...any) error {
	tag, err := tx.Exec(ctx, sql, append([]any{p.s.id, p.session, p.epoch}, args...)...)
	if err == nil && tag.RowsAffected() != 1 {
		err = p.another()
	}
	return err
}

func (p *Post) another() error { return p.refuse(ErrPostLost, "the other computer continues") }

func (p *Post) refuse(err error, remedy string) error {
	return refusal.Because(refusal.StoreError, "conduct "+p.s.name.String(), err, refusal.Say("nothing was changed: %s", remedy))
}

// A Run is the record of an agent that a conductor has started. Its name is unique among those of its computer.
type Run struct {
	Name  string
	Node  uuid.UUID
	Host  string // its computer
	Here  bool   // it was started on this computer
	Alive bool   // by what its computer says: its shim lives, and the computer is not lost
	Over  bool   // the record says how it ended
	Line  []byte
}

// columns are where the values of runColumns go.
func (r *Run) columns() []any {
	return []any{&r.Name, &r.Node, &r.Host, &r.Here, &r.Alive, &r.Over, &r.Line}
}

const (
	runColumns = `r.name, r.node, n.host, r.node = $3, not r.over and s.id is not null and s.ended is null and n.until > clock_timestamp(), r.over, r.line`
	runJoins   = `join node n on n.id = r.node left join session s on s.id = r.session`
)

// Runs returns the runs of a task on all computers, in the order of their start.
func (s *Store) Runs(ctx context.Context, task string) ([]Run, error) {
	if s.seen != nil && task == s.seen.snap.Task.TaskID {
		return s.seen.runs, nil
	}
	var list []Run
	err := s.db.query(ctx, func(ctx context.Context) error {
		rows, err := s.db.read.Query(ctx, `select `+runColumns+` from run r `+runJoins+` where r.machine = $1 and r.task = $2 order by r.n`, s.id, task, s.db.opts.Node)
		if err == nil {
			list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Run])
		}
		return err
	})
	return list, s.db.failed("read the runs of "+s.name.String(), err)
}

// A ProjectRun is a run of any task of a project.
type ProjectRun struct {
	Run
	Branch string // of its machine, which may be gone
	Task   string
}

// ProjectRuns returns the runs of all tasks of a project, also of branches that are gone: those whose record says that they started at a time or
// later.
func (d *Database) ProjectRuns(ctx context.Context, project uuid.UUID, since time.Time) ([]ProjectRun, error) {
	var list []ProjectRun
	err := d.query(ctx, func(ctx context.Context) error {
		rows, err := d.read.Query(ctx, `select m.branch, r.task, `+runColumns+` from machine m join run r on r.machine = m.id `+runJoins+`
			where m.project = $1 and coalesce(substring(encode(r.line, 'escape') from '"started":"([^"]+)"'), '') >= $2`,
			project, since.UTC().Format("2006-01-02T15:04:05"), d.opts.Node)
		if err != nil {
			return err
		}
		var r ProjectRun
		_, err = pgx.ForEachRow(rows, append([]any{&r.Branch, &r.Task}, r.columns()...), func() error {
			one := r
			one.Line = bytes.Clone(r.Line)
			list = append(list, one)
			return nil
		})
		return err
	})
	return list, d.failed("read the runs of the project", err)
}

// A Conducted is a machine that a node conducts.
type Conducted struct {
	Branch string    `json:"branch"` // "" for the project's own
	Node   uuid.UUID `json:"node"`
	Host   string    `json:"host"`
	Here   bool      `json:"here"` // it is this one
	Since  time.Time `json:"since"`
	Lost   bool      `json:"lost"` // the node has not been heard of for too long, or its conductor has ended
}

// Posts returns the posts of a project that somebody has, by branch.
func (d *Database) Posts(ctx context.Context, project uuid.UUID) ([]Conducted, error) {
	return d.posts(ctx, "m.project = $1", project)
}

// Conducted returns the post of the machine, nil if nobody has it.
func (s *Store) Conducted(ctx context.Context) (*Conducted, error) {
	if s.seen != nil {
		return s.seen.post, nil
	}
	list, err := s.db.posts(ctx, "m.id = $1", s.id)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

// posts returns those posts that somebody has, of machines for which a condition on m and its argument $1 is true.
func (d *Database) posts(ctx context.Context, condition string, of any) ([]Conducted, error) {
	var list []Conducted
	err := d.query(ctx, func(ctx context.Context) error {
		rows, err := d.read.Query(ctx, `select m.branch, p.node, n.host, p.node = $2, p.since, n.until < clock_timestamp() or s.ended is not null
			from post p join machine m on m.id = p.machine join node n on n.id = p.node join session s on s.id = p.session
			where `+condition+` and m.gone is null order by m.branch collate "C"`, of, d.opts.Node)
		if err == nil {
			list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Conducted])
		}
		return err
	})
	return list, d.failed("list what is conducted", err)
}

// TTL returns how long a computer may be silent before others take it for lost.
func (d *Database) TTL() time.Duration { return d.opts.TTL }

// Name returns the name of the machine.
func (s *Store) Name() Name { return s.name }

// Database returns the database of the machine.
func (s *Store) Database() *Database { return s.db }
