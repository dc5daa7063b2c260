package snapshots

import "github.com/ferrus-go/ferrus/internal/state"

// Events are the events after which the files of the work are saved, each with the tree that it is about, "" for the work
// tree as it is: what came of an agent's or a person's turn can be returned to.
var Events = map[state.Event]func(state.Task) string{
	state.CreateTask:      func(t state.Task) string { return t.BaseTree },
	state.Claim:           asItIs,
	state.CheckPassed:     func(t state.Task) string { return t.Check.Tree },
	state.CheckFailed:     func(t state.Task) string { return t.Check.Tree },
	state.CheckVoid:       asItIs,
	state.Submit:          func(t state.Task) string { return t.Submission.Tree },
	state.Consult:         asItIs,
	state.RespondConsult:  asItIs,
	state.AskHuman:        asItIs,
	state.Answer:          asItIs,
	state.Approve:         func(t state.Task) string { return t.Submission.Tree },
	state.Reject:          asItIs,
	state.Reopen:          asItIs,
	state.Release:         asItIs,
	state.Reassign:        asItIs,
	state.Rollback:        asItIs,
	state.Merge:           asItIs,
	state.DelegateStarted: asItIs,
	state.DelegateMerged:  asItIs,
}

func asItIs(state.Task) string { return "" }
