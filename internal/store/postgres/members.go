package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// A Member is a folder on a computer that takes part in a project, whether or not it works on it.
type Member struct {
	Host  string    `json:"host"`
	Root  string    `json:"root"`
	Since time.Time `json:"since"`
}

// Join makes the folder of this computer a member of a project. The error has the code NotInitialised if the project is not in the database any more.
func (d *Database) Join(ctx context.Context, project uuid.UUID) error {
	ctx, cancel := context.WithTimeout(ctx, d.opts.Wait)
	defer cancel()
	return d.change(ctx, "join the project", func(tx pgx.Tx) error {
		if err := d.shareProject(ctx, tx, project); err != nil {
			return err
		}
		return d.addMember(ctx, tx, project)
	})
}

func (d *Database) addMember(ctx context.Context, tx pgx.Tx, project uuid.UUID) error {
	_, err := tx.Exec(ctx, `insert into member (project, node, host, root) values ($1, $2, $3, $4)
		on conflict (project, node) do update set host = excluded.host, root = excluded.root`, project, d.opts.Node, d.opts.Host, d.opts.Root)
	return err
}

// Part ends the membership of this computer's folder in a project.
func (d *Database) Part(ctx context.Context, project uuid.UUID) error {
	ctx, cancel := context.WithTimeout(ctx, d.opts.Wait)
	defer cancel()
	return d.change(ctx, "leave the project", func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "delete from member where project = $1 and node = $2", project, d.opts.Node)
		return err
	})
}

// members returns the members of a project, by host.
func members(ctx context.Context, tx pgx.Tx, project uuid.UUID) ([]Member, error) {
	rows, err := tx.Query(ctx, "select host, root, since from member where project = $1 order by host, root", project)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Member])
}
