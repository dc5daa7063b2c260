package state

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// SchemaVersion is the version of STATE.json and of a journal line's state that this ferrus writes and understands.
const SchemaVersion = 2

// A Task is the complete state of one machine, as the journal stores it after every event. It has
// no texts: Docs says in which journal lines they are.
type Task struct {
	SchemaVersion int    `json:"schema_version"`
	TaskID        string `json:"task_id,omitempty"` // t-YYYYMMDD-HHMMSS-xxxx; "" in Idle
	Title         string `json:"title,omitempty"`
	Seq           uint64 `json:"seq"`   // of the journal line that made this state
	Epoch         uint64 `json:"epoch"` // never goes down, not by reset, not by a new task
	State         State  `json:"state"`
	CheckRetries  int    `json:"check_retries"` // consecutive failed checks
	ReviewCycles  int    `json:"review_cycles"` // rejections of this task
	FailureReason string `json:"failure_reason,omitempty"`

	Since time.Time `json:"since,omitzero"` // when the task entered its state

	ClaimedBy string    `json:"claimed_by,omitempty"` // role:agent:index of the holder; "" when nobody holds the work
	Session   string    `json:"session,omitempty"`    // the holder's session: two processes of one name are two holders
	ClaimedAt time.Time `json:"claimed_at,omitzero"`

	Paused []Pause `json:"paused,omitempty"` // innermost last

	Check        Check       `json:"check,omitzero"`
	Submission   Submission  `json:"submission,omitzero"`
	Consultation Consulting  `json:"consultation,omitzero"`
	Issued       Issued      `json:"issued,omitzero"`
	Asked        Asked       `json:"asked,omitzero"`
	BudgetFrom   int64       `json:"budget_from,omitempty"`    // where in the journal a person last renewed the budget; runs before it do not count
	Score        Score       `json:"score,omitzero"`           // the newest
	BaseTree     string      `json:"base_tree,omitempty"`      // the work tree at create_task; "" without git
	Head         string      `json:"head,omitempty"`           // the commit that was checked out when the task was created; "" where there was none
	HeadBranch   string      `json:"head_branch,omitempty"`    // and the branch, "" for none
	BaseCommit   string      `json:"base_commit,omitempty"`    // HEAD at create_task, on which published snapshots build; "" where trees do not travel
	SetUpTree    string      `json:"set_up_tree,omitempty"`    // files that no executor in a sandbox has changed; "" for BaseTree
	Marks        []string    `json:"conflict_marks,omitempty"` // ids that name the sides in marks of a conflict that ferrus wrote into the files
	Unpublished  string      `json:"unpublished,omitempty"`    // why its newest files did not get to the git remote; "" where they did, or do not travel
	Worktree     string      `json:"worktree,omitempty"`       // absolute path of the folder that the task is worked on in; "" in a database
	Pin          Pin         `json:"pin,omitzero"`             // the gate in force
	Assigned     Assigned    `json:"assigned,omitzero"`        // the executor that a rule gave the work to; the zero one is the gate's
	StandIns     []StandIn   `json:"stand_ins,omitempty"`      // agents of the lists that have worked so far, newest last, at most MaxRecords
	Docs         map[Doc]Ref `json:"docs,omitempty"`           // the current documents
	Decisions    []Record    `json:"decisions,omitempty"`      // answers of a person, newest last, at most MaxRecords
	Progress     []Record    `json:"progress,omitempty"`       // the holder's notes, likewise
	Consulted    []Record    `json:"consultations,omitempty"`
	Messages     []Message   `json:"messages,omitempty"`   // between agents, newest last, likewise
	Unattended   []Record    `json:"unattended,omitempty"` // a person's acts made without a terminal, named by their event
	Violations   int         `json:"violations,omitempty"` // control files edited from outside in this task
	Branch       string      `json:"branch,omitempty"`
	Variant      Variant     `json:"variant,omitzero"`     // the executor of this branch; the zero one is that of the gate
	Selected     bool        `json:"selected,omitempty"`   // a complete one: of several attempts it was taken
	Merged       string      `json:"merged,omitempty"`     // a complete one: the tree that its merge into the project made; "" until then
	Delegates    []Delegate  `json:"delegates,omitempty"`  // oldest first, at most MaxDelegates
	Parent       Parent      `json:"parent,omitzero"`      // of a branch that is a delegate: whose; the zero one otherwise
	BeganWith    []Beginning `json:"began_with,omitempty"` // of a branch: the approved work that its files began with, in the order in which it was put together
	Issue        string      `json:"issue,omitempty"`      // the URL of the issue that the task was taken from; no agent and no text says it
	Returning    FileMove    `json:"returning,omitzero"`   // a rollback or merge that moves files and is not over; the zero one otherwise
	UpdatedAt    time.Time   `json:"updated_at"`

	// Extra has the keys that this version does not know; they are written back unchanged.
	Extra map[string]json.RawMessage `json:"-"`
}

// IsDelegate reports whether the task is a part of another branch's task, open or not: its parent decides about it.
func (t Task) IsDelegate() bool { return t.Parent != (Parent{}) }

// SetUpOn returns the tree on which the set-up of a work tree or a checkout runs: it runs without a sandbox.
func (t Task) SetUpOn() string { return cmp.Or(t.SetUpTree, t.BaseTree) }

// Trees returns the trees of files that the task names: as it began, of the newest check, and of the newest submission. An event that changes one of
// them was made where the work tree has these files.
func (t Task) Trees() [3]string { return [3]string{t.BaseTree, t.Check.Tree, t.Submission.Tree} }

// Newest returns the tree of the newest files that the task names; while a submission is reviewed, that which was submitted.
func (t Task) Newest() string {
	if t.Submitted() && t.Submission.Tree != "" {
		return t.Submission.Tree
	}
	return cmp.Or(t.Check.Tree, t.Submission.Tree, t.BaseTree)
}

// A Beginning is a task whose approved work was not merged into the project when a branch began with it. What the branch changes is merged after it.
type Beginning struct {
	Branch string `json:"branch"`
	TaskID string `json:"task"`
}

// MaxBeginnings is the number of tasks whose work a branch can begin with.
const MaxBeginnings = 64

// A Pause is one entry of the stack of interruptions.
type Pause struct {
	ID    string    `json:"id"`    // q1 or c1
	Kind  Event     `json:"kind"`  // ask_human or consult
	State State     `json:"state"` // where the task returns to
	By    string    `json:"by"`    // who asked, role:agent:index
	Since time.Time `json:"since"`
}

// A Check is the newest check of the task.
type Check struct {
	ID     string      `json:"id"`
	Status CheckStatus `json:"status"`
	Tree   string      `json:"tree,omitempty"` // the tree it ran on; "" without git
	Gate   string      `json:"gate,omitempty"` // what judged it: the digest of the pin at its start
	Log    string      `json:"log,omitempty"`  // relative to the .ferrus folder
	Errors int         `json:"errors,omitempty"`
	Same   int         `json:"same,omitempty"` // how often in a row it failed alike
	Sum    string      `json:"sum,omitempty"`  // digest of the failure, to see whether the next one is the same

	// Files that were written while it ran, so that it says nothing: lines of a .gitignore, and paths that git tracks. Both are lines of a
	// text, at most [MaxWritten] of them.
	Moved   int    `json:"moved,omitempty"` // how often in a row it was the same files
	Written string `json:"written,omitempty"`
	Tracked string `json:"tracked,omitempty"`

	Touched string `json:"touched,omitempty"` // files and folders written or exchanged while it ran, though the tree is the same
}

// MaxWritten bounds how many written files a task names.
const MaxWritten = 10

// A CheckStatus is the status of the newest check.
type CheckStatus string

const (
	CheckRunning   CheckStatus = "running"
	CheckGreen     CheckStatus = "passed"
	CheckRed       CheckStatus = "failed"
	CheckGateError CheckStatus = "gate_error"
	CheckMoved     CheckStatus = "tree_changed"
	CheckAbandoned CheckStatus = "abandoned"
)

// A Submission is the newest work that the executor handed in.
type Submission struct {
	ID    string `json:"id"`
	Tree  string `json:"tree,omitempty"` // "" without git
	Base  string `json:"base,omitempty"`
	Patch string `json:"patch,omitempty"` // relative to the .ferrus folder

	Session string `json:"session,omitempty"` // which handed it in; "" for a delegate's that was merged
}

// Empty reports whether the submission changes no file of the base. Without git it is false,
// because nothing is known.
func (s Submission) Empty() bool { return s.Tree != "" && s.Tree == s.Base }

// A Consulting is the newest consultation.
type Consulting struct {
	ID       string `json:"id"`
	Answered bool   `json:"answered"`
}

// Issued counts the ids that were given out in this task, the progress notes and the messages.
type Issued struct {
	Questions     int `json:"questions,omitempty"`
	Consultations int `json:"consultations,omitempty"`
	Checks        int `json:"checks,omitempty"`
	Submissions   int `json:"submissions,omitempty"`
	Notes         int `json:"notes,omitempty"`
	Messages      int `json:"messages,omitempty"`
	Delegates     int `json:"delegates,omitempty"`
}

// Asked has the id of the newest question of each role to a person, "" if there is none in this
// task. Questions of the engine count as the executor's, because the executor waits for the answer.
type Asked struct {
	Executor   string `json:"executor,omitempty"`
	Supervisor string `json:"supervisor,omitempty"`
	Budget     string `json:"budget,omitempty"` // the newest question whether to continue with the same budget again
}

// A Score is the number that [branches] score gave to a tree. It counts while the work is that tree
// and the gate is the one that had the command.
type Score struct {
	Value float64 `json:"value"` // finite; higher is better
	Tree  string  `json:"tree"`
	Gate  string  `json:"gate"` // digest of the pin
	Log   string  `json:"log"`  // relative to the .ferrus folder
}

// Counts reports whether the score is that of the task's work, which is tree.
func (s Score) Counts(t Task, tree string) bool {
	return s.Tree != "" && s.Tree == tree && s.Gate == t.Pin.SHA256
}

// A Variant is the agent, and its model, that works on a branch in place of the gate's executor.
type Variant struct {
	Agent string `json:"agent"`
	Model string `json:"model,omitempty"` // "" for the agent's own choice
}

// String returns AGENT or AGENT:MODEL, "" for the zero variant.
func (v Variant) String() string {
	if v.Model == "" {
		return v.Agent
	}
	return v.Agent + ":" + v.Model
}

// A Pin says which journal line has the frozen gate of the task, and the hash of its text.
type Pin struct {
	Off    int64  `json:"off"`
	SHA256 string `json:"sha256"`
}

// Assigned is the agent that a rule gave the work to, in place of the executor of the frozen gate.
type Assigned struct {
	Agent string `json:"agent"`
	Model string `json:"model,omitempty"` // "" for the agent's own choice
	Off   int64  `json:"off"`             // of the journal line: earlier runs of an executor are over
	Was   string `json:"was,omitempty"`   // the session that held the work; "" for nobody
}

// A StandIn is the agent of its list that works for a duty.
type StandIn struct {
	Duty  string    `json:"duty"` // executor, consultant or reviewer
	Agent string    `json:"agent"`
	Model string    `json:"model,omitempty"` // "" for the agent's own choice
	For   string    `json:"for,omitempty"`   // the first of the list, AGENT or AGENT:MODEL; "" where that one works again
	Why   string    `json:"why,omitempty"`   // why the first cannot work
	Until time.Time `json:"until,omitzero"`  // when it can again; zero where nobody knows
}

// Variant returns the agent and its model.
func (s StandIn) Variant() Variant { return Variant{s.Agent, s.Model} }

// StandIn returns the newest stand-in of a duty, the zero one if there never was one.
func (t Task) StandIn(duty string) (s StandIn) {
	for _, one := range t.StandIns {
		if one.Duty == duty {
			s = one
		}
	}
	return s
}

// SetStandIn makes s the newest stand-in. Each agent of a duty is remembered once.
func (t *Task) SetStandIn(s StandIn) {
	t.StandIns = Remember(slices.DeleteFunc(t.StandIns, func(was StandIn) bool {
		return was.Duty == s.Duty && was.Variant() == s.Variant() && (was.For == "") == (s.For == "")
	}), s)
}

// A FileMove is the target of a rollback or a merge that is moving files. It is the merge of a
// delegate where Of is set.
type FileMove struct {
	To   uint64 `json:"to,omitempty"`   // of a rollback: seq of the journal line
	From string `json:"from,omitempty"` // of a merge: the branch
	Of   string `json:"of,omitempty"`   // of the merge of a delegate: its id
	Was  string `json:"was,omitempty"`  // of a merge: what the work tree held before
	Tree string `json:"tree"`           // what the work tree is to hold
}

// Recall returns the task as it was at an earlier line of its own. Some fields keep their present
// values: the place in the journal, the epoch, the ids that were given out, what was done for a
// person without a terminal, the gate in force, and the branch's own executor. The result has no
// claim.
func (t Task) Recall(was Task) Task {
	next := was.Clone()
	next.SchemaVersion, next.Seq, next.Epoch, next.UpdatedAt, next.Extra = t.SchemaVersion, t.Seq, t.Epoch, t.UpdatedAt, t.Extra
	next.Issued, next.Unattended, next.Violations, next.Pin = t.Issued, slices.Clone(t.Unattended), t.Violations, t.Pin
	next.Variant, next.Parent, next.BeganWith = t.Variant, t.Parent, slices.Clone(t.BeganWith)
	if was.Variant != t.Variant { // the line is older than the branch, whose own executor counts
		unassign.apply(&next)
	}
	dropLease.apply(&next)
	abandonCheck(&next)
	endMove.apply(&next)
	return next
}

// A Doc is the file name of a document under .ferrus.
type Doc string

const (
	TaskDoc            Doc = "TASK.md"
	SubmissionDoc      Doc = "SUBMISSION.md"
	ReviewDoc          Doc = "REVIEW.md"
	QuestionDoc        Doc = "QUESTION.md"
	AnswerDoc          Doc = "ANSWER.md"
	ConsultRequestDoc  Doc = "CONSULT_REQUEST.md"
	ConsultResponseDoc Doc = "CONSULT_RESPONSE.md"
)

// Docs returns all documents that a task can have.
func Docs() []Doc {
	return []Doc{TaskDoc, SubmissionDoc, ReviewDoc, QuestionDoc, AnswerDoc, ConsultRequestDoc, ConsultResponseDoc}
}

// A Ref says which journal line has the text of a document, and the hash of that text.
type Ref struct {
	Off    int64  `json:"off"`
	SHA256 string `json:"sha256"`
}

// A Record points to the journal line of a decision, a progress note or a consultation.
type Record struct {
	ID  string `json:"id,omitempty"` // "" of a progress note
	Off int64  `json:"off"`
}

// A Message points to the journal line of a message from one agent to another, which has its text and
// its sender.
type Message struct {
	ID  string `json:"id"` // m and the number of the line: unique in the journal
	To  string `json:"to"` // executor, supervisor, or the id of a delegate
	Off int64  `json:"off"`
}

// MaxRecords is the number of records of one kind in a task; older ones are only in the journal.
const MaxRecords = 32

// Remember appends to records, messages or stand-ins, and drops the oldest ones beyond MaxRecords.
func Remember[R Record | Message | StandIn](list []R, r R) []R {
	list = append(slices.Clip(list), r)
	return list[max(0, len(list)-MaxRecords):]
}

// MessagesTo returns the messages to the agents of a role or to a delegate, newest last.
func (t Task) MessagesTo(reader string) (list []Message) {
	for _, m := range t.Messages {
		if m.To == reader {
			list = append(list, m)
		}
	}
	return list
}

// PausedFrom returns the state to which the innermost pause returns, "" when the task is not paused.
func (t Task) PausedFrom() State {
	if len(t.Paused) == 0 {
		return ""
	}
	return t.Paused[len(t.Paused)-1].State
}

// Top returns the innermost pause, or the zero Pause when the task is not paused.
func (t Task) Top() Pause {
	if len(t.Paused) == 0 {
		return Pause{}
	}
	return t.Paused[len(t.Paused)-1]
}

// InConsultation reports whether the task waits for the supervisor's answer, at any depth of
// pauses.
func (t Task) InConsultation() bool {
	return t.State == Consultation || slices.ContainsFunc(t.Paused, func(p Pause) bool { return p.State == Consultation })
}

// Underway reports whether there is a task that has not ended.
func (t Task) Underway() bool { return t.TaskID != "" && !t.State.Over() }

// Submitted reports whether the work of the task is its submission: while it is reviewed, and once it is complete.
func (t Task) Submitted() bool { return t.State == Reviewing || t.State == Complete }

// Waits reports whether the task waits for an answer of someone other than its executor. Meanwhile
// the lease of a live executor does not expire. After an answered consultation the executor has to
// act, so Waits is false.
func (t Task) Waits() bool {
	return t.State.Frozen() && !(t.State == Consultation && t.Consultation.Answered)
}

// Clone returns a deep copy of everything that is ever changed.
func (t Task) Clone() Task {
	t.Paused = slices.Clone(t.Paused)
	t.Docs = maps.Clone(t.Docs)
	t.Decisions = slices.Clone(t.Decisions)
	t.Progress = slices.Clone(t.Progress)
	t.Consulted = slices.Clone(t.Consulted)
	t.Messages = slices.Clone(t.Messages)
	t.Unattended = slices.Clone(t.Unattended)
	t.StandIns = slices.Clone(t.StandIns)
	t.Delegates = slices.Clone(t.Delegates)
	t.BeganWith = slices.Clone(t.BeganWith)
	return t
}

// emptied returns the task without a request. It keeps what outlives a task: the place in the
// journal, the epoch, the branch with its executor, its parent and what it began with, and unknown keys.
func (t Task) emptied() Task {
	return Task{SchemaVersion: t.SchemaVersion, Seq: t.Seq, Epoch: t.Epoch, State: t.State, Branch: t.Branch, Variant: t.Variant, Parent: t.Parent,
		BeganWith: slices.Clone(t.BeganWith), UpdatedAt: t.UpdatedAt, Extra: t.Extra}
}

// New returns the task of a fresh project.
func New() Task { return Task{SchemaVersion: SchemaVersion, State: Idle} }
