package conductor

import (
	"fmt"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/state"
)

// A Verb is what the conductor can do.
type Verb string

const (
	start  Verb = "start"  // an agent
	end    Verb = "end"    // an agent and all that it started
	ask    Verb = "ask"    // a person
	park   Verb = "park"   // wait until a time, and say so
	keep   Verb = "keep"   // all is as it should be
	finish Verb = "finish" // the run is over
)

// An Act is the one thing to do next.
type Act struct {
	Do     Verb
	Duty   agents.Duty
	Why    string
	Until  time.Time // when to look again at the latest; zero: when something happens
	Prompt string
	Exit   int
}

// The usual Patience.
const (
	parting = 20 * time.Second
	idling  = 3 * time.Minute
	leaving = 10 * time.Second
)

// waiting is how long a client is given to get over a trouble of its own.
const waiting = time.Minute

// instant is how soon an agent must end to have done nothing.
const instant = time.Second

// alike is how many agents may end at once in the same way before a person is asked: the next one would do the same.
const alike = 2

// retries is how often an agent may be unable to start before a person is asked.
const retries = 3

// A rule is one line of the second table: what to do about the agent of a duty.
type rule struct {
	when, then string // in words
	fits       func(d duty) bool
	do         Verb
	why        func(d duty) string
	until      func(d duty) time.Time
}

// A duty is one duty as it stands, for the rules.
type duty struct {
	Facts
	SlotFacts
	name   agents.Duty
	wanted bool
}

// rules are all that is ever done about an agent. The first that fits counts.
var rules = []rule{
	{
		// Or what it uses from the person's answer on would be counted by nobody.
		when: "it is there, and the task has used up its minutes, tokens or dollars", then: "end it", do: end,
		fits: func(d duty) bool { return d.Taken && d.overBudget() != "" && !d.checkRuns() },
		why:  func(d duty) string { return d.overBudget() },
	},
	{
		when: "it is not wanted, and the task waits for a person", then: "keep it: it may wait for the answer",
		fits: func(d duty) bool { return !d.wanted && d.Taken && wanted(d.Facts).want == "" }, do: keep,
	},
	{
		when: "it is an executor that waits for the answer to its consultation", then: "keep it: it knows what it asked for",
		fits: func(d duty) bool {
			return !d.wanted && d.Taken && d.Held && d.name == agents.Executor && d.Task.State == state.Consultation
		}, do: keep,
	},
	{
		when: "it is not wanted, and has had " + parting.String() + " to leave", then: "end it",
		fits: func(d duty) bool { return !d.wanted && d.Taken && d.sinceMove() > d.Parting }, do: end,
		why: func(d duty) string { return "the task is " + string(d.Task.State) + " and does not need it" },
	},
	{
		when: "it is not wanted", then: "wait until it leaves", do: keep,
		fits:  func(d duty) bool { return !d.wanted },
		until: func(d duty) time.Time { return d.moved().Add(d.Parting) },
	},
	{
		when: "the task has used up its minutes, tokens or dollars", then: "ask a person whether to go on", do: ask,
		fits: func(d duty) bool { return d.overBudget() != "" && !d.checkRuns() },
		why: func(d duty) string {
			return d.overBudget() + "\n\nShall the agents go on with as much again? Any answer but a reset means yes; ferrus reset gives the task up."
		},
	},
	{
		when: "it is there, and has printed nothing for lease.max_silence_secs", then: "end it", do: end,
		fits: func(d duty) bool {
			return d.Taken && !(d.name == agents.Executor && d.Held) && d.silence() > d.MaxSilence
		},
		why: func(d duty) string { return fmt.Sprintf("it has been silent for %s", d.silence().Round(time.Second)) },
	},
	{
		when: "it is an executor that has not claimed the work, or has lost it, for " + idling.String(), then: "end it", do: end,
		fits: func(d duty) bool { return d.Taken && d.name == agents.Executor && !d.Held && d.idle() > d.Idling },
		why: func(d duty) string {
			return fmt.Sprintf("it has not held the work for %s", d.idle().Round(time.Second))
		},
	},
	{
		when: "it is there, but without our server, not logged in, or waiting for its provider's limit", then: "end it", do: end,
		fits: func(d duty) bool { return d.Taken && d.helpless() != "" },
		why:  func(d duty) string { return d.helpless() },
	},
	{
		when: "it is there", then: "keep it", do: keep,
		fits: func(d duty) bool { return d.Taken },
	},
	{
		when: "an executor that somebody else has started holds the work", then: "leave it to that one", do: keep,
		fits: func(d duty) bool { return d.name == agents.Executor && d.Held },
	},
	{
		when: fmt.Sprintf("%d agents in a row have ended within %s with the same error", alike, instant), then: "ask a person", do: ask,
		fits: func(d duty) bool { return d.Alike >= alike },
		why: func(d duty) string {
			return fmt.Sprintf("%s cannot work as %s: it ended at once, twice with the same error.%s\n\n%s", d.Last.Agent, d.name, d.lastWords(), d.cure())
		},
	},
	{
		when: "limits.max_executor_dispatches agents have come to nothing on this piece of work", then: "ask a person", do: ask,
		fits: func(d duty) bool { return d.Starts >= d.Gate.Limits.MaxExecutorDispatches },
		why: func(d duty) string {
			return fmt.Sprintf("%d agents in a row have ended as %s without getting the task further.%s\n\nShall it be tried again, and "+
				"with what hint? ferrus logs %s shows what the last one did; ferrus reset gives the task up.", d.Starts, d.name,
				d.lastWords(), d.Last.Name)
		},
	},
	{
		when: fmt.Sprintf("it could not be started, or not do its work, %d times in a row", retries), then: "ask a person", do: ask,
		fits: func(d duty) bool { return d.Stuck >= retries },
		why: func(d duty) string {
			return fmt.Sprintf("%s could not be started as %s, %d times in a row.%s\n\n%s", d.Last.Agent, d.name, d.Stuck, d.lastWords(), d.cure())
		},
	},
	{
		when: "its provider has set a limit that is not over", then: "wait until it is; no start is spent", do: park,
		fits:  func(d duty) bool { return d.Limited.After(d.Now) },
		why:   func(d duty) string { return fmt.Sprintf("%s has reached a rate limit", d.Last.Agent) },
		until: func(d duty) time.Time { return d.Limited },
	},
	{
		when: "the last one has only just come to nothing", then: "wait a little longer each time", do: park,
		fits:  func(d duty) bool { return d.NotBefore.After(d.Now) },
		why:   func(d duty) string { return fmt.Sprintf("%s came to nothing", d.Last.Name) },
		until: func(d duty) time.Time { return d.NotBefore },
	},
	{
		when: "otherwise", then: "start one", do: start,
		fits: func(duty) bool { return true },
	},
}

// cure is what a person can do about an agent that cannot work, with the lines of ferrus.toml that name another one.
func (d duty) cure() string {
	text := "Please see what is wrong; ferrus doctor may say it."
	if a, err := agents.Find(d.Last.Agent); err == nil && a.LogIn != "" && d.Last.Trouble == agents.Unauthorised {
		text = "Please log in: " + a.LogIn + "."
	}
	table, other := "hq."+string(d.name.Role()), d.Gate.HQ.Executor.Agent
	if d.name == agents.Executor {
		other = d.Gate.HQ.Supervisor.Agent
	}
	if other == "" || other == "command" || other == d.Last.Agent {
		return text + " Or correct [" + table + "] in " + config.FileName + " and make it hold for this task with ferrus config accept. Then answer."
	}
	return text + " Or let " + other + " do it: write into " + config.FileName + "\n\n" + config.Lines(table+".agent", other) +
		"\n\nand make it hold for this task with ferrus config accept. Then answer."
}

// decide is the whole of the conductor's judgement: the facts in, one act out.
func decide(f Facts) Act {
	want := wanted(f)
	if want.over {
		return Act{Do: finish, Exit: want.exit}
	}
	calm := Act{Do: keep}
	for _, name := range conducted {
		d := duty{Facts: f, SlotFacts: f.Slots[name], name: name, wanted: name == want.want}
		if !d.wanted && !d.Taken {
			continue
		}
		act := d.judge()
		act.Prompt = want.prompt
		if act.Do != keep && act.Do != park {
			return act
		}
		if act.Do == park || calm.Until.IsZero() || !act.Until.IsZero() && act.Until.Before(calm.Until) {
			calm = act
		}
	}
	return calm
}

func (d duty) judge() Act {
	for _, r := range rules {
		if !r.fits(d) {
			continue
		}
		act := Act{Do: r.do, Duty: d.name}
		if r.why != nil {
			act.Why = r.why(d)
		}
		if r.until != nil {
			act.Until = r.until(d)
		}
		return act
	}
	return Act{Do: keep}
}
