package store

import (
	"bufio"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// Bounds of what is read. A document has at most MaxDoc bytes, which JSON can make six times as
// long. No event writes more than three documents; the state beside them is small.
const (
	MaxLine = 32 << 20 // a line of the journal; commit writes no larger one
	maxText = 4 << 20  // a document
	maxNote = 4 << 20
	maxTree = 64 << 10
	maxName = 512
)

var (
	eventName = safetext.NewForm(`^[a-z][a-z_]*$`, 1, 41)
	roleName  = safetext.NewForm(`^[a-z_]*$`, 0, 40)
	lineHash  = safetext.NewForm(`^[0-9a-f]*$`, 64, 64)
)

// errLong says that a line is longer than MaxLine.
var errLong = fmt.Errorf("it has more than %d bytes", MaxLine)

// TooLong reports whether an error of ReadLine says that a line is longer than MaxLine.
func TooLong(err error) bool { return errors.Is(err, errLong) }

// ReadLine reads a line with its newline. At the end of the file it returns the rest and io.EOF.
// For a line that is longer than MaxLine it returns an error that TooLong knows and stops reading.
func ReadLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > MaxLine {
			return nil, errLong
		}
		if err == nil && line == nil {
			return slices.Clone(part), nil
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// unwritten turns an error of the decoder into a *state.FieldError: the line matches its hash, but
// ferrus did not write it.
func unwritten(err error) error {
	var field *state.FieldError
	var schema *state.SchemaError
	if errors.As(err, &field) || errors.As(err, &schema) {
		return err
	}
	return &state.FieldError{Field: "state", Why: "cannot be read: " + err.Error()}
}

// Valid returns nil if every field of the line has a value that ferrus could have written there,
// otherwise a *state.FieldError. [state.Task.Valid] has already verified the task in it.
func (l *Line) Valid() error {
	wrong := func(field, format string, args ...any) error {
		return &state.FieldError{Field: field, Why: fmt.Sprintf(format, args...)}
	}
	name := func(s string) bool { return len(s) <= maxName && !strings.ContainsFunc(s, unicode.IsControl) }
	switch {
	case l.V < 1:
		return wrong("v", "is %d", l.V)
	case !roleName.MatchString(string(l.Actor.Role)):
		return wrong("actor.role", "is %.80q, which is not a role", string(l.Actor.Role))
	case !name(l.Actor.Agent):
		return wrong("actor.agent", "is no name")
	case l.Actor.Session != "" && !state.ValidSession(l.Actor.Session):
		return wrong("actor.session", "is %.80q, which is not the id of a session", l.Actor.Session)
	case len(l.Actor.Tree) > maxTree:
		return wrong("actor.tree", "has %d bytes", len(l.Actor.Tree))
	case !eventName.MatchString(string(l.Event)):
		return wrong("event", "is %.80q, which is not an event", string(l.Event))
	case !l.From.Known():
		return wrong("from", "is %.80q, which is not a state", string(l.From))
	case l.To != l.State.State:
		return wrong("to", "is %.80q, and the state is %s", string(l.To), l.State.State)
	case l.Seq != l.State.Seq:
		return wrong("seq", "is %d, and that of the state %d", l.Seq, l.State.Seq)
	case l.Epoch != l.State.Epoch:
		return wrong("epoch", "is %d, and that of the state %d", l.Epoch, l.State.Epoch)
	case l.Back >= l.Seq && l.Back != 0:
		return wrong("back", "is %d, and the line is %d", l.Back, l.Seq)
	case len(l.Req) > maxNote:
		return wrong("req", "has %d bytes", len(l.Req))
	case len(l.Note) > maxNote:
		return wrong("note", "has %d bytes", len(l.Note))
	case len(l.Rule) > maxNote:
		return wrong("rule", "has %d bytes", len(l.Rule))
	case !lineHash.MatchString(l.Prev):
		return wrong("prev", "is %.80q, which is not a hash", l.Prev)
	}
	for doc, text := range l.Docs {
		if !state.ValidDoc(doc) {
			return wrong("docs", "has %.80q, which is not a document", string(doc))
		}
		if len(text) > maxText {
			return wrong("docs."+string(doc), "has %d bytes", len(text))
		}
	}
	var err error
	l.State.Offsets(func(field string, off int64) {
		if off > l.Off {
			err = wrong("state."+field, "is %d, and the line starts at %d", off, l.Off)
		}
	})
	return err
}

// writable refuses a line that could not be read again. A size above the limit is the caller's
// mistake. Anything else is a bug of ferrus, which must not end a project.
func (l *Line) writable(size int) error {
	if size > MaxLine {
		return &refusal.RefusedError{Code: refusal.TooLarge, Message: fmt.Sprintf("the event has %d bytes and may have %d", size, MaxLine),
			Remedy: "shorten it, or put the rest into a file of the work tree and name its path"}
	}
	err := l.State.Valid()
	if err == nil {
		err = l.Valid()
	}
	if err != nil {
		return refusal.Because(refusal.InvalidInput, "the event cannot be written", err, "nothing was changed")
	}
	return nil
}
