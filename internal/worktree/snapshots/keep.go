package snapshots

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree"
)

// A Queue gives turns to those who keep the files of entries in the background: git is slow, and an agent does not wait for it.
type Queue struct {
	Ctx context.Context // ends when nobody waits for it any more
	end context.CancelFunc

	mu   sync.Mutex
	last chan struct{} // closed when the newest snapshot is saved, and with it all; nil when there was none
}

// NewQueue returns one that has nothing to keep yet.
func NewQueue() *Queue {
	k := &Queue{}
	k.Ctx, k.end = context.WithCancel(context.Background())
	return k
}

// Next is the turn of one who keeps files: it begins when before is closed, and ends with after. before is nil for the first.
func (k *Queue) Next() (before, after chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	before, k.last = k.last, make(chan struct{})
	return before, k.last
}

// Do does something in the background when the turn comes.
func (k *Queue) Do(what func(ctx context.Context)) {
	before, after := k.Next()
	go func() {
		defer close(after)
		if before != nil {
			<-before
		}
		what(k.Ctx)
	}()
}

// Wait waits until all that was to be kept is. What is to be kept from now on is not waited for.
func (k *Queue) Wait() {
	k.mu.Lock()
	last := k.last
	k.mu.Unlock()
	if last != nil {
		<-last
	}
}

// Rest waits until all that is to be kept is, at most for a while; what goes on then is ended.
func (k *Queue) Rest(most time.Duration) {
	late := time.AfterFunc(most, k.end)
	k.Wait()
	late.Stop()
	k.end()
}

// State says in a word whether files are being kept. It waits for nothing.
func (k *Queue) State() string {
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

// Save keeps a tree of files, the work tree as it is for id "", under an entry of a task. Without git it keeps nothing.
func Save(ctx context.Context, tree *worktree.Tree, branch string, t state.Task, id string) (err error) {
	if !tree.Git() {
		return nil
	}
	if id == "" {
		if id, err = tree.Snapshot(ctx); err != nil {
			return refusal.Git(err)
		}
	}
	return tree.SaveRef(ctx, Name(branch, t.TaskID, strconv.FormatUint(t.Seq, 10)), id)
}

// Find returns the tree that was kept last for a task up to an entry, "" where none was.
func Find(ctx context.Context, tree *worktree.Tree, branch, task string, seq uint64) (string, error) {
	under := Name(branch, task, "")
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

// Keep keeps the work tree as it is before files are moved, under a name of its own each time, and returns its tree.
func Keep(ctx context.Context, tree *worktree.Tree, branch string, t state.Task) (string, error) {
	id, err := tree.Snapshot(ctx)
	if err != nil {
		return "", refusal.Git(err)
	}
	_, err = KeepAs(ctx, tree, Name(branch, cmp.Or(t.TaskID, Unassigned), strconv.FormatUint(t.Seq, 10)), id)
	return id, err
}

// KeepAs keeps a tree under a name, or if that has another one, under the name with .2 behind it, and so on. It returns the name that the tree
// has: a move that was interrupted has left a tree that is half moved, on top of which somebody may have worked.
func KeepAs(ctx context.Context, tree *worktree.Tree, name, id string) (as string, err error) {
	for n := 1; ; n++ {
		as = name
		if n > 1 {
			as = fmt.Sprintf("%s.%d", name, n)
		}
		was, err := tree.ReadRef(ctx, as)
		if err != nil {
			return "", refusal.Git(err)
		}
		if was == "" || was == id {
			return as, tree.SaveRef(ctx, as, id)
		}
	}
}

// EditsName is the name under which edits are saved that a move of the files of the work takes out of the work tree.
func EditsName(branch string, t state.Task) string {
	return Name(branch, cmp.Or(t.TaskID, Unassigned), fmt.Sprintf("%d.edits", t.Seq))
}
