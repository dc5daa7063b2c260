package conductor

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/project/records"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// ago is a time before noon, which is now.
func ago(d time.Duration) time.Time { return noon.Add(-d) }

// facts are those of a task that came into a state a minute ago, without agents, and what changes them.
func facts(s state.State, change ...func(*Facts)) Facts {
	f := Facts{Now: noon, Slots: map[agents.Duty]SlotFacts{}, MaxSilence: 10 * time.Minute, Patience: Patience{}.orUsual()}
	f.Task = state.Task{TaskID: "t", State: s, Since: ago(time.Minute)}
	f.Gate.Limits = config.Limits{MaxExecutorDispatches: 3}
	for _, c := range change {
		c(&f)
	}
	return f
}

// at changes how a duty stands.
func at(d agents.Duty, change func(*SlotFacts)) func(*Facts) {
	return func(f *Facts) {
		s := f.Slots[d]
		change(&s)
		f.Slots[d] = s
	}
}

// there has an agent at a duty, which came and printed when it says.
func there(d agents.Duty, came, printed time.Duration) func(*Facts) {
	return at(d, func(s *SlotFacts) {
		s.Taken, s.Occupant, s.Printed = true, process.Occupant{Shim: 7, Run: string(d) + "-1", Started: ago(came)}, ago(printed)
	})
}

// says has the agents that are there say that they are in trouble, until then.
func says(trouble agents.Trouble, until time.Duration) func(*Facts) {
	return func(f *Facts) {
		for d, s := range f.Slots {
			s.Reading.Trouble, s.Reading.Until = trouble, noon.Add(until)
			f.Slots[d] = s
		}
	}
}

func held(f *Facts)        { f.Held, f.Heard, f.Task.ClaimedBy = true, f.Now, "executor:codex:1" }
func rollingBack(f *Facts) { f.Task.Returning = state.FileMove{To: 3} }
func unwatched(f *Facts)   { f.Headless = true }
func answered(f *Facts)    { f.Task.Consultation.Answered = true }
func since(d time.Duration) func(*Facts) {
	return func(f *Facts) { f.Task.Since = ago(d) }
}

func woke(d time.Duration) func(*Facts) {
	return func(f *Facts) { f.Woke = ago(d) }
}

// reassigned has a rule that gave the work to another executor, in the line at byte 200.
func reassigned(f *Facts) { f.Task.Assigned = state.Assigned{Agent: "claude-code", Off: 200} }

// begun has the executor that is there started when the journal had so many bytes.
func begun(at int64) func(*Facts) {
	return func(f *Facts) { f.Runs = append(f.Runs, process.Run{Name: "executor-1", Duty: ex, At: at}) }
}

// broke has used up the minutes of the task.
func broke(f *Facts) { f.Gate.Limits.MaxTaskMinutes, f.Spent.Time = 5, 5*time.Minute }

// child is a delegate; onHold is one whose whole task is over budget; movesIn has one whose files move in.
func child(f *Facts)   { f.Delegated = true }
func unread(f *Facts)  { f.Unread = "gone" }
func onHold(f *Facts)  { f.Delegated, f.Hold = true, "the whole is over budget" }
func movesIn(f *Facts) { f.Task.Returning = state.FileMove{Of: "d1", Tree: "t"} }

var failed = process.Run{Name: "executor-3", Agent: "codex", Exit: 1, Said: "I give up", Ended: ago(time.Minute)}

const (
	ex  = agents.Executor
	con = agents.Consultant
	rev = agents.Reviewer
)

// agent reads AGENT or AGENT:MODEL, and the list of its fallback.
func agent(name string, fallback ...string) config.Agent {
	a := config.Agent{Fallback: fallback}
	a.Agent, a.Model, _ = strings.Cut(name, ":")
	return a
}

// team has a list of executors, and Claude Code's opus as the reviewer.
func team(first string, fallback ...string) func(*Facts) {
	return func(f *Facts) {
		f.Gate.HQ.Executor, f.Gate.HQ.Supervisor = agent(first, fallback...), agent("claude-code:opus")
	}
}

func reviewers(first string, fallback ...string) func(*Facts) {
	return func(f *Facts) { f.Gate.HQ.Supervisor = agent(first, fallback...) }
}

// ran has a run of an executor that ended a minute ago in a trouble, which is over then.
func ran(name string, trouble agents.Trouble, until time.Duration) func(*Facts) {
	return func(f *Facts) {
		a := agent(name)
		r := process.Run{Name: "executor-1", Duty: ex, Agent: a.Agent, Model: a.Model, At: 100, Started: ago(time.Hour), Ended: ago(time.Minute), Exit: 1, Trouble: trouble}
		if trouble == agents.RateLimited && until != 0 {
			r.Until = noon.Add(until)
		}
		f.Runs = append(f.Runs, r)
	}
}

// newestRun changes the newest run.
func newestRun(change func(*process.Run)) func(*Facts) {
	return func(f *Facts) { change(&f.Runs[len(f.Runs)-1]) }
}

// stoodIn has an agent that worked as an executor in place of codex.
func stoodIn(name string) func(*Facts) {
	return func(f *Facts) {
		a := agent(name)
		f.Task.SetStandIn(state.StandIn{Duty: string(ex), Agent: a.Agent, Model: a.Model, For: "codex"})
	}
}

// until has the run end a duration ago, and the agents 30 minutes later.
func until(d time.Duration) func(*Facts) {
	return func(f *Facts) { f.Until = Until{At: ago(d), Grace: 30 * time.Minute} }
}

// judgements are what is done on what, and by which rule; "" where the run is over before a rule is asked.
var judgements = []struct {
	name  string
	facts Facts
	rule  string // how its condition begins
	want  Act    // Why is a part of it
}{
	{"work and nobody there", facts(state.Executing), "otherwise", Act{Do: start, Duty: ex, Prompt: "executor-work"}},
	{"red", facts(state.Addressing), "otherwise", Act{Do: start, Duty: ex, Prompt: "executor-fix"}},
	{"green", facts(state.Checking), "otherwise", Act{Do: start, Duty: ex, Prompt: "executor-fix"}},
	{"consulted", facts(state.Consultation), "otherwise", Act{Do: start, Duty: con, Prompt: "consultant"}},
	{"answered", facts(state.Consultation, answered), "otherwise", Act{Do: start, Duty: ex, Prompt: "executor-go-on"}},
	{"submitted", facts(state.Reviewing), "otherwise", Act{Do: start, Duty: rev, Prompt: "reviewer"}},
	{"a rollback moves the files", facts(state.Executing, rollingBack, there(ex, time.Minute, 0)), "", Act{Do: finish, Exit: 6}},
	{"a person asked, non-interactive", facts(state.AwaitingHuman, unwatched, there(ex, time.Minute, 0)), "", Act{Do: finish, Exit: 6}},
	{"complete", facts(state.Complete, there(ex, time.Minute, 0)), "", Act{Do: finish}},
	{"failed", facts(state.Failed), "", Act{Do: finish, Exit: 1}},
	{"idle", facts(state.Idle), "", Act{Do: finish, Exit: 3}},

	{"at work", facts(state.Executing, there(ex, time.Minute, 0), held), "it runs", Act{Do: keep, Duty: ex, Prompt: "executor-work"}},
	{"at work, and replaced by a rule", facts(state.Addressing, there(ex, time.Minute, 0), begun(100), reassigned), "it is an executor that began before",
		Act{Do: end, Duty: ex, Why: "a rule gave the work to claude-code", Prompt: "executor-fix"}},
	{"replaced, and it has claimed the work again", facts(state.Addressing, there(ex, time.Minute, 0), begun(200), held, reassigned), "it is an executor that began before",
		Act{Do: end, Duty: ex, Why: "a rule gave the work to claude-code", Prompt: "executor-fix"}},
	{"replaced in a pause", facts(state.AwaitingHuman, there(ex, time.Minute, 0), begun(100), reassigned), "it is an executor that began before",
		Act{Do: end, Duty: ex, Why: "a rule gave the work to claude-code"}},
	{"the one that a rule named", facts(state.Addressing, there(ex, time.Minute, 0), begun(201), held, reassigned), "it runs", Act{Do: keep, Duty: ex, Prompt: "executor-fix"}},
	{"a rule named one that is not there", facts(state.Addressing, reassigned), "otherwise", Act{Do: start, Duty: ex, Prompt: "executor-fix"}},
	{"somebody else's executor", facts(state.Executing, held), "an executor that the conductor did not start", Act{Do: keep, Duty: ex, Prompt: "executor-work"}},
	{"on another computer", facts(state.Executing, func(f *Facts) { f.Elsewhere = map[agents.Duty]string{ex: "far"} }), "an agent of another computer",
		Act{Do: keep, Duty: ex, Prompt: "executor-work"}},
	{"another duty on another computer", facts(state.Executing, func(f *Facts) { f.Elsewhere = map[agents.Duty]string{rev: "far"} }), "otherwise",
		Act{Do: start, Duty: ex, Prompt: "executor-work"}},
	{"a reviewer beside a held task", facts(state.Consultation, held), "otherwise", Act{Do: start, Duty: con, Prompt: "consultant"}},

	{"a person asked, one looks on", facts(state.AwaitingHuman, there(ex, time.Hour, time.Hour), since(time.Hour)),
		"it is not needed, and the task waits", Act{Do: keep, Duty: ex}},
	{"a person asked, nobody there", facts(state.AwaitingHuman), "", Act{Do: keep}},
	{"waits for its consultation, for long", facts(state.Consultation, there(ex, time.Hour, time.Hour), there(con, time.Minute, 0), held, since(time.Hour)),
		"it is an executor that waits", Act{Do: keep, Duty: con, Prompt: "consultant"}},
	{"left in a consultation by its server", facts(state.Consultation, there(ex, time.Hour, 0), there(con, time.Minute, 0), since(time.Hour)),
		"it is not needed, and has had", Act{Do: end, Duty: ex, Why: "the task is Consultation and does not need it", Prompt: "consultant"}},
	{"leaves after its submission", facts(state.Reviewing, there(ex, time.Hour, 0), there(rev, 5*time.Second, 0), since(5*time.Second)),
		"it is not needed", Act{Do: keep, Duty: ex, Until: noon.Add(15 * time.Second), Prompt: "reviewer"}},
	{"does not leave", facts(state.Reviewing, there(ex, time.Hour, 0), since(21*time.Second)), "it is not needed, and has had",
		Act{Do: end, Duty: ex, Why: "the task is Reviewing", Prompt: "reviewer"}},
	{"started for what is over", facts(state.Executing, there(rev, 5*time.Second, 0), there(ex, time.Minute, 0), held, since(time.Hour)),
		"it is not needed", Act{Do: keep, Duty: rev, Until: noon.Add(15 * time.Second), Prompt: "executor-work"}},

	{"silent before its claim", facts(state.Executing, there(ex, 11*time.Minute, 11*time.Minute)), "it runs, and has printed nothing",
		Act{Do: end, Duty: ex, Why: "it has been silent for 11m0s", Prompt: "executor-work"}},
	{"silent but holds the work", facts(state.Executing, there(ex, time.Hour, time.Hour), held), "it runs", Act{Do: keep, Duty: ex, Prompt: "executor-work"}},
	{"silent reviewer", facts(state.Reviewing, there(rev, time.Hour, 11*time.Minute)), "it runs, and has printed nothing",
		Act{Do: end, Duty: rev, Why: "silent", Prompt: "reviewer"}},
	{"silent reviewer while an executor of yesterday holds", facts(state.Reviewing, there(rev, time.Hour, 11*time.Minute), held),
		"it runs, and has printed nothing", Act{Do: end, Duty: rev, Why: "silent", Prompt: "reviewer"}},
	{"silent because the machine slept", facts(state.Reviewing, there(rev, 9*time.Hour, 8*time.Hour), woke(9*time.Minute)),
		"it runs", Act{Do: keep, Duty: rev, Prompt: "reviewer"}},
	{"has not claimed because the machine slept", facts(state.Executing, there(ex, 8*time.Hour, 0), since(8*time.Hour), woke(time.Minute)),
		"it runs", Act{Do: keep, Duty: ex, Prompt: "executor-work"}},
	{"does not claim", facts(state.Executing, there(ex, 4*time.Minute, 0), since(time.Hour)), "it is an executor that has been without the claim",
		Act{Do: end, Duty: ex, Why: "it has been without the claim for 4m0s", Prompt: "executor-work"}},
	{"has not claimed yet", facts(state.Executing, there(ex, 2*time.Minute, 0), since(time.Hour)), "it runs", Act{Do: keep, Duty: ex, Prompt: "executor-work"}},
	{"lost the work just now", facts(state.Executing, there(ex, time.Hour, 0), since(time.Hour), func(f *Facts) { f.Heard = ago(time.Minute) }),
		"it runs", Act{Do: keep, Duty: ex, Prompt: "executor-work"}},
	{"lost the work long ago", facts(state.Executing, there(ex, time.Hour, 0), since(time.Hour), func(f *Facts) { f.Heard = ago(200 * time.Second) }),
		"it is an executor that has been without the claim", Act{Do: end, Duty: ex, Why: "3m20s", Prompt: "executor-work"}},

	{"without our server", facts(state.Executing, there(ex, time.Minute, 0), says(agents.NoServer, 0)), "it runs, but without the ferrus server",
		Act{Do: end, Duty: ex, Why: "it continues without the ferrus server", Prompt: "executor-work"}},
	{"without our server, it says, but it holds the work", facts(state.Executing, there(ex, time.Minute, 0), says(agents.NoServer, 0), held),
		"it runs", Act{Do: keep, Duty: ex, Prompt: "executor-work"}},
	{"not logged in", facts(state.Reviewing, there(rev, 2*time.Minute, 0), says(agents.Unauthorised, 0)), "it runs, but without the ferrus server",
		Act{Do: end, Duty: rev, Why: "it is not logged in", Prompt: "reviewer"}},
	{"not logged in yet", facts(state.Reviewing, there(rev, time.Minute, 0), says(agents.Unauthorised, 0)), "it runs", Act{Do: keep, Duty: rev, Prompt: "reviewer"}},
	{"waits for a limit", facts(state.Executing, there(ex, time.Minute, 0), says(agents.RateLimited, 2*time.Minute), held), "it runs, but without the ferrus server",
		Act{Do: end, Duty: ex, Why: "it waits for a rate limit until ", Prompt: "executor-work"}},
	{"waits for a limit that is soon over", facts(state.Executing, there(ex, time.Minute, 0), says(agents.RateLimited, time.Minute), held), "it runs",
		Act{Do: keep, Duty: ex, Prompt: "executor-work"}},

	{"over budget", facts(state.Executing, broke), "the task has used up", Act{Do: ask, Duty: ex, Why: "run for 5 minutes of 5", Prompt: "executor-work"}},
	{"over budget at work", facts(state.Executing, broke, there(ex, time.Hour, 0), held), "it runs, and the task has used up",
		Act{Do: end, Duty: ex, Why: "run for 5 minutes of 5", Prompt: "executor-work"}},
	{"over budget in a check", facts(state.Executing, broke, there(ex, time.Hour, 0), held, func(f *Facts) { f.Task.Check.Status = state.CheckRunning }),
		"it runs", Act{Do: keep, Duty: ex, Prompt: "executor-work"}},
	{"over budget in a check that nobody runs", facts(state.Executing, broke, func(f *Facts) { f.Task.Check.Status = state.CheckRunning }),
		"the task has used up", Act{Do: ask, Duty: ex, Why: "minutes", Prompt: "executor-work"}},
	{"over budget of tokens", facts(state.Reviewing, func(f *Facts) { f.Gate.Limits.MaxTaskTokens, f.Spent.Usage.Output = 100, 100 }),
		"the task has used up", Act{Do: ask, Duty: rev, Why: "100 tokens of 100", Prompt: "reviewer"}},
	{"over budget of dollars", facts(state.Reviewing, func(f *Facts) { f.Gate.Limits.MaxTaskDollars, f.Spent.Usage.Dollars = 2, 2.5 }),
		"the task has used up", Act{Do: ask, Duty: rev, Why: "2.50 dollars of 2", Prompt: "reviewer"}},
	{"a budget of none is no budget", facts(state.Executing, func(f *Facts) {
		f.Spent = records.Spend{Time: 1e6 * time.Hour, Usage: agents.Usage{Input: 1e12, Dollars: 1e6}}
	}),
		"otherwise", Act{Do: start, Duty: ex, Prompt: "executor-work"}},
	{"the budget of yesterday is not counted", facts(state.Executing, func(f *Facts) { f.Gate.Limits.MaxTaskMinutes, f.Total.Time = 5, time.Hour }),
		"otherwise", Act{Do: start, Duty: ex, Prompt: "executor-work"}},

	{"a part whose whole is over budget", facts(state.Executing, onHold), "the budget of the task that it is a part of", Act{Do: keep, Duty: ex, Prompt: "executor-work"}},
	{"a part at work whose whole is over budget", facts(state.Executing, onHold, there(ex, time.Hour, 0), held), "it runs, and the budget of the task that it is a part of",
		Act{Do: end, Duty: ex, Why: "the whole is", Prompt: "executor-work"}},
	{"a budget that cannot be read", facts(state.Executing, unread), "what the agents of the task and its delegates have used cannot be read",
		Act{Do: park, Duty: ex, Why: "cannot be read: gone", Until: noon.Add(time.Second), Prompt: "executor-work"}},
	{"a budget that cannot be read, at work", facts(state.Executing, unread, there(ex, time.Hour, 0), held), "it runs", Act{Do: keep, Duty: ex, Prompt: "executor-work"}},
	{"a part that asks", facts(state.Consultation, child, there(ex, time.Hour, time.Hour), held, since(time.Hour)), "it is an executor that waits", Act{Do: keep, Duty: ex}},
	{"a part that asked, and its executor is gone", facts(state.Consultation, child), "", Act{Do: keep}},
	{"a part that has its answer", facts(state.Consultation, child, answered), "otherwise", Act{Do: start, Duty: ex, Prompt: "executor-go-on"}},
	{"a part that is submitted", facts(state.Reviewing, child), "", Act{Do: keep}},
	{"a part that is submitted, and its executor does not leave", facts(state.Reviewing, child, there(ex, time.Hour, 0), since(time.Hour)),
		"it is not needed, and has had", Act{Do: end, Duty: ex, Why: "the task is Reviewing"}},
	{"a part moves in, and its executor is gone", facts(state.Checking, movesIn), "the files of a delegate", Act{Do: keep, Duty: ex, Prompt: "executor-fix"}},
	{"a part moves in", facts(state.Checking, movesIn, there(ex, time.Hour, 0), held), "it runs", Act{Do: keep, Duty: ex, Prompt: "executor-fix"}},

	{"tried too often", facts(state.Executing, at(ex, func(s *SlotFacts) { s.Starts, s.Last = 3, failed })), "limits.max_executor_dispatches",
		Act{Do: ask, Duty: ex, Why: "The last one (codex) ended with: I give up", Prompt: "executor-work"}},
	{"may be tried once more", facts(state.Executing, at(ex, func(s *SlotFacts) { s.Starts, s.Last = 2, failed })), "otherwise",
		Act{Do: start, Duty: ex, Prompt: "executor-work"}},
	{"tried too often, and the last one lives", facts(state.Executing, there(ex, time.Minute, 0), at(ex, func(s *SlotFacts) { s.Starts = 3 }), held),
		"it runs", Act{Do: keep, Duty: ex, Prompt: "executor-work"}},
	{"silent end", facts(state.Reviewing, at(rev, func(s *SlotFacts) { s.Starts, s.Last = 3, process.Run{Name: "reviewer-3", Agent: "qwen", Exit: 2} })),
		"limits.max_executor_dispatches", Act{Do: ask, Duty: rev, Why: "ended with exit status 2 and said nothing", Prompt: "reviewer"}},
	{"cannot be started", facts(state.Executing, at(ex, func(s *SlotFacts) {
		s.Stuck, s.Last = 3, process.Run{Name: "executor-3", Agent: "codex", Error: "codex is not on the PATH"}
	})), "it could not start", Act{Do: ask, Duty: ex, Why: "codex could not be started as executor, 3 times in a row.\n\nThe last one: codex is not on the PATH",
		Prompt: "executor-work"}},
	{"ended at once, twice with the same error", facts(state.Executing, at(ex, func(s *SlotFacts) {
		s.Starts, s.Alike, s.Last = 2, 2, process.Run{Name: "executor-2", Agent: "command", Exit: 127, Said: "sh: nope: not found"}
	})), "2 agents in a row have ended within", Act{Do: ask, Duty: ex, Why: "ended with: sh: nope: not found\n\nPlease find out what is wrong; ferrus doctor may tell. Or correct [hq.executor] in ferrus.toml " +
		"and apply it to this task with ferrus config accept", Prompt: "executor-work"}},
	{"ended at once, once", facts(state.Executing, at(ex, func(s *SlotFacts) { s.Starts, s.Alike = 1, 1 })), "otherwise", Act{Do: start, Duty: ex, Prompt: "executor-work"}},
	{"not logged in, and the other agent may do it", facts(state.Reviewing, func(f *Facts) {
		f.Gate.HQ = config.HQ{Supervisor: config.Agent{Agent: "claude-code"}, Executor: config.Agent{Agent: "codex"}}
	}, at(rev, func(s *SlotFacts) {
		s.Stuck, s.Last = 3, process.Run{Name: "reviewer-3", Agent: "claude-code", Trouble: agents.Unauthorised}
	})), "it could not start", Act{Do: ask, Duty: rev, Why: "Please log in: claude auth login. Or use codex: write into ferrus.toml\n\n" +
		"[hq.supervisor]\nagent = \"codex\"\n\nand apply", Prompt: "reviewer"}},
	{"could not be started twice", facts(state.Executing, at(ex, func(s *SlotFacts) { s.Stuck = 2 })), "otherwise", Act{Do: start, Duty: ex, Prompt: "executor-work"}},
	{"rate limit", facts(state.Executing, at(ex, func(s *SlotFacts) { s.Limited, s.Last = noon.Add(time.Hour), failed })), "its provider's rate limit",
		Act{Do: park, Duty: ex, Why: "codex has reached a rate limit", Until: noon.Add(time.Hour), Prompt: "executor-work"}},
	{"all of its list are limited", facts(state.Executing, team("codex", "claude-code:haiku"), ran("codex", agents.RateLimited, time.Hour), ran("claude-code:haiku", agents.RateLimited, 2*time.Hour)),
		"each agent of its list", Act{Do: park, Duty: ex, Why: "codex has reached its limit until", Until: noon.Add(time.Hour), Prompt: "executor-work"}},
	{"none of its list is logged in", facts(state.Executing, team("codex", "claude-code:haiku"), ran("codex", agents.Unauthorised, 0), ran("claude-code:haiku", agents.Unauthorised, 0)),
		"the same, and", Act{Do: ask, Duty: ex, Why: "Please log in (codex login; claude auth login)", Prompt: "executor-work"}},
	{"the limit of the one before", facts(state.Executing, team("codex", "claude-code:haiku"), ran("codex", agents.RateLimited, time.Hour),
		at(ex, func(s *SlotFacts) { s.Limited, s.Last = noon.Add(time.Hour), failed })), "otherwise", Act{Do: start, Duty: ex, Prompt: "executor-work"}},
	{"the limit of the day", facts(state.Executing, func(f *Facts) { f.Day = records.Limit{Text: "used up", Until: noon.Add(time.Hour)} }), "a limit of the day",
		Act{Do: park, Duty: ex, Why: "used up ferrus usage --allow-today", Until: noon.Add(time.Hour), Prompt: "executor-work"}},
	{"rate limit over", facts(state.Executing, at(ex, func(s *SlotFacts) { s.Limited = noon })), "otherwise", Act{Do: start, Duty: ex, Prompt: "executor-work"}},
	{"just failed", facts(state.Executing, at(ex, func(s *SlotFacts) { s.NotBefore, s.Last, s.Starts = noon.Add(time.Second), failed, 2 })),
		"the last one has just", Act{Do: park, Duty: ex, Why: "executor-3 exited without progress", Until: noon.Add(time.Second), Prompt: "executor-work"}},
	{"failed long enough ago", facts(state.Executing, at(ex, func(s *SlotFacts) { s.NotBefore = noon })), "otherwise", Act{Do: start, Duty: ex, Prompt: "executor-work"}},
	{"before --until", facts(state.Reviewing, until(-time.Second)), "otherwise", Act{Do: start, Duty: rev, Prompt: "reviewer"}},
	{"--until, and nobody works", facts(state.Reviewing, until(0)), "", Act{Do: finish, Exit: 9}},
	{"--until, and a person is asked", facts(state.AwaitingHuman, until(0)), "", Act{Do: finish, Exit: 6}},
	{"--until, and its executor may wait for the answer", facts(state.AwaitingHuman, until(time.Minute), there(ex, time.Hour, 0)),
		"it is not needed, and the task waits", Act{Do: keep, Duty: ex}},
	{"--until, over", facts(state.Complete, until(time.Hour)), "", Act{Do: finish}},
	{"--until, at work", facts(state.Executing, until(29*time.Minute), there(ex, time.Hour, 0), held), "it runs", Act{Do: keep, Duty: ex, Prompt: "executor-work"}},
	{"--until, at work when the grace is over", facts(state.Executing, until(30*time.Minute), there(ex, time.Hour, 0), held), "", Act{Do: finish, Exit: 9}},
	{"--until, submitted by one that has not left", facts(state.Reviewing, until(time.Minute), there(ex, time.Hour, 0), since(5*time.Second)), "--until has passed",
		Act{Do: keep, Duty: ex, Until: noon.Add(15 * time.Second), Prompt: "reviewer"}},
	{"--until, consulted by one that waits", facts(state.Consultation, until(time.Minute), there(ex, time.Hour, 0), held), "--until has passed",
		Act{Do: keep, Duty: con, Prompt: "consultant"}},
	{"parked beside one that leaves", facts(state.Reviewing, there(ex, time.Hour, 0), since(5*time.Second), at(rev, func(s *SlotFacts) {
		s.NotBefore, s.Last = noon.Add(time.Second), process.Run{Name: "reviewer-1"}
	})), "the last one has just", Act{Do: park, Duty: rev, Why: "reviewer-1", Until: noon.Add(time.Second), Prompt: "reviewer"}},
}

func TestEveryJudgement(t *testing.T) {
	made := make([]bool, len(rules))
	rows := make([]bool, len(table))
	for _, c := range judgements {
		t.Run(c.name, func(t *testing.T) {
			got := decide(c.facts)
			if got.Do != c.want.Do || got.Duty != c.want.Duty || !got.Until.Equal(c.want.Until) || got.Exit != c.want.Exit || got.Prompt != c.want.Prompt ||
				!strings.Contains(got.Why, c.want.Why) || (got.Why == "") != (c.want.Why == "") {
				t.Errorf("%+v, not %+v", got, c.want)
			}
			want := wanted(c.facts)
			rows[slices.IndexFunc(table, func(r row) bool { return r.means == want.means && slices.Equal(r.in, want.in) && r.over == want.over })] = true
			if c.rule == "" {
				return
			}
			var by []string
			for _, name := range conducted {
				d := duty{Facts: c.facts, SlotFacts: c.facts.Slots[name], name: name, who: choose(c.facts, name), wanted: name == want.want}
				if i := slices.IndexFunc(rules, func(r rule) bool { return r.fits(d) }); d.wanted || d.Taken {
					made[i] = true
					by = append(by, rules[i].when)
				}
			}
			if !slices.ContainsFunc(by, func(when string) bool { return strings.HasPrefix(when, c.rule) }) {
				t.Errorf("by the rules %q", by)
			}
		})
	}
	for i, ok := range made {
		if !ok {
			t.Errorf("never made: %s", rules[i].when)
		}
	}
	for i, ok := range rows {
		if !ok {
			t.Errorf("never wanted: %v %s", table[i].in, table[i].means)
		}
	}
}

func TestEveryStateHasARowWithoutACondition(t *testing.T) {
	for _, s := range state.States() {
		last := -1
		for i, r := range table {
			if slices.Contains(r.in, s) {
				last = i
			}
		}
		if last < 0 || table[last].when.holds != nil {
			t.Errorf("%s has none, or it is not the last", s)
		}
	}
	for _, r := range table {
		if (r.want == "") != (r.prompt == "") || r.over && r.want != "" {
			t.Errorf("the row of %v wants %q and tells it %q", r.in, r.want, r.prompt)
		}
		if r.prompt != "" {
			if text, err := promptFor(r.prompt); err != nil || !strings.Contains(text, "ferrus task") {
				t.Errorf("%s: %v %q", r.prompt, err, text)
			}
		}
	}
	if _, err := promptFor("nobody"); err == nil {
		t.Error("a prompt for nobody")
	}
}

func TestEveryRuleHasItsWords(t *testing.T) {
	for _, r := range rules {
		waits := r.do == park
		speaks := slices.Contains([]Verb{ask, end, park}, r.do)
		if r.when == "" || r.then == "" || r.do == "" || r.fits == nil || speaks != (r.why != nil) || waits && r.until == nil {
			t.Errorf("%q: %q", r.when, r.then)
		}
	}
	if last := rules[len(rules)-1]; !last.fits(duty{}) {
		t.Error("the last rule has a condition")
	}
}

// TestAQuestionAboutABranchNamesIt in each of its commands.
func TestAQuestionAboutABranchNamesIt(t *testing.T) {
	t.Parallel()
	asks := 0
	for _, r := range rules {
		if r.do != ask {
			continue
		}
		d := duty{Facts: facts(state.Executing, func(f *Facts) { f.Task.Branch = "b" }), name: agents.Executor}
		why := r.why(d)
		if asks++; refusal.Bare(why) != nil || !strings.Contains(why, " --branch b") {
			t.Errorf("%s: %s", r.when, why)
		}
	}
	if asks < 4 {
		t.Errorf("%d rules ask", asks)
	}
}
