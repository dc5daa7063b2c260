package postgres

import (
	"bytes"
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A Survey has the machines of a project as they were when it was made: read in a fixed number of statements, however many machines there are. A machine
// that is opened from it shows what the survey has, again and again, and asks the database for the rest.
type Survey struct {
	d        *Database
	machines map[string]*surveyed // by branch
}

// A surveyed is a machine in a survey.
type surveyed struct {
	id       int64
	snap     store.Snapshot
	err      error                 // why it cannot be read
	lines    map[int64][]byte      // those that its task names, by where they start
	runs     []Run                 // of its task
	post     *Conducted            // nil where nobody conducts it
	troubles []Trouble             // why nodes do not work on it
	sessions map[string]sessionRow // of the whole survey
}

// Survey reads the machines of a project.
func (d *Database) Survey(ctx context.Context, project uuid.UUID) (*Survey, error) {
	v := &Survey{d: d, machines: map[string]*surveyed{}}
	byID, sessions := map[int64]*surveyed{}, map[string]sessionRow{}
	err := d.query(ctx, func(ctx context.Context) error {
		clear(v.machines)
		clear(byID)
		clear(sessions)
		err := d.surveyHeads(ctx, project, func(branch string, id int64, h head) {
			s := &Store{db: d, name: Name{project, branch}, id: id}
			m := &surveyed{id: id, lines: map[int64][]byte{}, sessions: sessions}
			m.snap, m.err = s.snapshot(h, nil)
			v.machines[branch], byID[id] = m, m
		})
		if err == nil {
			err = d.surveyLines(ctx, byID)
		}
		if err == nil {
			err = d.surveyRuns(ctx, byID)
		}
		if err == nil {
			err = d.surveySessions(ctx, v.machines, sessions)
		}
		return err
	})
	if err != nil {
		return nil, d.failed("read the branches", err)
	}
	posts, err := d.Posts(ctx, project)
	for i, p := range posts {
		if m := v.machines[p.Branch]; m != nil {
			m.post = &posts[i]
		}
	}
	if err != nil {
		return v, err
	}
	troubles, err := d.Troubles(ctx, project)
	for _, t := range troubles {
		if m := v.machines[t.Name]; m != nil {
			m.troubles = append(m.troubles, t)
		}
	}
	return v, err
}

func (d *Database) surveyHeads(ctx context.Context, project uuid.UUID, yield func(branch string, id int64, h head)) error {
	rows, err := d.read.Query(ctx, `select m.branch, m.id, `+headColumns+`, `+restColumns+`, `+copyColumns+`, `+newestLine+`
		from machine m join project o on o.id = m.project and o.moved is null
		join head h on h.machine = m.id join lease l on l.machine = m.id left join post p on p.machine = m.id
		where m.project = $1 and m.gone is null`, project, []byte{}, d.opts.Node)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var branch string
		var id int64
		var h head
		if err := rows.Scan(append([]any{&branch, &id}, append(h.first(), h.rest()...)...)...); err != nil {
			return err
		}
		yield(branch, id, h)
	}
	return rows.Err()
}

// surveyLines reads the lines that those who look at tasks read: the documents, the frozen gate and the newest note of each.
func (d *Database) surveyLines(ctx context.Context, machines map[int64]*surveyed) error {
	var ids, offs []int64
	for id, m := range machines {
		want := map[int64]bool{}
		t := m.snap.Task
		for _, doc := range t.Docs {
			want[doc.Off] = true
		}
		for _, notes := range [][]state.Record{t.Progress, t.Decisions} {
			if n := len(notes); n > 0 {
				want[notes[n-1].Off] = true
			}
		}
		if t.TaskID != "" {
			want[t.Pin.Off] = true
		}
		for off := range want {
			ids, offs = append(ids, id), append(offs, off)
		}
	}
	rows, err := d.read.Query(ctx, `select j.machine, j.off, j.line from unnest($1::bigint[], $2::bigint[]) as w (machine, off)
		join journal j on j.machine = w.machine and j.off = w.off`, ids, offs)
	if err != nil {
		return err
	}
	var id, off int64
	var line []byte
	_, err = pgx.ForEachRow(rows, []any{&id, &off, &line}, func() error {
		machines[id].lines[off] = bytes.Clone(line)
		return nil
	})
	return err
}

func (d *Database) surveyRuns(ctx context.Context, machines map[int64]*surveyed) error {
	var ids []int64
	var tasks []string
	for id, m := range machines {
		if t := m.snap.Task.TaskID; t != "" {
			ids, tasks = append(ids, id), append(tasks, t)
		}
	}
	rows, err := d.read.Query(ctx, `select r.machine, `+runColumns+` from unnest($1::bigint[], $2::text[]) as w (machine, task)
		join run r on r.machine = w.machine and r.task = w.task `+runJoins+` order by r.n`, ids, tasks, d.opts.Node)
	if err != nil {
		return err
	}
	var id int64
	var r Run
	_, err = pgx.ForEachRow(rows, append([]any{&id}, r.columns()...), func() error {
		one := r
		one.Line = bytes.Clone(r.Line)
		machines[id].runs = append(machines[id].runs, one)
		return nil
	})
	return err
}

func (d *Database) surveySessions(ctx context.Context, machines map[string]*surveyed, sessions map[string]sessionRow) error {
	var ids []string
	for _, m := range machines {
		if id := m.snap.Task.Session; id != "" {
			ids = append(ids, id)
		}
	}
	rows, err := d.read.Query(ctx, "select s.id, s.ended is not null, n.until < clock_timestamp() from session s join node n on n.id = s.node where s.id = any($1)", ids)
	if err != nil {
		return err
	}
	var id string
	var s sessionRow
	_, err = pgx.ForEachRow(rows, []any{&id, &s.ended, &s.lost}, func() error {
		sessions[id] = s
		return nil
	})
	return err
}

// Branches returns the names of the branches, sorted by their bytes.
func (v *Survey) Branches() (names []string) {
	for name := range v.machines {
		if name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Open is [Database.Open] of a machine of the survey, nil for one that it does not have.
func (v *Survey) Open(name Name, dir string, how Opening) *Store {
	m := v.machines[name.Branch]
	if m == nil {
		return nil
	}
	s := v.d.store(name, dir, how)
	s.id, s.seen = m.id, m
	return s
}
