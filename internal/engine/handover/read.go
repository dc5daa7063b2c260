package handover

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A Decision is a person's answer to a question, or what a person has said unasked.
type Decision struct {
	ID       string `json:"id"`
	Question string `json:"question"`
	Answer   string `json:"answer"`
	By       string `json:"by"`
}

// A Consultation is a question to the supervisor with its answer.
type Consultation struct {
	ID       string `json:"id"`
	Question string `json:"question"`
	Response string `json:"response"`
}

// A Note is a holder's progress note.
type Note struct {
	At   time.Time `json:"at"`
	Note string    `json:"note"`
}

// A Message is what one agent has said to another: material for its work, never a person's word.
type Message struct {
	ID   string    `json:"id"`
	At   time.Time `json:"at"`
	From string    `json:"from"` // role:agent:index
	Text string    `json:"text"` // at most 4 KiB
}

// LastCheck is how the newest check ended, for a successor.
type LastCheck struct {
	ID       string            `json:"check_id"`
	Status   state.CheckStatus `json:"status"`
	Log      string            `json:"log,omitempty"`
	Failures []checks.Command  `json:"failures,omitempty"`
}

// CheckDoc is the document, without a view, that holds the output of the newest failed check for a successor.
const CheckDoc state.Doc = "check.json"

// OutputDoc is the document, without a view, that holds the end of what failed and made ferrus ask. It is on the line of the question.
const OutputDoc state.Doc = "output.md"

// ReadDecision reads one decision and the question that it answers.
func ReadDecision(s store.Reader, r state.Record) (Decision, error) {
	l, err := s.LineAt(r.Off)
	if err != nil {
		return Decision{}, err
	}
	switch l.Event {
	case state.Rollback:
		return Decision{ID: r.ID, Question: fmt.Sprintf("Why did you roll the task back to entry %d?", l.Back), Answer: l.Note, By: l.Actor.Agent}, nil
	case state.Steer:
		return Decision{ID: r.ID, Question: "What must the working agent know?", Answer: l.Note, By: l.Actor.Agent}, nil
	}
	d := Decision{ID: r.ID, Answer: l.Docs[state.AnswerDoc], By: l.Actor.Agent}
	d.Question, err = textOf(s, l, state.QuestionDoc)
	return d, err
}

// ReadConsultation reads one consultation that was answered.
func ReadConsultation(s store.Reader, r state.Record) (Consultation, error) {
	l, err := s.LineAt(r.Off)
	if err != nil {
		return Consultation{}, err
	}
	c := Consultation{ID: r.ID, Response: l.Docs[state.ConsultResponseDoc]}
	c.Question, err = textOf(s, l, state.ConsultRequestDoc)
	return c, err
}

// ReadMessage reads one message of an agent.
func ReadMessage(s store.Reader, m state.Message) (Message, error) {
	l, err := s.LineAt(m.Off)
	if err != nil {
		return Message{}, err
	}
	return Message{ID: m.ID, At: l.At, From: l.Actor.Agent, Text: l.Note}, nil
}

func readNote(s store.Reader, r state.Record) (Note, error) {
	l, err := s.LineAt(r.Off)
	if err != nil {
		return Note{}, err
	}
	return Note{At: l.At, Note: l.Note}, nil
}

// textOf returns a document as it was at a line.
func textOf(s store.Reader, l *store.Line, doc state.Doc) (string, error) {
	text, err := store.Text(s, store.Snapshot{Task: l.State, Top: l}, doc)
	return text, err
}

// Decisions returns all decisions of a task, the newest first.
func Decisions(s store.Reader, t state.Task) ([]Decision, error) {
	return newestFirst(s, t.Decisions, ReadDecision)
}

// newestFirst reads records, the newest first.
func newestFirst[R, T any](s store.Reader, list []R, read func(store.Reader, R) (T, error)) ([]T, error) {
	out := make([]T, 0, len(list))
	for i := len(list) - 1; i >= 0; i-- {
		v, err := read(s, list[i])
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// ReadLastCheck returns how the newest check of a snapshot ended, nil when there was none or it is still running. dir is the folder
// of the machine, which has the log.
func ReadLastCheck(s store.Reader, dir string, snap store.Snapshot) (*LastCheck, error) {
	c := snap.Task.Check
	if c.ID == "" || c.Status == state.CheckRunning {
		return nil, nil
	}
	last := &LastCheck{ID: c.ID, Status: c.Status, Log: filepath.Join(dir, c.Log)}
	text, err := store.Text(s, snap, CheckDoc)
	if err != nil || text == "" || c.Status == state.CheckGreen {
		return last, err
	}
	return last, json.Unmarshal([]byte(text), &last.Failures)
}

// Remembered returns what is remembered of the task beside its documents, whole: the last check, the decisions, the
// consultations, the progress notes and the messages to a role that may not fit into a packet.
func Remembered(s store.Reader, dir string, snap store.Snapshot, to string) (p Packet, err error) {
	p.LastCheck, err = ReadLastCheck(s, dir, snap)
	if err == nil {
		p.Decisions, err = Decisions(s, snap.Task)
	}
	if err == nil {
		p.Consultations, err = newestFirst(s, snap.Task.Consulted, ReadConsultation)
	}
	if err == nil {
		p.Progress, err = newestFirst(s, snap.Task.Progress, readNote)
	}
	if err == nil {
		p.Messages, err = newestFirst(s, snap.Task.MessagesTo(to), ReadMessage)
	}
	return p, err
}
