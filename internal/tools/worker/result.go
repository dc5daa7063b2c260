package worker

import (
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// A Result is the answer of every tool, sent as structured content and, with the same bytes, as the
// only text block. Message, Next and Allowed are always set.
type Result struct {
	Status  string       `json:"status,omitempty"`       // `ready`, `timeout`, `written`, `delivered`, `already_sent`, `sending`, `answered`, `idle`
	Code    refusal.Code `json:"code,omitempty"`         // refusals only, which alone are errors
	Message string       `json:"message"`                // what happened, for the model
	Remedy  string       `json:"remedy,omitempty"`       // refusals only: what helps
	Next    string       `json:"next"`                   // the tool to call next, or "stop"
	Allowed []string     `json:"allowed"`                // tools that would be let through now, sorted; next is among them, if it is a tool
	Left    *int         `json:"seconds_left,omitempty"` // of the worker's time; absent when the attempt counts no more

	Assignment *run.Assignment    `json:"assignment,omitempty"`  // of get_assignment
	Missing    []string           `json:"missing,omitempty"`     // paths of inputs that are not there yet
	Path       string             `json:"path,omitempty"`        // of what was written
	Bytes      int                `json:"bytes,omitempty"`       // of the content
	SHA256     string             `json:"sha256,omitempty"`      // of the content
	QuestionID string             `json:"question_id,omitempty"` // of ask_human and wait_for_answer
	Question   string             `json:"question,omitempty"`    // with its options
	Answer     string             `json:"answer,omitempty"`      // of a person
	Delivery   *pipeline.Delivery `json:"delivery,omitempty"`    // when it is made
}
