package pipeline

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/config/workflow"
)

// A Verb is an action on a run, in the words of the documentation.
type Verb string

const (
	Archive    Verb = "archive"          // move the folder to the archive
	Wait       Verb = "wait"             // nothing, and nothing is written
	Kill       Verb = "kill"             // end the Roles and all that they started
	Cancel     Verb = "cancel"           // the same, and the run is cancelled
	Confirm    Verb = "confirm"          // a person has seen the result arrive, or the final worker sent it
	Deliver    Verb = "deliver"          // File becomes final.md, delivery.json is claimed, it is sent
	Settle     Verb = "settle"           // find out whether it was sent; if that cannot be known it is uncertain
	Retry      Verb = "retry"            // kill the Roles, put Aside away, they are pending again
	Accept     Verb = "accept"           // take the outputs of the Roles although they did not end well
	Resume     Verb = "resume"           // a person lets the run go on
	Pause      Verb = "pause"            // tell a person, and wait
	Finish     Verb = "complete phase"   // the next one is the current
	Start      Verb = "spawn"            // start the Roles
	Restart    Verb = "respawn"          // put Aside away and start the Roles anew
	Ask        Verb = "ask"              // a person is told of a Question
	Answer     Verb = "answer"           // a Question is answered
	Continue   Verb = "continue"         // put Aside away and start the Roles anew, with the answer to the Question
	FailWorker Verb = "fail worker"      // kill the Roles, put Aside away, they are failed
	FailPhase  Verb = "fail phase"       // the run waits for a person
	Watchdog   Verb = "watchdog deliver" // what there is becomes final.md, marked PARTIAL; then as deliver

	// Of a dialogue, where Text becomes dialogue.json and ferrus's own copy of it.
	Turn    Verb = "give turn"        // start the one of the Roles
	Write   Verb = "write entry"      // an empty entry for the next one
	Take    Verb = "take turn"        // what was written counts
	Restore Verb = "restore"          // what was written does not
	Close   Verb = "write transcript" // Text becomes File

	Again Verb = "again" // what a person says of an uncertain delivery: send it again
)

// An Action is the one next action.
type Action struct {
	Do       Verb
	Row      string // the row of the table that said so
	Phase    int
	Roles    []string
	Reason   Reason
	Why      string    // for a person, one line
	Question string    // its id
	File     string    // the output that is delivered, or the transcript
	Missing  []string  // the roles whose output is not in a partial result
	Aside    []string  // files to be put into attempts before anything is recorded
	Text     []byte    // what is written
	By       string    // the person
	Until    time.Time // when to look again at the latest; zero: when something happens
	Person   bool      // nobody but a person gets it any further
	Tell     string    // the text of a notification; "" for none
}

// A row is one line of a decision table. The first row that fits decides.
type row struct {
	name string // one word, for the journal
	when string // in words
	fits func(Facts) bool
	then string // in words
	do   Verb
	fill func(Facts, *Action) // the arguments; nil when there are none
}

// table has every action on a run. Pause comes before spawn, spawn before fail; a test covers each
// row.
var table = join(endRows, deliveryRows, personRows, recordRows, doneRows, continueRows, workerRows, restRows)

func join(parts ...[]row) []row {
	var all []row
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// Decide returns the one next action. It reconciles the status itself; a caller that records the
// status calls Reconcile before.
func Decide(f Facts) Action {
	f.Status = Reconcile(f)
	return decide(f, table)
}

func decide(f Facts, rows []row) Action {
	for _, r := range rows {
		if !r.fits(f) {
			continue
		}
		a := Action{Do: r.do, Row: r.name, Phase: f.Status.CurrentPhase}
		if r.fill != nil {
			r.fill(f, &a)
		}
		return a
	}
	panic("pipeline: no row fits, and the last one always does")
}

// Markdown returns the decision table.
func Markdown() string { return markdown(table, "") }

// DialogueMarkdown returns the table of a dialogue.
func DialogueMarkdown() string { return markdown(turns, "") }

// DayRow is the row of an action that waits for the end of a limit of the day.
const DayRow = "day"

// starting are the verbs that start workers.
var starting = []Verb{Start, Restart, Continue, Turn}

// Starts reports whether an action starts workers.
func (a Action) Starts() bool { return slices.Contains(starting, a.Do) }

// Agents reports whether an action starts a worker of w that is an agent, and not a command.
func (a Action) Agents(w workflow.Workflow) bool {
	return a.Starts() && slices.ContainsFunc(a.Roles, func(role string) bool { k, _ := w.Worker(role); return k.Run == "" })
}

// Explain returns the tables, with an arrow at the row that fits the facts, and its action.
func Explain(f Facts) string {
	a := Decide(f)
	var b strings.Builder
	main, sub := a.Row, ""
	if name, inner, ok := strings.Cut(a.Row, ": "); ok {
		main, sub = name, inner
	}
	b.WriteString(markdown(table, main))
	if sub != "" {
		b.WriteString("\n" + markdown(turns, sub))
	}
	fmt.Fprintf(&b, "\n%s: %s\n", a.Row, a)
	return b.String()
}

// String describes the action in one line.
func (a Action) String() string {
	var b strings.Builder
	b.WriteString(string(a.Do))
	for _, part := range []struct{ word, text string }{
		{" ", strings.Join(a.Roles, ", ")}, {" ", a.File}, {", ", string(a.Reason)}, {"; ", a.Why},
		{"; without ", strings.Join(a.Missing, ", ")}, {"; puts aside ", strings.Join(a.Aside, ", ")},
	} {
		if part.text != "" {
			b.WriteString(part.word + part.text)
		}
	}
	if !a.Until.IsZero() {
		b.WriteString("; until " + a.Until.Format(time.RFC3339))
	}
	return b.String()
}

func markdown(rows []row, matched string) string {
	var b strings.Builder
	b.WriteString("| row | when | then |\n|---|---|---|\n")
	for _, r := range rows {
		mark := ""
		if r.name == matched {
			mark = "→ "
		}
		fmt.Fprintf(&b, "| %s%s | %s | %s |\n", mark, r.name, r.when, r.then)
	}
	return b.String()
}
