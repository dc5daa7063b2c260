package conductor

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/project/records"
	"github.com/ferrus-go/ferrus/internal/state"
)

// moment is a time around now; zero now and then.
func moment(t *rapid.T, what string) time.Time {
	if rapid.IntRange(0, 4).Draw(t, what+" is known") == 0 {
		return time.Time{}
	}
	return noon.Add(time.Duration(rapid.IntRange(-3600, 60).Draw(t, what)) * time.Second)
}

// anyFacts are facts of any kind, likely and unlikely.
func anyFacts(t *rapid.T) Facts {
	flag := rapid.Bool()
	few := rapid.IntRange(0, 7)
	seldom := rapid.SampledFrom([]bool{false, false, false, true})
	f := facts(rapid.SampledFrom(state.States()).Draw(t, "state"))
	f.Task.Since = moment(t, "since")
	f.Task.Consultation.Answered = flag.Draw(t, "answered")
	f.Headless = flag.Draw(t, "headless")
	if f.Held = seldom.Draw(t, "held"); f.Held {
		f.Heard = moment(t, "heard")
	}
	if seldom.Draw(t, "reassigned") {
		reassigned(&f)
		begun(int64(rapid.SampledFrom([]int{100, 300}).Draw(t, "begun")))(&f)
	}
	if seldom.Draw(t, "check") {
		f.Task.Check.Status = state.CheckRunning
	}
	f.Gate.Limits.MaxExecutorDispatches = 1 + few.Draw(t, "dispatches")
	f.Gate.Limits.MaxTaskMinutes = rapid.SampledFrom([]int{0, 0, 0, 1, 3}).Draw(t, "minutes")
	f.Gate.Limits.MaxTaskTokens = rapid.SampledFrom([]int{0, 0, 0, 1, 3}).Draw(t, "tokens")
	f.Gate.Limits.MaxTaskDollars = rapid.SampledFrom([]int{0, 0, 0, 1, 3}).Draw(t, "dollars")
	f.Spent = records.Spend{Time: time.Duration(few.Draw(t, "spent minutes")) * time.Minute / 2,
		Usage: agents.Usage{Output: int64(few.Draw(t, "spent tokens")) / 2, Dollars: float64(few.Draw(t, "spent dollars")) / 2}}
	if seldom.Draw(t, "unread") {
		f.Unread = "gone"
	}
	if seldom.Draw(t, "hold") {
		f.Hold = "the whole is over budget"
	}
	if seldom.Draw(t, "until") {
		f.Until = Until{At: noon.Add(time.Duration(rapid.IntRange(-3600, 60).Draw(t, "since until")) * time.Second), Grace: 30 * time.Minute}
	}
	if seldom.Draw(t, "day") {
		f.Day = records.Limit{Text: "used up", Until: noon.Add(time.Hour)}
	}
	if flag.Draw(t, "lists") {
		lists(t, &f)
	}
	for _, name := range conducted {
		s := SlotFacts{Taken: seldom.Draw(t, "taken"), Starts: few.Draw(t, "starts"), Stuck: rapid.IntRange(0, 3).Draw(t, "stuck"), Alike: rapid.IntRange(0, 2).Draw(t, "alike"),
			Limited: moment(t, "limited"), NotBefore: moment(t, "not before")}
		if s.Taken {
			s.Occupant, s.Printed = process.Occupant{Run: string(name) + "-1", Started: moment(t, "came")}, moment(t, "printed")
			s.Reading.Trouble = rapid.SampledFrom([]agents.Trouble{"", "", agents.RateLimited, agents.Unauthorised, agents.NoServer}).Draw(t, "trouble")
			s.Reading.Until = moment(t, "until")
		}
		if s.Starts+s.Stuck+s.Alike > 0 {
			s.Last = process.Run{Name: string(name) + "-1", Agent: "codex", Said: rapid.SampledFrom([]string{"", "no"}).Draw(t, "said")}
		}
		f.Slots[name] = s
	}
	return f
}

// lists has lists of agents for both roles, and runs of them that ended a minute ago, as they come.
func lists(t *rapid.T, f *Facts) {
	names := []string{"codex", "gemini", "claude-code:opus", "claude-code:haiku", "goose"}
	list := func(what string) (first string, rest []string) {
		all := rapid.Permutation(names).Draw(t, what)[:rapid.IntRange(1, 3).Draw(t, "how many")]
		return all[0], all[1:]
	}
	first, rest := list("executors")
	team(first, rest...)(f)
	first, rest = list("reviewers")
	reviewers(first, rest...)(f)
	f.Gate.HQ.SameModel = rapid.Bool().Draw(t, "same model")
	for range rapid.IntRange(0, 6).Draw(t, "runs") {
		trouble := rapid.SampledFrom([]agents.Trouble{agents.RateLimited, agents.RateLimited, agents.Unauthorised, agents.NoServer, ""}).Draw(t, "trouble")
		ran(rapid.SampledFrom(names).Draw(t, "who"), trouble, rapid.SampledFrom([]time.Duration{0, 3 * time.Minute, time.Hour, 2 * time.Hour}).Draw(t, "until"))(f)
		duty := rapid.SampledFrom([]agents.Duty{agents.Executor, agents.Reviewer}).Draw(t, "duty")
		newestRun(func(r *process.Run) { r.Duty = duty })(f)
	}
}

// TestWhateverHasHappenedAListIsUsedInItsOrder: only who cannot work is passed over, nobody waits while one can whom nothing bars, and no stand-in judges what
// its own client wrote.
func TestWhateverHasHappenedAListIsUsedInItsOrder(t *testing.T) {
	done := map[string]int{}
	inOrder := func(t *rapid.T) {
		f := facts(state.Executing)
		lists(t, &f)
		d := rapid.SampledFrom([]agents.Duty{agents.Executor, agents.Reviewer}).Draw(t, "duty")
		list, c := Agent(f.Gate.HQ, d).List(), choose(f, d)
		away := func(a config.Agent) (away bool, until time.Time) { // by the last words of its client
			for _, r := range f.Runs {
				if r.Agent == a.Agent && r.Model == a.Model {
					limit := r.Trouble == agents.RateLimited && r.Until.Sub(r.Ended) > 5*time.Minute
					if away, until = limit || r.Trouble == agents.Unauthorised, (time.Time{}); limit {
						until = r.Until
					}
				}
			}
			return away, until
		}
		meets := func(a config.Agent) bool { // its client has to do with the other role
			other := f.Gate.HQ.Supervisor.List()
			if d == agents.Reviewer {
				other = f.Gate.HQ.Executor.List()
			}
			return slices.ContainsFunc(other, func(b config.Agent) bool { return a.Agent == b.Agent }) ||
				slices.ContainsFunc(f.Runs, func(r process.Run) bool { return r.Agent == a.Agent && r.Duty == agents.Executor })
		}
		at := slices.IndexFunc(list, func(a config.Agent) bool { return a.Agent == c.Agent.Agent && a.Model == c.Agent.Model })
		limits := map[time.Time]bool{}
		var first time.Time // of those whom nothing bars
		for i, a := range list {
			gone, until := away(a)
			if !until.IsZero() {
				limits[until] = true
				if !meets(a) && (first.IsZero() || until.Before(first)) {
					first = until
				}
			}
			passed := c.Why != "" || i < at
			switch {
			case i == at && c.Why == "" && gone && len(list) > 1:
				t.Fatalf("%s cannot work, and is to", a.Agent)
			case passed && !gone && (f.Gate.HQ.SameModel || i == 0 && d == agents.Executor || !meets(a)):
				t.Fatalf("%s can work, and is passed over: %+v", a.Agent, c)
			case c.Why != "" && !strings.Contains(c.Why, standIn(d, a).Variant().String()+" ") ||
				c.Why != "" && gone && until.IsZero() && !meets(a) && !strings.Contains(c.Why, "is not logged in"):
				t.Fatalf("the wait does not name its cause: %s", c.Why)
			}
		}
		if c.Why != "" {
			done["nobody"]++
			if !c.Until.IsZero() && !limits[c.Until] || !first.IsZero() && (c.Until.IsZero() || c.Until.After(first)) {
				t.Fatalf("it waits until %v, and the first limit is over at %v", c.Until, first)
			}
			return
		}
		if at == 0 {
			done["the first"]++
			return
		}
		if done["a stand-in"]++; c.In.Why == "" || f.Gate.HQ.SameModel {
			return
		}
		who := c.In.Variant()
		if d == agents.Reviewer && slices.ContainsFunc(f.Runs, func(r process.Run) bool {
			return r.Duty == agents.Executor && mayBeOne(state.Variant{Agent: r.Agent, Model: r.Model}, who)
		}) {
			t.Fatalf("%s reviews what its client wrote", who)
		}
		if d == agents.Executor && !slices.ContainsFunc(f.Gate.HQ.Supervisor.List(), func(a config.Agent) bool {
			return !mayBeOne(state.Variant{Agent: a.Agent, Model: a.Model}, who)
		}) {
			t.Fatalf("nobody is left to review the work of %s", who)
		}
	}
	for range 300 {
		rapid.Check(t, inOrder)
	}
	for _, what := range []string{"the first", "a stand-in", "nobody"} {
		if done[what] == 0 {
			t.Errorf("never: %s", what)
		}
	}
}

// TestWhateverTheFactsOneActIsSound holds for all facts what no conductor may do.
func TestWhateverTheFactsOneActIsSound(t *testing.T) {
	done := map[Verb]int{}
	sound := func(t *rapid.T) {
		f := anyFacts(t)
		act, want := decide(f), wanted(f)
		s := f.Slots[act.Duty]
		done[act.Do]++
		must := func(claim bool, what string) {
			t.Helper()
			if !claim {
				t.Fatalf("%+v: %s", act, what)
			}
		}
		if f.Task.State == state.AwaitingHuman {
			must(act.Do != start && act.Do != ask && act.Do != park, "while a person is asked")
		}
		switch act.Do {
		case start:
			must(!s.Taken, "the slot is taken")
			who := choose(f, act.Duty)
			another := who.Among > 1 && (s.Last.Agent != who.Agent.Agent || s.Last.Model != who.Agent.Model)
			must(who.Why == "", "nobody of its list can work")
			must(f.Day.Text == "", "a limit of the day is used up")
			must(act.Duty == want.want && act.Prompt == want.prompt && act.Prompt != "", "it is not wanted, or told nothing")
			must(act.Duty != agents.Executor || !f.Held, "somebody holds the work")
			must(s.Starts < f.Gate.Limits.MaxExecutorDispatches, "more starts than the budget")
			must(s.Stuck < retries, "it could not be started")
			must(s.Alike < alike, "it would end at once again")
			must((!s.Limited.After(noon) || another) && !s.NotBefore.After(noon), "it is too early")
			must(f.overBudget() == "" || duty{Facts: f}.checkRuns(), "the task is over its budget")
			must(!f.Until.Passed(noon), "--until has passed")
			must(f.Hold == "" && f.Unread == "", "it is held, or nobody knows what was used")
		case end:
			must(s.Taken, "nobody is there")
			must(strings.TrimSpace(act.Why) != "", "for no reason")
			must(!(act.Duty == agents.Executor && f.Held && act.Duty == want.want) || f.overBudget() != "" || f.Hold != "" || s.Reading.Trouble != "" ||
				duty{Facts: f, SlotFacts: s, name: act.Duty}.replaced(), "it holds the work")
		case ask:
			must(strings.TrimSpace(act.Why) != "" && strings.Contains(act.Why, "?") || strings.Contains(act.Why, "Please"), "asks nothing")
			must(!duty{Facts: f}.checkRuns() || s.Starts+s.Stuck+s.Alike > 0, "while a check runs")
			must(act.Duty == want.want && !s.Taken, "about somebody who works")
		case park:
			must(act.Until.After(noon), "waits for what is over")
			must(strings.TrimSpace(act.Why) != "" && !s.Taken && act.Duty == want.want, "waits for nothing")
		case keep:
			// Something wakes it: a person, an agent's end, the holder's next event, or a time.
			awake := !act.Until.IsZero() || f.Task.State == state.AwaitingHuman || f.Held || f.Hold != "" // a family looks each second
			for _, other := range conducted {
				awake = awake || f.Slots[other].Taken
			}
			must(awake, "nothing would wake it")
		case finish:
			must(want.over && act.Exit == want.exit, "it is not over")
		default:
			must(false, "no such verb")
		}
		must(act.Do == finish || !f.Until.Over(noon) || f.Task.Returning != state.FileMove{}, "the grace is over")
		if f.overBudget() != "" && !want.over && !(duty{Facts: f}).checkRuns() {
			for _, name := range conducted {
				must(!f.Slots[name].Taken || act.Do == end, "an agent works on over the budget")
			}
		}
		must(want.over == (act.Do == finish), "goes on, or does not")
		if again := decide(f); again != act {
			t.Fatalf("decided twice: %+v and %+v", act, again)
		}
	}
	for range 30 { // of a hundred facts each
		rapid.Check(t, sound)
	}
	for _, v := range []Verb{start, end, ask, park, keep, finish} {
		if done[v] == 0 {
			t.Errorf("never done: %s", v)
		}
	}
}
