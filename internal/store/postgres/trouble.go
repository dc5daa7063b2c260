package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// A Trouble says why a node does not work on a task.
type Trouble struct {
	Name  string    `json:"name"` // of the branch, or of the task that waits in the queue
	Node  uuid.UUID `json:"node"`
	Host  string    `json:"host"`
	Here  bool      `json:"here"` // it is this one
	Text  string    `json:"text"`
	Since time.Time `json:"since"`
}

// NoteTrouble records for the session of a node why it does not work on the task of a name, or with "" that this is over. It is a word to people: what is
// recorded ends with the session, and an answer that is lost may lose it.
func (s *Store) NoteTrouble(ctx context.Context, session, name, text string) error {
	ctx, cancel := context.WithTimeout(ctx, s.db.opts.Wait)
	defer cancel()
	// On a connection for reading, as the end of a session.
	var changed int64
	tag, err := s.db.read.Exec(ctx, `insert into trouble (session, name, text) select $1::text, $2::text, $3::text where $3::text <> ''
		on conflict (session, name) do update set text = excluded.text, since = clock_timestamp() where trouble.text <> excluded.text`, session, name, text)
	if changed = tag.RowsAffected(); err == nil && text == "" {
		tag, err = s.db.read.Exec(ctx, "delete from trouble where session = $1 and name = $2", session, name)
		changed = tag.RowsAffected()
	}
	if err == nil && changed > 0 {
		s.db.changed(s.id)
	}
	return s.db.failed("record why a task is not worked on", err)
}

// troubles selects what nodes have recorded that live, of tasks that are there and that nobody conducts. $1 is the project, $2 this node.
const troubles = `select t.name, n.id, n.host, n.id = $2, t.text, t.since
	from trouble t join session s on s.id = t.session and s.ended is null join machine m on m.id = s.machine and m.project = $1
	join node n on n.id = s.node and n.until > clock_timestamp()
	left join machine b on b.project = m.project and b.branch = t.name and b.gone is null
	left join queue q on q.project = m.project and q.name = t.name and q.taken is null
	left join post p on p.machine = b.id left join session c on c.id = p.session left join node cn on cn.id = c.node
	where (b.id is not null or q.name is not null) and not coalesce(c.ended is null and cn.until > clock_timestamp(), false)
	order by t.name collate "C", n.host, t.session`

// Troubles returns why nodes do not work on tasks of a project that nobody works on, by name. It is empty for a node whose process has ended or that is lost.
func (d *Database) Troubles(ctx context.Context, project uuid.UUID) (list []Trouble, err error) {
	err = d.query(ctx, func(ctx context.Context) error {
		rows, err := d.read.Query(ctx, troubles, project, d.opts.Node)
		if err == nil {
			list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Trouble])
		}
		return err
	})
	return list, d.failed("read why tasks are not worked on", err)
}

// Troubles returns those of the task of the machine.
func (s *Store) Troubles(ctx context.Context) (list []Trouble, err error) {
	if s.seen != nil {
		return s.seen.troubles, nil
	}
	all, err := s.db.Troubles(ctx, s.name.Project)
	for _, t := range all {
		if t.Name == s.name.Branch {
			list = append(list, t)
		}
	}
	return list, err
}
