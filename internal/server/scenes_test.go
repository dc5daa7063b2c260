//go:build unix

package server

import (
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/tools"
)

// A scene is a state of the machine, with what else decides about a call, and the real acts that lead there: who does
// what, one after another. begin is a check that does not end; person and tree are no clients.
type scene struct {
	name  string
	state state.State
	play  []string
}

var scenes = []scene{
	{"idle", state.Idle, nil},
	{"idle after a reset", state.Idle, after(working, "person reset")},
	{"unclaimed", state.Executing, []string{"supervisor create_task"}},
	{"executing", state.Executing, working},
	{"executing, a check runs", state.Executing, after(working, "tree hold", "holder begin")},
	{"checking", state.Checking, after(working, "holder check")},
	{"addressing", state.Addressing, after(working, "tree red", "holder check", "tree green")},
	{"addressing after a rejection", state.Addressing, after(shown, "supervisor reject")},
	{"consultation", state.Consultation, consulting},
	{"consultation, shown", state.Consultation, after(consulting, "supervisor wait_for_review")},
	{"consultation, answered", state.Consultation, after(consulting, "supervisor respond_consult")},
	{"awaiting, the executor asked", state.AwaitingHuman, after(working, "holder ask_human")},
	{"awaiting, the supervisor asked in a consultation", state.AwaitingHuman, after(consulting, "supervisor ask_human")},
	{"awaiting, the supervisor asked in a review", state.AwaitingHuman, after(shown, "supervisor ask_human")},
	{"reviewing", state.Reviewing, submitted},
	{"reviewing, shown", state.Reviewing, shown},
	{"complete", state.Complete, after(shown, "supervisor approve")},
	{"failed", state.Failed, after(working, "tree red", "holder check", "holder check")},
}

var (
	// working: there is a task, one executor has lost it, another one holds it.
	working    = []string{"supervisor create_task", "lost wait_for_task", "person release", "holder wait_for_task"}
	consulting = after(working, "holder consult")
	submitted  = after(working, "holder submit")
	shown      = after(submitted, "supervisor review_pending")
)

func after(acts []string, more ...string) []string { return slices.Concat(acts, more) }

// earlier are the arguments of the acts of a scene, and samples those of the calls that are tried in it: a call that
// repeats itself would not be refused.
var (
	earlier = map[string]map[string]any{
		"create_task":     {"description": "Make it so, the first time."},
		"consult":         {"problem": "There is one.", "tried": "Little.", "question": "What else?"},
		"respond_consult": {"response": "Yes.", "consultation": "c1"},
		"ask_human":       {"question": "Which of the three?"},
		"submit":          {"summary": "I did this.", "verification": "I looked at it.", "no_change": "It was so."},
		"approve":         {"note": "Fine.", "submission": "s1"},
		"reject":          {"notes": "Not quite.", "submission": "s1"},
	}
	samples = map[string]map[string]any{
		"create_task":     {"description": "Make it so.\n\nAnd check it."},
		"reject":          {"notes": "Not so."},
		"respond_consult": {"response": "Do that."},
		"submit":          {"summary": "I did that.", "verification": "I ran it.", "no_change": "It was so."},
		"consult":         {"problem": "There is one.", "tried": "Much.", "question": "What now?"},
		"progress":        {"note": "Half of it is done."},
		"ask_human":       {"question": "Which of the two?", "options": []string{"this", "that"}},
		"queue_task":      {"text": "Another thing."},
		"delegate":        {},
		"select":          {},
	}
)

// A stance is who a caller is to the machine when it calls.
type stance struct {
	role   state.Role
	holds  bool   // the present holder's identity
	held   uint64 // the epoch under which it held the work last; 0 when it never did
	shown  bool   // the present submission, or consultation, is before it
	id     string // what it names as that
	barred bool   // it names a claim that cannot be its own
}

// predicted says from the table and the catalogue alone how a call ends: "" for success.
func predicted(tool tools.Tool, as stance, task state.Task) refusal.Code {
	if as.barred && takes(tool, "claim") {
		return refusal.NotClaimed
	}
	may := func(role state.Role) bool {
		can := state.Allowed(task, role)
		return slices.ContainsFunc(tool.Events, func(ev state.Event) bool { return slices.Contains(can, ev) })
	}
	can := may(as.role)
	switch tool.Name {
	case "status", "history", "queue_task", "select", "wait_for_task", "wait_for_review", "wait_for_answer":
		return ""
	case "heartbeat":
		can = true
	case "wait_for_consult":
		can = task.State == state.Consultation || slices.ContainsFunc(task.Paused, func(p state.Pause) bool { return p.State == state.Consultation })
	default:
		if as.role == state.Executor {
			can = may(state.Holder)
		}
	}
	lost := as.held != 0 && task.Epoch > as.held
	binds := as.role == state.Supervisor && (takes(tool, "submission") || takes(tool, "consultation"))
	asks := tool.Name == "consult" || tool.Name == "ask_human"
	switch {
	case as.role == state.Executor && lost:
		return refusal.LeaseLost
	case !can:
		return refusal.WrongState
	case as.role == state.Executor && !as.holds:
		return refusal.NotClaimed
	case binds && as.id != "present" && (as.id != "" || !as.shown):
		return refusal.StaleReview
	case asks && task.Check.Status == state.CheckRunning:
		return refusal.CheckRunning
	}
	return ""
}

// offered are the tools that status is to call allowed.
func offered(as stance, task state.Task) []string {
	names := []string{}
	for _, tool := range tools.Catalogue() {
		if always := slices.Contains([]string{"status", "heartbeat", "history", "queue_task", "select"}, tool.Name); !always && tool.For(as.role) && predicted(tool, as, task) == "" {
			names = append(names, tool.Name)
		}
	}
	slices.Sort(names)
	return names
}

func takes(tool tools.Tool, args ...string) bool {
	return slices.ContainsFunc(tool.Args, func(a tools.Arg) bool { return slices.Contains(args, a.Name) })
}

// seen reports whether what is to be decided has been shown in a scene.
func (s scene) seen() bool { return strings.Contains(s.name, "shown") }
