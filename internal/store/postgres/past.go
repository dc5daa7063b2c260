package postgres

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ferrus-go/ferrus/internal/state"
)

// PastTask looks up a task that branches of a project have had, removed ones too: the newest of id, or for "" the newest of any id. of says which branches
// may have had it. It returns the task as its newest line has it, the zero one where there is none.
func (d *Database) PastTask(ctx context.Context, project uuid.UUID, of func(branch string) bool, id string) (found state.Task, err error) {
	mark := `"task_id":"` + id // as the line of a journal has it: in a text the quotation marks are escaped
	if id != "" {
		mark += `"`
	}
	err = d.query(ctx, func(ctx context.Context) error {
		rows, err := d.read.Query(ctx, "select id, branch from machine where project = $1 and branch <> '' order by id desc", project)
		if err != nil {
			return err
		}
		type machine struct {
			id     int64
			branch string
		}
		machines, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (m machine, err error) { return m, row.Scan(&m.id, &m.branch) })
		for _, m := range machines {
			if err != nil || found.TaskID != "" || !of(m.branch) {
				continue
			}
			var off int64
			var raw []byte
			s := &Store{db: d, name: Name{project, m.branch}}
			switch err = d.read.QueryRow(ctx, `select off, line from journal where machine = $1 and position($2::bytea in line) > 0
				order by seq desc limit 1`, m.id, []byte(mark)).Scan(&off, &raw); err {
			case nil:
				l, wrong := s.decode(raw, off)
				if err = wrong; err == nil {
					found = l.State
				}
			case pgx.ErrNoRows:
				err = nil
			}
		}
		return err
	})
	return found, d.failed("look up a task", err)
}
