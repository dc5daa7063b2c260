package engine

import (
	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/snapshots"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/worktree/restore"
)

// editsOf is the name under which edits are kept that a move of the files of the work takes out of the work tree.
func (e *Engine) editsOf(snap store.Snapshot) string {
	return snapshots.EditsName(e.place.Branch, snap.Task)
}

// withEdits is an error that also names the edits that were kept before it happened.
func withEdits(err error, edits []restore.Edit) error {
	if err == nil || len(edits) == 0 {
		return err
	}
	return refusal.Adding(err, ". "+restore.Text(edits))
}
