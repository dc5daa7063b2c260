package status

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project/records"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// A NeedKind says why a person is needed.
type NeedKind string

// The kinds of needs.
const (
	NeedAnswer     NeedKind = "question"      // an agent asks
	NeedBudget     NeedKind = "budget"        // ferrus asks: a limit is reached, or agents fail
	NeedResponse   NeedKind = "consultation"  // an executor asks a supervisor whom no run starts
	NeedReview     NeedKind = "review"        // a submission waits for a supervisor whom no run starts
	NeedFailed     NeedKind = "failed"        // the task has failed
	NeedStopped    NeedKind = "stopped"       // the task waits for an agent that no run starts
	NeedMerge      NeedKind = "merge"         // approved work of a branch is not merged
	NeedConflict   NeedKind = "conflict"      // approved work of a branch cannot be merged
	NeedChoice     NeedKind = "choice"        // several attempts at one task are approved
	NeedFinish     NeedKind = "unfinished"    // a rollback or a merge was cut off
	NeedAgreement  NeedKind = "configuration" // ferrus.toml is not what the task was created with
	NeedPipeline   NeedKind = "pipeline"      // a run of a pipeline waits for a person who is asked nothing, or nothing advances it
	NeedDelivery   NeedKind = "delivery"      // it is uncertain whether the result of a pipeline arrived
	NeedInspection NeedKind = "unreadable"    // the state of a task cannot be read
	NeedDay        NeedKind = "day"           // a limit of the day is used up, and something waits for midnight
	NeedBlocked    NeedKind = "blocked"       // a task in the queue needs one that will not be done
	NeedTrust      NeedKind = "trust"         // nobody has agreed to what the project's files make run
)

// Urgency orders kinds of needs, the most urgent first: where an agent is stopped, where something may be lost or is unclear, where a verdict
// is missing, and where something stands.
func (k NeedKind) Urgency() int {
	for i, kinds := range urgent {
		if slices.Contains(kinds, k) {
			return i
		}
	}
	return len(urgent)
}

var urgent = [][]NeedKind{
	{NeedAnswer, NeedBudget, NeedResponse},
	{NeedDelivery, NeedFinish, NeedInspection, NeedConflict},
	{NeedReview, NeedChoice, NeedMerge},
}

// A Need is something that only a person can do.
type Need struct {
	ID      string    `json:"id"` // the same for as long as it is the same need; unique in the project
	Kind    NeedKind  `json:"kind"`
	Branch  string    `json:"branch,omitempty"` // "" for the project's own task, or a run
	Run     string    `json:"run,omitempty"`    // of a pipeline
	Queued  string    `json:"queued,omitempty"` // the name of a task in the queue
	Title   string    `json:"title,omitempty"`  // of the task, or the topic of the run
	Since   time.Time `json:"since,omitzero"`
	Text    string    `json:"text"`              // a sentence
	Output  string    `json:"output,omitempty"`  // the end of what failed, where the need follows from it; not for notifications
	Options []string  `json:"options,omitempty"` // of a question, the recommended one first
	Command string    `json:"command"`           // that does it

	By string `json:"-"` // who asks, as people know them
}

// OfProject reports whether the need is that of no task that has a branch.
func (n Need) OfProject() bool { return n.Kind == NeedTrust || n.Kind == NeedDay || n.Queued != "" }

// Needs are what the task needs a person for, the most pressing first.
func (r *Report) Needs() []Need {
	var list []Need
	var files, lines string
	if s := r.size; s != nil {
		files, lines = ": "+format.Count(s.Files, "file", "files"), fmt.Sprintf(", +%d -%d", s.Added, s.Deleted)
	}
	add := func(kind NeedKind, id, command, text string, args ...any) {
		n := Need{ID: r.TaskID + ":" + id, Kind: kind, Branch: r.Branch, Title: format.Line(r.Title), Since: r.Since, Text: fmt.Sprintf(text, args...),
			Command: refusal.CommandOn(r.Branch, command)}
		switch kind {
		case NeedAnswer, NeedBudget:
			n.By, n.Options = Who(r.Question.By), r.Question.Options
		case NeedResponse:
			n.By = Who(r.Consultation.By)
		}
		if kind == NeedAnswer || kind == NeedBudget || kind == NeedFailed {
			n.Output = r.Output
		}
		list = append(list, n)
	}
	switch {
	case r.finish != "":
		add(NeedFinish, fmt.Sprintf("finish-%d", r.Seq), r.finish, "Files are being moved, and the command was cut off.")
	case r.part(): // its executor decides about it
	case r.Question != nil && r.Question.By == engineName:
		add(NeedBudget, r.Question.ID, "ferrus answer "+r.Question.ID+answerWord(r.Question.Options), "%s", firstLine(r.Question.Text))
	case r.Question != nil:
		add(NeedAnswer, r.Question.ID, "ferrus answer "+r.Question.ID+answerWord(r.Question.Options), "%s", firstLine(r.Question.Text))
	case r.State == state.Failed:
		add(NeedFailed, fmt.Sprintf("failed-%d", r.Seq), `ferrus reopen -m "..."`, "%s", r.failedWords())
	case r.State == state.Complete && r.mergeable() && len(r.conflicts) > 0:
		add(NeedConflict, "conflict-"+r.submission(), "ferrus merge "+r.Branch+" --resolve", "%s: %s has changed %s, too", paths(r.conflicts), format.Line(filepath.Base(r.Root)), itOrThem(len(r.conflicts)))
	case r.State == state.Complete && r.mergeable():
		add(NeedMerge, "merge-"+r.submission(), "ferrus merge "+r.Branch, "Approved, ready to merge%s", lines)
	case !r.deserted():
	case r.State == state.Reviewing:
		add(NeedReview, r.submission(), "ferrus approve", "Ready for your review%s, round %s", files, strings.TrimPrefix(r.submission(), "s"))
	case r.State == state.Consultation:
		add(NeedResponse, r.Consultation.ID, `ferrus answer `+r.Consultation.ID+` "..."`, "%s", firstLine(r.Consultation.Text))
	case len(r.troubles) > 0:
		w := r.troubles[0]
		add(NeedStopped, fmt.Sprintf("stopped-%d", r.Seq), "ferrus status", "The node %s does not work on the task: %s", format.Line(w.Host), firstLine(w.Text))
	default:
		since := ""
		if r.Spent.Runs > 0 {
			since = " since the run ended"
		}
		add(NeedStopped, fmt.Sprintf("stopped-%d", r.Seq), "ferrus resume", "No agent works on it%s", since)
	}
	if !r.State.Over() {
		for _, n := range r.Notices {
			if text, ok := strings.CutPrefix(n, "config_changed: "); ok {
				what, _, _ := strings.Cut(firstLine(text), "; ")
				add(NeedAgreement, "config", "ferrus config accept", "The settings have changed since it began: %s", what)
				break
			}
		}
	}
	return list
}

// failedWords say of a failed task which limit it has reached.
func (r *Report) failedWords() string {
	switch c := r.Check; {
	case c != nil && c.Used >= max(c.Max, 1) && len(c.Failures) > 0:
		return fmt.Sprintf("%d of %d checks failed: %s", c.Used, c.Max, format.Line(c.Failures[0].Line))
	case r.Reviews.Used >= max(r.Reviews.Max, 1):
		return fmt.Sprintf("%d of %d reviews rejected it", r.Reviews.Used, r.Reviews.Max)
	}
	return "Failed: " + format.Line(r.FailureReason)
}

// itOrThem is a pronoun for a number of things.
func itOrThem(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// Questions are the needs that a person meets with an answer: the questions of agents and of ferrus, and the runs of pipelines that wait
// for a person's word.
func (v *Overview) Questions() []Need {
	list := []Need{}
	for _, n := range v.Needs {
		waits := func(u RunSummary) bool { return u.Run == n.Run && (u.Person || u.uncertain) }
		if asking[n.Kind] || n.Run != "" && slices.ContainsFunc(v.Pipelines, waits) {
			list = append(list, n)
		}
	}
	return list
}

// asking are the kinds of needs that are questions of a task.
var asking = map[NeedKind]bool{NeedAnswer: true, NeedBudget: true, NeedResponse: true}

// engineName is who asks when ferrus does.
const engineName = "ferrus"

// answerWord is what follows the id in the command that answers.
func answerWord(options []string) string {
	if len(options) > 0 {
		return " 1"
	}
	return ` "..."`
}

// submission is the id of the newest submission, "" before the first.
func (r *Report) submission() string {
	if r.Submission == nil {
		return ""
	}
	return r.Submission.ID
}

// mergeable reports whether the work is that of a branch, approved, and not merged.
func (r *Report) mergeable() bool {
	return r.Branch != "" && r.State == state.Complete && !r.merged && !r.part()
}

func paths(list []string) string {
	if len(list) > 3 {
		return format.Line(strings.Join(list[:3], ", ")) + fmt.Sprintf(" and %d more", len(list)-3)
	}
	return format.Line(strings.Join(list, ", "))
}

// firstLine is the first line of a text that has words in it.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "#")); line != "" {
			return format.Clip(format.Line(line), 200)
		}
	}
	return ""
}

// unreadable is what a task needs whose state cannot be read.
func unreadable(m Machine) Need {
	return Need{ID: "unreadable:" + m.Branch, Kind: NeedInspection, Branch: m.Branch, Text: "The state cannot be read: " + firstLine(m.Error), Command: "ferrus doctor"}
}

// untrusted is what a project needs whose files nobody has agreed to; err says so.
func untrusted(err error) (Need, bool) {
	if refusal.CodeOf(err) != refusal.Untrusted {
		return Need{}, false
	}
	return Need{ID: "trust", Kind: NeedTrust, Text: "You have not agreed to what the project's files make run.", Command: "ferrus trust"}, true
}

// dayNeed is what a project needs in which something waits for the end of a limit of the day.
func (v *Overview) dayNeed(ctx context.Context) {
	waits := len(v.Queue)+len(v.Pipelines) > 0 || slices.ContainsFunc(v.Machines, func(m Machine) bool {
		return m.TaskID != "" && !m.State.Over() && m.State != state.AwaitingHuman && len(m.Agents) == 0
	})
	if !waits || v.Foreign != nil {
		return
	}
	l, err := records.UsedUp(ctx, v.Root, time.Now())
	if err != nil || l.Text == "" { // a run says what cannot be read
		return
	}
	v.Needs = append(v.Needs, Need{ID: l.ID(), Kind: NeedDay, Since: l.From, Text: l.Need(), Command: records.Allow})
}

// choose is what several approved attempts at one task need; n is what one of them needs alone. The best is named where all have a score.
func choose(n Need, approved []string, tasks map[string]Machine) Need {
	text, best := fmt.Sprintf("%d approved: choose one", len(approved)), Machine{}
	for i, name := range approved {
		m := tasks[name]
		if m.Score == nil {
			best.Score = nil
			break
		}
		if i == 0 || *m.Score > *best.Score {
			best = m
		}
	}
	if best.Score != nil {
		text = fmt.Sprintf("%d approved; %s is best (%s)", len(approved), best.Branch, strconv.FormatFloat(*best.Score, 'f', -1, 64))
	}
	return Need{ID: "choice:" + strings.Join(approved, ","), Kind: NeedChoice, Branch: n.Branch, Title: n.Title, Since: n.Since,
		Text: text, Options: approved, Command: "ferrus select"}
}

// need is what a run of a pipeline needs.
func (u RunSummary) need() (Need, bool) {
	n := Need{ID: "run:" + u.Run + ":" + string(u.State), Kind: NeedPipeline, Run: u.Run, Title: format.Line(u.Topic), Since: u.Since, Command: u.Next}
	switch {
	case u.uncertain:
		n.ID, n.Kind, n.Text = "run:"+u.Run+":delivery", NeedDelivery, "It may have been sent, and may not"
	case len(u.questions) > 0: // they are needs of their own
		return Need{}, false
	case u.Person, u.Deserted:
		n.Text = "The run waits " + u.Waiting + "."
	default:
		return Need{}, false
	}
	return n, true
}
