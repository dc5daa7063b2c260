package worker

import (
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// A Code names the kind of a refusal. The codes are the same as in the other tools of ferrus.
type Code = refusal.Code

const (
	WrongState      Code = "wrong_state"      // not now: another has the turn, or something comes first
	ForbiddenRole   Code = "forbidden_role"   // this worker may never do this
	LeaseLost       Code = "lease_lost"       // this attempt counts no more
	InvalidInput    Code = "invalid_input"    // an argument is wrong
	TooLarge        Code = "too_large"        // a turn that does not fit into the dialogue
	StoreError      Code = "store_error"      // the disk refused, or where the result is to go
	StoreGone       Code = "store_gone"       // the run is archived, or its folder was removed
	OutcomeUnknown  Code = "outcome_unknown"  // nobody knows whether the result was sent, or a bug of ours
	InternalTimeout Code = "internal_timeout" // a call did not end within twice its longest time; what it had begun may still happen
	Corrupt         Code = "corrupt"          // what the run has written down cannot be read
)

// A Result is the answer of every tool, sent as structured content and, with the same bytes, as the
// only text block. Message, Next and Allowed are always set.
type Result struct {
	Status  string   `json:"status,omitempty"`       // `ready`, `timeout`, `written`, `delivered`, `already_sent`, `sending`, `answered`, `idle`
	Code    Code     `json:"code,omitempty"`         // refusals only, which alone are errors
	Message string   `json:"message"`                // what happened, for the model
	Remedy  string   `json:"remedy,omitempty"`       // refusals only: what helps
	Next    string   `json:"next"`                   // the tool to call next, or "stop"
	Allowed []string `json:"allowed"`                // tools that would be let through now, sorted; next is among them, if it is a tool
	Left    *int     `json:"seconds_left,omitempty"` // of the worker's time; absent when the attempt counts no more

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
