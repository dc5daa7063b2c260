package process

import (
	"context"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/clock"
	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/store/live"
)

// A Fence ends an agent whose task another computer may continue, since that one cannot end it. The zero Fence ends nothing.
type Fence struct {
	// Heard is the file of live.NoteHeard. When nothing new stands there for Silence, others may take this computer for lost soon, and the
	// agent is killed. "" for none.
	Heard   string
	Silence time.Duration

	// Conductor is the lock of a conductor. When nobody has held it for Alone, another computer may conduct the task, and the agent
	// is ended. "" for none.
	Conductor string
	Alone     time.Duration
}

// A breach is why a fence ends an agent.
type breach struct {
	kill bool // at once: there is no time to ask
	why  string
}

// broken returns a channel that gets a breach of the fence. It looks once in every, until ctx ends.
func (f Fence) broken(ctx context.Context, every time.Duration) <-chan breach {
	out := make(chan breach, 1)
	if f.Heard == "" && f.Conductor == "" {
		return out
	}
	now := clock.Read().Nanos
	heard, alone := now, now
	go func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
			at := clock.Read()
			if sent, err := live.Heard(f.Heard); err == nil && sent.Boot == at.Boot && sent.Clock == at.Clock {
				heard = max(heard, sent.Nanos)
			}
			if held, _ := filelock.Held(f.Conductor); held {
				alone = at.Nanos
			}
			switch {
			case f.Heard != "" && at.Nanos-heard > int64(f.Silence):
				out <- breach{true, "the database was not reached for " + f.Silence.String() + ", so that another computer may continue"}
				return
			case f.Conductor != "" && at.Nanos-alone > int64(f.Alone):
				out <- breach{false, "its conductor has ended, so that another computer may continue"}
				return
			}
		}
	}()
	return out
}
