package engine

import "github.com/ferrus-go/ferrus/internal/state"

// Tasks counts the tasks of the journal, as far as it can be read: what a person adopts with an agreement.
func (e *Engine) Tasks() (n int) {
	for l, err := range e.store.History() {
		if err != nil {
			break
		}
		if l.Event == state.CreateTask {
			n++
		}
	}
	return n
}
