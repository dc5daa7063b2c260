// Package leader gives a computer the right to conduct a task whose machine several computers share, and knows the agents that all of
// them have started for it.
//
// The right is a row of the database. Three things together let at most one agent of a duty work, on whatever computer:
//
//   - A start is recorded in the database before it happens, on condition that the right is still there.
//   - The record names a session that lives as long as the shim. Another computer starts nothing while the database says that it lives.
//   - A computer that cannot reach the database is taken for lost after some seconds. Its shims kill their agents before that, by
//     [process.Fence].
//
// A machine in files needs none of this: the locks of package conductor and package process do it. Its Post is nil.
package leader

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/store/live"
	"github.com/ferrus-go/ferrus/internal/store/postgres"
)

// A TakenError says which computer conducts the task.
type TakenError = postgres.TakenError

// ErrLost means that another computer may conduct the task now.
var ErrLost = postgres.ErrPostLost

// ErrFilesElsewhere means that another computer has newer files of the task.
var ErrFilesElsewhere = postgres.ErrFilesElsewhere

// A Post is the right to conduct a task. A nil Post is that of a machine in files: it is never lost, and its methods do nothing. It is for one
// goroutine at a time.
type Post struct {
	*postgres.Post
	s      *postgres.Store
	place  project.Place
	abroad []process.Run // that went on elsewhere at the last call of Runs
}

// Take takes the right to conduct the task of a machine; nil for a machine in files. The error is a *TakenError when another conductor has
// it, or a *refusal.RefusedError.
func Take(ctx context.Context, m store.Machine, place project.Place) (*Post, error) {
	s, ok := m.(*postgres.Store)
	if !ok {
		return nil, nil
	}
	p, err := s.TakePost(ctx, uuid.NewString())
	if err != nil {
		return nil, err
	}
	return &Post{Post: p, s: s, place: place}, nil
}

// Context returns a context that ends with ctx, or with the cause ErrLost when the post is lost.
func (p *Post) Context(ctx context.Context) (context.Context, context.CancelFunc) {
	if p == nil {
		return context.WithCancel(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-p.Lost():
			cancel(ErrLost)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// Moved reports whether the newest files of the task are not in the work tree of this computer, as far as is known. It is as it was when the post was
// taken, and at the last call of Look, Arrived or Begin.
func (p *Post) Moved() bool { return p != nil && !p.Files.Here }

// Look asks the database again. The error is ErrLost if the post is another's.
func (p *Post) Look(ctx context.Context) error {
	if p == nil {
		return nil
	}
	return p.Post.Look(ctx)
}

// Arrived records that they are. The error is ErrFilesElsewhere if there are newer ones by now.
func (p *Post) Arrived(ctx context.Context) error {
	if p == nil || p.Files.Here {
		return nil
	}
	return p.Post.Arrived(ctx)
}

// Leave gives the right up. files is the commit by which another computer gets the files of the task, "" if they were not handed over.
func (p *Post) Leave(ctx context.Context, files string) error {
	if p == nil {
		return nil
	}
	return p.Post.Leave(ctx, files)
}

// Begin records the start of an agent before it happens, and completes the order: no computer has a run of its name. conductor is the lock of the conductor without which the
// agent may not stay. With "" the agent has no fence: nothing may say between two decisions that this computer is there, and another one may take it
// for lost. The error is ErrLost or ErrFilesElsewhere if nothing may be started.
func (p *Post) Begin(ctx context.Context, task string, o *process.Order, conductor string) error {
	if p == nil {
		return nil
	}
	o.Session = uuid.NewString()
	if ttl := p.s.Database().TTL(); conductor != "" {
		o.Fence = process.Fence{Heard: live.HeardFile(project.At(p.place.Root, "").Dir()), Silence: ttl * 8 / 10, Conductor: conductor, Alone: ttl}
	}
	o.Number = max(o.Number, process.Next(p.abroad, o.Run.Duty))
	r := o.Run
	r.Name, r.Started = process.Name(r.Duty, o.Number), time.Now().UTC().Truncate(time.Millisecond)
	line, err := r.Portable()
	if err != nil {
		return err
	}
	return p.Post.Begin(ctx, task, r.Name, o.Session, line)
}

// Runs returns the runs of a task on all computers, in the order of their start, and by duty the computer on which an agent of another one works.
// own are those of this computer, which it records; slot tells whether an agent of this computer is in its slot. Two computers can have runs of the same
// name, from before they shared the task: a run is known by its name and its Node.
func (p *Post) Runs(ctx context.Context, task string, own []process.Run, slot func(agents.Duty) process.Slot) ([]process.Run, map[agents.Duty]string, error) {
	if p == nil {
		return own, nil, nil
	}
	rows, err := p.s.Runs(ctx, task)
	if err != nil {
		return nil, nil, err
	}
	list, abroad := merge(own, rows)
	for i, r := range list {
		if r.mine || r.Over() {
			continue
		}
		if !r.row.Here {
			r.Run = lost(r)
		} else if _, taken := slot(r.Duty).Taken(); taken {
			continue // it is only just starting
		} else {
			r.Run = ended(r.Run, 0, "it was recorded and not started")
			r.Stopped = true
		}
		list[i] = r
	}
	for _, r := range list {
		if err := p.record(ctx, task, r); err != nil {
			return nil, nil, err
		}
	}
	elsewhere := map[agents.Duty]string{}
	for _, r := range abroad {
		elsewhere[r.Duty] = r.Node
	}
	p.abroad = runsOf(abroad)
	return runsOf(list), elsewhere, nil
}

// record writes the end of a run, if its row does not say it. What a computer has seen of its own runs counts more than what another one has written
// in its place.
func (p *Post) record(ctx context.Context, task string, r known) error {
	if !r.Over() || r.row != nil && r.row.Over && !r.mine {
		return nil
	}
	line, err := r.Portable()
	switch {
	case err != nil:
		return err
	case r.row != nil && !r.row.Here:
		return p.RecordLost(ctx, task, r.Name, r.row.Node, line)
	case r.row != nil && r.row.Over && bytes.Equal(r.row.Line, line):
		return nil
	}
	return p.Record(ctx, task, r.Name, true, line)
}

// lost is the record of a run whose end nobody has seen. It counts, like that of a shim that was killed: the agent may have ended by itself.
func lost(r known) process.Run {
	return ended(r.Run, -1, "it ended on "+r.row.Host+" without a record")
}

// ended is the record of a run that has ended.
func ended(r process.Run, exit int, why string) process.Run {
	r.Ended, r.Exit, r.Error = time.Now().UTC().Truncate(time.Millisecond), exit, why
	return r
}

// A known run is one that the files of this computer or the database have.
type known struct {
	process.Run
	mine bool          // the files of this computer have it
	row  *postgres.Run // of the database; nil if it has none
}

// merge returns the runs of all computers in the order of their start, and apart from them those that go on elsewhere.
func merge(own []process.Run, rows []postgres.Run) (list, abroad []known) {
	for _, r := range own {
		list = append(list, known{Run: r, mine: true})
	}
	for i, row := range rows {
		if at := slices.IndexFunc(own, func(r process.Run) bool { return row.Here && r.Name == row.Name }); at >= 0 {
			list[at].row = &rows[i]
			continue
		}
		r, err := process.ReadPortable(row.Line)
		if err != nil {
			continue // ferrus writes only lines that it can read; another program wrote this one
		}
		if !row.Here {
			r.Node = row.Host
		}
		k := known{Run: r, row: &rows[i]}
		if row.Alive && !row.Here {
			abroad = append(abroad, k)
		} else {
			list = append(list, k)
		}
	}
	slices.SortStableFunc(list, func(a, b known) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Name, b.Name))
	})
	return list, abroad
}

func runsOf(list []known) []process.Run {
	var runs []process.Run
	for _, r := range list {
		runs = append(runs, r.Run)
	}
	return runs
}

// All returns the runs of a task on all computers, for reports: own are those of this computer. Where the database does not answer, it returns those.
func All(ctx context.Context, m store.Machine, task string, own []process.Run) []process.Run {
	s, ok := m.(*postgres.Store)
	if !ok {
		return own
	}
	rows, err := s.Runs(ctx, task)
	if err != nil {
		return own
	}
	list, abroad := merge(own, rows)
	for i, r := range list {
		if !r.mine && !r.Over() {
			list[i].Run = lost(r)
		}
	}
	return runsOf(append(list, abroad...))
}

// Node returns the other computer that conducts the task of a machine; "" for none, for a machine in files, and where the database does not answer.
func Node(ctx context.Context, m store.Machine) string {
	s, ok := m.(*postgres.Store)
	if !ok {
		return ""
	}
	if p, err := s.Conducted(ctx); err == nil && p != nil && elsewhere(*p) {
		return p.Host
	}
	return ""
}

// Elsewhere returns the branches of the project of a machine that other computers conduct; none for a machine in files.
func Elsewhere(ctx context.Context, m store.Machine) (map[string]bool, error) {
	s, ok := m.(*postgres.Store)
	if !ok {
		return nil, nil
	}
	posts, err := s.Database().Posts(ctx, s.Name().Project)
	if err != nil {
		return nil, err
	}
	far := map[string]bool{}
	for _, p := range posts {
		if elsewhere(p) {
			far[p.Branch] = true
		}
	}
	return far, nil
}

// elsewhere reports whether another computer has a post, and is not lost.
func elsewhere(p postgres.Conducted) bool { return !p.Here && !p.Lost }
