package rules

import (
	"errors"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/state"
)

var agents = []string{"claude-code", "codex"}

type table = map[string]any

// TestARuleWithoutAMeaningIsRefused: with the key that is wrong and what to do.
func TestARuleWithoutAMeaningIsRefused(t *testing.T) {
	when := func(key string, v any) table { return table{key: v} }
	docs := when("paths", []any{"docs/**"})
	for _, c := range []struct {
		rule      table
		key, want string
	}{
		{table{}, "", "add on = "},
		{table{"on": "reject"}, "", "add then = "},
		{table{"on": 3, "then": "consult"}, "on", "must be a string"},
		{table{"on": "check_faild", "then": "consult"}, "on", "did you mean check_failed?"},
		{table{"on": "merge", "then": "consult"}, "on", "known are check_failed, check_void, reject, submit"},
		{table{"on": "reject", "than": "consult"}, "than", "did you mean then?"},
		{table{"on": "reject", "then": "consulted"}, "then", "did you mean consult?"},
		{table{"on": "reject", "then": "answer"}, "then", "known are approve, ask_human, consult, executor"},
		{table{"on": "reject", "then": "consult me"}, "then", "no other word"},
		{table{"on": "reject", "then": "executor"}, "then", "needs an agent"},
		{table{"on": "reject", "then": "executor codex:"}, "then", "needs an agent"},
		{table{"on": "reject", "then": "executor codx"}, "then", "did you mean codex?"},
		{table{"on": "reject", "then": "executor claude-code:o pus"}, "then", "needs an agent"},
		{table{"on": "reject", "then": "approve"}, "then", "never match; possible are consult, ask_human, executor"},
		{table{"on": "submit", "then": "consult"}, "then", "never match; possible are ask_human, approve"},
		{table{"on": "submit", "then": "executor codex"}, "then", "never match"},
		{table{"on": "submit", "then": "approve"}, "then", "approve needs paths"},
		{table{"on": "reject", "then": "consult", "when": docs}, "when.paths", `write on = "submit"`},
		{table{"on": "reject", "then": "consult", "when": when("same", int64(2))}, "when.same", "counted for check_failed"},
		{table{"on": "reject", "then": "consult", "when": when("cycle", int64(2))}, "when.cycle", "did you mean cycles?"},
		{table{"on": "reject", "then": "consult", "when": when("cycles", int64(0))}, "when.cycles", "from 1 to"},
		{table{"on": "reject", "then": "consult", "when": when("cycles", "2")}, "when.cycles", "from 1 to"},
		{table{"on": "reject", "then": "consult", "when": 2}, "when", "must be a table"},
		{table{"on": "reject", "then": "consult", "when": when("cycles", int64(maxNumber+1))}, "when.cycles", "from 1 to 1000000"},
		{table{"on": "reject", "then": "executor " + strings.Repeat("x", maxAgent+1)}, "then", `not "` + strings.Repeat("x", 40) + `..."`},
		{table{"on": "reject", "then": "executor codex\x01"}, "then", "needs an agent"},
		{table{"on": "submit", "then": "approve", "when": when("paths", []any{})}, "when.paths", "a list of patterns"},
		{table{"on": "submit", "then": "approve", "when": when("paths", "docs/**")}, "when.paths", "a list of patterns"},
		{table{"on": "submit", "then": "approve", "when": when("paths", []any{"docs/**", 3})}, "when.paths", "must be a string"},
		{table{"on": "submit", "then": "approve", "when": when("paths", []any{"docs/\x01"})}, "when.paths", `"docs/\x01" has a control character`},
		{table{"on": "submit", "then": "approve", "when": when("paths", []any{"/docs/**"})}, "when.paths", "begins with a slash"},
		{table{"on": "submit", "then": "approve", "when": when("paths", []any{"docs/"})}, "when.paths", "write docs/**"},
		{table{"on": "submit", "then": "approve", "when": when("paths", []any{"docs/../x"})}, "when.paths", "can never match"},
		{table{"on": "submit", "then": "approve", "when": when("paths", []any{"./docs"})}, "when.paths", "can never match"},
		{table{"on": "submit", "then": "approve", "when": when("paths", []any{""})}, "when.paths", "can never match"},
		{table{"on": "submit", "then": "approve", "when": when("paths", []any{"docs/[a"})}, "when.paths", "not closed"},
	} {
		_, err := Parse(c.rule, agents)
		var wrong *Error
		if !errors.As(err, &wrong) || wrong.Key != c.key || !strings.Contains(wrong.Text, c.want) {
			t.Errorf("%v: %#v, not %q at %q", c.rule, err, c.want, c.key)
		}
	}
}

func TestARuleIsRead(t *testing.T) {
	r, err := Parse(table{"on": "reject", "when": table{"cycles": int64(2)}, "then": "executor  claude-code:opus"}, agents)
	agent, model := r.Agent()
	if err != nil || agent != "claude-code" || model != "opus" || r.Event() != state.Reassign ||
		r.String() != "on reject when cycles = 2 then executor claude-code:opus" {
		t.Errorf("%s: %q %q %v", r, agent, model, err)
	}
	for _, n := range []int64{1, maxNumber} {
		if r, err := Parse(table{"on": "check_failed", "when": table{"failed": n}, "then": "consult"}, agents); err != nil || r.When.Failed != int(n) {
			t.Errorf("%d: %s, %v", n, r, err)
		}
	}
}

// TestAFrozenRuleIsHeldToTheSameLimits: it comes from a journal, with whatever agents a person had then.
func TestAFrozenRuleIsHeldToTheSameLimits(t *testing.T) {
	for _, c := range []struct {
		rule Rule
		want string // "" for a good one
	}{
		{Rule{state.CheckFailed, When{Same: 1, Failed: maxNumber}, "executor whoever:model"}, ""},
		{Rule{state.CheckFailed, When{Same: -1}, Consult}, "from 1 to"},
		{Rule{state.CheckFailed, When{Failed: maxNumber + 1}, Consult}, "from 1 to"},
		{Rule{state.CheckVoid, When{Moved: 1}, Consult}, ""},
		{Rule{state.CheckFailed, When{Moved: 1}, Consult}, `write on = "check_void"`},
		{Rule{state.Submit, When{Paths: []string{"a/"}}, AskHuman}, "write a/**"},
		{Rule{state.Submit, When{Paths: []string{"/"}}, AskHuman}, "begins with a slash"},
		{Rule{state.Submit, When{}, AskHuman}, ""},
		{Rule{state.CheckVoid, When{}, Approve}, "possible are consult, ask_human, executor"},
		{Rule{state.Reject, When{}, "executor " + strings.Repeat("x", maxAgent)}, ""},
		{Rule{state.Merge, When{}, Consult}, `no rule on "merge"`},
	} {
		if err := c.rule.Check(nil); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, not %q", c.rule, err, c.want)
		}
	}
}

// TestARuleThatCanNeverMatchIsNamed: because a limit or an earlier rule always comes first.
func TestARuleThatCanNeverMatchIsNamed(t *testing.T) {
	lim := Limits{CheckRetries: 20, ReviewCycles: 3, SameFailure: 5}
	on := func(ev state.Event, then string, w When) Rule { return Rule{ev, w, then} }
	for _, c := range []struct {
		list []Rule
		at   int
		want string
	}{
		{[]Rule{on(state.CheckFailed, Consult, When{Same: 4, Failed: 19}), on(state.Reject, Consult, When{Cycles: 2}), on(state.CheckVoid, Consult, When{Errors: 2})}, -1, ""},
		{[]Rule{on(state.CheckFailed, Consult, When{Same: 5})}, 0, "limits.max_same_failure"},
		{[]Rule{on(state.CheckFailed, Consult, When{Failed: 20})}, 0, "limits.max_check_retries"},
		{[]Rule{on(state.CheckVoid, Consult, When{Errors: 3})}, 0, "asks a person"},
		{[]Rule{on(state.Reject, Consult, When{}), on(state.Reject, Consult, When{Cycles: 3})}, 1, "limits.max_review_cycles"},
		{[]Rule{on(state.Reject, Consult, When{}), on(state.Reject, AskHuman, When{Cycles: 2})}, 1, "rule 1 always matches first"},
		{[]Rule{on(state.Reject, AskHuman, When{Cycles: 2}), on(state.Reject, Consult, When{})}, -1, ""},
		{[]Rule{on(state.Reject, "executor codex", When{}), on(state.Reject, Consult, When{})}, -1, ""},
		{[]Rule{on(state.Reject, "executor codex", When{}), on(state.Reject, "executor codex", When{Cycles: 2})}, 1, "rule 1 always"},
		{[]Rule{on(state.CheckFailed, Consult, When{Same: 2}), on(state.CheckFailed, AskHuman, When{Failed: 3})}, -1, ""},
		{[]Rule{on(state.CheckFailed, Consult, When{Same: 2}), on(state.CheckFailed, AskHuman, When{Same: 2, Failed: 3})}, 1, "rule 1 always"},
		{[]Rule{on(state.Submit, AskHuman, When{Paths: []string{"**"}}), on(state.Submit, Approve, When{Paths: []string{"a"}})}, 1, "rule 1 always"},
		{[]Rule{on(state.Submit, AskHuman, When{Paths: []string{"a", "b"}}), on(state.Submit, Approve, When{Paths: []string{"b"}})}, 1, "rule 1 always"},
		{[]Rule{on(state.Submit, AskHuman, When{Paths: []string{"a"}}), on(state.Submit, Approve, When{Paths: []string{"a", "b"}})}, -1, ""},
		{[]Rule{on(state.Submit, Approve, When{Paths: []string{"a"}}), on(state.Submit, AskHuman, When{Paths: []string{"a"}})}, -1, ""},
		{[]Rule{on(state.Submit, AskHuman, When{Paths: []string{"**"}}), on(state.Submit, AskHuman, When{})}, -1, ""},
	} {
		at, err := Never(c.list, lim)
		if at != c.at || (err == nil) != (c.at < 0) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %d, %v, not %d with %q", c.list, at, err, c.at, c.want)
		}
	}
}

// TestAHiddenRuleNeverMatches: a rule that Never names is not found with any facts, and a default never gives way.
func TestAHiddenRuleNeverMatches(t *testing.T) {
	lim := Limits{CheckRetries: 6, ReviewCycles: 4, SameFailure: 4}
	var all []Rule
	for n := range 5 {
		for _, then := range []string{Consult, AskHuman, "executor codex"} {
			for m := range 3 {
				all = append(all, Rule{state.CheckFailed, When{Same: n, Failed: 2 * m}, then})
			}
		}
	}
	hidden := 0
	for _, first := range all {
		for _, second := range all {
			list := []Rule{first, second}
			at, _ := Never(list, lim)
			if at != 1 || second.When.Same >= lim.SameFailure {
				continue
			}
			hidden++
			for same := 1; same < 8; same++ {
				for failed := same; failed < lim.CheckRetries; failed++ {
					r, ok := First(All(list, lim), Facts{Event: state.CheckFailed, Same: same, Failed: failed})
					if ok && r.String() == second.String() && second.String() != first.String() {
						t.Fatalf("%s hides %s, which matches at %d of %d", first, second, same, failed)
					}
					if same >= lim.SameFailure && r.Then != AskHuman {
						t.Fatalf("%v take the question away: %s", list, r)
					}
				}
			}
		}
	}
	if hidden < 100 {
		t.Errorf("only %d were hidden", hidden)
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("docs/**", "docs/a")
	f.Add("**/a/**", "a/a/a")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if len(pattern) > 60 || len(name) > 60 {
			t.Skip()
		}
		if neverMatches(pattern) == "" && !strings.Contains(name, "/") && matchAny([]string{pattern}, "x/"+name) && !matchAny([]string{"**/" + pattern}, "x/"+name) {
			t.Errorf("%q matches x/%q, and **/ before it does not", pattern, name)
		}
		if !matchAny([]string{"**"}, name) {
			t.Errorf("** does not match %q", name)
		}
	})
}
