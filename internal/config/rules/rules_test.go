package rules

import (
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/state"
)

// TestTheTriggersLeadWhereTheMachineSays: where a task is after each event of a rule is what state.Step says.
func TestTheTriggersLeadWhereTheMachineSays(t *testing.T) {
	for _, tr := range triggers {
		var in []state.State
		for _, s := range state.States() {
			for _, by := range state.Roles() {
				next, err := state.Step(state.Task{State: s}, tr.Event, by, state.Limits{CheckRetries: 9, ReviewCycles: 9})
				if err == nil && !slices.Contains(in, next.State) {
					in = append(in, next.State)
				}
			}
		}
		for _, s := range tr.In {
			if !slices.Contains(in, s) {
				t.Errorf("%s does not lead to %s", tr.Event, s)
			}
		}
		if len(in) != len(tr.In) {
			t.Errorf("%s leads to %v, not %v", tr.Event, in, tr.In)
		}
	}
}

// TestTheEngineMayTakeEveryAction: an action whose event the engine may not raise anywhere would be a word without a meaning, and
// none of them answers for a person, rejects, or touches the configuration.
func TestTheEngineMayTakeEveryAction(t *testing.T) {
	for word, ev := range actions {
		if !state.May(state.Engine, ev) {
			t.Errorf("%s: the engine may not %s", word, ev)
		}
	}
	for _, ev := range []state.Event{state.Answer, state.RespondConsult, state.Reject, state.AcceptConfig, state.Reset, state.Reopen,
		state.Release, state.Select, state.Merge, state.Rollback, state.CreateTask, state.Steer} {
		if state.May(state.Engine, ev) {
			t.Errorf("the engine may %s", ev)
		}
	}
}

// TestNoActionStartsARule: so rules cannot loop.
func TestNoActionStartsARule(t *testing.T) {
	for word, ev := range actions {
		for _, tr := range triggers {
			if tr.Event == ev {
				t.Errorf("%s raises %s, which rules follow", word, ev)
			}
		}
	}
}

func TestTheFirstRuleThatMatchesCounts(t *testing.T) {
	lim := Limits{CheckRetries: 20, ReviewCycles: 3, SameFailure: 5}
	own := []Rule{
		{On: state.CheckFailed, When: When{Same: 3, Failed: 4}, Then: Consult},
		{On: state.CheckFailed, When: When{Same: 3}, Then: "executor claude-code:opus"},
		{On: state.CheckFailed, When: When{Same: 2}, Then: Consult},
		{On: state.CheckVoid, When: When{Errors: 2}, Then: Consult},
		{On: state.Reject, When: When{Cycles: 2}, Then: "executor codex"},
		{On: state.Submit, When: When{Paths: []string{"docs/**", "*.md"}}, Then: Approve},
		{On: state.Submit, When: When{Paths: []string{"docs/**"}}, Then: AskHuman},
	}
	docs := []string{"docs/a.md", "README.md"}
	for _, c := range []struct {
		f    Facts
		want string // "" for none
	}{
		{Facts{Event: state.CheckFailed, Same: 1, Failed: 19}, ""},
		{Facts{Event: state.CheckFailed, Same: 2}, "on check_failed when same = 2 then consult"},
		{Facts{Event: state.CheckFailed, Same: 3, Failed: 3}, "on check_failed when same = 3 then executor claude-code:opus"},
		{Facts{Event: state.CheckFailed, Same: 3, Failed: 3, Executor: "claude-code"}, "on check_failed when same = 3 then executor claude-code:opus"},
		{Facts{Event: state.CheckFailed, Same: 3, Failed: 3, Executor: "claude-code:opus"}, "on check_failed when same = 2 then consult"},
		{Facts{Event: state.CheckFailed, Same: 4, Failed: 4}, "on check_failed when same = 3, failed = 4 then consult"},
		{Facts{Event: state.CheckFailed, Same: 5, Failed: 9}, "on check_failed when same = 5 then ask_human"},
		{Facts{Event: state.CheckFailed, Same: 7, Failed: 9}, "on check_failed when same = 5 then ask_human"},
		{Facts{Event: state.CheckVoid, Errors: 1}, ""},
		{Facts{Event: state.CheckVoid, Errors: 2}, "on check_void when errors = 2 then consult"},
		{Facts{Event: state.CheckVoid, Errors: 3}, "on check_void when errors = 3 then ask_human"},
		{Facts{Event: state.CheckVoid, Moved: 1}, ""},
		{Facts{Event: state.CheckVoid, Moved: 2}, "on check_void when moved = 2 then ask_human"},
		{Facts{Event: state.Reject, Cycles: 1}, ""},
		{Facts{Event: state.Reject, Cycles: 2}, "on reject when cycles = 2 then executor codex"},
		{Facts{Event: state.Reject, Cycles: 2, Executor: "codex:mini"}, ""},
		{Facts{Event: state.Submit, Paths: docs, Approved: true}, `on submit when paths = ["docs/**", "*.md"] then approve`},
		{Facts{Event: state.Submit, Paths: docs}, ""},
		{Facts{Event: state.Submit, Paths: docs[:1]}, `on submit when paths = ["docs/**"] then ask_human`},
		{Facts{Event: state.Submit, Paths: append(docs, "main.go"), Approved: true}, ""},
		{Facts{Event: state.Submit, Approved: true}, ""},
		{Facts{Event: state.Submit, Paths: []string{}, Approved: true}, ""},
		{Facts{Event: state.Claim, Same: 9}, ""},
	} {
		r, ok := First(All(own, lim), c.f)
		if got := r.String(); ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%+v: %s, want %s", c.f, got, c.want)
		}
	}
}

func TestTheFactsOfATask(t *testing.T) {
	task := state.Task{CheckRetries: 4, ReviewCycles: 2, Check: state.Check{Status: state.CheckMoved, Errors: 3, Moved: 1, Same: 2}}
	if f := Of(state.CheckVoid, task); f.Event != state.CheckVoid || f.Errors != 0 || f.Moved != 1 || f.Same != 2 || f.Failed != 4 || f.Cycles != 2 {
		t.Errorf("%+v: the errors before a check whose tree changed do not count", f)
	}
	task.Check.Status = state.CheckGateError
	if f := Of(state.CheckVoid, task); f.Errors != 3 || f.Moved != 0 {
		t.Errorf("%+v: what has changed before a check that could not be run does not count", f)
	}
}

// TestWhatARuleAsksForIsKnownBefore: nobody reads files for rules that do not look at them, nor without a rule on the event.
func TestWhatARuleAsksForIsKnownBefore(t *testing.T) {
	docs := When{Paths: []string{"docs/**"}}
	for _, c := range []struct {
		list          []Rule
		follow, files bool // of submit
	}{
		{nil, false, false},
		{[]Rule{{On: state.Reject, Then: Consult}}, false, false},
		{[]Rule{{On: state.Reject, Then: Consult, When: docs}}, false, false},
		{[]Rule{{On: state.Reject, Then: Consult}, {On: state.Submit, Then: AskHuman}}, true, false},
		{[]Rule{{On: state.Submit, Then: AskHuman}, {On: state.Submit, Then: AskHuman, When: docs}}, true, true},
		{[]Rule{{On: state.Submit, Then: Approve}}, true, true},
	} {
		if follow, files := Follow(c.list, state.Submit), NeedsFiles(c.list, state.Submit); follow != c.follow || files != c.files {
			t.Errorf("%v: a rule follows: %v, it needs files: %v", c.list, follow, files)
		}
	}
}

// TestTheReferenceHasEveryWord of the language: each event, condition and action in its table.
func TestTheReferenceHasEveryWord(t *testing.T) {
	var got []string
	for _, table := range strings.Split(strings.TrimSpace(Markdown()), "\n\n") {
		for _, row := range strings.Split(table, "\n") {
			cells := strings.Split(strings.Trim(row, "|"), "|")
			if len(cells) < 2 || strings.TrimSpace(cells[len(cells)-1]) == "" {
				t.Errorf("the row %q", row)
			}
			got = append(got, strings.Trim(cells[0], " `"))
		}
	}
	want := []string{"on", "---", "check_failed", "check_void", "reject", "submit",
		"when", "---", "same = N", "failed = N", "errors = N", "moved = N", "cycles = N", "paths = [...]",
		"then", "---", "consult", "ask_human", "approve", "executor AGENT[:MODEL]"}
	if !slices.Equal(got, want) {
		t.Errorf("the rows are\n%q, not\n%q", got, want)
	}
}

func TestPatternsOfPaths(t *testing.T) {
	for pattern, names := range map[string]struct{ is, not string }{
		"docs/**":     {"docs/a docs/a/b.go", "docs doc/a xdocs/a a/docs/b"},
		"**":          {"a a/b", ""},
		"**/*.md":     {"a.md x/y/a.md", "a.go x/a.md/b"},
		"*.md":        {"a.md", "x/a.md"},
		"a/**/z":      {"a/z a/b/z a/b/c/z", "a/b z"},
		"a/?/[xy].go": {"a/b/x.go a/c/y.go", "a/bb/x.go a/b/z.go a/b/c/x.go"},
		"docs":        {"docs", "docs/a"},
		"a**":         {"a ab", "a/b"},
	} {
		for _, name := range strings.Fields(names.is) {
			if !matchAny([]string{pattern}, name) {
				t.Errorf("%s does not match %s", pattern, name)
			}
		}
		for _, name := range strings.Fields(names.not) {
			if matchAny([]string{pattern}, name) {
				t.Errorf("%s matches %s", pattern, name)
			}
		}
	}
}
