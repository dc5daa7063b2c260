package status

import (
	"cmp"
	"context"
	"io"
	"slices"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// A Detail is all there is to show of one task: its report, what needs a person, what a person can do, its documents and its log.
type Detail struct {
	*Report
	Needs     []Need     `json:"needs_you"`
	Acts      []Act      `json:"acts"`
	Documents []Document `json:"documents"` // in the order in which agents read them
	Timeline  []Entry    `json:"timeline"`  // oldest first
	Earlier   bool       `json:"earlier"`   // there are older entries than those of the timeline
}

// A Document is a text of the task as it is now.
type Document struct {
	Name state.Doc `json:"name"`
	By   string    `json:"by,omitempty"`
	At   time.Time `json:"at,omitzero"`
	Text string    `json:"text"`
}

// An Entry is an event of the log.
type Entry struct {
	Seq    uint64      `json:"seq"`
	At     time.Time   `json:"at"`
	By     string      `json:"by"`
	Event  state.Event `json:"event"`
	From   state.State `json:"from"`
	To     state.State `json:"to"`
	Text   string      `json:"text,omitempty"` // in a line
	Back   uint64      `json:"back,omitempty"` // of a rollback: the entry that it returned to
	Undone bool        `json:"undone,omitempty"`
	Shared bool        `json:"shared,omitempty"` // it is older than the branch
	Forks  []Fork      `json:"-"`                // the branches that begin after it; ReadForks reads them
	hash   string      // of its line
	role   state.Role
}

// Entry is the event as an entry of a log.
func (p Event) Entry() Entry {
	return Entry{Seq: p.Seq, At: p.At, By: p.Actor.Agent, Event: p.Event, From: p.From, To: p.To, Text: p.NoteText(), Back: p.Back, Undone: p.Left, Shared: p.Shared,
		hash: p.H, role: p.Actor.Role}
}

// ReadDetail reads a task with its newest entries, all for 0.
func ReadDetail(ctx context.Context, e *engine.Engine, newest int) (*Detail, error) {
	r, err := ReadAll(e)
	if err != nil {
		return nil, err
	}
	if e.Foreign() == nil {
		if err := r.mergesCleanly(ctx, e); err != nil {
			return nil, err
		}
	}
	d := &Detail{Report: r, Needs: r.Needs(), Acts: r.Acts(), Documents: []Document{}, Timeline: []Entry{}}
	list, err := History(e, newest)
	if err != nil {
		return nil, err
	}
	for _, p := range list {
		d.Timeline = append(d.Timeline, p.Entry())
	}
	d.Earlier = len(list) > 0 && list[0].Seq > 1
	now, err := e.View()
	if err != nil {
		return nil, err
	}
	for _, doc := range state.Docs() {
		ref, ok := now.Task.Docs[doc]
		if !ok {
			continue
		}
		l, err := e.Store().LineAt(ref.Off)
		if err != nil {
			return nil, err
		}
		d.Documents = append(d.Documents, Document{doc, l.Actor.Agent, l.At, l.Docs[doc]})
	}
	return d, nil
}

// Undo returns the act that takes back one that a person has done when an entry of the log was the newest, with the entry as a value of
// its field seq; false where none does: it has done more than change the task, or somebody else has gone on with the task since.
func (d *Detail) Undo(done string, before uint64) (Act, bool) {
	own := d.Seq > before && len(d.Timeline) > 0 && d.Timeline[0].Seq <= before+1
	for _, e := range d.Timeline {
		own = own && (e.Seq <= before || e.role == state.Human)
	}
	i := slices.IndexFunc(d.Acts, func(a Act) bool { return a.Name == "rollback" })
	if !own || i < 0 || !Undoable(done) {
		return Act{}, false
	}
	return d.Acts[i], true
}

// ReadForks reads which branches begin after the entries of a task.
func (d *Detail) ReadForks(e *engine.Engine) {
	forks := Forks(e)
	for i := range d.Timeline {
		d.Timeline[i].Forks = forks[d.Timeline[i].hash]
	}
}

// ProjectActs are what a person can do in the project of e beside its tasks: create tasks, and run all that waits.
func ProjectActs(e *engine.Engine) ([]Act, error) {
	r, err := Read(e)
	if err != nil {
		return nil, err
	}
	return projectActs(r), nil
}

// WriteDiff writes the patch of the task: what its work has changed since the tree since, which is one of the task's, or since the task
// was created for "". Of a task without one it writes nothing. It starts nothing, and says of a file that it does not read for that, or
// because of its size, why.
func WriteDiff(ctx context.Context, e *engine.Engine, since string, w io.Writer) error {
	now, err := e.View()
	if err != nil || now.Task.TaskID == "" {
		return err
	}
	tree, err := e.Tree(ctx, now)
	if err != nil || !tree.Git() {
		return err
	}
	files, skipped, err := handover.Work(ctx, tree, now.Task)
	if err != nil {
		return refusal.Git(err)
	}
	if err := tree.Patch(ctx, cmp.Or(since, now.Task.BaseTree), files, w); err != nil {
		return err
	}
	for _, s := range skipped {
		if _, err := io.WriteString(w, s.Patch(handover.Full(e.Place().Branch))); err != nil {
			return err
		}
	}
	return nil
}
