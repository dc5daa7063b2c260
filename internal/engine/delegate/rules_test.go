package delegate_test

import (
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/state"
)

// TestNoRuleApprovesADelegate: its parent decides about it, also when a person has accepted another ferrus.toml for it. The rule
// approves what the parent submits then. What its gate leaves out is no difference that any result names.
func TestNoRuleApprovesADelegate(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true")+limits+"[[rules]]\non = \"submit\"\nwhen = { paths = [\"docs/**\"] }\nthen = \"approve\"\n")
	_, ex := p.Begun()
	f := family{t, p, ex}
	c, child := f.starts("Write the guide.")
	if now := enginetest.Must(child.Engine().Status())(t); len(now.Differs) > 0 {
		t.Errorf("it names %v", now.Differs)
	}
	before := p.Read("ferrus.toml")
	p.Write("ferrus.toml", before+"\n[notify]\ncommand = \"true\"\n")
	if changes, _ := enginetest.Must2(child.Human().AcceptConfig(t.Context()))(t); len(changes) != 1 {
		t.Errorf("accepted are %v", changes)
	}
	p.Write("ferrus.toml", before)
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
