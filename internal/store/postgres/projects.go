package postgres

import (
	"context"
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

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

// A Node is a folder on a computer that works on projects of the database.
type Node struct {
	ID       uuid.UUID `json:"id"`
	Host     string    `json:"host"`
	Lost     bool      `json:"lost"`     // it has not been heard of for too long
	Silent   float64   `json:"silent_s"` // seconds since it was heard of; 0 while it is not lost
	Sessions int       `json:"sessions"` // that it has announced for the project, and that have not ended
}

// Nodes returns the nodes that have announced a session for a project within a week, by host.
func (d *Database) Nodes(ctx context.Context, project uuid.UUID) ([]Node, error) {
	var list []Node
	err := d.query(ctx, func(ctx context.Context) error {
		rows, err := d.read.Query(ctx, `select n.id, n.host, n.until < clock_timestamp(), greatest(0, extract(epoch from clock_timestamp() - n.until))::float8,
			count(*) filter (where s.ended is null)
			from node n join session s on s.node = n.id join machine m on m.id = s.machine where m.project = $1 group by n.id order by n.host, n.id`, project)
		if err == nil {
			list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Node])
		}
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
			return end, &store.Error{Code: store.StoreError, What: "write the export", Err: err, Remedy: "check the disk, then try again"}
		}
	}
	if off != end.Bytes {
		return end, s.corrupt("it ends at byte %d and should at byte %d", off, end.Bytes)
	}
	return end, nil
}
