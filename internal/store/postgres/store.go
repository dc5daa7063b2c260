package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/store/live"
)

// A Name names a machine in a database.
type Name struct {
	Project uuid.UUID
	Branch  string // "" for the project's own
}

func (n Name) String() string {
	if n.Branch == "" {
		return "the project's machine"
	}
	return "branch " + n.Branch
}

// A Store is a machine in a database. It is safe for concurrent use by goroutines, and by several processes on several computers.
type Store struct {
	db       *Database
	name     Name
	id       int64
	begin    func(hash string) error
	now      func() time.Time
	sessions *live.Sessions // of this computer
	awaited  sync.Map       // by session, the *sync.Once of what awaits its end
	told     sync.Map       // by session, the *sync.Once of what tells its end
	seen     *surveyed      // it shows what a survey has; nil for one that shows the present
	turn     chan struct{}  // holds a value while a transition of this process is at work

	mu     sync.Mutex
	top    store.Snapshot // as this process read it last
	has    bool           // top was read
	when   time.Time      // by the clock of the server, when it was so
	stands string         // the hash of the newest line that is known to stand: its commit was acknowledged
}

// Initialised reports whether the database has a machine of this name.
func (d *Database) Initialised(ctx context.Context, name Name) (bool, error) {
	var n int
	err := d.query(ctx, func(ctx context.Context) error {
		return d.read.QueryRow(ctx, "select count(*) from machine where project = $1 and branch = $2 and gone is null", name.Project, name.Branch).Scan(&n)
	})
	return n > 0, d.failed("look for "+name.String(), err)
}

// Branches returns the names of a project's branches, sorted by their bytes.
func (d *Database) Branches(ctx context.Context, project uuid.UUID) ([]string, error) {
	var names []string
	err := d.query(ctx, func(ctx context.Context) error {
		rows, err := d.read.Query(ctx, `select branch from machine where project = $1 and branch <> '' and gone is null order by branch collate "C"`, project)
		if err == nil {
			names, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		return err
	})
	return names, d.failed("list the branches", err)
}

// Create makes a machine without events, and its project, where there are none. label names the project for people.
func (d *Database) Create(ctx context.Context, name Name, label string) error {
	ctx, cancel := context.WithTimeout(ctx, d.opts.Wait)
	defer cancel()
	return d.change(ctx, "make "+name.String(), func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, insertProject, name.Project, label); err != nil {
			return err
		}
		_, err := d.insertMachine(ctx, tx, name)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
}

// insertProject writes in any case, so that the commit is acknowledged for what is there already too.
const insertProject = "insert into project (id, name) values ($1, $2) on conflict (id) do update set name = project.name"

// insertMachine makes a machine without events in a project that was not moved. The error is pgx.ErrNoRows where there is one of that name.
func (d *Database) insertMachine(ctx context.Context, tx pgx.Tx, name Name) (id int64, err error) {
	if err := d.shareProject(ctx, tx, name.Project); err != nil {
		return 0, err
	}
	err = tx.QueryRow(ctx, "insert into machine (project, branch) values ($1, $2) on conflict do nothing returning id", name.Project, name.Branch).Scan(&id)
	if err == nil {
		_, err = tx.Exec(ctx, "insert into head values ($1, 0, 0, 0, 0, '')", id)
	}
	if err == nil {
		_, err = tx.Exec(ctx, "insert into lease values ($1, 0, '', '', 0, 0, null, null)", id)
	}
	return id, err
}

// Remove marks a machine as removed. Its journal stays. Every use of it by those who have it open is refused.
func (d *Database) Remove(ctx context.Context, name Name) error {
	ctx, cancel := context.WithTimeout(ctx, d.opts.Wait)
	defer cancel()
	var id int64
	err := d.change(ctx, "remove "+name.String(), func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `with of as (select h.machine from head h join machine m on m.id = h.machine
			where project = $1 and branch = $2 and gone is null for update of h)
			update machine set gone = clock_timestamp() from of where id = of.machine returning id`, name.Project, name.Branch).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err == nil {
			_, err = tx.Exec(ctx, "update head set closed = true where machine = $1", id)
		}
		return err
	})
	if err == nil && id != 0 {
		d.changed(id)
	}
	return err
}

// Opening says how a machine is opened. The zero value is right outside of tests.
type Opening struct {
	Begin func(hash string) error // gets the hash of a journal's first line before that line is written; nil for nothing
	Now   func() time.Time        // wall clock, for display; time.Now when nil
}

// Open opens a machine. dir is the folder of the machine on this computer, which has the locks of the sessions that live here. The error is a *refusal.RefusedError, of code NotInitialised when
// there is no such machine.
func (d *Database) Open(ctx context.Context, name Name, dir string, how Opening) (*Store, error) {
	s := d.store(name, dir, how)
	member := true
	err := d.query(ctx, func(ctx context.Context) error {
		return d.read.QueryRow(ctx, `select m.id, exists (select from member where project = $1 and node = $3) from machine m join project p on p.id = m.project
			where m.project = $1 and branch = $2 and gone is null and moved is null`, name.Project, name.Branch, d.opts.Node).Scan(&s.id, &member)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, d.missing(ctx, name)
	}
	if err != nil {
		return nil, d.failed("open "+name.String(), err)
	}
	if !member && d.opts.Root != "" { // of a project that an older ferrus has moved or joined
		if err := d.Join(ctx, name.Project); err != nil {
			d.opts.Log.Debug("the folder is no member of the project yet", "error", err)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sessions[s.id] = s.sessions
	return s, nil
}

// store is a machine that was not looked for yet.
func (d *Database) store(name Name, dir string, how Opening) *Store {
	s := &Store{db: d, name: name, begin: how.Begin, now: how.Now, sessions: live.In(dir), turn: make(chan struct{}, 1)}
	if s.now == nil {
		s.now = time.Now
	}
	return s
}

// Close ends the use of the machine by this process. The database stays open.
func (s *Store) Close() error { return nil }

// InPlace reports whether the machine is in use: neither removed nor taken out of the database. It reports true where the database does not answer.
func (s *Store) InPlace() bool {
	ctx, cancel := context.WithTimeout(s.db.ctx, s.db.opts.Wait)
	defer cancel()
	var gone bool
	err := s.db.read.QueryRow(ctx, "select closed from head where machine = $1", s.id).Scan(&gone)
	return err != nil || !gone
}

// Locks describes the connections of this process.
func (s *Store) Locks() string {
	w, r := s.db.write.Stat(), s.db.read.Stat()
	turn := "free"
	if len(s.turn) > 0 {
		turn = "held"
	}
	return fmt.Sprintf("transitions of this process: %s; connections: %d of %d write, %d of %d read", turn, w.AcquiredConns(), w.MaxConns(), r.AcquiredConns(), r.MaxConns())
}

// remember keeps a snapshot and when it was so, unless a newer one is known. After a failover or a restored backup the newer one may have fewer
// lines.
func (s *Store) remember(snap store.Snapshot, when time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.has || snap.Task.Seq >= s.top.Task.Seq || when.After(s.when) {
		s.top, s.has, s.when = snap, true, when
	}
}

// known returns the newest line that this process has read; nil if it has read none.
func (s *Store) known() *store.Line {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.top.Top
}

// Last returns the machine as this process read it last.
func (s *Store) Last() (store.Snapshot, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.top, s.has && s.top.Top != nil
}
