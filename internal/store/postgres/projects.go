package postgres

import (
	"context"
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A Project is a project in a database.
type Project struct {
	ID       uuid.UUID `json:"id"`
	Name     string    `json:"name"` // of the folder in which it was made, for people
	Made     time.Time `json:"made"`
	Branches int       `json:"branches"`
}

// Projects returns the projects of the database, the oldest first, without those that were taken out of it.
func (d *Database) Projects(ctx context.Context) ([]Project, error) {
	var list []Project
	err := d.query(ctx, func(ctx context.Context) error {
		rows, err := d.read.Query(ctx, `select id, name, made, (select count(*) from machine where project = p.id and gone is null and branch <> '')
			from project p where moved is null order by made, id`)
		if err == nil {
			list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Project])
		}
		return err
	})
	return list, d.failed("list the projects", err)
}

// A Node is a folder on a computer that takes part in a project.
type Node struct {
	ID       uuid.UUID `json:"id"`
	Host     string    `json:"host"`
	Lost     bool      `json:"lost"`               // it has not been heard of for too long
	Silent   float64   `json:"silent_s"`           // seconds since it counts as lost; 0 while it does not
	Sessions int       `json:"sessions"`           // that it has announced for the project, and that have not ended
	Root     string    `json:"root,omitempty"`     // the folder there; "" for one that an older ferrus has joined
	Joined   time.Time `json:"joined_at,omitzero"` // likewise
	Heard    time.Time `json:"last_seen,omitzero"` // when a process of ferrus there was heard of last; zero for never
}

// Nodes returns the nodes of a project, by host: the folders that were moved there or have joined, and those that have announced a session within a week.
func (d *Database) Nodes(ctx context.Context, project uuid.UUID) ([]Node, error) {
	var list []Node
	err := d.query(ctx, func(ctx context.Context) error {
		rows, err := d.read.Query(ctx, `select i.id, coalesce(n.host, r.host), coalesce(n.until < clock_timestamp(), false),
			greatest(0, coalesce(extract(epoch from clock_timestamp() - n.until), 0))::float8, coalesce(s.alive, 0)::int, coalesce(r.root, ''), r.since, coalesce(n.heard, n.until)
			from (select node as id from member where project = $1 union select s.node from session s join machine m on m.id = s.machine where m.project = $1) i
			left join member r on r.project = $1 and r.node = i.id left join node n on n.id = i.id
			left join (select s.node, count(*) filter (where s.ended is null) as alive from session s join machine m on m.id = s.machine
				where m.project = $1 group by s.node) s on s.node = i.id
			order by 2, 6, 1`, project)
		if err != nil {
			return err
		}
		list = nil
		var n Node
		var joined, heard *time.Time
		_, err = pgx.ForEachRow(rows, []any{&n.ID, &n.Host, &n.Lost, &n.Silent, &n.Sessions, &n.Root, &joined, &heard}, func() error {
			n.Joined, n.Heard = time.Time{}, time.Time{}
			if joined != nil {
				n.Joined = *joined
			}
			if heard != nil {
				n.Heard = *heard
			}
			list = append(list, n)
			return nil
		})
		return err
	})
	return list, d.failed("list the computers", err)
}

// Export writes the journal of a machine, whether or not its project was moved, and returns where it ends.
func (d *Database) Export(ctx context.Context, name Name, w io.Writer) (store.Position, error) {
	s := &Store{db: d, name: name, turn: make(chan struct{}, 1)}
	var end store.Position
	err := d.query(ctx, func(ctx context.Context) error {
		return d.read.QueryRow(ctx, "select m.id, h.bytes, h.last, encode(h.h, 'hex') from machine m join head h on h.machine = m.id where project = $1 and branch = $2 and gone is null",
			name.Project, name.Branch).Scan(&s.id, &end.Bytes, &end.Last, &end.H)
	})
	if err != nil {
		return end, d.failed("export "+name.String(), err)
	}
	var prev *store.Line
	off := int64(0)
	for raw, err := range s.raw(0, end.Bytes) {
		if err != nil {
			return end, err
		}
		if prev, err = store.Follow(prev, raw, off); err != nil {
			return end, s.corrupt("the line at byte %d is not valid: %v", off, err)
		}
		off = prev.End
		if _, err := w.Write(raw); err != nil {
			return end, refusal.Because(refusal.StoreError, "write the export", err, "check the disk, then try again")
		}
	}
	if off != end.Bytes {
		return end, s.corrupt("it ends at byte %d and should at byte %d", off, end.Bytes)
	}
	return end, nil
}
