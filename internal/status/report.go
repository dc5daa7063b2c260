// Package status is the read model of a project: the task, who is waited for, who works, what was spent, the pipelines that run,
// and which commands come next. The command line shows it, and --json prints it as it is.
//
// A report changes nothing. What a person decides on a task, a branch, a run of a pipeline or the queue is carried out by
// carryout.go: a command, the screen and the page fill in a [Request] and get an [ActResult], what became of it in values. Nothing is
// asked, printed or started here.
//
// Package doctor checks and repairs, package review is what a person decides on, package evidence writes the record of a task, package stack derives what
// one agent has done. What is shown where is decided by internal/ui and internal/cli.
//
// Start reading at report.go.
package status

import (
	"context"
	"slices"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/conductor/schedule"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/notify"
	"github.com/ferrus-go/ferrus/internal/project/records"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree"
)

// A Report is what status shows: the machine with the words and times that a person looks for.
type Report struct {
	Root          string          `json:"root"`
	Branch        string          `json:"branch,omitempty"`
	TaskID        string          `json:"task_id,omitempty"`
	Title         string          `json:"title,omitempty"`
	State         state.State     `json:"state"`
	Since         time.Time       `json:"since,omitzero"`
	Seq           uint64          `json:"seq"`
	Epoch         uint64          `json:"epoch"`
	Holder        *holder         `json:"holder,omitempty"`
	Check         *checkReport    `json:"check,omitempty"`
	Reviews       Budget          `json:"reviews"`
	Progress      *Text           `json:"progress,omitempty"` // the newest note of the agent
	Submission    *Text           `json:"submission,omitempty"`
	Rejection     *Text           `json:"rejection,omitempty"`
	Approval      *Text           `json:"approval,omitempty"` // while it is the newest event
	Question      *Text           `json:"question,omitempty"`
	Output        string          `json:"output,omitempty"` // the end of what failed, where a question or the end of the task follows from it
	Consultation  *Text           `json:"consultation,omitempty"`
	Waiting       state.Waiting   `json:"waiting"`
	Created       time.Time       `json:"created,omitzero"`
	Conductor     int             `json:"conductor,omitempty"` // process id of the run that is at work
	Node          string          `json:"node,omitempty"`      // the other computer that conducts the task
	Agents        []AgentReport   `json:"agents,omitempty"`    // that a run has started and that live
	Spent         records.Spend   `json:"spent,omitzero"`
	FailureReason string          `json:"failure_reason,omitempty"`
	Pipelines     []RunSummary    `json:"pipelines,omitempty"`
	Branches      []string        `json:"branches,omitempty"`   // of the project; none in the report of a branch
	Queue         []QueuedTask    `json:"queue,omitempty"`      // likewise
	StandIns      []state.StandIn `json:"stand_ins,omitempty"`  // agents that work in place of the first of their list
	SameModel     string          `json:"same_model,omitempty"` // the client, and its model, that wrote the work and reviewed it
	Notices       []string        `json:"notices,omitempty"`
	Head          *Head           `json:"head,omitempty"` // where HEAD is not what it was when the task was created; ReadAll looks
	Next          []Step          `json:"next"`

	troubles    []conductor.Trouble // why nodes do not work on the task
	merged      bool                // into the project
	uncommitted bool                // the approved work is not in the commit that is checked out
	submitted   string              // the tree of the newest submission
	parent      state.Parent
	delegated   bool           // the task of parent waits for this part of it
	size        *worktree.Size // of its change, where that was measured
	conflicts   []string       // paths in which approved work conflicts with the project, where that was looked up
	fetching    bool           // the files that are being moved are those of a delegate, which a run finishes
	finish      string         // the command that ends a rollback or a merge that was cut off
	dayLimit    bool           // it is used up
	unrehearsed []string       // why no run starts an agent: one line, or none
}

// A holder is who has the work, and how they are.
type holder struct {
	Agent      string    `json:"agent"`
	Alive      bool      `json:"alive"` // its process was seen to live
	Dead       bool      `json:"dead"`  // another may take the work
	Why        string    `json:"why"`
	ClaimedAt  time.Time `json:"claimed_at,omitzero"`
	Heartbeat  time.Time `json:"heartbeat,omitzero"`
	LeaseUntil time.Time `json:"lease_until,omitzero"`
}

type checkReport struct {
	ID       string            `json:"id,omitempty"`
	Status   state.CheckStatus `json:"status,omitempty"`
	Used     int               `json:"retries_used"`
	Max      int               `json:"retries_max"`
	Failures []checks.Command  `json:"failures,omitempty"`
	Log      string            `json:"log,omitempty"` // absolute
	Commands []string          `json:"commands"`      // null when none are configured
}

// A Budget is how much of it was used.
type Budget struct {
	Used int `json:"used"`
	Max  int `json:"max"`
}

// A Text is a document with who wrote it, and when.
type Text struct {
	ID       string    `json:"id,omitempty"`
	By       string    `json:"by,omitempty"`
	Tree     string    `json:"tree,omitempty"` // of a decision: the processes that it came from
	At       time.Time `json:"at,omitzero"`
	Text     string    `json:"text,omitempty"`
	Options  []string  `json:"options,omitempty"`
	Answered bool      `json:"answered,omitempty"`
	Patch    string    `json:"patch,omitempty"` // absolute

	Event  state.Event `json:"-"`
	output string      // of what it is about
}

// Read reads the report of a task: all but the pipelines, the branches and the queue, which ReadAll adds.
func Read(e *engine.Engine) (*Report, error) {
	st, err := e.Status()
	if err != nil {
		return nil, err
	}
	t := st.Task
	r := &Report{Root: e.Place().Root, Branch: e.Place().Branch, TaskID: t.TaskID, Title: t.Title, State: t.State, Since: t.Since,
		Seq: t.Seq, Epoch: t.Epoch, Waiting: st.Waiting, FailureReason: t.FailureReason, Notices: st.Notices(),
		Reviews: Budget{t.ReviewCycles, st.Gate.Limits.MaxReviewCycles}, submitted: t.Submission.Tree, merged: t.Merged != "", parent: t.Parent, delegated: e.Delegated(st.Snapshot), finish: refusal.Finishing(st.Task), fetching: st.Task.Returning.Of != ""}
	if t.State == state.Complete && r.Branch == "" {
		r.uncommitted = e.Uncommitted(context.Background(), st.Snapshot)
	}
	if t.State == state.Reviewing {
		r.Notices = e.Notices(context.Background(), st.Snapshot)
	} else {
		r.Notices = append(r.Notices, delegates(e, t)...)
	}
	if t.ClaimedBy != "" {
		v := e.Verdict(st.Snapshot)
		r.Holder = &holder{Agent: t.ClaimedBy, Alive: e.Store().Probe(t.Session) == lease.Alive, Dead: v.Dead, Why: v.Why,
			ClaimedAt: t.ClaimedAt, Heartbeat: st.Lease.Heartbeat, LeaseUntil: st.Lease.Until}
	}
	r.Notices = append(r.Notices, notify.Warnings(r.Root, e.Project(), st.Gate.Notify.Command)...)
	if why := e.Unrehearsed(st.Snapshot, st.Gate); why != "" {
		r.unrehearsed = []string{why + "; no run starts an agent before a rehearsal passes or you say so: ferrus init --rehearse"}
		r.Notices = append(r.Notices, r.unrehearsed...)
	}
	if t.Underway() || r.Branch == "" {
		l, err := records.UsedUp(context.Background(), r.Root, time.Now())
		switch {
		case err != nil:
			r.Notices = append(r.Notices, "day_limit: the limits of the day cannot be read, so that no agent starts: "+format.Line(err.Error()))
		case l.Text != "":
			r.dayLimit = true
			r.Notices = append(r.Notices, "day_limit: "+l.Notice())
		}
	}
	if r.Check, err = checkOf(e, st); err != nil {
		return nil, err
	}
	if r.Check != nil && r.Check.Status == state.CheckAbandoned && r.Waiting.For == "check" {
		r.Waiting = state.Waiting{For: "executor", Since: t.UpdatedAt}
	}
	if err := r.papers(e, st); err != nil {
		return nil, err
	}
	if err := r.working(e, t); err != nil {
		return nil, err
	}
	if r.Progress, err = progress(e.Store(), st.Snapshot); err != nil {
		return nil, err
	}
	r.Next = next(r)
	return r, nil
}

// ReadAll is Read with where HEAD is, and what the project has beside the task: the pipelines that run and, unless the task is a
// branch's, the branches and the queue.
func ReadAll(e *engine.Engine) (*Report, error) {
	r, err := Read(e)
	if err != nil {
		return nil, err
	}
	if err := r.head(e); err != nil {
		return nil, err
	}
	r.Pipelines = RunningPipelines(e)
	if r.Branch == "" {
		r.Branches, _ = project.Branches(r.Root) // ferrus doctor says what is wrong with them
		r.Queue = QueueAt(e)
	}
	return r, nil
}

// An AgentReport is an agent that a run has started and that lives.
type AgentReport struct {
	process.Run
	Doing string `json:"doing,omitempty"`
}

// working reads who is at work on the task, and what it has cost so far.
func (r *Report) working(e *engine.Engine, t state.Task) error {
	h, busy := conductor.Conductor(e.Place().Path())
	if !busy && r.Branch != "" { // a run of all branches conducts this one when there is something to do
		h, busy = conductor.Conductor(schedule.Dir(r.Root))
	}
	if !busy && r.delegated { // that of its executor
		h, busy = conductor.Conductor(project.At(r.Root, r.parent.Branch).Dir())
	}
	if busy {
		r.Conductor = h.Pid
	}
	r.Node = conductor.Node(e)
	if t.Underway() {
		r.troubles = conductor.Troubles(e)
	}
	for _, w := range r.troubles {
		r.Notices = append(r.Notices, "node: "+w.Host+" does not work on the task, since "+format.Age(w.Since)+": "+format.Line(w.Text))
	}
	if t.TaskID == "" {
		return nil
	}
	if ref, ok := t.Docs[state.TaskDoc]; ok {
		l, err := e.Store().LineAt(ref.Off)
		if err != nil {
			return err
		}
		r.Created = l.At
	}
	runs, err := conductor.AllRuns(context.Background(), e, t.TaskID)
	if err != nil {
		return err
	}
	for i, run := range runs {
		if run.Node != "" && !run.Over() {
			r.Agents = append(r.Agents, AgentReport{run, "on " + format.Line(run.Node)})
			continue
		}
		o, taken := conductor.Slot(e, run.Duty).Taken()
		if run.Over() || !taken || o.Run != run.Name {
			continue
		}
		reading := process.Read(run)
		runs[i].Usage = reading.Usage
		r.Agents = append(r.Agents, AgentReport{runs[i], reading.Doing})
	}
	r.Spent = records.SpendOf(runs, time.Now())
	for _, d := range conductor.Duties() {
		if in := t.StandIn(string(d)); in.For != "" && t.Underway() {
			r.StandIns = append(r.StandIns, in)
			r.Notices = append(r.Notices, format.Line(conductor.StandInText(in)))
		}
	}
	stoodIn := slices.ContainsFunc(t.StandIns, func(in state.StandIn) bool { return in.For != "" }) // else ferrus.toml names one for both roles
	if r.SameModel = conductor.SameModel(runs); r.SameModel != "" && stoodIn {
		r.Notices = append(r.Notices, "same model: "+format.Line(r.SameModel)+" wrote the work and reviewed it")
	}
	return nil
}

// checkOf is the newest check of a task, nil in Idle. One that is said to run while nothing runs was abandoned.
func checkOf(e *engine.Engine, st engine.Status) (*checkReport, error) {
	t := st.Task
	if t.TaskID == "" {
		return nil, nil
	}
	c := &checkReport{ID: t.Check.ID, Status: t.Check.Status, Used: t.CheckRetries, Max: st.Gate.Limits.MaxCheckRetries,
		Commands: st.Gate.Checks.Commands}
	if t.Check.Log != "" {
		c.Log = e.Place().Path(t.Check.Log)
	}
	// The helper takes its lock a moment after the check has begun.
	young := time.Since(t.UpdatedAt) < 2*time.Second
	if c.Status == state.CheckRunning && !young && !checks.Running(e.Place().Path("live", "check.lock")) {
		c.Status = state.CheckAbandoned
	}
	last, err := e.LastCheckOf(st.Snapshot)
	if last != nil {
		c.Failures = last.Failures
	}
	return c, err
}

// papers reads the documents that matter now.
func (r *Report) papers(e *engine.Engine, st engine.Status) (err error) {
	t := st.Task
	read := func(doc state.Doc, id string) *Text {
		ref, ok := t.Docs[doc]
		if !ok || err != nil {
			return nil
		}
		p := &Text{ID: id}
		l, lineErr := e.Store().LineAt(ref.Off)
		if err = lineErr; err != nil {
			return nil
		}
		p.By, p.Tree, p.At, p.Text, p.Event, p.output = l.Actor.Agent, format.Line(l.Actor.Tree), l.At, l.Docs[doc], l.Event, l.Docs[handover.OutputDoc]
		return p
	}
	if r.Submission = read(state.SubmissionDoc, t.Submission.ID); r.Submission != nil && t.Submission.Patch != "" {
		if path := e.Place().Path(t.Submission.Patch); rootfs.Exists(path) { // it was submitted, or has been reviewed, on this computer
			r.Submission.Patch = path
		}
	}
	r.Rejection = read(state.ReviewDoc, t.Submission.ID)
	if top := st.Top; top != nil && top.Event == state.Approve {
		r.Approval = &Text{ID: t.Submission.ID, By: top.Actor.Agent, Tree: format.Line(top.Actor.Tree), At: top.At, Text: top.Note}
	}
	if t.State == state.AwaitingHuman {
		if r.Question = read(state.QuestionDoc, t.Top().ID); r.Question != nil {
			r.Output = r.Question.output
			r.Question.By = t.Top().By
			r.Question.Text, r.Question.Options = handover.SplitOptions(r.Question.Text)
		}
	}
	failed := r.Check != nil && (r.Check.Status == state.CheckRed || r.Check.Status == state.CheckGateError)
	if failed && (r.Question != nil && r.Output == "" || t.State == state.Failed) {
		r.Output = checks.Output(r.Check.Failures)
	}
	if t.State == state.Consultation {
		if r.Consultation = read(state.ConsultRequestDoc, t.Consultation.ID); r.Consultation != nil {
			r.Consultation.Answered = t.Consultation.Answered
		}
	}
	return err
}
