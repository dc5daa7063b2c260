package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"time"

	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/platform/clock"
	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/platform/jsonx"
)

// Options say how a run is driven.
type Options struct {
	Ferrus  string               // absolute path of the ferrus program, for the workers' servers
	Environ []string             // for the workers, before variables are removed that they must not inherit
	Out     io.Writer            // target of results that are delivered to stdout; may be nil
	Report  func(Line)           // called for each new line; may be nil
	Log     *slog.Logger         // slog.Default when nil
	Now     func() time.Time     // time.Now when nil
	Clock   func() lease.Instant // clock.Read when nil
	Mover   atomicfile.Mover     // moves runs to the archive; a test simulates one on another disk by it
	At      func(point string)   // called at each named point, for tests that kill there; may be nil
}

func (o Options) at(point string) {
	if o.At != nil {
		o.At(point)
	}
}

func (o Options) orUsual() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Clock == nil {
		o.Clock = clock.Read
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Out == nil {
		o.Out = io.Discard
	}
	return o
}

// ErrGone means that the folder of the run no longer exists: the run was archived or removed.
var ErrGone = errors.New("the run no longer exists")

// steps bounds the actions of one tick, so that a bug in ferrus ends as an error.
const steps = 1000

// Tick does everything that can be done for the run now, and returns the last action: Wait, or
// Archive, after which Dir is the folder in the archive. Every trigger calls it; concurrent calls
// do no harm. After an error the next tick continues from the files.
func (f *Folder) Tick(ctx context.Context, o Options) (pipeline.Action, error) {
	o = o.orUsual()
	lock, err := f.lock(ctx)
	if err != nil {
		return pipeline.Action{}, err
	}
	a, err := f.tick(ctx, o)
	_ = lock.Close()
	if err == nil && a.Do != pipeline.Archive {
		f.news(ctx, o)
	}
	return a, err
}

// lock waits until no other process ticks.
func (f *Folder) lock(ctx context.Context) (*filelock.Lock, error) {
	lock, err := f.take(ctx, lockFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrGone
	}
	return lock, err
}

// take waits for the lock of a file of the run.
func (f *Folder) take(ctx context.Context, name string) (*filelock.Lock, error) {
	path, err := f.checked(name)
	if err != nil {
		return nil, err
	}
	lock, err := filelock.Acquire(ctx, path)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%s is held by another ferrus: %w", path, err)
	}
	return lock, err
}

func (f *Folder) tick(ctx context.Context, o Options) (pipeline.Action, error) {
	if f.archived() {
		return pipeline.Action{Do: pipeline.Archive, Row: "archive"}, nil
	}
	b := &runState{f: f, o: o}
	if err := b.open(o.Now()); err != nil {
		return pipeline.Action{}, err
	}
	woke := f.woke(o)
	for range steps {
		facts, a, err := b.look(woke)
		if err != nil {
			return pipeline.Action{}, err
		}
		if a.Do == pipeline.Wait {
			f.tellDay(o, a)
			return a, b.refuse(facts, a)
		}
		if err := b.do(ctx, facts, a); err != nil {
			return a, fmt.Errorf("%s: %w", a, err)
		}
		if a.Do == pipeline.Archive {
			return a, nil
		}
	}
	return pipeline.Action{}, f.unsettled()
}

func (f *Folder) unsettled() error {
	return fmt.Errorf("%s does not settle: %d steps in one tick; see %s", f.Name(), steps, f.Path(journalFile))
}

// observe records the changes of the files and the locks.
func (b *runState) observe(facts pipeline.Facts, seen pipeline.Status) error {
	l := Line{At: facts.Now, Event: "observed", Status: seen}
	for i, p := range seen.Phases {
		for j, k := range p.Workers {
			if was := facts.Status.Phases[i].Workers[j]; was.Status != k.Status || was.Reason != k.Reason {
				l.Roles = append(l.Roles, k.Role)
				l.Reason = k.Reason
			}
		}
	}
	if err := b.keep(facts.Status, seen); err != nil {
		return err
	}
	return b.commit(l)
}

// refuse drops a request of a person that cannot be fulfilled now, so that it does not take effect
// later.
func (b *runState) refuse(facts pipeline.Facts, a pipeline.Action) error {
	if facts.Intent.Verb == "" {
		return nil
	}
	i, _ := b.f.intent()
	why := fmt.Sprintf("%s was requested by %s, and there is nothing to %s now: %s", i.Verb, i.By, i.Verb, a)
	if err := b.commit(Line{At: facts.Now, Event: "refused", Why: why, By: i.By, Intent: i.ID, Status: b.status}); err != nil {
		return err
	}
	return b.f.remove(intentFile)
}

// asleep is the lead of the wall clock over the machine's clock from which ferrus infers that the
// machine slept, or that the clock was set.
const asleep = 30 * time.Second

// A look has the time of a tick, by both clocks.
type look struct {
	Wall  time.Time     `json:"wall"`
	Clock lease.Instant `json:"clock"`
	Woke  time.Time     `json:"woke,omitzero"`
}

// woke returns when the machine last woke up during the run, zero if it did not sleep: during a
// sleep nothing can work. It stores the time of the call.
func (f *Folder) woke(o Options) time.Time {
	now := look{Wall: o.Now().Round(0), Clock: o.Clock()}
	var was look
	if text, err := f.slurp(lookedFile); err == nil && json.Unmarshal(text, &was) == nil && was.Clock.Boot == now.Clock.Boot && was.Clock.Clock == now.Clock.Clock {
		now.Woke = was.Woke
		if now.Wall.Sub(was.Wall)-time.Duration(now.Clock.Nanos-was.Clock.Nanos) > asleep {
			now.Woke = now.Wall
		}
	}
	if now.Wall.Sub(was.Wall).Abs() < asleep/3 && now.Woke.Equal(was.Woke) {
		return now.Woke
	}
	if text, err := jsonx.Marshal(now); err == nil {
		_ = f.replace(lookedFile, append(text, '\n'), 0o600) // without it a sleep may count as work
	}
	return now.Woke
}
