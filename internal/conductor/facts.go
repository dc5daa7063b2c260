package conductor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/project/records"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// Facts are everything on which the conductor decides.
type Facts struct {
	store.Snapshot
	Now        time.Time
	Headless   bool
	Held       bool      // a session has the claim, and it may not be taken over
	Heard      time.Time // when the session with the claim last called; zero when there is none
	Runs       []process.Run
	Elsewhere  map[agents.Duty]string // the other computer on which an agent of the duty works; a duty without one is not there
	Slots      map[agents.Duty]SlotFacts
	Gate       config.Gate // frozen with the task: its limits and agents
	MaxSilence time.Duration
	Patience
	Afresh time.Time     // what was wrong with clients before it is forgiven; zero: nothing is
	Woke   time.Time     // when the machine last woke up; zero when it did not sleep
	Spent  records.Spend // since a person last renewed the budget
	Total  records.Spend // in the whole task

	Until Until // when the run ends before its task

	Delegated bool   // another executor supervises the task
	Hold      string // why no agent may run now; "" if they may
	Unread    string // why it is not known what the agents have used; "" if it is

	Day records.Limit // of the day, by which no agent may start; looked up where one is missing
}

// SlotFacts are the facts about one duty.
type SlotFacts struct {
	Taken    bool
	Occupant process.Occupant
	Printed  time.Time      // when the occupant last printed output
	Reading  agents.Reading // output of the occupant

	Last      process.Run // the newest run that ended; zero when there is none
	Starts    int         // runs without progress since the work was last given to this duty
	Stuck     int         // newest consecutive runs that could not start or could not work
	Alike     int         // newest consecutive runs that ended at once in the same way, with no event between them
	Limited   time.Time   // end of the newest run's rate limit; zero when it had none
	NotBefore time.Time   // when the next run may start
}

// gather reads the facts, and records the end of runs whose shims were killed. The facts must be of
// one moment: otherwise an agent that acted and left meanwhile would be missed in a state that has
// ended.
func (c *conductor) gather() (Facts, error) {
	for {
		f, err := c.look()
		if err != nil {
			return f, err
		}
		if now, err := c.e.View(); err != nil || now.Task.Seq == f.Task.Seq {
			return f, err
		}
	}
}

// look reads the facts, one after the other.
func (c *conductor) look() (Facts, error) {
	snap, err := c.e.FollowRules(context.Background())
	if err != nil {
		snap, err = c.e.View() // the rule is the next writer's
	}
	if err != nil {
		return Facts{}, err
	}
	// Only the wall clock is used: Go's monotonic clock stops while the machine sleeps, so the
	// sleep would not be noticed.
	f := Facts{Snapshot: snap, Now: c.Now().Round(0), Headless: c.Headless, Slots: map[agents.Duty]SlotFacts{},
		MaxSilence: c.Lease.MaxSilence(), Patience: c.Patience, Until: c.Until}
	if c.Hurry {
		f.Afresh = c.began
	}
	if !c.looked.IsZero() && f.Now.Sub(c.looked) > asleep {
		c.woke = f.Now
	}
	c.looked, f.Woke = f.Now, c.woke
	if f.Gate, err = c.e.Gate(snap); err != nil {
		return f, err
	}
	if snap.Task.ClaimedBy != "" {
		f.Held = !c.e.Verdict(snap).Dead
		f.Heard = snap.Lease.Heartbeat
	}
	if snap.Task.TaskID != "" {
		if f.Runs, err = process.Settle(Runs(c.e, snap.Task.TaskID), c.slot); err == nil {
			f.Runs, f.Elsewhere, err = c.post.Runs(context.Background(), snap.Task.TaskID, f.Runs, c.slot)
		}
		if err != nil {
			return f, err
		}
	}
	for i, r := range f.Runs {
		if !r.Over() {
			f.Runs[i].Usage = c.more(r).Usage
		}
	}
	for _, d := range conducted {
		f.Slots[d] = c.slotFacts(f, d)
	}
	if !f.Slots[agents.Executor].Taken {
		if err := putBack(context.Background(), c.e); err != nil {
			return f, err
		}
	}
	f.Total = records.SpendOf(f.Runs, f.Now)
	f.Spent = records.SpendOf(after(f.Runs, snap.Task.BudgetFrom), f.Now)
	if c.Others != nil {
		total, since, err := c.Others()
		f.Total, f.Spent = f.Total.Plus(total), f.Spent.Plus(since)
		if err != nil {
			f.Unread = err.Error()
		}
	}
	if c.Hold != nil {
		f.Hold = c.Hold()
	}
	f.Delegated = c.e.Delegated(snap)
	if want := wanted(f).want; want != "" && !f.Slots[want].Taken {
		if f.Day, err = records.UsedUp(context.Background(), c.e.Place().Root, f.Now); err != nil {
			f.Unread = err.Error()
		}
	}
	return f, nil
}

// more reads what a run has printed since the last call.
func (c *conductor) more(r process.Run) *process.Tail {
	t := c.tails[r.Name]
	if t == nil {
		t = r.Tail()
		c.tails[r.Name] = t
	}
	t.More()
	return t
}

// slotFacts returns the facts of one duty.
func (c *conductor) slotFacts(f Facts, d agents.Duty) SlotFacts {
	var s SlotFacts
	if s.Occupant, s.Taken = c.slot(d).Taken(); s.Taken {
		if s.Occupant.Started.IsZero() { // its shim has only just started
			s.Occupant.Started = f.Now
		}
		s.Printed = s.Occupant.Started
		for _, r := range f.Runs {
			if r.Name != s.Occupant.Run || r.Node != "" {
				continue
			}
			if t := c.tails[r.Name]; t != nil { // a run that has ended may have none
				s.Reading = t.Reading
				if t.Behind { // what is unread may say that it is over
					s.Reading.Trouble, s.Reading.Until = "", time.Time{}
				}
			}
			if info, err := r.LogInfo(); err == nil {
				s.Printed = later(s.Printed, info.ModTime())
			}
		}
	} else if slices.ContainsFunc(f.Runs, func(r process.Run) bool { return r.Duty == d && !r.Over() }) {
		// It has ended since the runs were read. The next pass reads how.
		s.Taken, s.Printed, s.Occupant.Started = true, f.Now, f.Now
	}
	limits, kills, alone := 0, 0, len(Agent(f.Gate.HQ, d).Fallback) == 0
	list := after(f.Runs, given(f.Task, d))
	for i, r := range list {
		if r.Duty != d || !r.Over() {
			continue
		}
		written := f.Journal.Bytes // end of the journal when the next run was ordered
		if i+1 < len(list) {
			written = list[i+1].At
		}
		switch {
		case written != r.At || !atOnce(r, c.Patience.Instant):
			s.Alike = 0
		case s.Alike > 0 && sameEnd(s.Last, r):
			s.Alike++
		default:
			s.Alike = 1
		}
		s.Last, s.Limited = r, time.Time{}
		switch {
		case r.Stopped:
			s.Stuck, limits = 0, 0
		case !alone && r.Absence().Why != "": // the list decides
			s.Alike, s.NotBefore = 0, time.Time{}
		case r.Trouble == agents.RateLimited:
			limits++
			if s.Limited = r.Until; s.Limited.IsZero() {
				s.Limited = r.Ended.Add(limitBackOff(limits))
			}
		case !r.Began() || r.Trouble != "":
			s.Stuck++
			s.NotBefore = r.Ended.Add(c.BackOff(s.Stuck + 1))
		default:
			s.Starts++
			s.Stuck, limits = 0, 0
			failed := s.Starts - kills
			if killed(r) {
				kills++
				failed = min(kills, waitsAfterKills)
			}
			if s.NotBefore = r.Ended; s.Alike == 0 { // waiting does not help an agent that ends at once
				s.NotBefore = r.Ended.Add(c.BackOff(failed))
			}
		}
		putBack := r.Ended.Sub(f.Now) > asleep // the clock was set back, so the elapsed time is unknown
		if putBack || c.Hurry && r.Ended.Before(c.began) {
			s.Limited, s.NotBefore = time.Time{}, time.Time{}
		}
	}
	return s
}

// Failed reports whether a run ended by itself without being able to work.
func Failed(r process.Run) bool {
	ended := r.Over() && !r.Stopped && !r.Cut && r.Trouble != agents.RateLimited
	return ended && (r.Exit > 0 || r.Trouble != "" || atOnce(r, instant))
}

// atOnce reports whether a run ended by itself before its agent can have done anything.
func atOnce(r process.Run, instant time.Duration) bool {
	return !r.Stopped && !r.Cut && !killed(r) && r.Trouble != agents.RateLimited && (!r.Began() || r.Ended.Sub(r.Started) < instant)
}

// killed reports whether a run was killed from outside, with its shim or without: that says nothing of whether its agent can work. A shell
// reports the kill of what it runs by an exit code.
func killed(r process.Run) bool {
	return r.Signal == "SIGKILL" || r.Exit == 128+int(syscall.SIGKILL) || r.Error == process.ShimKilled
}

// sameEnd reports whether two runs ended in the same way. Numbers in their messages are ignored.
func sameEnd(a, b process.Run) bool {
	words := func(r process.Run) string {
		return strings.Map(func(c rune) rune {
			if '0' <= c && c <= '9' {
				return -1
			}
			return c
		}, r.Error+"\x00"+r.Said)
	}
	return a.Exit == b.Exit && a.Signal == b.Signal && a.Trouble == b.Trouble && words(a) == words(b)
}

// given returns where in the journal the work was last given to a duty. Earlier runs do not count.
func given(t state.Task, d agents.Duty) int64 {
	by := map[agents.Duty][]state.Doc{
		agents.Executor:   {state.TaskDoc, state.ReviewDoc},
		agents.Consultant: {state.ConsultRequestDoc},
		agents.Reviewer:   {state.SubmissionDoc},
	}
	at := spoken(t)
	for _, doc := range by[d] {
		if ref, ok := t.Docs[doc]; ok {
			at = max(at, ref.Off)
		}
	}
	return at
}

// spoken returns where in the journal a person last decided something, 0 if never.
func spoken(t state.Task) int64 {
	if n := len(t.Decisions); n > 0 {
		return t.Decisions[n-1].Off
	}
	return 0
}

// after returns the runs that began after a place in the journal.
func after(runs []process.Run, at int64) []process.Run {
	var later []process.Run
	for _, r := range runs {
		if r.At > at {
			later = append(later, r)
		}
	}
	return later
}

// backOff returns how long to wait after a number of failures: not at all after the first, which
// may have been killed, then ever longer, up to a minute.
func backOff(failed int) time.Duration {
	if failed <= 1 {
		return 0
	}
	return min(time.Minute, time.Second<<min(failed-1, 10))
}

// waitsAfterKills is how many times the wait grows after kills from outside: a kill says nothing against the agent, and only a
// computer that is short of memory needs a moment.
const waitsAfterKills = 3

// limitBackOff returns how long to wait for a rate limit without a known end.
func limitBackOff(hit int) time.Duration { return min(30*time.Minute, time.Minute<<min(hit-1, 10)) }

// moved returns when the task last changed, or the occupant started, whichever is later.
func (d duty) moved() time.Time { return later(d.Task.Since, d.Occupant.Started) }

func (d duty) sinceMove() time.Duration { return d.awake(d.moved()) }

// replaced reports whether a running executor began before a rule gave the work to another.
func (d duty) replaced() bool {
	if !d.Taken || d.name != agents.Executor || d.Task.Assigned.Agent == "" {
		return false
	}
	return slices.ContainsFunc(d.Runs, func(r process.Run) bool {
		return r.Name == d.Occupant.Run && r.Node == "" && r.At <= d.Task.Assigned.Off
	})
}

// idle returns how long a running executor has not had the claim.
func (d duty) idle() time.Duration { return d.awake(later(d.moved(), d.Heard)) }

// helpless returns why a live agent will not make progress by itself, "" when it may. Clients
// continue without our tools, or retry for hours.
func (d duty) helpless() string {
	switch r := d.Reading; {
	case r.Trouble == agents.NoServer && !d.Held:
		return "it continues without the ferrus server"
	case r.Trouble == agents.Unauthorised && d.Now.Sub(d.Occupant.Started) > waiting:
		return "it is not logged in"
	case r.Trouble == agents.RateLimited && r.Until.Sub(d.Now) > waiting:
		return "it waits for a rate limit until " + r.Until.Local().Format(time.TimeOnly)
	}
	return ""
}

func (d duty) silence() time.Duration { return d.awake(d.Printed) }

// awake returns how long ago something was, without the time before the machine last slept: during
// a sleep nothing can run.
func (d duty) awake(since time.Time) time.Duration { return d.Now.Sub(later(since, d.Woke)) }

// asleep is the gap between two passes, which come every second, from which the conductor infers
// that the machine slept.
const asleep = time.Minute

func (d duty) checkRuns() bool { return d.Task.Check.Status == state.CheckRunning && d.Held }

// troubles describes each trouble of an agent.
var troubles = map[agents.Trouble]string{
	agents.Unauthorised: "it is not logged in, or its key is refused.",
	agents.NoServer:     "it could not start the ferrus server.",
}

// lastWords describes the newest run that ended.
func (d duty) lastWords() string {
	switch {
	case d.Last.Error != "":
		return "\n\nThe last one: " + d.Last.Error
	case troubles[d.Last.Trouble] != "":
		return "\n\nThe last one: " + strings.TrimSpace(troubles[d.Last.Trouble]+" "+d.Last.Said)
	case d.Last.Said != "":
		return fmt.Sprintf("\n\nThe last one (%s) ended with: %s", d.Last.Agent, d.Last.Said)
	}
	return fmt.Sprintf("\n\nThe last one (%s) ended with exit status %d and said nothing.", d.Last.Agent, d.Last.Exit)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
