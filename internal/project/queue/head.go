package queue

import (
	"fmt"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// A file that a command has written begins with a head: the line "added: TIME" and an empty line. The text of the task follows.
// The time that the file system has for the file means nothing: an editor, a copy and a checkout change it.
const addedKey = "added:"

// addedLayout is how a command writes the time of a head: exact enough for tasks that one process adds one after the other, and as exact as
// PostgreSQL stores it.
const addedLayout = "2006-01-02T15:04:05.000000Z"

// maxFileHead bounds a head, in bytes.
const maxFileHead = 128

// withHead returns the content of the file of a task. A task that was added by hand, whose time is zero, has no head.
func withHead(text string, added time.Time) string {
	if added.IsZero() {
		return text
	}
	return addedKey + " " + added.UTC().Format(addedLayout) + "\n\n" + text
}

// likeATime is what a person may have meant as one. Another first line with the key is text, such as "added: three pages".
var likeATime = safetext.Lazily(`^[0-9]{4}-[0-9]{2}`)

// splitHead returns the text of a file and the time of its head, zero if it has none. The error is about a time that cannot be read.
func splitHead(content string) (text string, added time.Time, err error) {
	first, rest, _ := strings.Cut(content, "\n")
	value, ok := strings.CutPrefix(first, addedKey)
	value = strings.TrimSpace(value)
	if !ok || !likeATime().MatchString(value) {
		return content, time.Time{}, nil
	}
	if added, err = time.Parse(time.RFC3339, value); err != nil {
		return "", time.Time{}, &refusal.RefusedError{Code: refusal.InvalidInput, Message: fmt.Sprintf("its first line has no valid time: %.60q", value),
			Remedy: "write it as added: 2026-01-31T14:05:00Z, or remove that line and the empty one after it: then the task comes last"}
	}
	return strings.TrimPrefix(strings.TrimPrefix(rest, "\r"), "\n"), added, nil
}

// handedIn returns the text of a task that somebody hands in, as it is kept. A head is no part of the text: it may be a copy of a file of the queue.
func handedIn(text string) (string, error) {
	body, _, err := splitHead(text)
	if err != nil {
		return "", err
	}
	return clean(body)
}
