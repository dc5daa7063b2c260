package conductor

import (
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/state"
)

// A row says which agent a state needs. The first row that fits counts.
type row struct {
	in     []state.State
	when   condition
	want   agents.Duty // "" means none
	prompt string      // the agent's first prompt: a file of the prompts
	over   bool        // the run ends, with the exit code
	exit   int
	means  string
}

// exitPerson is the exit code of a run that waits for a person.
const exitPerson = 6

// ExitLate is the exit code of a run that has ended before its task, because [Options].Until has passed.
const ExitLate = proc.StoppedExit

// table is the first table of the conductor. It does nothing that is not in this table or in the
// rules.
var table = []row{
	{in: in(state.Executing, state.Checking, state.Addressing), when: fetching, want: agents.Executor, prompt: "executor-fix", means: "the files of a delegate move in first"},
	{in: state.States()[1:], when: returning, over: true, exit: exitPerson, means: "a rollback or a merge moves files: the same command must finish it"},
	{in: in(state.AwaitingHuman), when: late, over: true, exit: exitPerson, means: "the question is notified; the agents are ended"},
	{in: in(state.Executing, state.Addressing, state.Checking, state.Consultation, state.Reviewing), when: late, over: true, exit: ExitLate, means: "the agents are ended; the next run continues"},
	{in: in(state.Executing), want: agents.Executor, prompt: "executor-work", means: "work on the task"},
	{in: in(state.Addressing), want: agents.Executor, prompt: "executor-fix", means: "fix what the review or the check says"},
	{in: in(state.Checking), want: agents.Executor, prompt: "executor-fix", means: "submit the work that passed the checks"},
	{in: in(state.Consultation), when: asksExecutor, means: "the executor that delegated the task answers"},
	{in: in(state.Consultation), when: unanswered, want: agents.Consultant, prompt: "consultant", means: "answer the consultation"},
	{in: in(state.Consultation), want: agents.Executor, prompt: "executor-go-on", means: "read the answer and continue"},
	{in: in(state.Reviewing), when: delegated, means: "the executor that delegated the task decides"},
	{in: in(state.Reviewing), want: agents.Reviewer, prompt: "reviewer", means: "review the submission"},
	{in: in(state.AwaitingHuman), when: headless, over: true, exit: exitPerson, means: "the question is printed and notified; the agents are ended"},
	{in: in(state.AwaitingHuman), means: "the question is printed and notified; running agents stay"},
	{in: in(state.Complete), over: true, exit: 0, means: "the report"},
	{in: in(state.Failed), over: true, exit: 1, means: "the report"},
	{in: in(state.Idle), over: true, exit: 3, means: "nothing to do"},
}

func in(states ...state.State) []state.State { return states }

// A condition is a fact that a row needs besides the state. The zero condition is always met.
type condition struct {
	name  string
	holds func(Facts) bool
}

var (
	unanswered   = condition{"unanswered", func(f Facts) bool { return !f.Task.Consultation.Answered }}
	returning    = condition{"during a rollback or a merge", func(f Facts) bool { return f.Task.Returning != state.FileMove{} }}
	fetching     = condition{"while the files of a delegate move in", func(f Facts) bool { return f.Task.Returning.Of != "" }}
	delegated    = condition{"of a delegate", func(f Facts) bool { return f.Delegated }}
	asksExecutor = condition{"unanswered, of a delegate", func(f Facts) bool { return f.Delegated && !f.Task.Consultation.Answered }}
	late         = condition{"after --until and, while an agent works, --grace", func(f Facts) bool { return f.Until.Over(f.Now) || f.Until.Passed(f.Now) && !f.works() }}
	headless     = condition{"headless", func(f Facts) bool { return f.Headless }}
)

func (c condition) met(f Facts) bool { return c.holds == nil || c.holds(f) }

// works reports whether an agent works that a conductor of this computer has started.
func (f Facts) works() bool {
	return slices.ContainsFunc(conducted, func(d agents.Duty) bool { return f.Slots[d].Taken })
}

// wanted returns the row of the table for the facts.
func wanted(f Facts) row {
	i := slices.IndexFunc(table, func(r row) bool { return slices.Contains(r.in, f.Task.State) && r.when.met(f) })
	return table[i] // a test makes sure that every state has a row without a condition
}

// Explain returns both tables as Markdown.
func Explain() string {
	var b strings.Builder
	b.WriteString("| state | agent needed | for what |\n|---|---|---|\n")
	for _, r := range table {
		var names []string
		for _, s := range r.in {
			names = append(names, string(s))
		}
		cells := []string{strings.Join(names, ", "), string(r.want), r.means}
		if r.when.name != "" {
			cells[0] += ", " + r.when.name
		}
		if r.want == "" {
			cells[1] = "nobody new"
		}
		if r.over {
			cells[1] = "nobody"
			cells[2] += "; exit " + string(rune('0'+r.exit))
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	b.WriteString("\nFor every agent that is needed or runs, the first rule that fits:\n\n| when | then |\n|---|---|\n")
	for _, r := range rules {
		b.WriteString("| " + r.when + " | " + r.then + " |\n")
	}
	return b.String()
}
