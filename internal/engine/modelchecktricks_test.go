package engine

import (
	"strings"

	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/state"
)

// A trick is something that may happen. It reports whether anything did.
type trick struct {
	name string
	kind kind
	do   func(*stage) bool
}

// form is the trick of any executor: which of the two is the first is a matter of names.
func (t trick) form() string {
	for _, id := range exIDs {
		if who, what, ok := strings.Cut(t.name, id); ok && who == "" {
			return "an executor" + what
		}
	}
	return t.name
}

// A kind is a set of tricks.
type kind uint

const (
	core   kind = 1 << iota // creating, claiming, looking
	gated                   // checks, submissions and decisions
	edit                    // of the work
	pin                     // of the gate
	talk                    // consultations and questions
	person                  // who takes away and sends back
	anew                    // a person who gives up
	rival                   // somebody who decides beside the supervisor
	death                   // of processes
	hang                    // terms, renewals, stopped processes
	harm                    // what should not happen
	other                   // a second executor
	red                     // what spends a budget
	ruled                   // what a rule does
	scores                  // of checked work
	family                  // delegates
)

// tricks are all that may happen.
func tricks() []trick {
	list := []trick{
		{"supervisor creates", core, func(g *stage) bool { return g.raise(g.sup, creating) }},
		{"person creates", person, func(g *stage) bool { return g.raise(g.hum, creating) }},
		{"supervisor looks around", core, (*stage).lookAround},
		{"supervisor responds", talk, func(g *stage) bool { return g.raise(g.sup, g.sup.responding("r", "")) }},
		{"person responds", talk, func(g *stage) bool { return g.raise(g.hum, g.hum.responding("r", "")) }},
		{"supervisor asks", talk, func(g *stage) bool { return g.raise(g.sup, g.sup.asking("q", "q", "", refuseWhileChecking)) }},
		{"ferrus asks", talk, func(g *stage) bool { return g.raise(g.bug, g.bug.asking("q", "q", state.Engine, refuseWhileChecking)) }},
		{"a rule asks the supervisor", ruled, func(g *stage) bool { return g.byRule(Consulting{}.act("c")) }},
		{"a rule approves", ruled, func(g *stage) bool {
			return approvable(g.is.task, trees[g.is.tree]) && g.byRule(transition{event: state.Approve})
		}},
		{"a rule gives the work away", ruled, func(g *stage) bool { return g.byRule(transition{event: state.Reassign}) }},
		{"supervisor begins to decide", gated, func(g *stage) bool { return g.weigh(&g.is.sup) }},
		{"supervisor approves", gated, func(g *stage) bool { return g.decide(g.sup, &g.is.sup, state.Approve) }},
		{"supervisor rejects", gated | red, func(g *stage) bool { return g.decide(g.sup, &g.is.sup, state.Reject) }},
		{"person begins to decide", rival, func(g *stage) bool { return g.weigh(&g.is.hum) }},
		{"person approves", rival, func(g *stage) bool { return g.decide(g.hum, &g.is.hum, state.Approve) }},
		{"person rejects", rival | red, func(g *stage) bool { return g.decide(g.hum, &g.is.hum, state.Reject) }},
		{"supervisor sends a message", talk, func(g *stage) bool { return g.raise(g.sup, g.sup.telling("executor", "m", nil)) }},
		{"person reads the question", talk, (*stage).read},
		{"person answers", talk, (*stage).answer},
		{"person reopens", person, func(g *stage) bool { return g.raise(g.hum, transition{event: state.Reopen}) }},
		{"person releases", person, func(g *stage) bool { return g.raise(g.hum, transition{event: state.Release}) }},
		{"person resets", anew, func(g *stage) bool { return g.raise(g.hum, transition{event: state.Reset}) }},
		{"person rolls back", person, func(g *stage) bool { return g.raise(g.hum, transition{event: state.Rollback}) }},
		{"person edits ferrus.toml", pin, func(g *stage) bool { g.is.conf = 1 - g.is.conf; return true }},
		{"person accepts it", pin, (*stage).accept},
		{"somebody edits the work", edit, func(g *stage) bool { g.is.tree = 1 - g.is.tree; return true }},
		{"somebody edits STATE.json", harm, (*stage).deface},
		{"ferrus begins to score", scores, (*stage).beginScore},
		{"ferrus scores", scores, (*stage).score},
		{"a term passes", hang, (*stage).tick},
		{"the machine restarts", harm, (*stage).restart},
		{"git clean", harm, (*stage).clean},
	}
	list = append(list, besides()...)
	for i := range 2 {
		name := exIDs[i]
		who := kind(0)
		if i == 1 {
			who = other
		}
		list = append(list,
			trick{name + " claims", core | who, func(g *stage) bool { return g.awake(i) && g.claim(i, true) }},
			trick{name + " claims and is not told", harm | who, func(g *stage) bool { return g.awake(i) && g.claim(i, false) }},
			trick{name + " renews", hang | who, func(g *stage) bool { return g.awake(i) && g.renew(i) }},
			trick{name + " notes", core | who, func(g *stage) bool { return g.awake(i) && g.raise(g.ex[i], transition{event: state.Progress}) }},
			trick{name + " sends a message", talk | who, func(g *stage) bool {
				return g.awake(i) && g.raise(g.ex[i], g.ex[i].telling("supervisor", "m", nil))
			}},
			trick{name + " begins a check", gated | who, func(g *stage) bool { return g.awake(i) && g.check(i) }},
			trick{name + "'s check is green", gated | who, func(g *stage) bool { return g.awake(i) && g.verdict(i, checks.Passed) }},
			trick{name + "'s check is red", gated | red | who, func(g *stage) bool { return g.awake(i) && g.verdict(i, checks.Failed) }},
			trick{name + "'s check cannot run", harm | who, func(g *stage) bool { return g.awake(i) && g.verdict(i, checks.GateError) }},
			trick{name + "'s check is lost", harm | who, func(g *stage) bool { return g.lose(i) }},
			trick{name + " begins to submit", gated | who, func(g *stage) bool { return g.awake(i) && g.offer(i) }},
			trick{name + " submits", gated | who, func(g *stage) bool { return g.awake(i) && g.submit(i) }},
			trick{name + " consults", talk | who, func(g *stage) bool { return g.awake(i) && g.raise(g.ex[i], Consulting{}.act("c")) }},
			trick{name + " takes the response", talk | who, func(g *stage) bool { return g.awake(i) && g.raise(g.ex[i], transition{event: state.TakeResponse}) }},
			trick{name + " asks", talk | who, func(g *stage) bool {
				return g.awake(i) && g.raise(g.ex[i], g.ex[i].asking("q", "q", "", refuseWhileChecking))
			}},
			trick{name + " stops", hang | who, func(g *stage) bool { return g.awake(i) && g.set(&g.is.ex[i].stopped, true) }},
			trick{name + " comes back", hang | who, func(g *stage) bool { return !g.awake(i) && g.set(&g.is.ex[i].stopped, false) }},
			trick{name + " dies", death | who, func(g *stage) bool { g.dies(i); return true }},
		)
		list = append(list, delegates(i, name, who)...)
	}
	return list
}
