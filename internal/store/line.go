package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/jsonx"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/state"
)

// LineVersion is the version of a journal line that this ferrus writes and understands.
const LineVersion = 2

// EnvironDoc is the key in a line's documents of the variables that are frozen with the task, as
// environ.Frozen writes them. No file is generated from it.
const EnvironDoc state.Doc = "environ.json"

// Private reports whether a document is for ferrus alone. No file is generated from it, and no
// agent and no report shows it.
func Private(doc state.Doc) bool { return doc == GateDoc || doc == EnvironDoc }

// GateDoc is the key in a line's documents of the frozen gate. No file is generated from it.
const GateDoc state.Doc = "gate.json"

// An Actor is the cause of an event.
type Actor struct {
	Role    state.Role `json:"role"`
	Agent   string     `json:"agent"`             // role:agent:index; "human" for a person
	Session string     `json:"session,omitempty"` // of the process that acted
	TTY     bool       `json:"tty"`               // a person at a terminal
	Via     string     `json:"via,omitempty"`     // what a person acted by, when it was no command: ui or web
	Tree    string     `json:"tree,omitempty"`    // of a decision: the processes it came from, the one that wrote this first
}

// Unattended reports whether a person acted neither at a terminal nor by the page or the screen of ferrus: a script or an agent may
// have acted in their name.
func (a Actor) Unattended() bool { return a.Role == state.Human && !a.TTY && a.Via == "" }

// How says by what a person acted, clean and in one line: "via web", or "without a terminal". It is "" for a command at a terminal
// and for everyone else.
func (a Actor) How() string {
	switch {
	case a.Via != "":
		return "via " + safetext.Line(a.Via)
	case a.Unattended():
		return "without a terminal"
	}
	return ""
}

// A Line is one event of the journal.
type Line struct {
	V     int                  `json:"v"`
	Seq   uint64               `json:"seq"` // 1, 2, 3 ... without a gap
	At    time.Time            `json:"at"`  // wall clock, for display
	Actor Actor                `json:"actor"`
	Event state.Event          `json:"event"`
	From  state.State          `json:"from"`
	To    state.State          `json:"to"`
	Epoch uint64               `json:"epoch"`          // after the event
	Req   string               `json:"req,omitempty"`  // names the request, so that its repetition is recognised
	Note  string               `json:"note,omitempty"` // what a person wants to read in the log
	Back  uint64               `json:"back,omitempty"` // seq of the line to which a rollback leads
	Rule  string               `json:"rule,omitempty"` // the rule by which ferrus did this after the line before
	Docs  map[state.Doc]string `json:"docs,omitempty"` // the documents this event wrote
	State state.Task           `json:"state"`          // everything, after the event
	Prev  string               `json:"prev"`           // H of the line before; 64 zeros in the first
	H     string               `json:"-"`              // SHA-256 of the line's bytes up to itself
	Off   int64                `json:"-"`              // where the line starts
	End   int64                `json:"-"`              // where the next one starts

	rawState json.RawMessage // State as encode wrote it
}

var Genesis = strings.Repeat("0", 64)

const (
	hashKey   = `,"h":"`
	tailBytes = len(hashKey) + 64 + len("\"}\n")
)

// actorKey follows the time of a line, stateKey its documents, prevKey its state.
var actorKey, stateKey, prevKey = []byte(`,"actor":`), []byte(`,"state":`), []byte(`,"prev":"`)

// StateText returns the state after the event in JSON, as Encode wrote it; nil for a line that was read.
func (l *Line) StateText() json.RawMessage { return l.rawState }

// Encode returns the line's bytes with its newline, and sets H and End.
func (l *Line) Encode() (raw []byte, err error) {
	if l.rawState, err = l.State.MarshalJSON(); err != nil {
		return nil, err
	}
	type plain Line
	others := struct { // than the last ones, which are in JSON already
		*plain
		State string `json:"state,omitempty"`
		Prev  string `json:"prev,omitempty"`
	}{plain: (*plain)(l)}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(others); err != nil {
		return nil, err
	}
	head, rest, _ := bytes.Cut(bytes.TrimSuffix(buf.Bytes(), []byte("}\n")), actorKey) // the state has its own times
	raw = slices.Concat(jsonx.Rewrite(head, l), actorKey, rest, stateKey, l.rawState, prevKey, []byte(l.Prev), []byte{'"'})
	l.H = Digest(raw)
	raw = fmt.Appendf(raw, "%s%s\"}\n", hashKey, l.H)
	l.End = l.Off + int64(len(raw))
	return raw, nil
}

var errLine = errors.New("the line does not match its hash")

// Sealed returns the hash that raw contains, after verifying it.
func Sealed(raw []byte) (string, error) {
	if len(raw) < tailBytes || !bytes.HasSuffix(raw, []byte("\"}\n")) {
		return "", errLine
	}
	head, tail := raw[:len(raw)-tailBytes], raw[len(raw)-tailBytes:]
	h := string(tail[len(hashKey) : len(hashKey)+64])
	if string(tail[:len(hashKey)]) != hashKey || Digest(head) != h {
		return "", errLine
	}
	return h, nil
}

// Decode reads one line with its newline, which starts at off. A *state.FieldError means that the
// line matches its hash, so it is not torn, but has a field that ferrus does not write that way.
func Decode(raw []byte, off int64) (*Line, error) {
	h, err := Sealed(raw)
	if err != nil {
		return nil, err
	}
	var l Line
	if err := json.Unmarshal(raw, &l); err != nil {
		var head struct{ V int }
		if json.Unmarshal(raw, &head) == nil && head.V > LineVersion {
			return nil, &state.SchemaError{Version: head.V}
		}
		return nil, unwritten(err)
	}
	if l.V > LineVersion {
		return nil, &state.SchemaError{Version: l.V}
	}
	l.Off = off
	if err := l.Valid(); err != nil {
		return nil, err
	}
	l.H, l.Off, l.End = h, off, off+int64(len(raw))
	return &l, nil
}

func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
