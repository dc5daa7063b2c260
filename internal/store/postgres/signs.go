package postgres

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ferrus-go/ferrus/internal/store"
)

// QueueSign is what [Database.Signs] calls the queue of the project. No branch has that name.
const QueueSign = "/queue"

// Signs returns for each machine of a project, by branch, a text that is another one after each change of it: of its journal, of its lease,
// of who lives, or of why nodes do not work on it. The queue has one too, as QueueSign.
func (d *Database) Signs(ctx context.Context, project uuid.UUID) (map[string]string, error) {
	signs := map[string]string{}
	err := d.query(ctx, func(ctx context.Context) error {
		rows, err := d.read.Query(ctx, `select m.branch, concat_ws(' ', m.id, h.seq, encode(h.h, 'hex'), l.until, s.known, s.ended, t.known)
			from machine m join head h on h.machine = m.id join lease l on l.machine = m.id
			left join (select machine, count(*) as known, count(ended) as ended from session group by machine) s on s.machine = m.id
			left join (select o.project, t.name, string_agg(t.since::text, ' ' order by t.session) as known from trouble t join session s on s.id = t.session
				join machine o on o.id = s.machine group by o.project, t.name) t on t.project = m.project and t.name = m.branch
			where m.project = $1 and m.gone is null`, project)
		if err != nil {
			return err
		}
		clear(signs)
		var branch, sign string
		_, err = pgx.ForEachRow(rows, []any{&branch, &sign}, func() error {
			signs[branch] = sign
			return nil
		})
		if err != nil {
			return err
		}
		err = d.read.QueryRow(ctx, "select concat_ws(' ', count(*), count(taken), max(n)) from queue where project = $1", project).Scan(&sign)
		signs[QueueSign] = sign
		return err
	})
	return signs, d.failed("look for changes", err)
}

// WatchAll is [Store.Watch] for all machines of the database, of whatever project.
func (d *Database) WatchAll() *store.Watcher { return d.watcher(everyMachine) }
