package queue

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// A Head is what stands above the text of a task: a line for each value, and an empty line after the last one. A row of a database has it too, but for
// the time, which is a column.
type Head struct {
	Added    time.Time // zero for a file that no command has written; what the file system has means nothing: an editor or a copy changes it
	Needs    []Need    // the tasks that must be done before
	Priority int       // from 1, which comes first, to 9; 0 for [DefaultPriority]
	Issue    string    // the URL of the issue that it was made of; "" for none. A text that is handed in never says it
	Conflict Conflict  // found when the task was to be taken; the zero Conflict for none
}

// A Conflict is approved work that does not fit what else a task is to begin with.
type Conflict struct {
	Work   string // identifies all that the task was to begin with: 16 hexadecimal digits
	Branch string // whose work does not fit
	Paths  string // a line that says where
}

// A Need is a task that must be done before another one is taken.
type Need struct {
	Name string   // of its branch
	IDs  []string // of the task that the name means, or of all attempts at it; none while it waits in the queue
}

// String returns NAME, NAME=ID, or NAME=ID+ID.
func (n Need) String() string {
	if len(n.IDs) == 0 {
		return n.Name
	}
	return n.Name + "=" + strings.Join(n.IDs, "+")
}

// DefaultPriority is that of a task which names none.
const DefaultPriority = 5

// maxFileHead bounds a head, in bytes: some thirty names with their ids.
const maxFileHead = 2 << 10

// addedLayout is how a command writes the time: exact enough for tasks that one process adds one after the other, and as exact as PostgreSQL stores it.
const addedLayout = "2006-01-02T15:04:05.000000Z"

// The keys of a head. What each value looks like tells it from a text that begins with the same word, such as "added: three pages".
const addedKey, needsKey, priorityKey, issueKey, conflictKey = "added", "needs", "priority", "issue", "conflict"

var headValues = map[string]func(value string) bool{
	addedKey:    func(v string) bool { return likeATime().MatchString(v) },
	needsKey:    func(v string) bool { return likeNames().MatchString(v) },
	priorityKey: func(v string) bool { return likeANumber().MatchString(v) },
	issueKey:    func(v string) bool { return likeAURL().MatchString(v) },
	conflictKey: func(v string) bool { return likeAConflict().MatchString(v) },
}

var (
	likeATime     = safetext.Lazily(`^[0-9]{4}-[0-9]{2}`)
	likeNames     = safetext.Lazily(`^[^\s,]+(\s*,\s*[^\s,]+)*$`)
	likeANumber   = safetext.Lazily(`^-?[0-9]+$`)
	likeAURL      = safetext.Lazily(`^https?://\S+/issues/\S+$`)
	likeAConflict = safetext.Lazily(`^[0-9a-f]{16} \S+ \S`)
)

// With returns a text with the head above it; the text alone where the head says nothing.
func (h Head) With(text string) string {
	lines := ""
	if !h.Added.IsZero() {
		lines += addedKey + ": " + h.Added.UTC().Format(addedLayout) + "\n"
	}
	if len(h.Needs) > 0 {
		lines += needsKey + ": " + h.needs() + "\n"
	}
	if h.Priority != 0 {
		lines += fmt.Sprintf("%s: %d\n", priorityKey, h.Priority)
	}
	if h.Issue != "" {
		lines += issueKey + ": " + h.Issue + "\n"
	}
	if h.Conflict != (Conflict{}) {
		lines += fmt.Sprintf("%s: %s %s %s\n", conflictKey, h.Conflict.Work, h.Conflict.Branch, h.Conflict.Paths)
	}
	if lines != "" {
		lines += "\n"
	}
	return lines + text
}

// NeedNames returns the names of the tasks that must be done before; nil for none.
func (h Head) NeedNames() (names []string) {
	for _, n := range h.Needs {
		names = append(names, n.Name)
	}
	return names
}

func (h Head) needs() string {
	list := make([]string, len(h.Needs))
	for i, n := range h.Needs {
		list[i] = n.String()
	}
	return strings.Join(list, ", ")
}

// priority is the one that counts.
func (h Head) priority() int {
	if h.Priority == 0 {
		return DefaultPriority
	}
	return h.Priority
}

// Split returns the text of a file of the queue without its head. The error is a *refusal.RefusedError about a value that cannot be read.
func Split(content string) (text string, h Head, err error) {
	for text = content; ; {
		line, rest, _ := strings.Cut(text, "\n")
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		if like := headValues[key]; like == nil || !like(value) {
			break
		}
		if err := h.read(key, value); err != nil {
			return "", Head{}, err
		}
		text = rest
	}
	if len(text) < len(content) {
		text = strings.TrimPrefix(strings.TrimPrefix(text, "\r"), "\n")
	}
	return text, h, nil
}

// read reads the value of a line.
func (h *Head) read(key, value string) (err error) {
	switch key {
	case needsKey:
		return h.AddNeeds(value)
	case priorityKey:
		return h.SetPriority(value)
	case issueKey:
		if h.Issue = value; !state.ValidIssue(value) {
			return wrong("write it as issue: https://github.com/OWNER/NAME/issues/42, or remove that line", "its line issue: has no URL of an issue: %.80q", value)
		}
		return nil
	case conflictKey:
		h.Conflict.Work, value, _ = strings.Cut(value, " ")
		h.Conflict.Branch, h.Conflict.Paths, _ = strings.Cut(value, " ")
		if state.CheckBranch(h.Conflict.Branch) != nil {
			return wrong("remove that line: then the task is tried again", "its line conflict: names no branch: %.60q", h.Conflict.Branch)
		}
		return nil
	}
	if h.Added, err = time.Parse(time.RFC3339, value); err != nil {
		return wrong("write it as added: 2026-01-31T14:05:00Z, or remove that line: then the task comes last", "its line added: has no valid time: %.60q", value)
	}
	return nil
}

// SetPriority reads a priority. The error is a *refusal.RefusedError for what is none.
func (h *Head) SetPriority(value string) (err error) {
	if h.Priority, err = strconv.Atoi(value); err != nil || h.Priority < 1 || h.Priority > 9 {
		return wrong("write a number from 1, which comes first, to 9", "%.60q is no priority", value)
	}
	return nil
}

// AddNeeds reads names, with or without ids and with commas between them. The error is a *refusal.RefusedError for what no task can be called.
func (h *Head) AddNeeds(names string) error {
	for one := range strings.SplitSeq(names, ",") {
		name, ids, recorded := strings.Cut(strings.TrimSpace(one), "=")
		n := Need{Name: name}
		if recorded {
			n.IDs = strings.Split(ids, "+")
		}
		if state.CheckBranch(name) != nil || slices.ContainsFunc(n.IDs, func(id string) bool { return !state.ValidTaskID(id) }) {
			return wrong("write the names of tasks, with commas between them", "it needs %.80q, which is no name of a task", strings.TrimSpace(one))
		}
		if !slices.ContainsFunc(h.Needs, func(had Need) bool { return had.Name == name }) {
			h.Needs = append(h.Needs, n)
		}
	}
	return nil
}

func wrong(remedy refusal.Own, format string, args ...any) error {
	return &refusal.RefusedError{Code: refusal.InvalidInput, Message: fmt.Sprintf(format, args...), Remedy: remedy}
}

// handedIn returns the text of a task that is added, as it is stored, and its head without the time, the issue and the conflict: the text may be a copy of
// a file of the queue, or an agent may have written it.
func handedIn(text string) (string, Head, error) {
	body, h, err := kept(text)
	h.Added, h.Issue, h.Conflict = time.Time{}, "", Conflict{}
	return body, h, err
}

// kept returns the text and the head of a task that is in the queue.
func kept(content string) (text string, h Head, err error) {
	if text, h, err = Split(content); err != nil {
		return "", h, err
	}
	text, err = clean(text)
	return text, h, err
}

// fits refuses a head that is too long.
func (h Head) fits() error {
	if len(h.With("")) <= maxFileHead {
		return nil
	}
	return &refusal.RefusedError{Code: refusal.TooLarge, Message: fmt.Sprintf("the names of what it needs have more than %d bytes", maxFileHead),
		Remedy: "name fewer tasks: a task that needs one also waits for what that one needs"}
}
