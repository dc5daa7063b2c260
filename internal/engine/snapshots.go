package engine

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/snapshots"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// snapshotEvents are the events after which the files of the work are kept, each with the tree that it is about, "" for the work
// tree as it is: what came of an agent's or a person's turn can be returned to.
var snapshotEvents = map[state.Event]func(state.Task) string{
	state.CreateTask:     func(t state.Task) string { return t.BaseTree },
	state.Claim:          asItIs,
	state.CheckPassed:    func(t state.Task) string { return t.Check.Tree },
	state.CheckFailed:    func(t state.Task) string { return t.Check.Tree },
	state.CheckVoid:      asItIs,
	state.Submit:         func(t state.Task) string { return t.Submission.Tree },
	state.Consult:        asItIs,
	state.RespondConsult: asItIs,
	state.AskHuman:       asItIs,
	state.Answer:         asItIs,
	state.Approve:        func(t state.Task) string { return t.Submission.Tree },
	state.Reject:         asItIs,
	state.Reopen:         asItIs,
	state.Release:        asItIs,
	state.Rollback:       asItIs,
	state.Merge:          asItIs,
}

func asItIs(state.Task) string { return "" }

// A snapshotter keeps files of entries, one after the other, behind the back of who raised the event: git is slow, and the
// answer to an agent is not to wait for it.
type snapshotter struct {
	ctx context.Context // ends when nobody waits for it any more
	end context.CancelFunc

	mu   sync.Mutex
	last chan struct{} // closed when what was to be kept last is kept, and so all; nil when there was nothing
}

// next is the turn of one who keeps files: it begins when before is closed, and ends with after. before is nil for the first.
func (k *snapshotter) next() (before, after chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	before, k.last = k.last, make(chan struct{})
	return before, k.last
}

// wait waits until all that was to be kept is. What is to be kept from now on is not waited for.
func (k *snapshotter) wait() {
	k.mu.Lock()
	last := k.last
	k.mu.Unlock()
	if last != nil {
		<-last
	}
}

// rest waits until all that is to be kept is, at most for a while; what goes on then is ended.
func (k *snapshotter) rest(most time.Duration) {
	late := time.AfterFunc(most, k.end)
	k.wait()
	late.Stop()
	k.end()
}

// state says in a word whether files are being kept. It waits for nothing.
func (k *snapshotter) state() string {
	if !k.mu.TryLock() {
		return "held"
	}
	defer k.mu.Unlock()
	select {
	case <-k.last:
	default:
		if k.last != nil {
			return "being made"
		}
	}
	return "none"
}

// snapshotAfter keeps the files of the work as they are after an event: id is their tree, "" where nobody has looked yet. What
// cannot be kept cannot be returned to later; the event stands all the same.
func (e *Engine) snapshotAfter(event state.Event, after store.Snapshot, id string) {
	of := snapshotEvents[event]
	if of == nil || after.Task.TaskID == "" {
		return
	}
	id = cmp.Or(id, of(after.Task))
	before, kept := e.keeper.next()
	go func() {
		defer close(kept)
		if before != nil {
			<-before
		}
		if err := e.saveSnapshot(e.keeper.ctx, after, id); err != nil && e.ctx.Err() == nil {
			e.log.Warn("the files of an entry are not kept", "entry", after.Task.Seq, "error", err)
		}
	}()
}

// saveSnapshot keeps a tree, that of the work as it is for "", under the newest entry of the task.
func (e *Engine) saveSnapshot(ctx context.Context, snap store.Snapshot, id string) error {
	tree, err := e.Tree(ctx, snap)
	if err != nil || !tree.Git() {
		return err
	}
	if id == "" {
		if id, err = tree.Snapshot(ctx); err != nil {
			return refusal.Git(err)
		}
	}
	return tree.SaveRef(ctx, e.snapshotRef(snap.Task.TaskID, strconv.FormatUint(snap.Task.Seq, 10)), id)
}

// snapshotRef is the name under which something of a task is kept.
func (e *Engine) snapshotRef(task, what string) string {
	return snapshots.Name(e.place.Branch, task, what)
}

// Files returns the tree that the work held at an entry of the present task: what was kept last up to it. It is "" where
// nothing was.
func (e *Engine) Files(ctx context.Context, snap store.Snapshot, seq uint64) (string, error) {
	tree, err := e.Tree(ctx, snap)
	if err != nil || !tree.Git() {
		return "", err
	}
	e.keeper.wait()
	under := e.snapshotRef(snap.Task.TaskID, "")
	names, err := tree.Refs(ctx, under)
	if err != nil {
		return "", refusal.Git(err)
	}
	best := ""
	for _, name := range names { // in the order of their numbers
		n, err := strconv.ParseUint(strings.TrimPrefix(name, under+"/"), 10, 64)
		if err == nil && n <= seq {
			best = name
		}
	}
	if best == "" {
		return "", nil
	}
	id, err := tree.ReadRef(ctx, best)
	if err != nil {
		return "", refusal.Git(err)
	}
	return id, nil
}

// keepBefore keeps the work as it is before files are moved, under a name of its own each time, and returns the tree.
func (e *Engine) keepBefore(ctx context.Context, snap store.Snapshot) (string, error) {
	tree, err := e.Tree(ctx, snap)
	if err != nil {
		return "", err
	}
	id, err := tree.Snapshot(ctx)
	if err != nil {
		return "", refusal.Git(err)
	}
	for n := 1; ; n++ {
		name := e.snapshotRef(cmp.Or(snap.Task.TaskID, snapshots.Unassigned), strconv.FormatUint(snap.Task.Seq, 10))
		if n > 1 { // a move that was cut off has left a tree of two minds, on top of which somebody may have worked
			name = fmt.Sprintf("%s.%d", name, n)
		}
		was, err := tree.ReadRef(ctx, name)
		if err != nil {
			return "", refusal.Git(err)
		}
		if was == "" || was == id {
			return id, tree.SaveRef(ctx, name, id)
		}
	}
}
