package evidence

import (
	"fmt"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/project/records"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
)

// markdown is what the evidence says, in the order in which a reviewer asks.
func (d *Report) markdown() string {
	var b strings.Builder
	t := d.last.Task
	fmt.Fprintf(&b, "# %s\n\n", cell(t.Title))
	facts := [][2]string{{"task", t.TaskID}, {"outcome", d.outcome()}, {"began", stamp(d.events[0].At)},
		{"ended", stamp(d.ended())}, {"took", format.Duration(d.ended().Sub(d.events[0].At))},
		{"from tree", t.BaseTree}, {"to tree", d.tree}, {"patch", d.patchWords()}, {"branch", t.Branch}}
	if d.unended() {
		facts[3][0] = "last event"
	}
	for _, n := range (engine.Status{Snapshot: d.last}).Notices() {
		facts = append(facts, [2]string{"notice", cell(n)})
	}
	for _, f := range facts {
		if f[1] != "" {
			fmt.Fprintf(&b, "- %s: %s\n", f[0], f[1])
		}
	}
	b.WriteString("\n## The task\n\n" + literal(d.docs[state.TaskDoc]))
	b.WriteString("\n## The checks\n\n" + d.checkTable())
	b.WriteString(d.scoreTable())
	b.WriteString(d.papers("The reviews", reviewing))
	b.WriteString(d.papers("Questions to a person", asking))
	b.WriteString(d.papers("Questions to the supervisor", consulting))
	b.WriteString("\n## Cost\n\n" + d.costTable())
	b.WriteString("\n## Events\n\nTimes are UTC. Entries marked ┆ were abandoned by a rollback.\n\n" + d.eventTable())
	return b.String()
}

// unended reports whether the task is still the machine's, and not over.
func (d *Report) unended() bool {
	s := d.last.Task.State
	return d.present && s != state.Complete && s != state.Failed
}

// ended returns when the task ended: complete, failed or abandoned. Later events, such as the merge of a branch, do not
// move that. For a task that is not over it is the time of its last event.
func (d *Report) ended() time.Time {
	end := d.events[len(d.events)-1]
	if d.last.Task.State.Over() {
		for _, p := range d.events {
			if p.To.Over() && p.From != p.To {
				end = p
			}
		}
	}
	return end.At
}

func (d *Report) outcome() string {
	t, end := d.last.Task, d.events[len(d.events)-1]
	switch {
	case end.Event == state.Reset:
		return strings.TrimSpace(fmt.Sprintf("abandoned in %s by %s %s", t.State, cell(end.Actor.Agent), status.Quoted(cell(end.Note))))
	case t.State == state.Failed:
		return "Failed: " + cell(t.FailureReason)
	case t.State == state.Complete:
		for i := len(d.events) - 1; i >= 0; i-- {
			if p := d.events[i]; p.Event == state.Approve {
				return fmt.Sprintf("Complete: %s approved by %s", t.Submission.ID, cell(p.Actor.Agent))
			}
		}
	}
	return fmt.Sprintf("%s: %s", t.State, "waits for the "+state.WaitingFor(t).For)
}

func (d *Report) patchWords() string {
	words := fmt.Sprintf("work.patch, %s; git apply takes it", format.Count(len(d.patch), "byte", "bytes"))
	if d.noPatch != "" {
		words = "none: " + cell(d.noPatch)
	}
	for _, line := range d.skipped {
		words += "; " + cell(line)
	}
	return words
}

func (d *Report) checkTable() string {
	if len(d.checks) == 0 {
		return "None ran.\n"
	}
	text := "| check | started | by | result | time | output | log |\n|---|---|---|---|---|---|---|\n"
	for _, c := range d.checks {
		took, log := "", ""
		if !c.ended.IsZero() {
			took = fmt.Sprintf("%.1f s", c.ended.Sub(c.began).Seconds())
		}
		if _, ok := d.logs[c.id]; ok {
			log = "checks/" + c.id + ".log"
		}
		note := strings.TrimSpace(strings.TrimPrefix(c.note, c.id))
		text += fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s |\n", c.id, stamp(c.began), cell(c.by), strings.ReplaceAll(string(c.verdict), "_", " "),
			took, cell(note), log)
	}
	return text
}

// A sheet lists the events of a part of the evidence, and which field has their text.
type sheet map[state.Event]struct {
	verb string
	doc  state.Doc
}

var (
	reviewing = sheet{state.Submit: {"submitted", state.SubmissionDoc}, state.Approve: {"approved", ""},
		state.Reject: {"rejected", state.ReviewDoc}, state.Reopen: {"reopened", state.ReviewDoc}}
	asking     = sheet{state.AskHuman: {"asked", state.QuestionDoc}, state.Answer: {"answered", state.AnswerDoc}}
	consulting = sheet{state.Consult: {"asked", state.ConsultRequestDoc}, state.RespondConsult: {"answered", state.ConsultResponseDoc}}
)

// papers are the events of a sheet with their words, "" when there are none.
func (d *Report) papers(heading string, of sheet) string {
	var b strings.Builder
	for _, p := range d.events {
		s, ok := of[p.Event]
		if !ok {
			continue
		}
		id := p.ID()
		if of[state.Submit].verb != "" {
			id = p.State.Submission.ID
		}
		left := ""
		if p.Left {
			left = ", abandoned by a rollback"
		}
		if how := p.Actor.How(); how != "" {
			left += ", " + cell(how)
		}
		if p.Actor.Tree != "" {
			left += ", from " + cell(p.Actor.Tree)
		}
		fmt.Fprintf(&b, "%s %s by %s at %s%s\n\n", id, s.verb, cell(p.Actor.Agent), stamp(p.At), left)
		text := p.Docs[s.doc]
		if s.doc == "" {
			text = p.Note
		}
		if text != "" {
			b.WriteString(literal(text) + "\n")
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n## " + heading + "\n\n" + strings.TrimRight(b.String(), "\n") + "\n"
}

// costTable lists the agents that ferrus has started. One that has not ended counts for nothing yet.
func (d *Report) costTable() string {
	if len(d.runs) == 0 {
		return "No agent was started by ferrus.\n"
	}
	text := "| run | agent | model | started | time | used |\n|---|---|---|---|---|---|\n"
	var over []process.Run
	for _, r := range d.runs {
		took := "no end known"
		if r.Over() {
			over = append(over, r)
			took = format.Duration(r.Lasted(r.Ended))
		}
		text += fmt.Sprintf("| %s | %s | %s | %s | %s | %s |\n", cell(r.Name), cell(r.Agent), cell(r.Model), stamp(r.Started), took, cell(status.Usage(r.Usage)))
	}
	if sum := status.Cost(records.SpendOf(over, time.Time{})); sum != "" {
		text += "\nTogether " + sum + ".\n"
	}
	return text
}

func (d *Report) eventTable() string {
	text := "| event | at | actor | what | states | |\n|---|---|---|---|---|---|\n"
	for _, p := range d.events {
		moved, gutter := "", ""
		if p.From != p.To {
			moved = fmt.Sprintf("%s → %s", p.From, p.To)
		}
		if p.Left {
			gutter = " ┆"
		}
		text += fmt.Sprintf("| %d%s | %s | %s | %s | %s | %s |\n", p.Seq, gutter, stamp(p.At), cell(p.Actor.Agent), p.Event, moved, cell(p.NoteText()))
	}
	return text
}

// stamp is a time for a reader anywhere.
func stamp(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05Z") }

// markup is what Markdown would take for its own, or a forge for a person to be told.
var markup = strings.NewReplacer("|", `\|`, "<", "&lt;", "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "@", "@\u200b", "$", `\$`, "#", `\#`)

// cell is a text of an agent on one line, with nothing that Markdown obeys.
func cell(text string) string { return markup.Replace(format.Line(text)) }

// literal is a text of an agent as it is: indented, it is obeyed by nothing that shows Markdown.
func literal(text string) string { return format.Indent(safetext.Mark(text), "    ") + "\n" }
