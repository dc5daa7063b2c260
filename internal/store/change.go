package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// MaxDoc is the largest document in bytes.
const MaxDoc = 1 << 20

// A Change is an event to commit, as the function that Apply calls decided it.
type Change struct {
	Actor Actor
	Event state.Event
	Next  state.Task           // as Step returned it, with the event's facts laid over; Apply sets Seq, UpdatedAt, Docs and Pin
	Docs  map[state.Doc]string // texts that the event writes, stored with marks for hidden characters; GateDoc becomes the frozen gate
	Drop  []state.Doc          // documents that the event removes
	Note  string               // stored likewise
	Back  uint64               // of a rollback: seq of the line to which it leads
	Rule  string               // the rule by which ferrus acts; "" where nobody acts by one
	Req   string               // names the request; "" where a repetition is another event
	Lease *Lease               // the term after the event; nil leaves it as it is
}

// Line returns the line that commits a change of the machine as it is now, at a time, and the bytes of the line. The line is in no
// journal yet. The error is a *refusal.RefusedError of code TooLarge or InvalidInput.
func (c *Change) Line(now Snapshot, at time.Time) (*Line, []byte, error) {
	off := now.Journal.Bytes
	docs, note := accepted(c)
	next := c.Next.Clone()
	next.SchemaVersion, next.Seq, next.UpdatedAt = state.SchemaVersion, now.Task.Seq+1, at
	next.Docs = refs(next.Docs, docs, off)
	for _, doc := range c.Drop {
		delete(next.Docs, doc)
	}
	if gate, ok := c.Docs[GateDoc]; ok {
		next.Pin = state.Pin{Off: off, SHA256: Digest([]byte(gate))}
	}
	l := &Line{V: LineVersion, Seq: next.Seq, At: at, Actor: c.Actor, Event: c.Event, From: now.Task.State,
		To: next.State, Epoch: next.Epoch, Req: c.Req, Note: note, Back: c.Back, Rule: c.Rule, Docs: docs, State: next, Prev: Genesis, Off: off}
	if now.Top != nil {
		l.Prev = now.Top.H
	}
	raw, err := l.Encode()
	if err == nil {
		err = l.writable(len(raw))
	}
	return l, raw, err
}

// After returns the machine after the line of a change was committed to the machine as it was before.
func (c *Change) After(before Snapshot, l *Line) Snapshot {
	after := At(l)
	switch {
	case l.State.ClaimedBy == "":
	case c.Lease != nil:
		after.Lease = *c.Lease
	default:
		after.Lease = before.Lease
	}
	return after
}

// accepted returns the texts of an event as they are stored, so that models and people see the same
// characters, and all of them. Texts that ferrus writes for itself, such as the gate, are stored unchanged.
func accepted(c *Change) (docs map[state.Doc]string, note string) {
	for doc, text := range c.Docs {
		if docs == nil {
			docs = make(map[state.Doc]string, len(c.Docs))
		}
		if docs[doc] = text; slices.Contains(state.Docs(), doc) {
			docs[doc] = safetext.Clean(text)
		}
	}
	return docs, safetext.Clean(c.Note)
}

// CheckText returns nil if text can be a document or an argument of at most limit bytes, otherwise
// a *refusal.RefusedError of code InvalidInput or TooLarge.
func CheckText(name, text string, limit int) error {
	bad := func(why string, remedy refusal.Own) error {
		return &refusal.RefusedError{Code: refusal.InvalidInput, Message: name + " " + why, Remedy: remedy}
	}
	switch {
	case len(text) > limit:
		return &refusal.RefusedError{Code: refusal.TooLarge, Message: fmt.Sprintf("%s has %d bytes and may have %d", name, len(text), limit),
			Remedy: "shorten it, or put the rest into a file of the work tree and name its path"}
	case !utf8.ValidString(text):
		return bad("is not valid UTF-8", "send plain text")
	case strings.ContainsRune(text, 0):
		return bad("contains a NUL character", "send plain text")
	case safetext.Blank(text):
		return bad("is empty", "write a text that is not empty")
	}
	return nil
}

// refs returns the references to documents after the line at off wrote texts.
func refs(now map[state.Doc]state.Ref, texts map[state.Doc]string, off int64) map[state.Doc]state.Ref {
	next := maps.Clone(now)
	for doc, text := range texts {
		if doc == GateDoc {
			continue
		}
		if next == nil {
			next = map[state.Doc]state.Ref{}
		}
		next[doc] = state.Ref{Off: off, SHA256: Digest([]byte(text))}
	}
	return next
}
