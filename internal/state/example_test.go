package state_test

import (
	"fmt"

	"github.com/ferrus-go/ferrus/internal/state"
)

// Step looks an event up in the table. It changes nothing: the result is a new
// task, or an error that says what is allowed.
func ExampleStep() {
	limits := state.Limits{CheckRetries: 20, ReviewCycles: 3}
	task := state.New()
	for _, move := range []struct {
		event state.Event
		by    state.Role
	}{
		{state.CreateTask, state.Supervisor},
		{state.CheckFailed, state.Engine},
		{state.CheckPassed, state.Engine},
		{state.Submit, state.Holder},
		{state.Approve, state.Executor},
		{state.Approve, state.Supervisor},
	} {
		next, err := state.Step(task, move.event, move.by, limits)
		if err != nil {
			fmt.Printf("%s by %s: refused\n", move.event, move.by)
			continue
		}
		fmt.Printf("%s by %s: %s\n", move.event, move.by, next.State)
		task = next
	}
	// Output:
	// create_task by supervisor: Executing
	// check_failed by engine: Addressing
	// check_passed by engine: Checking
	// submit by holder: Reviewing
	// approve by executor: refused
	// approve by supervisor: Complete
}
