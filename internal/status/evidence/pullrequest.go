package evidence

import (
	"fmt"
	"strings"

	"github.com/ferrus-go/ferrus/internal/state"
)

// maxBody bounds the text of a pull request in bytes: GitHub takes 65,536 characters.
const maxBody = 60_000

// PullRequest returns the text of a pull request with the work of the task, in Markdown: what the executor said of it, the checks with their
// durations, the reviews, and a line that closes an issue, "" for none. Texts of agents and file names stand in it so that Markdown and the forge
// obey nothing of them: they mention nobody, close no issue and load nothing. Nothing in it is of this computer.
func (d *Report) PullRequest(closing string) string {
	t := d.last.Task
	var b strings.Builder
	b.WriteString(literal(d.docs[state.SubmissionDoc]))
	b.WriteString("\n## Checks\n\n" + d.checkTable())
	b.WriteString("\n## Reviews\n\n")
	for _, p := range d.events {
		of, ok := reviewing[p.Event]
		if !ok || p.Left || p.Event == state.Submit {
			continue
		}
		fmt.Fprintf(&b, "%s %s by %s at %s\n\n", p.State.Submission.ID, of.verb, cell(p.Actor.Agent), stamp(p.At))
		text := p.Note
		if of.doc != "" {
			text = p.Docs[of.doc]
		}
		if strings.TrimSpace(text) != "" {
			b.WriteString(literal(text) + "\n")
		}
	}
	if closing != "" {
		closing = "\n" + closing + "\n"
	}
	tail := closing + fmt.Sprintf("\nFerrus-Task: %s, checked and approved as tree %s\n", t.TaskID, t.Submission.Tree)
	text := string(relative([]byte(b.String()), d.root))
	if len(text)+len(tail) > maxBody {
		text = strings.ToValidUTF8(text[:maxBody-len(tail)-100], "") + "\n\nShortened: ferrus evidence has all of it.\n"
	}
	return text + tail
}
