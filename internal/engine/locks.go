package engine

import (
	"fmt"

	"github.com/ferrus-go/ferrus/internal/store"
)

// Locks describes who holds the locks of the engine and its store, for the log of a call that does not end. It waits for
// none of them.
func (e *Engine) Locks() string {
	said := fmt.Sprintf("engine: %s; settings: %s; snapshots: %s; ", store.Mutex(e.mu.TryLock, e.mu.Unlock), e.settings.Locks(), e.saves.State())
	if o := e.origin; o != nil {
		said += "origin: " + o.Locks() + "; "
	}
	return said + e.store.Locks()
}
