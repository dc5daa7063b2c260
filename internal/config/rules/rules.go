// Package rules has the rules of the user, [[rules]] of ferrus.toml: after which event of a task, and
// under which condition, ferrus itself takes the next step instead of a model. Three small tables
// hold the language: the events (triggers), the conditions and the actions.
//
// The package is pure. internal/config reads the rules and freezes them with the task, and
// internal/engine gathers the facts and raises the event of the action. A rule cannot do more than
// the engine may do by the state machine: it never answers for a person and changes no limit, no
// check and no rule.
package rules

import (
	"strconv"
	"strings"

	"github.com/ferrus-go/ferrus/internal/state"
)

// A Rule is one row: after the event On, if When is met, do Then. The json tags are the format of the
// frozen gate in the journal.
type Rule struct {
	On   state.Event `json:"on"`
	When When        `json:"when,omitzero"`
	Then string      `json:"then"` // an action, and for Executor the agent: "executor codex" or "executor codex:MODEL"
}

// When are the conditions of a rule, all of which must be met. A number is met from its value on; 0
// is no condition. Paths are met if every changed path matches one of them.
type When struct {
	Same   int      `json:"same,omitempty"`   // equal failures in a row
	Failed int      `json:"failed,omitempty"` // failed checks since the last passed one or review
	Errors int      `json:"errors,omitempty"` // times in a row that the checks could not be run
	Moved  int      `json:"moved,omitempty"`  // checks in a row during which the same files changed or new ones came
	Cycles int      `json:"cycles,omitempty"` // rejections of the task
	Paths  []string `json:"paths,omitempty"`  // patterns; ** is any number of folders
}

// The actions.
const (
	Consult  = "consult"   // ask the supervisor
	AskHuman = "ask_human" // ask a person
	Approve  = "approve"   // complete the task without a review
	Executor = "executor"  // give the work to another executor
)

// Limits are the limits of ferrus.toml that rules go by.
type Limits struct {
	CheckRetries int // limits.max_check_retries
	ReviewCycles int // limits.max_review_cycles
	SameFailure  int // limits.max_same_failure
}

// GateErrors is how often in a row the checks may be unable to run before ferrus asks a person.
const GateErrors = 3

// SameMoved is how often in a row the same files may change while the checks run before ferrus asks a person.
const SameMoved = 2

// Defaults returns the rows that hold without a line in ferrus.toml. They come before every rule of
// the user, so that none can take the question to a person away.
func Defaults(lim Limits) []Rule {
	return []Rule{
		{On: state.CheckFailed, When: When{Same: lim.SameFailure}, Then: AskHuman},
		{On: state.CheckVoid, When: When{Errors: GateErrors}, Then: AskHuman},
		{On: state.CheckVoid, When: When{Moved: SameMoved}, Then: AskHuman},
	}
}

// All returns the rules in the order in which they are tried.
func All(own []Rule, lim Limits) []Rule { return append(Defaults(lim), own...) }

// A Facts is what a rule is matched with: the newest event, and what is so after it.
type Facts struct {
	Event  state.Event
	Same   int
	Failed int
	Errors int
	Moved  int
	Cycles int

	Paths    []string // every changed path, both names of a rename; nil where none has changed or nothing is known
	Executor string   // the present one, AGENT or AGENT:MODEL
	Approved bool     // the submission may be approved without a review: its checks passed and the files are still the submitted ones
}

// Of returns the facts that a task has by itself after an event.
func Of(ev state.Event, t state.Task) Facts {
	f := Facts{Event: ev, Same: t.Check.Same, Failed: t.CheckRetries, Cycles: t.ReviewCycles}
	if t.Check.Status == state.CheckGateError {
		f.Errors = t.Check.Errors
	}
	if t.Check.Status == state.CheckMoved {
		f.Moved = t.Check.Moved
	}
	return f
}

// First returns the first rule that matches, and false if none does.
func First(list []Rule, f Facts) (Rule, bool) {
	for _, r := range list {
		if r.matches(f) {
			return r, true
		}
	}
	return Rule{}, false
}

// matches reports whether the event, every condition and what the action itself needs are met.
func (r Rule) matches(f Facts) bool {
	if r.On != f.Event || !matchAll(r.When.Paths, f.Paths) {
		return false
	}
	for _, c := range conditions {
		if n := *c.value(&r.When); n > 0 && c.fact(f) < n {
			return false
		}
	}
	switch r.Action() {
	case Approve:
		return f.Approved
	case Executor:
		return !r.has(f.Executor)
	}
	return true
}

// has reports whether an executor is the one that the rule names.
func (r Rule) has(executor string) bool {
	agent, model := r.Agent()
	is, its, _ := strings.Cut(executor, ":")
	return is == agent && (model == "" || its == model)
}

// Action returns the first word of Then.
func (r Rule) Action() string {
	word, _, _ := strings.Cut(r.Then, " ")
	return word
}

// Agent returns the agent and the model of an Executor rule; "" for the model that the agent has by
// itself.
func (r Rule) Agent() (agent, model string) {
	rest, ok := strings.CutPrefix(r.Then, Executor+" ")
	if !ok {
		return "", ""
	}
	agent, model, _ = strings.Cut(rest, ":")
	return agent, model
}

// Event returns the event that the action raises, "" for an unknown action.
func (r Rule) Event() state.Event { return actions[r.Action()] }

// Follow reports whether a rule may follow the event.
func Follow(list []Rule, ev state.Event) bool {
	for _, r := range list {
		if r.On == ev {
			return true
		}
	}
	return false
}

// NeedsFiles reports whether a rule on the event looks at the files of the work.
func NeedsFiles(list []Rule, ev state.Event) bool {
	for _, r := range list {
		if r.On == ev && (len(r.When.Paths) > 0 || r.Action() == Approve) {
			return true
		}
	}
	return false
}

// String is the rule in one line, as in "on check_failed when same = 3 then consult".
func (r Rule) String() string {
	text := "on " + string(r.On)
	if conds := r.When.String(); conds != "" {
		text += " when " + conds
	}
	return text + " then " + r.Then
}

// String lists the conditions as in ferrus.toml; "" where there is none.
func (w When) String() string {
	var list []string
	for _, c := range conditions {
		if n := *c.value(&w); n > 0 {
			list = append(list, c.Key+" = "+strconv.Itoa(n))
		}
	}
	if len(w.Paths) > 0 {
		var quoted []string
		for _, p := range w.Paths {
			quoted = append(quoted, strconv.Quote(p))
		}
		list = append(list, "paths = ["+strings.Join(quoted, ", ")+"]")
	}
	return strings.Join(list, ", ")
}
