package state

import "testing"

// TestEveryStateSaysWhoIsWaitedFor: a state without a row of its own would leave a task without anybody who looks after it.
func TestEveryStateSaysWhoIsWaitedFor(t *testing.T) {
	t.Parallel()
	for _, s := range States() {
		if waitsFor[s] == "" {
			t.Errorf("%s waits for nobody that is named", s)
		}
		if who := WaitingFor(Task{State: s}).For; (who == "nobody") != (s == Idle || s.Over()) {
			t.Errorf("%s waits for %s", s, who)
		}
	}
	if who := WaitingFor(Task{State: "Dreaming"}).For; who != "human" {
		t.Errorf("a state that nobody knows waits for %s", who)
	}
}
