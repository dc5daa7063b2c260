package simulate

import (
	"slices"
	"strings"
	"testing"

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
				list, err := Play(fresh, []Event{m, m}, lim)
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
