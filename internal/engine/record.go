package engine

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/ferrus-go/ferrus/internal/checks"
	"github.com/ferrus-go/ferrus/internal/refusal"
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

// LastCheck is how the newest check ended, for a successor.
type LastCheck struct {
	ID       string            `json:"check_id"`
	Status   state.CheckStatus `json:"status"`
	Log      string            `json:"log,omitempty"`
	Failures []checks.Command  `json:"failures,omitempty"`
}

// decision reads one decision and the question it answers.
func (e *Engine) decision(r state.Record) (Decision, error) {
	l, err := e.store.LineAt(r.Off)
	if err != nil {
		return Decision{}, refusal.From(err)
	}
	switch l.Event {
	case state.Rollback:
		return Decision{ID: r.ID, Question: fmt.Sprintf("Why did you roll the task back to entry %d?", l.Back), Answer: l.Note, By: l.Actor.Agent}, nil
	case state.Steer:
		return Decision{ID: r.ID, Question: "What must whoever works know?", Answer: l.Note, By: l.Actor.Agent}, nil
	}
	d := Decision{ID: r.ID, Answer: l.Docs[state.AnswerDoc], By: l.Actor.Agent}
	d.Question, err = e.textOf(l, state.QuestionDoc)
	return d, err
}

func (e *Engine) consultation(r state.Record) (Consultation, error) {
	l, err := e.store.LineAt(r.Off)
	if err != nil {
		return Consultation{}, refusal.From(err)
	}
	c := Consultation{ID: r.ID, Response: l.Docs[state.ConsultResponseDoc]}
	c.Question, err = e.textOf(l, state.ConsultRequestDoc)
	return c, err
}

func (e *Engine) note(r state.Record) (Note, error) {
	l, err := e.store.LineAt(r.Off)
	if err != nil {
		return Note{}, refusal.From(err)
	}
	return Note{At: l.At, Note: l.Note}, nil
}

// textOf returns a document as it was at a line.
func (e *Engine) textOf(l *store.Line, doc state.Doc) (string, error) {
	text, err := e.store.Text(store.Snapshot{Task: l.State, Top: l}, doc)
	return text, refusal.From(err)
}

// newestFirst reads records, the newest first.
func newestFirst[T any](list []state.Record, read func(state.Record) (T, error)) ([]T, error) {
	out := make([]T, 0, len(list))
	for i := len(list) - 1; i >= 0; i-- {
		v, err := read(list[i])
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// Answered returns the newest answer of the supervisor, the zero Consultation when there is none.
func (e *Engine) Answered(snap store.Snapshot) (Consultation, error) {
	list := snap.Task.Consulted
	if len(list) == 0 {
		return Consultation{}, nil
	}
	return e.consultation(list[len(list)-1])
}

// LastCheckOf returns how the newest check ended, nil when there was none or it is still running.
func (e *Engine) LastCheckOf(snap store.Snapshot) (*LastCheck, error) {
	return e.lastCheck(e.present(snap))
}

// lastCheck is LastCheckOf of a snapshot that is to be taken at its word.
func (e *Engine) lastCheck(snap store.Snapshot) (*LastCheck, error) {
	c := snap.Task.Check
	if c.ID == "" || c.Status == state.CheckRunning {
		return nil, nil
	}
	last := &LastCheck{ID: c.ID, Status: c.Status, Log: e.store.Path(c.Log)}
	text, err := e.store.Text(snap, checkDoc)
	if err != nil || text == "" || c.Status == state.CheckGreen {
		return last, refusal.From(err)
	}
	return last, json.Unmarshal([]byte(text), &last.Failures)
}
