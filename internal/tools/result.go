package tools

import (
	"time"

	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// A Result is the answer of every tool. It is sent as structured content and, with the same bytes,
// as the only text block: clients show a model one or the other. State, Message, Next and Allowed
// are always set.
type Result struct {
	FromThePerson []string           `json:"from_the_person,omitempty"` // said unasked, oldest first; each is sent once, and goes before everything else
	Messages      []handover.Message `json:"messages,omitempty"`        // from the other agent, oldest first, each once; a claim has all of the task, newest first, and the next call those of delegates or of the parent

	State   state.State  `json:"state"`            // of the task
	Status  string       `json:"status,omitempty"` // how a wait, a check or a submission ended
	Code    refusal.Code `json:"code,omitempty"`   // refusals only, which alone are errors
	Message string       `json:"message"`          // what happened, for the model
	Remedy  string       `json:"remedy,omitempty"` // refusals only: what helps
	Next    string       `json:"next"`             // the tool to call next, "stop", or "choose" for one of those allowed
	Allowed []string     `json:"allowed"`          // tools that would be let through now, sorted, without those that always are: status, heartbeat, history, queue_task and select; and next, if it is a tool
	Notices []string     `json:"notices,omitempty"`

	Repeated bool `json:"repeated,omitempty"` // this very request had been carried out already; nothing was changed now

	TaskID     string     `json:"task_id,omitempty"`
	Title      string     `json:"title,omitempty"`
	Epoch      uint64     `json:"epoch,omitempty"`       // rises with every claim
	Claim      string     `json:"claim,omitempty"`       // the argument of that name, where one is needed
	ClaimedBy  string     `json:"claimed_by,omitempty"`  // role:agent:index of the holder
	LeaseUntil *time.Time `json:"lease_until,omitempty"` // if nobody renewed it, which the server does
	Worktree   string     `json:"worktree,omitempty"`    // the folder that is worked in

	// The resume packet of a claim; task, review, decisions and diffstat are of a review, too.
	Task          string                  `json:"task,omitempty"`
	Review        string                  `json:"review,omitempty"`    // the notes of the last rejection
	ReviewBy      string                  `json:"review_by,omitempty"` // whose they are, and the process tree that they came from
	LastCheck     *handover.LastCheck     `json:"last_check,omitempty"`
	Decisions     []handover.Decision     `json:"decisions,omitempty"`     // a person's, newest first
	Consultations []handover.Consultation `json:"consultations,omitempty"` // newest first
	Progress      []handover.Note         `json:"progress,omitempty"`      // newest first
	Diffstat      string                  `json:"diffstat,omitempty"`      // against the tree that the task began with
	Cut           []handover.Cut          `json:"cut,omitempty"`           // what did not fit, and the resource that has it

	CheckID     string           `json:"check_id,omitempty"`
	RetriesUsed *int             `json:"retries_used,omitempty"` // failed checks in a row
	RetriesMax  int              `json:"retries_max,omitempty"`  // the failed check that fails the task
	Failures    []checks.Command `json:"failures,omitempty"`     // commands that failed, each with the end of its output
	Log         string           `json:"log,omitempty"`          // path of the whole output
	Tree        string           `json:"tree,omitempty"`         // git tree that was checked or submitted
	Changed     []string         `json:"changed,omitempty"`      // paths that changed while the checks ran

	SubmissionID     string `json:"submission_id,omitempty"`
	Submission       string `json:"submission,omitempty"`
	Patch            string `json:"patch,omitempty"`       // path of the whole change
	PatchExact       string `json:"patch_exact,omitempty"` // of a change with hidden characters, which patch has as marks: the path of the same bytes as git's
	Check            string `json:"check,omitempty"`       // the gate that the submission passed
	ReviewCyclesUsed *int   `json:"review_cycles_used,omitempty"`
	ReviewCyclesMax  int    `json:"review_cycles_max,omitempty"` // the rejection that fails the task

	ConsultationID string `json:"consultation_id,omitempty"`
	Consultation   string `json:"consultation,omitempty"` // what the executor asks
	QuestionID     string `json:"question_id,omitempty"`
	Question       string `json:"question,omitempty"`
	Response       string `json:"response,omitempty"` // the supervisor's or the person's answer
	Answer         string `json:"answer,omitempty"`   // the person's

	Delegates []Delegated `json:"delegates,omitempty"` // the parts of the task that other agents have, oldest first

	History  []string         `json:"history,omitempty"`  // the task's entries, newest last; ┆ marks one that a rollback has left behind
	Attempts []branch.Attempt `json:"attempts,omitempty"` // the branches, side by side
	Queued   string           `json:"queued,omitempty"`   // the name of a task that waits
	Queue    int              `json:"queue,omitempty"`    // how many tasks wait

	// Of status.
	Seq           uint64         `json:"seq,omitempty"` // of the newest event
	CheckRetries  *int           `json:"check_retries,omitempty"`
	ReviewCycles  *int           `json:"review_cycles,omitempty"`
	FailureReason string         `json:"failure_reason,omitempty"`
	Paused        []state.Pause  `json:"paused,omitempty"`  // innermost last
	Waiting       *state.Waiting `json:"waiting,omitempty"` // for whom, and since when
}

// setPacket copies a resume packet into the result.
func (r *Result) setPacket(p handover.Packet) {
	r.Task, r.Review, r.LastCheck, r.Diffstat, r.Cut = p.Task, p.Review, p.LastCheck, p.Diffstat, p.Cut
	r.Decisions, r.Messages, r.Consultations, r.Progress = p.Decisions, p.Messages, p.Consultations, p.Progress
}
