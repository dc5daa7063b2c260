package engine

import "github.com/ferrus-go/ferrus/internal/store"

// Adopt records the journal as it stands as this machine's own, on a person's word.
func (e *Engine) Adopt() error {
	if e.origin == nil {
		return nil
	}
	snap, err := e.View()
	if err != nil {
		return err
	}
	return e.origin.Mark(e.store, snap.Journal, true)
}

// markLater records how far the journal is after an act, now and then.
func (e *Engine) markLater(snap store.Snapshot) {
	if e.origin != nil && e.origin.Due(e.opts.Now()) {
		e.markNow(snap)
	}
}

// markLast records how far the journal is at the end of an engine that has acted, or whose state is yet to be adopted.
func (e *Engine) markLast() {
	if e.origin == nil || e.foreign != nil || !e.origin.Owed() {
		return
	}
	if snap, err := e.store.View(); err == nil {
		e.markNow(snap)
	}
}

func (e *Engine) markNow(snap store.Snapshot) {
	if err := e.origin.Mark(e.store, snap.Journal, false); err != nil {
		e.log.Debug("the journal's newest line is not recorded", "error", err)
	}
}

// Ours returns nil while git tracks no control file of .ferrus and its folders are this user's: else a *project.ForeignError. It is
// for files that the engine does not read, such as the tokens. Without a record of the project it is nil.
func (e *Engine) Ours() error { return e.ours() }

// ours refuses state that git has begun to track since it was looked at.
func (e *Engine) ours() error {
	if e.origin == nil || e.opts.Look {
		return nil
	}
	return e.origin.CheckFolders()
}
