// Package conductor keeps the agent alive that the state of a task needs, until the task is
// complete, has failed, or needs a person.
//
// A conductor is stateless and level-triggered. It reads the state and the slots of the agents,
// looks both up in two tables (table.go, rules.go), takes one action, and waits for a change
// notification. It stores nothing of importance in memory: you can kill it at any point, and the
// next one continues from the files. Agents run in slots of their own and outlive it.
//
// internal/agents/process starts and ends the processes. internal/conductor/schedule runs conductors for several
// branches.
//
// Start reading at table.go.
package conductor

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/conductor/leader"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/checkrun"
	"github.com/ferrus-go/ferrus/internal/project/records"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// Options configure a run of the conductor.
type Options struct {
	Headless bool         // non-interactive: a question ends the run
	Hurry    bool         // ends waits for earlier failures: rate limits, back-off
	Ferrus   string       // absolute path of the ferrus program, for the agents' servers
	Lease    config.Lease // how long an agent may be silent
	Environ  []string     // for the agents, before variables are removed that they must not inherit
	Tell     func(Event)  // called for each event; may be nil
	Show     func(View)   // called at least once a second; may be nil
	Log      *slog.Logger // slog.Default when nil

	// Others returns what agents of other machines have used for this task, in all and since a person last renewed the budget. With an
	// error it is at least that much, and nothing is started. Nil means nothing.
	Others func() (total, since records.Spend, err error)
	// Hold returns why no agent of this task may run now, "" if they may. Nil means that they may.
	Hold func() string

	// FetchFiles brings the newest files of the task into the work tree of this computer, when another one has them or nobody knows where they
	// are. Nil means that they are not moved.
	FetchFiles func(ctx context.Context, e *engine.Engine) error
	// HandOver hands them over to other computers when a run ends before its task, and returns the commit. Nil means that it does not.
	HandOver func(ctx context.Context, e *engine.Engine) (files string, err error)

	Now      func() time.Time               // time.Now when nil
	BackOff  func(failed int) time.Duration // wait after a number of starts without progress; nil: up to a minute
	Patience Patience
	Until    Until // when the run ends before its task
}

// Patience has the limits of waits that neither a lease nor a person ends. Zero means the default.
type Patience struct {
	Parting time.Duration // for an agent to exit after its state has ended
	Idling  time.Duration // for an executor to claim the task after its start, or after it lost the claim
	Leaving time.Duration // for all agents to exit after the run has ended
	Instant time.Duration // an agent that ends sooner has done nothing
}

func (p Patience) orUsual() Patience {
	return Patience{cmp.Or(p.Parting, parting), cmp.Or(p.Idling, idling), cmp.Or(p.Leaving, leaving), cmp.Or(p.Instant, instant)}
}

// An Outcome is the result of a run of the conductor.
type Outcome struct {
	store.Snapshot
	Exit int // exit code: 0 complete, 1 failed, 3 nothing to do, 6 waiting for a person, 9 ended by Until
	Runs []process.Run
}

// signalled is how long after a failed start a signal may arrive that caused the failure.
const signalled = time.Second

// ErrStopped means that the conductor was stopped. Its agents have ended, and the task is
// unchanged.
var ErrStopped = errors.New("stopped")

// ErrLost means that another computer may conduct the task now. The agents of this one have ended.
var ErrLost = leader.ErrLost

// Run conducts the task of the engine until the task has ended, needs a person in a non-interactive
// run, opts.Until has passed, or ctx ends. The error is a *BusyError when another conductor works on the task, ErrStopped
// when ctx has ended, ErrLost, or an error of the machine.
func Run(ctx context.Context, e *engine.Engine, opts Options) (Outcome, error) {
	out, err := conduct(ctx, e, opts)
	for err == nil && answeredMeanwhile(e, opts, out) {
		next, failed := conduct(ctx, e, opts)
		if busy := (*BusyError)(nil); errors.As(failed, &busy) {
			break // another run works on it
		}
		out, err = next, failed
	}
	return out, err
}

// answeredMeanwhile reports whether a person has answered what a run has ended for, before the run gave up its lock: the command of the person found a run
// at work, and started none. Other acts of a person, such as a rollback, continue no run.
func answeredMeanwhile(e *engine.Engine, opts Options, out Outcome) bool {
	if out.Exit != exitPerson {
		return false
	}
	now, err := e.View()
	return err == nil && now.Task.TaskID == out.Task.TaskID && !wanted(Facts{Snapshot: now, Headless: opts.Headless}).over
}

// conduct is one run of the task, from the moment at which this is its conductor.
func conduct(ctx context.Context, e *engine.Engine, opts Options) (Outcome, error) {
	if err := e.Known(); err != nil {
		return Outcome{}, err
	}
	c := newConductor(e, opts)
	if err := c.take(ctx); err != nil {
		return Outcome{}, err
	}
	defer c.leave()
	if err := c.fetchFiles(ctx); err != nil {
		return Outcome{}, err
	}
	within, cancel := c.post.Context(ctx)
	defer cancel()
	out, err := c.run(within)
	if ctx.Err() == nil && context.Cause(within) == ErrLost {
		return out, ErrLost
	}
	if (err == nil || errors.Is(err, ErrStopped)) && out.Task.Underway() {
		c.handOver()
	}
	return out, err
}

func newConductor(e *engine.Engine, opts Options) *conductor {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.BackOff == nil {
		opts.BackOff = backOff
	}
	if opts.Log == nil {
		opts.Log = slog.Default()
	}
	if opts.Tell == nil {
		opts.Tell = func(Event) {}
	}
	if opts.Show == nil {
		opts.Show = func(View) {}
	}
	opts.Patience = opts.Patience.orUsual()
	return &conductor{Options: opts, e: e, alone: lockPath(e.Place()), began: opts.Now(), tails: map[string]*process.Tail{}, freed: map[process.Slot]<-chan struct{}{}, reported: map[string]bool{}}
}

// A conductor is one run of the loop. Its fields only serve reports and waits.
type conductor struct {
	Options
	e     *engine.Engine
	lock  io.Closer    // of this computer
	post  *leader.Post // nil for a machine in files
	alone string       // the lock without which agents may not stay where other computers can continue, "" for none
	files string       // by which another computer gets those of the task, "" for none
	began time.Time

	looked, woke time.Time // when it last gathered facts, and when it last noticed that the machine had slept

	seen     map[agents.Duty]SlotFacts        // the slots when it last gathered facts
	was      store.Snapshot                   // the last reported state
	reported map[string]bool                  // runs whose start, or end, was reported
	tails    map[string]*process.Tail         // output of running agents
	freed    map[process.Slot]<-chan struct{} // closed when a taken slot becomes free
	park     string                           // the last reported wait, so that it is reported once
	late     bool                             // it was reported that Until has passed
}

// run is the loop.
func (c *conductor) run(ctx context.Context) (Outcome, error) {
	watch := c.e.Store().Watch()
	defer watch.Close()
	first := true
	for {
		f, err := c.gather()
		if refusal.CodeOf(err) == refusal.LockBusy && ctx.Err() == nil {
			c.Log.Warn("waiting", "error", err) // the process that has the lock will release it
			continue
		}
		if err != nil {
			if refusal.CodeOf(err) == refusal.StoreGone {
				c.evict()
			}
			return Outcome{}, err
		}
		c.tell(f, first)
		c.seen, first = f.Slots, false
		act := decide(f)
		c.show(f, act)
		if ctx.Err() != nil {
			return c.stop()
		}
		if act.Do == finish {
			return c.finish(ctx, f, act)
		}
		again, err := c.carryOut(ctx, f, act)
		if err != nil {
			// Ctrl-C in a terminal also ends a shim that has no process group of its own yet,
			// perhaps before this process.
			select {
			case <-ctx.Done():
				return c.stop()
			case <-time.After(signalled):
				return Outcome{}, err
			}
		}
		if again {
			continue
		}
		c.wait(ctx, watch, f, act)
	}
}

// evict ends the agents of a machine whose folder was removed, and with it their slots: later no
// process could find them.
func (c *conductor) evict() {
	for _, s := range c.seen {
		if s.Taken {
			s.Occupant.Stop()
		}
	}
}

// catchUp is the pause before more output of an agent is read, if it prints faster than that.
const catchUp = 10 * time.Millisecond

// wait returns when something may have changed. The cause of the wake-up does not matter.
func (c *conductor) wait(ctx context.Context, watch *store.Watcher, f Facts, act Act) {
	var due <-chan time.Time
	until := act.Until
	if byDay(f, act) {
		until = c.Now().Add(records.Recheck)
	}
	if next := c.Until.next(c.Now()); until.IsZero() || !next.IsZero() && next.Before(until) {
		until = next
	}
	for _, t := range c.tails {
		if t.Behind {
			until = c.Now().Add(catchUp)
		}
	}
	if !until.IsZero() {
		timer := time.NewTimer(max(time.Millisecond, until.Sub(c.Now())))
		defer timer.Stop()
		due = timer.C
	}
	left := make([]<-chan struct{}, 3) // one for each duty that the conductor starts; a nil channel never wakes
	for i, duty := range conducted {
		if s := c.slot(duty); f.Slots[duty].Taken {
			if c.freed[s] == nil {
				c.freed[s] = s.Freed()
			}
			left[i] = c.freed[s]
		}
	}
	var dead <-chan struct{} // the death of the session with the claim sends no notification either
	if f.Held && !f.Slots[agents.Executor].Taken {
		dead = c.e.Store().SessionDone(f.Task.Session)
	}
	select {
	case <-watch.C:
	case <-due:
	case <-dead:
	case <-left[0]:
	case <-left[1]:
	case <-left[2]:
	case <-ctx.Done():
	}
	for s, ch := range c.freed {
		select {
		case <-ch:
			delete(c.freed, s)
		default:
		}
	}
}

// conducted are the duties for which the conductor starts agents.
var conducted = []agents.Duty{agents.Executor, agents.Consultant, agents.Reviewer}

func (c *conductor) slot(d agents.Duty) process.Slot { return Slot(c.e, d) }

// Slot returns the slot of a duty for the engine's task.
func Slot(e *engine.Engine, d agents.Duty) process.Slot {
	return process.Path(e.Place().Path(), e.Place().Branch, string(d))
}

// Runs returns the path of the records of a task's runs.
func Runs(e *engine.Engine, task string) string { return e.Place().Path("runs", task+".jsonl") }

// carryOut executes an act. It reports whether to gather facts again at once.
func (c *conductor) carryOut(ctx context.Context, f Facts, act Act) (again bool, err error) {
	switch act.Do {
	case start:
		return c.start(ctx, f, act)
	case end:
		c.say(Event{Kind: Ending, Duty: act.Duty, Run: f.Slots[act.Duty].Occupant.Run, Text: act.Why})
		end := c.slot(act.Duty).End
		replaced := duty{Facts: f, SlotFacts: f.Slots[act.Duty], name: act.Duty}.replaced()
		if f.Task.State == state.AwaitingHuman || act.Duty != wanted(f).want || replaced {
			end = c.slot(act.Duty).Stop
		}
		if err := end(ctx); err != nil && ctx.Err() == nil {
			return false, err
		}
		return true, nil
	case ask:
		return c.ask(ctx, f, checkrun.Question{Text: act.Why})
	case park:
		why, day := act.Why, byDay(f, act)
		if day { // what was used may grow meanwhile
			why = f.Day.ID()
		}
		if c.park != why {
			if day {
				c.tellPerson(f, f.Day.Item(c.e.Place().Root))
			}
			c.say(Event{Kind: Parked, Duty: act.Duty, Text: act.Why, Until: act.Until})
		}
		c.park = why
		return false, nil
	}
	return false, nil
}

// ask asks a person.
func (c *conductor) ask(ctx context.Context, f Facts, question checkrun.Question) (again bool, err error) {
	if f.overBudget() != "" {
		_, err = c.e.AskBudget(ctx, f.Snapshot, question.Text)
	} else {
		_, err = c.e.AskAbout(ctx, f.Snapshot, question)
	}
	if code := refusal.CodeOf(err); code == refusal.WrongState || code == refusal.CheckRunning {
		return false, nil // the state has changed, or will
	}
	return err == nil, err
}
