package delegate_test

import (
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/state"
)

// TestNoRuleApprovesADelegate: its parent decides about it, also where a person has given it rules. The rule approves what the
// parent submits then.
func TestNoRuleApprovesADelegate(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true")+limits+"[[rules]]\non = \"submit\"\nwhen = { paths = [\"docs/**\"] }\nthen = \"approve\"\n")
	_, ex := p.Begun()
	f := family{t, p, ex}
	c, child := f.starts("Write the guide.")
	enginetest.Must2(child.Human().AcceptConfig(t.Context()))(t) // now the delegate has rules as well
	f.submits(child, map[string]string{"docs/guide.md": "guide\n"})
	if snap := enginetest.Must(child.Engine().FollowRules(t.Context()))(t); snap.Task.State != state.Reviewing {
		t.Fatalf("the delegate is %s", snap.Task.State)
	}
	if c, err := f.decides(c.ID, state.RuledApprove, ""); err != nil || c.Ended != state.DelegateComplete {
		t.Fatalf("%+v %v", c, err)
	}
	enginetest.Check(t, ex, state.CheckGreen)
	enginetest.Submitted(t, ex)
	enginetest.WantState(t, ex, state.Complete)
}
