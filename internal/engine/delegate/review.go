package delegate

import (
	"context"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A Reviewed is what a delegate waits with.
type Reviewed struct {
	Task       string
	Question   string // of a consultation; "" of a submission
	Submission string
	Diffstat   string
	Patch      string   // absolute path
	PatchExact string   // as in [engine.Review]
	Notices    []string // of a submission: those of [engine.Engine.Notices]
}

// Review returns what a child of e's task waits with.
func Review(ctx context.Context, e *engine.Engine, c Child) (Reviewed, error) {
	b, err := Open(e, c.Delegate)
	if err != nil {
		return Reviewed{}, err
	}
	defer b.Close()
	if c.Phase == Asking {
		var r Reviewed
		if r.Task, err = store.Text(b.Store(), c.Snap, state.TaskDoc); err == nil {
			r.Question, err = store.Text(b.Store(), c.Snap, state.ConsultRequestDoc)
		}
		return r, err
	}
	r, err := b.ReviewOf(ctx, c.Snap, state.Supervisor)
	if err != nil {
		return Reviewed{}, err
	}
	st, err := b.StatusOf(c.Snap)
	if err != nil {
		return Reviewed{}, err
	}
	return Reviewed{Task: r.Task, Submission: r.Submission, Diffstat: r.Diffstat, Patch: r.Patch, PatchExact: r.PatchExact,
		Notices: append(st.Notices(), r.Notices...)}, nil
}

// ConductorLock is the lock that the conductor of a machine holds, relative to the folder of the machine.
const ConductorLock = "live/hq.lock"

// Conducted reports whether a conductor runs, which starts the agents of delegates.
func Conducted(e *engine.Engine) bool {
	held, _ := filelock.Held(e.Place().Path(ConductorLock))
	return held
}
