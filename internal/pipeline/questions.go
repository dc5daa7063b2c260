package pipeline

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/format"
)

// A Question is what a worker has asked a person. It belongs to one attempt of its worker.
type Question struct {
	ID       string    `json:"id"` // once in the run
	Role     string    `json:"role"`
	Attempt  int       `json:"attempt"`
	Text     string    `json:"question"` // its options, numbered, end it
	At       time.Time `json:"at"`
	Answer   string    `json:"answer,omitempty"`
	By       string    `json:"by,omitempty"` // who answered
	Answered time.Time `json:"answered,omitzero"`
	Read     bool      `json:"read,omitempty"` // the attempt that asked has received the answer
}

// IsOpen reports whether the question has no answer.
func (q Question) IsOpen() bool { return q.Answered.IsZero() }

// Open returns the questions that a person can answer, the oldest first. Those of attempts that no
// longer work are not among them. The caller must have reconciled the status.
func (f Facts) Open() []Question {
	return slices.DeleteFunc(slices.Clone(f.Questions), func(q Question) bool { return f.question(q.Role) != q.ID || !q.IsOpen() })
}

// Asks reports whether the worker waits for the answer of a person.
func (f Facts) Asks(role string) bool {
	q, ok := f.asked(role)
	return ok && q.IsOpen()
}

// asked returns the newest question of the present attempt of a running worker.
func (f Facts) asked(role string) (Question, bool) {
	s := f.Status.Worker(role)
	if s == nil || s.Status != Running {
		return Question{}, false
	}
	return f.newestQuestion(*s)
}

// newestQuestion returns the newest question of an attempt of a worker.
func (f Facts) newestQuestion(s WorkerStatus) (Question, bool) {
	for _, q := range slices.Backward(f.Questions) {
		if q.Role == s.Role && q.Attempt == s.Attempt {
			return q, true
		}
	}
	return Question{}, false
}

func (f Facts) question(role string) string {
	q, _ := f.asked(role)
	return q.ID
}

// owed reports whether a worker ended before it received the answer to its question. It is started
// anew with the answer.
func (f Facts) owed(s WorkerStatus) bool {
	q, ok := f.asked(s.Role)
	return ok && !q.IsOpen() && !q.Read && !f.Workers[s.Role].Alive
}

// Stands reports whether the clock of a worker stands still: it waits for an answer, or for one that
// waits for an answer. The time that a worker has spent so is no part of its own.
func (f Facts) Stands(role string) bool {
	s := f.Status.Worker(role)
	if f.Asks(role) || f.owed(*s) {
		return true
	}
	if !f.Workers[role].Waiting {
		return false
	}
	lost := f.lost(role)
	if len(lost) == 0 { // it waits for the place of another worker
		return slices.ContainsFunc(f.alive(), f.Asks)
	}
	return slices.ContainsFunc(lost, func(file string) bool { return slices.ContainsFunc(f.Workflow.Writers(file), f.Stands) })
}

// stood returns how long the clock of a worker's present attempt stood still since a time, for
// questions that are answered.
func (f Facts) stood(role string, since time.Time) time.Duration {
	var all time.Duration
	s := f.Status.Worker(role)
	for _, q := range f.Questions {
		if q.Role == role && q.Attempt == s.Attempt && !q.IsOpen() {
			all += max(0, q.Answered.Sub(later(q.At, since)))
		}
	}
	return all
}

// Clock returns the present time as the clock of a worker has it: while a question is open that is
// the time at which it was asked.
func (f Facts) Clock(role string) time.Time {
	if q, ok := f.asked(role); ok && q.IsOpen() {
		return q.At
	}
	return f.Now
}

// continued returns how many attempts before the present one ended for a question. They count as no
// retries.
func (f Facts) continued(s WorkerStatus) int {
	var attempts []int
	for _, q := range f.Questions {
		if q.Role == s.Role && q.Attempt < s.Attempt && !q.IsOpen() && !q.Read && !slices.Contains(attempts, q.Attempt) {
			attempts = append(attempts, q.Attempt)
		}
	}
	return len(attempts)
}

// recordRows record questions and answers, also those of a worker that is done meanwhile.
var recordRows = []row{
	{
		name: "ask", when: "a worker asked a person something, and nobody was told",
		fits: func(f Facts) bool { return len(f.all(f.askUnrecorded)) > 0 },
		then: "ask: tell the user; the worker's clock stands still until the answer", do: Ask,
		fill: func(f Facts, a *Action) {
			a.Roles = f.all(f.askUnrecorded)[:1]
			q := f.newestOf(a.Roles[0])
			a.Question, a.Why = q.ID, fmt.Sprintf("%s asks %s: %s", q.Role, q.ID, format.OneLine(q.Text, maxAsked))
			if q.IsOpen() {
				a.Tell = fmt.Sprintf("Pipeline %s: %s asks: %s\nWhat now: ferrus answer --run %s %s", f.Status.Dir, q.Role, strings.TrimSpace(q.Text), f.Status.Dir, q.ID)
			}
		},
	},
	{
		name: "answer", when: "a person answered a worker, and that is not recorded",
		fits: func(f Facts) bool { return len(f.all(f.answerUnrecorded)) > 0 },
		then: "answer: the worker's clock goes on", do: Answer,
		fill: func(f Facts, a *Action) {
			a.Roles = f.all(f.answerUnrecorded)[:1]
			q := f.newestOf(a.Roles[0])
			a.Question, a.By, a.Why = q.ID, q.By, fmt.Sprintf("the answer to %s: %s", q.ID, format.OneLine(q.Answer, maxAsked))
		},
	},
}

// continueRows start workers anew that ended before they had their answer.
var continueRows = []row{
	{
		name: "continue", when: "a worker ended before it received the answer to its question, and a place is free",
		fits: func(f Facts) bool { return len(f.all(f.owed)) > 0 && (f.Workflow.All() || f.free() > 0) },
		then: "continue: put aside what it wrote, start it anew with the answer", do: Continue,
		fill: func(f Facts, a *Action) {
			a.Roles = f.all(f.owed)[:1]
			a.Question, a.Aside = f.question(a.Roles[0]), f.aside(a.Roles)
			a.Why = "the answer to " + a.Question + " is there"
		},
	},
}

// maxAsked is how much of a question or an answer a line of the journal has, in characters.
const maxAsked = 200

// newestOf returns the newest question of the present attempt of a worker, whether it runs or not.
func (f Facts) newestOf(role string) Question {
	q, _ := f.newestQuestion(*f.Status.Worker(role))
	return q
}

// askUnrecorded reports whether a worker has asked a question that is not recorded. Nobody is asked for a worker that does not run.
func (f Facts) askUnrecorded(s WorkerStatus) bool {
	q, ok := f.newestQuestion(s)
	return ok && s.Asked != q.ID && (s.Status == Running || !q.IsOpen())
}

// answerUnrecorded reports whether the answer to a recorded question of a worker is not recorded.
func (f Facts) answerUnrecorded(s WorkerStatus) bool {
	q, ok := f.newestQuestion(s)
	return ok && s.Asked == q.ID && !q.IsOpen() && s.Heard != q.ID
}

// onlyAsking reports whether a worker waits for an answer, and nobody else is at work.
func (f Facts) onlyAsking() bool {
	return len(f.all(func(s WorkerStatus) bool { return f.Asks(s.Role) })) > 0 &&
		len(f.all(func(s WorkerStatus) bool { return s.Status == Running && !f.Stands(s.Role) })) == 0
}

// openText describes the open questions.
func (f Facts) openText() string {
	var parts []string
	for _, q := range f.Open() {
		parts = append(parts, fmt.Sprintf("%s asks %s: %s", q.Role, q.ID, format.OneLine(q.Text, maxAsked)))
	}
	return strings.Join(parts, "; ")
}

// Decisions returns what a worker is to know of its earlier questions, as a part of its prompt; ""
// when a person has answered none.
func Decisions(role string, list []Question) string {
	list = slices.DeleteFunc(slices.Clone(list), func(q Question) bool { return q.Role != role || q.IsOpen() })
	var b strings.Builder
	for _, q := range list[max(0, len(list)-promptDecisions):] {
		fmt.Fprintf(&b, "\nYou asked before, in %s:\n\n%s\n\nA person answered:\n\n%s\n", q.ID, promptText(q.Text), promptText(q.Answer))
	}
	return b.String()
}

// Bounds of what a prompt repeats: it may be handed over in a variable, which the system limits.
const (
	promptDecisions = 8    // the newest
	promptBytes     = 4096 // of a question or an answer
)

func promptText(text string) string {
	text = strings.TrimSpace(text)
	if len(text) <= promptBytes {
		return text
	}
	return strings.ToValidUTF8(text[:promptBytes], "") + "\n[cut; wait_for_answer has the newest question and answer whole]"
}

// owes reports whether the attempt of a worker as it was before ended for a question whose answer it
// has not received.
func (f Facts) owes(before WorkerStatus) bool {
	q, ok := f.newestQuestion(before)
	return ok && !q.IsOpen() && !q.Read
}
