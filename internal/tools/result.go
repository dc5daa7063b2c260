package tools

import (
	"time"

	"github.com/ferrus-go/ferrus/internal/checks"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
)

// Result is what every tool answers, as structured content and, the same bytes, as the only text block: clients show a
// model one or the other. State, Message, Next and Allowed are always there.
type Result struct {
	State   state.State `json:"state"`
	Status  string      `json:"status,omitempty"` // how a wait, a check or a submission ended
	Code    engine.Code `json:"code,omitempty"`   // refusals only, which alone are errors
	Message string      `json:"message"`
	Remedy  string      `json:"remedy,omitempty"` // refusals only
	Next    string      `json:"next"`             // the tool to call next, "stop", or "choose" for one of Allowed
	Allowed []string    `json:"allowed"`          // tools that would succeed now, sorted, without status and heartbeat
	Notices []string    `json:"notices,omitempty"`

	Repeated bool `json:"repeated,omitempty"` // this very request had been carried out already

	// Of a claim.
	TaskID     string     `json:"task_id,omitempty"`
	Title      string     `json:"title,omitempty"`
	Epoch      uint64     `json:"epoch,omitempty"`
	Claim      string     `json:"claim,omitempty"`
	ClaimedBy  string     `json:"claimed_by,omitempty"`
	LeaseUntil *time.Time `json:"lease_until,omitempty"`
	Worktree   string     `json:"worktree,omitempty"`

	Task          string                `json:"task,omitempty"`
	Review        string                `json:"review,omitempty"`
	LastCheck     *engine.LastCheck     `json:"last_check,omitempty"`
	Decisions     []engine.Decision     `json:"decisions,omitempty"`
	Consultations []engine.Consultation `json:"consultations,omitempty"`
	Progress      []engine.Note         `json:"progress,omitempty"`
	Diffstat      string                `json:"diffstat,omitempty"`
	Cut           []engine.Cut          `json:"cut,omitempty"`

	// Of a check.
	CheckID     string           `json:"check_id,omitempty"`
	RetriesUsed *int             `json:"retries_used,omitempty"`
	RetriesMax  int              `json:"retries_max,omitempty"`
	Failures    []checks.Command `json:"failures,omitempty"`
	Log         string           `json:"log,omitempty"`
	Tree        string           `json:"tree,omitempty"`
	Changed     []string         `json:"changed,omitempty"`

	// Of a submission and its review.
	SubmissionID     string `json:"submission_id,omitempty"`
	Submission       string `json:"submission,omitempty"`
	Patch            string `json:"patch,omitempty"`
	Check            string `json:"check,omitempty"`
	ReviewCyclesUsed *int   `json:"review_cycles_used,omitempty"`
	ReviewCyclesMax  int    `json:"review_cycles_max,omitempty"`

	// Of a consultation or a question.
	ConsultationID string `json:"consultation_id,omitempty"`
	Consultation   string `json:"consultation,omitempty"`
	QuestionID     string `json:"question_id,omitempty"`
	Question       string `json:"question,omitempty"`
	Response       string `json:"response,omitempty"`
	Answer         string `json:"answer,omitempty"`

	// Of status.
	Seq           uint64          `json:"seq,omitempty"`
	CheckRetries  *int            `json:"check_retries,omitempty"`
	ReviewCycles  *int            `json:"review_cycles,omitempty"`
	FailureReason string          `json:"failure_reason,omitempty"`
	Paused        []state.Pause   `json:"paused,omitempty"`
	Waiting       *engine.Waiting `json:"waiting,omitempty"`
}

// packet lays a resume packet over the result.
func (r *Result) packet(p engine.Packet) {
	r.Task, r.Review, r.LastCheck, r.Diffstat, r.Cut = p.Task, p.Review, p.LastCheck, p.Diffstat, p.Cut
	r.Decisions, r.Consultations, r.Progress = p.Decisions, p.Consultations, p.Progress
}
