package conductor

import (
	"fmt"
	"slices"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// A Verb is an action of the conductor.
type Verb string

const (
	start  Verb = "start"  // an agent
	end    Verb = "end"    // an agent and all that it started
	ask    Verb = "ask"    // a person
	park   Verb = "park"   // wait until a time, and say so
	keep   Verb = "keep"   // all is as it should be
	finish Verb = "finish" // the run is over
)

// An Act is the next action.
type Act struct {
	Do     Verb
	Duty   agents.Duty
	Why    string
	Until  time.Time // the latest time of the next pass; zero: when something changes
	Prompt string
	Exit   int
}

// The defaults of Patience.
const (
	parting = 20 * time.Second
	idling  = 3 * time.Minute
	leaving = 10 * time.Second
)

// waiting is how long a client may take to solve a problem by itself.
const waiting = time.Minute

// instant is the time within which an agent that ends cannot have done anything.
const instant = time.Second

// alike is how many agents may end at once in the same way before the conductor asks a person: the
// next one would end the same way.
const alike = 2

// retries is how often an agent may fail to start before the conductor asks a person.
const retries = 3

// A rule is one line of the second table: what to do about the agent of a duty.
type rule struct {
	when, then string // in words
	fits       func(d duty) bool
	do         Verb
	why        func(d duty) string
	until      func(d duty) time.Time
}

// A duty has the facts of one duty, for the rules.
type duty struct {
	Facts
	SlotFacts
	name   agents.Duty
	who    Choice // who works for it
	wanted bool
}

// rules are the only actions on agents. The first rule that fits counts.
var rules = []rule{
	{
		// Otherwise nothing would count what the agent uses after the person's answer.
		when: "it runs, and the task has used up its minutes, tokens or dollars", then: "end it", do: end,
		fits: func(d duty) bool { return d.Taken && d.overBudget() != "" && !d.checkRuns() },
		why:  func(d duty) string { return d.overBudget() },
	},
	{
		when: "it is an executor that began before a rule gave the work to another", then: "end it", do: end,
		fits: func(d duty) bool { return d.replaced() && !d.checkRuns() },
		why:  func(d duty) string { return "a rule gave the work to " + d.Task.Assigned.Agent },
	},
	{
		when: "it runs, and the budget of the task that it is a part of is used up", then: "end it", do: end,
		fits: func(d duty) bool { return d.Taken && d.Hold != "" && !d.checkRuns() },
		why:  func(d duty) string { return d.Hold },
	},
	{
		when: "it is not needed, and the task waits for a person", then: "keep it: it may wait for the answer",
		fits: func(d duty) bool { return !d.wanted && d.Taken && d.Task.State == state.AwaitingHuman }, do: keep,
	},
	{
		when: "it is an executor that waits for the answer to its consultation", then: "keep it: it knows its question",
		fits: func(d duty) bool {
			return !d.wanted && d.Taken && d.Held && d.name == agents.Executor && d.Task.State == state.Consultation
		}, do: keep,
	},
	{
		when: "it is not needed, and has had " + parting.String() + " to exit", then: "end it",
		fits: func(d duty) bool { return !d.wanted && d.Taken && d.sinceMove() > d.Parting }, do: end,
		why: func(d duty) string { return "the task is " + string(d.Task.State) + " and does not need it" },
	},
	{
		when: "it is not needed", then: "wait until it exits", do: keep,
		fits:  func(d duty) bool { return !d.wanted },
		until: func(d duty) time.Time { return d.moved().Add(d.Parting) },
	},
	{
		when: "the task has used up its minutes, tokens or dollars", then: "ask a person whether to go on", do: ask,
		fits: func(d duty) bool { return d.overBudget() != "" && !d.checkRuns() },
		why: func(d duty) string {
			return refusal.OnBranch(d.Task.Branch, "%s\n\nShall the agents continue with the same budget again? Any answer means yes; ferrus reset{branch} gives the task up.", d.overBudget())
		},
	},
	{
		when: "the budget of the task that it is a part of is used up", then: "wait: a person is asked there", do: keep,
		fits: func(d duty) bool { return d.Hold != "" && !d.Taken },
	},
	{
		when: "what the agents of the task and its delegates have used cannot be read", then: "start nothing until it can", do: park,
		fits:  func(d duty) bool { return d.Unread != "" && !d.Taken },
		why:   func(d duty) string { return "the budget of the task and its delegates cannot be read: " + d.Unread },
		until: func(d duty) time.Time { return d.Now.Add(time.Second) },
	},
	{
		when: "it runs, and has printed nothing for lease.max_silence_secs", then: "end it", do: end,
		fits: func(d duty) bool {
			return d.Taken && !(d.name == agents.Executor && d.Held) && d.silence() > d.MaxSilence
		},
		why: func(d duty) string { return fmt.Sprintf("it has been silent for %s", d.silence().Round(time.Second)) },
	},
	{
		when: "it is an executor that has been without the claim for " + idling.String(), then: "end it", do: end,
		fits: func(d duty) bool { return d.Taken && d.name == agents.Executor && !d.Held && d.idle() > d.Idling },
		why: func(d duty) string {
			return fmt.Sprintf("it has been without the claim for %s", d.idle().Round(time.Second))
		},
	},
	{
		when: "it runs, but without the ferrus server, not logged in, or waiting for its provider's limit", then: "end it", do: end,
		fits: func(d duty) bool { return d.Taken && d.helpless() != "" },
		why:  func(d duty) string { return d.helpless() },
	},
	{
		when: "it runs", then: "keep it", do: keep,
		fits: func(d duty) bool { return d.Taken },
	},
	{
		when: "--until has passed", then: "start nothing more", do: keep,
		fits: func(d duty) bool { return d.Until.Passed(d.Now) },
	},
	{
		when: "an agent of another computer works as it", then: "wait until that one has ended", do: keep,
		fits: func(d duty) bool { return d.Elsewhere[d.name] != "" },
	},
	{
		when: "the files of a delegate move into the work tree", then: "wait until they are there", do: keep,
		fits: func(d duty) bool { return d.Task.Returning.Of != "" },
	},
	{
		when: "an executor that the conductor did not start has the claim", then: "wait for that one", do: keep,
		fits: func(d duty) bool { return d.name == agents.Executor && d.Held },
	},
	{
		when: "each agent of its list is at its limit, not logged in, cannot start, or must not review its own work", then: "wait until the first limit is over", do: park,
		fits:  func(d duty) bool { return d.who.Why != "" && !d.who.Until.IsZero() },
		why:   func(d duty) string { return d.who.Why },
		until: func(d duty) time.Time { return d.who.Until },
	},
	{
		when: "the same, and no provider has declared when a limit is over", then: "ask a person", do: ask,
		fits: func(d duty) bool { return d.who.Why != "" },
		why:  duty.nobody,
	},
	{
		when: fmt.Sprintf("%d agents in a row have ended within %s with the same error", alike, instant), then: "ask a person", do: ask,
		fits: func(d duty) bool { return d.Alike >= alike },
		why: func(d duty) string {
			return fmt.Sprintf("%s cannot work as %s: it ended at once, twice with the same error.%s\n\n%s", d.Last.Agent, d.name, d.lastWords(), d.cure())
		},
	},
	{
		when: "limits.max_executor_dispatches agents exited without progress on this piece of work", then: "ask a person", do: ask,
		fits: func(d duty) bool { return d.Starts >= d.Gate.Limits.MaxExecutorDispatches },
		why: func(d duty) string {
			return refusal.OnBranch(d.Task.Branch, "%s, started as %s, exited without progress.%s\n\nShall ferrus try again, and "+
				"with which hint? ferrus logs{branch} %s shows what the last one did; ferrus reset{branch} gives the task up.", format.Count(d.Starts, "agent", "agents in a row"), d.name,
				d.lastWords(), d.Last.Name)
		},
	},
	{
		when: fmt.Sprintf("it could not start, or could not work, %d times in a row", retries), then: "ask a person", do: ask,
		fits: func(d duty) bool { return d.Stuck >= retries },
		why: func(d duty) string {
			return fmt.Sprintf("%s could not be started as %s, %d times in a row.%s\n\n%s", d.Last.Agent, d.name, d.Stuck, d.lastWords(), d.cure())
		},
	},
	{
		when: "its provider's rate limit is in force", then: "wait until it ends; this uses no start", do: park,
		fits:  func(d duty) bool { return d.Limited.After(d.Now) && !d.relieved() },
		why:   func(d duty) string { return fmt.Sprintf("%s has reached a rate limit", d.Last.Agent) },
		until: func(d duty) time.Time { return d.Limited },
	},
	{
		when: "the last one has just exited without progress", then: "wait, longer each time, but after kills " + backOff(waitsAfterKills).String() + " at most", do: park,
		fits:  func(d duty) bool { return d.NotBefore.After(d.Now) },
		why:   func(d duty) string { return fmt.Sprintf("%s exited without progress", d.Last.Name) },
		until: func(d duty) time.Time { return d.NotBefore },
	},
	{
		when: "a limit of the day is used up, of the project or of all projects of the person", then: "wait until midnight, or until the person allows it", do: park,
		fits:  func(d duty) bool { return d.Day.Text != "" },
		why:   func(d duty) string { return d.Day.Why() },
		until: func(d duty) time.Time { return d.Day.Until },
	},
	{
		when: "otherwise", then: "start one", do: start,
		fits: func(duty) bool { return true },
	},
}

// cure says what a person can do about an agent that cannot work, with the lines of ferrus.toml
// that name another one.
func (d duty) cure() string {
	text := refusal.OnBranch(d.Task.Branch, "Please find out what is wrong; ferrus doctor{branch} may tell.")
	if a, err := agents.Find(d.Last.Agent); err == nil && a.LogIn != "" && d.Last.Trouble == agents.Unauthorised {
		text = "Please log in: " + a.LogIn + "."
	}
	table, other := "hq."+string(d.name.Role()), d.Gate.HQ.Executor.Agent
	if d.name == agents.Executor {
		other = d.Gate.HQ.Supervisor.Agent
	}
	if other == "" || other == "command" || other == d.Last.Agent {
		return text + refusal.OnBranch(d.Task.Branch, " Or correct [%s] in %s and apply it to this task with ferrus config accept{branch}. Then answer.", table, config.FileName)
	}
	return text + " Or use " + other + ": write into " + config.FileName + "\n\n" + config.Lines(table+".agent", other) +
		refusal.OnBranch(d.Task.Branch, "\n\nand apply it to this task with ferrus config accept{branch}. Then answer.")
}

// decide is the conductor's only decision: facts in, one act out. Agents that run come first: one that is over the budget has ended
// before a person is asked about it.
func decide(f Facts) Act {
	want := wanted(f)
	if want.over {
		return Act{Do: finish, Exit: want.exit}
	}
	calm := Act{Do: keep}
	running := func(name agents.Duty) bool { return f.Slots[name].Taken }
	there, missing := slices.DeleteFunc(Duties(), func(d agents.Duty) bool { return !running(d) }), slices.DeleteFunc(Duties(), running)
	for _, name := range append(there, missing...) {
		d := duty{Facts: f, SlotFacts: f.Slots[name], name: name, who: choose(f, name), wanted: name == want.want}
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
