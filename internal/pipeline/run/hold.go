package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/platform/filelock"
)

// A held has what the shim of a worker needs to wait for its inputs.
type held struct {
	Dir  string `json:"dir"`
	Role string `json:"role"`
}

// Hold is the process.Holder of workers. With spawn all, each worker waits in its shim until its
// inputs exist and a place is free, so that the pipeline continues without a conductor. It gives up
// when the writers of its inputs can no longer be expected.
func Hold(ctx context.Context, order string, log io.Writer) (release func(), err error) {
	var h held
	if err := json.Unmarshal([]byte(order), &h); err != nil {
		return nil, fmt.Errorf("read what to wait for: %v", err)
	}
	f, err := Open(h.Dir)
	if err != nil {
		return nil, err
	}
	w := f.watch(f.Workflow.Waits(h.Role))
	defer w.Close()
	for i := 1; ; i++ {
		facts, err := f.present(time.Now())
		if err != nil {
			return nil, err
		}
		lost := facts.Lost(h.Role)
		if len(lost) == 0 {
			place, err := f.place()
			if err == nil {
				fmt.Fprintln(log, "INPUT_READY")
				return func() { _ = place.Close() }, nil
			}
			if !errors.Is(err, filelock.ErrHeld) {
				return nil, err
			}
		}
		end, stands := facts.WaitEnd(h.Role), facts.Stands(h.Role)
		if facts.Now.After(end) && !stands {
			fmt.Fprintln(log, "TIMEOUT")
			return nil, fmt.Errorf("%w for %s", process.ErrGaveUp, orPlace(lost))
		}
		if i == 1 {
			fmt.Fprintf(log, "Waiting... for %s\n", orPlace(lost))
		}
		others := f.awaited(facts, h.Role)
		if len(lost) == 0 { // a process that ends frees a place
			others = slices.DeleteFunc(living(facts), func(role string) bool { return role == h.Role })
		}
		end = end.Add(time.Millisecond)
		if stands { // until somebody answers
			end = time.Time{}
		}
		w.wait(ctx, others, end)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

// living returns the workers that were alive when the facts were gathered. One that has ended since
// has freed its slot.
func living(facts pipeline.Facts) []string {
	var roles []string
	for role, seen := range facts.Workers {
		if seen.Alive {
			roles = append(roles, role)
		}
	}
	return roles
}

// awaited returns those of them that write the inputs of a worker.
func (f *Folder) awaited(facts pipeline.Facts, role string) []string {
	files := f.Workflow.Waits(role)
	return slices.DeleteFunc(living(facts), func(other string) bool {
		return !slices.Contains(files, facts.Status.Worker(other).Output)
	})
}

func orPlace(lost []string) string {
	if len(lost) == 0 {
		return "a free place"
	}
	return strings.Join(lost, ", ")
}

// present returns the facts as read without a lock, with a status that is reconciled with the files
// alone.
func (f *Folder) present(now time.Time) (pipeline.Facts, error) {
	status, err := f.Status()
	if err != nil {
		return pipeline.Facts{}, err
	}
	facts, err := f.facts(status, now, f.Runs)
	if err == nil {
		facts.Status = pipeline.Reconcile(facts)
	}
	return facts, err
}

// place takes one of the limited places of running agents. The error is filelock.ErrHeld when all
// are taken.
func (f *Folder) place() (*filelock.Lock, error) {
	for n := range f.Workflow.Cap() {
		lock, err := f.hold(workersDir, fmt.Sprintf(".place-%d.lock", n+1))
		if !errors.Is(err, filelock.ErrHeld) {
			return lock, err
		}
	}
	return nil, filelock.ErrHeld
}
