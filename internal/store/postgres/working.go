package postgres

import (
	"context"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A Work is something that is at work on a project.
type Work struct {
	Branch string      // whose task it works on, "" for the project's own
	What   string      // it is, as "the conductor"
	Host   string      // its computer, "" where nobody knows
	Here   bool        // it is this one
	End    refusal.Own // the commands that end it there
}

// A Kind is a sort of work: what it is called, with NAME for the agent or the task that it is named for, and the commands that end it.
type Kind struct {
	What string
	End  refusal.Own
}

// The kinds of work that a database knows, of all computers. Each computer knows more of itself.
var (
	Claimed   = Kind{"NAME works on the task", "ferrus stop{branch} or ferrus release{branch}"}
	Conductor = Kind{"the conductor", "ferrus stop{branch}"}
	Agent     = Kind{"the agent NAME", "ferrus stop{branch}"}

	taking  = Kind{"what takes the task NAME from the queue", "ferrus stop{branch}"}
	unnamed = Kind{"a node, or the server of an agent", "ferrus stop{branch}, or end the client of the agent"}
)

// As returns the work as one of a kind. name is "" for a kind without NAME.
func (w Work) As(k Kind, name string) Work {
	w.What, w.End = strings.ReplaceAll(k.What, "NAME", name), k.End.With("NAME", name)
	return w
}

// Working returns what is at work on a project, by branch: claims, and the sessions of conductors, agents and servers that live. alive tells of a session of this
// computer; those of others live as long as their computer says so and is heard of.
func (d *Database) Working(ctx context.Context, project uuid.UUID, alive func(branch, session string) bool) (all []Work, err error) {
	err = d.query(ctx, func(ctx context.Context) (err error) {
		all, err = d.working(ctx, d.read, project, alive)
		return err
	})
	return all, d.failed("look for agents at work", err)
}

func (d *Database) working(ctx context.Context, in querier, project uuid.UUID, alive func(branch, session string) bool) ([]Work, error) {
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
		kind, name := unnamed, ""
		switch who := claims[session].agent; {
		case who != "":
			kind, name = Claimed, who
			delete(claims, session)
		case conducts:
			kind = Conductor
		case run != "":
			kind, name = Agent, run
		case queued != "":
			kind, name = taking, queued
		}
		all = append(all, w.As(kind, name))
		return nil
	})
	for _, c := range claims { // whose processes have ended, or are not known
		all = append(all, Work{Branch: c.branch}.As(Claimed, c.agent))
	}
	return all, err
}

// A claimant is the agent that has claimed the task of a branch.
type claimant struct{ branch, agent string }

// claims returns the tasks of a project that are claimed, by the session of the claim.
func (d *Database) claims(ctx context.Context, in querier, project uuid.UUID) (map[string]claimant, error) {
	claims := map[string]claimant{}
	err := d.newest(ctx, in, project, "m.gone is null", func(branch string, l *store.Line) {
		if t := l.State; t.ClaimedBy != "" {
			claims[t.Session] = claimant{branch, t.ClaimedBy}
		}
	})
	return claims, err
}

// newest reads the newest line of each machine of a project for which a condition on m is true.
func (d *Database) newest(ctx context.Context, in querier, project uuid.UUID, condition string, yield func(branch string, l *store.Line)) error {
	rows, err := in.Query(ctx, `select m.branch, j.off, j.line from machine m join head h on h.machine = m.id join journal j on j.machine = m.id and j.seq = h.seq
		where m.project = $1 and `+condition, project)
	if err != nil {
		return err
	}
	var branch string
	var off int64
	var raw []byte
	_, err = pgx.ForEachRow(rows, []any{&branch, &off, &raw}, func() error {
		l, err := (&Store{db: d, name: Name{project, branch}}).decode(raw, off)
		if err == nil {
			yield(branch, l)
		}
		return err
	})
	return err
}
