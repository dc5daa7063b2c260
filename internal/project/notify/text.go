package notify

import (
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// TaskID is the ID of an item about a task: its event (question, failed or complete) in a state that the task is in since then.
// Question is the id of the question, if it is one. The number of the newest entry is not part of it: others may come while a
// person thinks.
func TaskID(task, event, question string, since time.Time) string {
	return strings.Join(strings.Fields(strings.Join([]string{task, event, question, since.UTC().Format(time.RFC3339Nano)}, " ")), " ")
}

// TaskSubject is what items about the task of a branch are about; "" is the project's own.
func TaskSubject(branch string) string { return "branch " + branch }

// A Part is a paragraph of a notification: ferrus's own words, and below them a text of others.
type Part struct{ Own, Others string }

// maxPart bounds a text of others, in bytes: services take about 2,000 characters.
const maxPart = 1200

// Text returns what a person is sent: the parts that are not empty, the commands that help, each
// with the project's folder, and the ID by which a repetition is known. Every line of a text of
// others stands behind a bar, so that none can be taken for one of ferrus's own.
func Text(root, id string, parts []Part, commands []string) string {
	var all []string
	for _, part := range parts {
		var lines []string
		if own := safetext.Line(part.Own); own != "" {
			lines = append(lines, own)
		}
		if others := strings.TrimSpace(safetext.Mark(part.Others)); others != "" {
			lines = append(lines, shortened(format.Frame(others, "")))
		}
		if len(lines) > 0 {
			all = append(all, strings.Join(lines, "\n"))
		}
	}
	var lines []string
	for _, c := range commands {
		lines = append(lines, c+" -C "+git.ShellQuoted(root))
	}
	all = append(all, strings.Join(append(lines, "id: "+id), "\n"))
	return strings.Join(all, "\n\n")
}

// shortened is a framed text of moderate length. The end has the options of a question.
func shortened(framed string) string {
	if len(framed) <= maxPart {
		return framed
	}
	head, tail := strings.ToValidUTF8(framed[:maxPart/2], ""), strings.ToValidUTF8(framed[len(framed)-maxPart/2:], "")
	return head + "\n" + format.Bar + "[...]\n" + format.Bar + strings.TrimLeft(tail, format.Bar+"\n")
}
