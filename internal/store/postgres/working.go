package postgres

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ferrus-go/ferrus/internal/store"
)

// A Work is something that is at work on a project.
type Work struct {
	Branch string // whose task it works on, "" for the project's own
	What   string // it is, as "the conductor"
	Host   string // its computer, "" where nobody knows
	Here   bool   // it is this one
	End    string // the commands that end it there
}

// Working returns what is at work on a project, by branch: claims, and the sessions of conductors, agents and servers that live. alive tells of a session of this
// computer; those of others live as long as their computer says so and is heard of.
func (d *Database) Working(ctx context.Context, project uuid.UUID, alive func(branch, session string) bool) (all []Work, err error) {
	ctx, cancel := context.WithTimeout(ctx, d.opts.Wait)
	defer cancel()
	conn, err := d.read.Acquire(ctx)
	if err != nil {
		return nil, d.failed("look for agents at work", err)
	}
	defer conn.Release()
	all, err = d.working(ctx, conn, project, alive)
	return all, d.failed("look for agents at work", err)
}

// A rowReader is a transaction, or a connection for reading.
type rowReader interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

func (d *Database) working(ctx context.Context, in rowReader, project uuid.UUID, alive func(branch, session string) bool) ([]Work, error) {
	var all []Work
	claims, err := d.claims(ctx, in, project)
	if err != nil {
		return nil, err
	}
	rows, err := in.Query(ctx, `select m.branch, n.host, n.id = $2, n.until > clock_timestamp(), s.id, p.machine is not null, coalesce(r.name, ''), coalesce(q.name, '')
		from session s join machine m on m.id = s.machine and m.gone is null join node n on n.id = s.node
		left join post p on p.machine = m.id and p.session = s.id
		left join run r on r.machine = m.id and r.session = s.id
		left join queue q on q.project = m.project and q.session = s.id
		where m.project = $1 and s.ended is null order by m.branch collate "C", n.host, s.id`, project, d.opts.Node)
	if err != nil {
		return nil, err
	}
	var w Work
	var heard, conducts bool
	var session, run, queued string
	_, err = pgx.ForEachRow(rows, []any{&w.Branch, &w.Host, &w.Here, &heard, &session, &conducts, &run, &queued}, func() error {
		if w.Here && !alive(w.Branch, session) || !w.Here && !heard {
			return nil
		}
		w.End = "ferrus stop"
		switch who := claims[session].What; {
		case who != "":
			w.What, w.End = who+" works on the task", "ferrus stop or ferrus release"
			delete(claims, session)
		case conducts:
			w.What = "the conductor"
		case run != "":
			w.What = "the agent " + run
		case queued != "":
			w.What = "what takes the task " + queued + " from the queue"
		default:
			w.What, w.End = "a node, or the server of an agent", "ferrus stop, or end the client of the agent"
		}
		all = append(all, w)
		return nil
	})
	for _, c := range claims { // whose processes have ended, or are not known
		all = append(all, Work{Branch: c.Branch, What: c.What + " works on the task", End: "ferrus stop or ferrus release"})
	}
	return all, err
}

// claims returns who has claimed the tasks of a project, by the session. Their What is the agent.
func (d *Database) claims(ctx context.Context, in rowReader, project uuid.UUID) (map[string]Work, error) {
	rows, err := in.Query(ctx, `select m.branch, j.off, j.line from machine m join head h on h.machine = m.id join journal j on j.machine = m.id and j.seq = h.seq
		where m.project = $1 and m.gone is null`, project)
	if err != nil {
		return nil, err
	}
	claims := map[string]Work{}
	var branch string
	var off int64
	var raw []byte
	_, err = pgx.ForEachRow(rows, []any{&branch, &off, &raw}, func() error {
		l, err := store.Decode(raw, off)
		if err != nil {
			return &store.Error{Code: store.Corrupt, What: "the newest line of " + Name{project, branch}.String() + " in PostgreSQL is not valid", Err: err,
				Remedy: "nothing was changed; restore the database from a backup"}
		}
		if t := l.State; t.ClaimedBy != "" {
			claims[t.Session] = Work{Branch: branch, What: t.ClaimedBy}
		}
		return nil
	})
	return claims, err
}
