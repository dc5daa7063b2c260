package outbox

import (
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/safetext"
	"github.com/ferrus-go/ferrus/internal/worktree/gitpath"
)

// TaskID is the ID of an item about a task: its event (question, failed or complete) in a state that the task is in since then.
// Question is the id of the question, if it is one. The number of the newest entry is not part of it: others may come while a
// person thinks.
func TaskID(task, event, question string, since time.Time) string {
	return strings.Join(strings.Fields(strings.Join([]string{task, event, question, since.UTC().Format(time.RFC3339Nano)}, " ")), " ")
}

// TaskSubject is what items about the task of a branch are about; "" is the project's own.
func TaskSubject(branch string) string { return "branch " + branch }

// maxPart bounds a part of a text, in bytes: services take about 2,000 characters.
const maxPart = 1200

// Text returns what a person is sent: the parts that are not empty, the commands that help, each
// with the project's folder, and the ID by which a repetition is known.
func Text(root, id string, parts, commands []string) string {
	var all []string
	for _, part := range parts {
		if part = strings.TrimSpace(safetext.Mark(part)); part == "" {
			continue
		}
		if len(part) > maxPart { // the end has the options
			head, tail := strings.ToValidUTF8(part[:maxPart/2], ""), strings.ToValidUTF8(part[len(part)-maxPart/2:], "")
			part = head + "\n[...]\n" + tail
		}
		all = append(all, part)
	}
	var lines []string
	for _, c := range commands {
		lines = append(lines, c+" -C "+gitpath.ShellQuoted(root))
	}
	all = append(all, strings.Join(append(lines, "id: "+id), "\n"))
	return strings.Join(all, "\n\n")
}
