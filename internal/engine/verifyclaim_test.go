package engine_test

import (
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/store/file"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// Without a store to read from, a session that has lost the work is refused all the same: who took the work is read from
// the journal when the lock is free again.
func TestARefusalReadsNoHistoryUnderTheLock(t *testing.T) {
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("true"))
	c := p.Clocked()
	_, ex := p.Begun()
	c.Pass(2 * time.Minute)
	now := enginetest.Claim(t, p.Executor("qwen")).Snapshot
	for _, ev := range state.Allowed(now.Task, state.Holder) {
		var err error
		ex.Engine().WithStore(nil, func() { _, err = ex.Decide(now, ev) })
		if engine.LostEpoch(err) != 1 {
			t.Errorf("%s: %v", ev, err)
		}
		enginetest.Refused(t, ex.Explain(err), refusal.LeaseLost, "executor:qwen:1 took this work over")
	}
	var err error // nor does a check that ended too late
	ex.Engine().WithStore(nil, func() { _, err = ex.DecideGreen(now) })
	enginetest.Refused(t, ex.Explain(err), refusal.LeaseLost, "executor:qwen:1 took this work over")
	// Without the journal there is nothing more to say.
	gone, err := file.Open(t.TempDir(), file.Options{Log: enginetest.Quiet})
	if err != nil {
		t.Fatal(err)
	}
	defer gone.Close()
	ex.Engine().WithStore(gone, func() {
		enginetest.Refused(t, ex.Explain(engine.LossOf(1)), refusal.LeaseLost, "the lease was taken away")
	})
}
