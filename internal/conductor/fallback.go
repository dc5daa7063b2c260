package conductor

import (
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// A Choice is the agent of its list that works for a duty, or why none can.
type Choice struct {
	Agent config.Agent  // the first of the list if none can work
	In    state.StandIn // as what it works
	Why   string        // why none can work; "" if one can
	Until time.Time     // when the first of them can again; zero if no provider has declared that
	Among int           // how many agents the list has
}

// choose returns who works for a duty: the first of its list that can. An agent that is alone in its list always can: other rules wait for its limit.
func choose(f Facts, d agents.Duty) Choice {
	list := Agent(f.Gate.HQ, d).List()
	var c Choice
	for _, runs := range [][]process.Run{f.forgiving(false), f.forgiving(true)} {
		c = Choice{Agent: list[0], In: standIn(d, list[0]), Among: len(list)}
		var all []process.Absence
		for i, a := range list {
			is := process.Absence{}
			switch {
			case f.barred(d, i, a):
				is.Why = "wrote a part of the work, or would leave nobody to review it"
			case len(list) > 1:
				is = process.Absent(runs, a.Agent, a.Model, f.Now)
			}
			if is.Why == "" {
				if i > 0 {
					c.Agent, c.In = a, standIn(d, a)
					c.In.For, c.In.Why, c.In.Until = standIn(d, list[0]).Variant().String(), all[0].Why, all[0].Until
				}
				return c
			}
			all = append(all, is)
		}
		c.Why, c.Until = none(d, list, all)
	}
	return c
}

// none says why no agent of a list can work, and when the first of them can again.
func none(d agents.Duty, list []config.Agent, all []process.Absence) (why string, until time.Time) {
	var each []string
	for i, is := range all {
		text := standIn(d, list[i]).Variant().String() + " " + is.Why
		if !is.Until.IsZero() {
			text += " until " + format.Date(is.Until)
			if until.IsZero() || is.Until.Before(until) {
				until = is.Until
			}
		}
		each = append(each, text)
	}
	return "no agent of [hq." + string(d.Role()) + "] can work: " + strings.Join(each, "; "), until
}

func standIn(d agents.Duty, a config.Agent) state.StandIn {
	return state.StandIn{Duty: string(d), Agent: a.Agent, Model: a.Model}
}

// forgiving are the runs that say whether their clients can work. What was wrong with a login or a program is forgiven when a person has decided
// something since, or has ended all waits; a limit that a provider declared only with limits, in the latter case.
func (f Facts) forgiving(limits bool) []process.Run {
	runs := slices.Clone(f.Runs)
	for i, r := range runs {
		old := r.Ended.Before(f.Afresh)
		limit := !r.Absence().Until.IsZero()
		if limit && limits && old || !limit && (old || r.At <= spoken(f.Task)) {
			runs[i].Trouble, runs[i].Unable = "", false
		}
	}
	return runs
}

// barred reports whether an agent of a list may not work because a reviewer would then judge what its own client and model wrote: a reviewer that
// wrote a part of the work, and a stand-in of the executor after which no reviewer is left. The parent of a delegate decides about it and does
// not know its runs: so a delegate may take no reviewer of the list.
func (f Facts) barred(d agents.Duty, i int, a config.Agent) bool {
	if f.Gate.HQ.SameModel || d != agents.Reviewer && (d != agents.Executor || i == 0) {
		return false
	}
	if d == agents.Reviewer {
		return f.wrote(i, a)
	}
	reviewers, lost := f.Gate.HQ.Supervisor.List(), 0
	for i, r := range reviewers {
		if f.wrote(i, r, standIn(d, a).Variant()) {
			lost++
		}
	}
	return lost == len(reviewers) || f.Delegated && lost > 0
}

// wrote reports whether a reviewer, the i-th of its list, is a client and model that wrote a part of the work, or one of more. What ferrus.toml names
// first for both roles is a person's choice, so only a stand-in bars the first reviewer.
func (f Facts) wrote(i int, reviewer config.Agent, more ...state.Variant) bool {
	first, who := standIn(agents.Executor, f.Gate.HQ.Executor).Variant(), standIn(agents.Reviewer, reviewer).Variant()
	if i == 0 && mayBeOne(first, who) {
		return false
	}
	writers := more
	for _, in := range f.Task.StandIns {
		if in.Duty == string(agents.Executor) && (in.For != "" || i > 0) {
			writers = append(writers, in.Variant())
		}
	}
	if i > 0 {
		writers = append(writers, first)
		for _, part := range f.Task.Delegates {
			writers = append(writers, part.Variant)
		}
		for _, r := range f.Runs {
			if r.Duty == agents.Executor && r.Began() {
				writers = append(writers, state.Variant{Agent: r.Agent, Model: r.Model})
			}
		}
	}
	return slices.ContainsFunc(writers, func(w state.Variant) bool { return mayBeOne(w, who) })
}

// SameModel returns the client and model that was the newest reviewer and an executor too; "" if none was both, or nobody knows, as of a command.
func SameModel(runs []process.Run) string {
	last, ok := newest(runs, agents.Reviewer)
	who := state.Variant{Agent: last.Agent, Model: last.Model}
	if a, err := agents.Find(last.Agent); !ok || err != nil || a.Program == "" || !slices.ContainsFunc(runs, func(r process.Run) bool {
		return r.Duty == agents.Executor && r.Began() && mayBeOne(state.Variant{Agent: r.Agent, Model: r.Model}, who)
	}) {
		return ""
	}
	return who.String()
}

// mayBeOne reports whether two are the same client and may be the same model: one that is not named may be any.
func mayBeOne(a, b state.Variant) bool {
	return a.Agent == b.Agent && (a.Model == b.Model || a.Model == "" || b.Model == "")
}

// news reports whether the task does not know yet as what the agent works.
func (c Choice) news(t state.Task) bool {
	known := t.StandIn(c.In.Duty)
	return c.In.For != known.For || c.In.For != "" && c.In.Variant() != known.Variant()
}

// StandInText says who works for a duty in place of whom, in a line.
func StandInText(in state.StandIn) string {
	text := in.Duty + ": " + in.Variant().String()
	if in.For == "" {
		return text + " works again"
	}
	text += " works in place of " + in.For + ", which " + in.Why
	if !in.Until.IsZero() {
		text += " until " + format.Date(in.Until)
	}
	return text
}

// relieved reports whether another agent of the list works now than in the newest run that ended.
func (d duty) relieved() bool {
	return d.who.Among > 1 && (d.Last.Agent != d.who.Agent.Agent || d.Last.Model != d.who.Agent.Model)
}

// nobody is the question about a list of which no agent can work.
func (d duty) nobody() string {
	var ways []string
	for _, who := range Agent(d.Gate.HQ, d.name).List() {
		if a, err := agents.Find(who.Agent); err == nil && a.LogIn != "" && !slices.Contains(ways, a.LogIn) {
			ways = append(ways, a.LogIn)
		}
	}
	return "The task waits: " + d.who.Why + ".\n\nPlease log in (" + strings.Join(ways, "; ") + "), install what is missing, " +
		refusal.OnBranch(d.Task.Branch, "or correct [hq.%s] in %s and apply it to this task with ferrus config accept{branch}. Then answer.", d.name.Role(), config.FileName)
}
