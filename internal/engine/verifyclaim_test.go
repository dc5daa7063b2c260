package engine

import (
	"errors"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/checks"
	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// Without a store to read from, a session that has lost the work is refused all the same: who took the work is read from
// the journal when the lock is free again.
func TestARefusalReadsNoHistoryUnderTheLock(t *testing.T) {
	t.Parallel()
	p := plain(t, gate("true"))
	c := p.clocked()
	_, ex := p.begun()
	c.pass(2 * time.Minute)
	now := claim(t, p.executor("qwen")).Snapshot
	disk := ex.e.store
	defer func() { ex.e.store = disk }()
	for _, ev := range state.Allowed(now.Task, state.Holder) {
		ex.e.store = nil
		_, err := ex.change(now, transition{event: ev}, "")
		ex.e.store = disk
		if lost := (lossError{}); !errors.As(err, &lost) || lost.epoch != 1 {
			t.Errorf("%s: %v", ev, err)
		}
		refused(t, ex.explain(err), refusal.LeaseLost, "executor:qwen:1 took this work over")
	}
	ex.e.store = nil // nor does a check that ended too late
	_, err := ex.change(now, (Checked{Status: state.CheckGreen}).act(&job{session: ex}, store.Snapshot{}, checks.Result{}), "")
	ex.e.store = disk
	refused(t, ex.explain(err), refusal.LeaseLost, "executor:qwen:1 took this work over")
	// Without the journal there is nothing more to say.
	gone, err := store.Open(t.TempDir(), store.Options{Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	defer gone.Close()
	ex.e.store = gone
	refused(t, ex.explain(lossError{1}), refusal.LeaseLost, "the lease was taken away")
}
