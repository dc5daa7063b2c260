package status

import (
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/config/rules"
	"github.com/ferrus-go/ferrus/internal/state"
)

// TestASimulationIsTheTable: from every state every event of every role leads where Step leads it, and is refused where
// Step refuses it, with what is allowed.
func TestASimulationIsTheTable(t *testing.T) {
	lim := state.Limits{CheckRetries: 2, ReviewCycles: 1}
	led, refused := 0, 0
	for _, s := range state.States() {
		if got, err := ParseState(strings.ToLower(string(s))); err != nil || got != s {
			t.Fatalf("%s is read as %s, %v", s, got, err)
		}
		fresh := NewTask(s)
		for _, ev := range state.Events() {
			for _, role := range []state.Role{state.Supervisor, state.Executor, state.Human, state.Engine} {
				m, err := ParseEvent(string(role) + ":" + string(ev))
				if ev == state.Rollback || ev == state.RollbackBegun {
					if err == nil {
						t.Errorf("%s is played", ev)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				as := role
				if role == state.Executor && fresh.ClaimedBy != "" && ev != state.Claim {
					as = state.Holder
				}
				next, wrong := state.Step(fresh, ev, as, lim)
				list, err := Play(fresh, []Event{m, m}, lim, Rules{})
				if err != nil {
					t.Fatalf("%s in %s: %v", ev, s, err)
				}
				p := list[0]
				if (p.Refused != "") != (wrong != nil) || p.To != next.State || p.CheckRetries.Used != next.CheckRetries || p.Reviews.Used != next.ReviewCycles ||
					p.Epoch != next.Epoch || p.FailureReason != next.FailureReason {
					t.Errorf("%s by %s in %s: %+v, not %s", ev, role, s, p, next.State)
				}
				if wrong == nil {
					led++
					continue
				}
				refused++
				if len(list) != 1 || !slices.Equal(p.Allowed, state.Allowed(fresh, as)) {
					t.Errorf("%s by %s in %s: goes on with %d, allowed %v", ev, role, s, len(list), p.Allowed)
				}
			}
		}
	}
	if led < 50 || refused < 300 {
		t.Errorf("%d led somewhere, %d were refused", led, refused)
	}
}

// TestARoleIsTakenForGrantedOnlyWhereNoOtherMay.
func TestARoleIsTakenForGrantedOnlyWhereNoOtherMay(t *testing.T) {
	for word, want := range map[string]state.Role{"submit": state.Executor, "claim": state.Executor, "holder:submit": state.Executor,
		"answer": state.Human, "check_failed": state.Engine, "approve": "", "ask_human": "", "create_task": "", "repair": ""} {
		m, err := ParseEvent(word)
		if m.Role != want || (err == nil) != (want != "") {
			t.Errorf("%s is %q's: %v", word, m.Role, err)
		}
	}
}

// TestASimulationShowsWhichRuleFollows, with the defaults, in the order in which they are tried.
func TestASimulationShowsWhichRuleFollows(t *testing.T) {
	lim := rules.Limits{CheckRetries: 9, ReviewCycles: 3, SameFailure: 4}
	own := []rules.Rule{
		{On: state.CheckFailed, When: rules.When{Same: 3}, Then: "executor claude-code:opus"},
		{On: state.CheckFailed, When: rules.When{Same: 2}, Then: "consult"},
		{On: state.Submit, When: rules.When{Paths: []string{"docs/**"}}, Then: "approve"},
	}
	for _, c := range []struct {
		words, changed, want string
	}{
		{"check_failed", "", "check_failed Addressing"},
		{"check_failed check_failed supervisor:respond_consult take_response check_failed", "",
			"check_failed Addressing, check_failed Addressing, consult Consultation by on check_failed when same = 2 then consult, respond_consult Consultation, " +
				"take_response Addressing, check_failed Addressing, reassign Addressing by on check_failed when same = 3 then executor claude-code:opus"},
		{"check_void check_void check_void", "", "check_void Executing, check_void Executing, check_void Executing, ask_human AwaitingHuman by on check_void when errors = 3 then ask_human"},
		{"check_passed submit", "docs/a.md", `check_passed Checking, submit Reviewing, approve Complete by on submit when paths = ["docs/**"] then approve`},
		{"check_passed submit", "docs/a.md main.go", "check_passed Checking, submit Reviewing"},
		{"check_passed submit", "", "check_passed Checking, submit Reviewing"},
	} {
		var events []Event
		for _, w := range strings.Fields(c.words) {
			ev, err := ParseEvent(w)
			if err != nil {
				t.Fatal(err)
			}
			events = append(events, ev)
		}
		list, err := Play(NewTask(state.Executing), events, state.Limits{CheckRetries: 9, ReviewCycles: 3},
			Rules{List: rules.All(own, lim), Changed: strings.Fields(c.changed), Executor: "codex"})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range list {
			text := string(s.Event) + " " + string(s.To)
			if s.Rule != "" {
				text += " by " + s.Rule
			}
			got = append(got, text)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s %s:\n%s\nwant\n%s", c.words, c.changed, strings.Join(got, ", "), c.want)
		}
	}
}
