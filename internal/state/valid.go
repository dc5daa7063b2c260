package state

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

// Bounds of the fields of a task. What ferrus writes is far below them.
const (
	maxCount  = 1 << 48 // of any number: an id, a line, a byte offset
	maxLine   = 4096    // bytes of a text that is one line
	maxPath   = 1 << 15
	maxReason = 1 << 21
	maxPauses = 16
)

var (
	taskID    = safetext.NewForm(`^t-[0-9A-Za-z][0-9A-Za-z-]*$`, 3, 63)
	objectID  = ids{safetext.NewForm(`^[0-9a-f]*$`, 40, 40), digest} // of SHA-1 and of SHA-256
	digest    = safetext.NewForm(`^[0-9a-f]*$`, 64, 64)
	number    = safetext.NewForm(`^[kqcsmd][0-9]*$`, 2, 19)
	label     = safetext.NewForm(`^[0-9A-Za-z_-]*$`, 0, 64)
	sessionID = safetext.NewForm(`^[0-9A-Za-z][0-9A-Za-z-]*$`, 1, 64)
	docName   = safetext.NewForm(`^[A-Za-z][0-9A-Za-z_-]*\.(md|json)$`, 4, 66)
	logPath   = safetext.NewForm(`^logs/[0-9A-Za-z][0-9A-Za-z._-]*\.log$`, 10, 209)
	patchPath = safetext.NewForm(`^logs/[0-9A-Za-z][0-9A-Za-z._-]*\.patch$`, 12, 211)
	issueURL  = safetext.NewForm(`^https://[0-9A-Za-z.:-]+/[0-9A-Za-z._-]+/[0-9A-Za-z._-]+/issues/[1-9][0-9]*$`, 20, 500)
)

// ids are the forms that an id has one of.
type ids []safetext.Form

func (f ids) MatchString(id string) bool {
	return slices.ContainsFunc(f, func(one safetext.Form) bool { return one.MatchString(id) })
}

// A FieldError says that a field of a journal line or of STATE.json has a value that ferrus does
// not write.
type FieldError struct {
	Field string // as the JSON has it, such as submission.patch
	Why   string
}

func (e *FieldError) Error() string { return fmt.Sprintf("its field %s %s", e.Field, e.Why) }

// Valid returns nil if every field of the task has a value that ferrus could have written,
// otherwise a *FieldError. Whatever becomes part of a path or a command (ids of task, branch and
// session, trees, log and patch) must be one name of plain characters, or a path of such names.
// Numbers must not be negative, and texts are bounded. The store verifies offsets against the
// journal, the engine the work tree against the project.
func (t *Task) Valid() error {
	var v validator
	v.state("state", t.State)
	v.form("task_id", t.TaskID, taskID)
	v.text("title", t.Title, maxLine)
	v.count("seq", int64(min(t.Seq, maxCount+1)))
	v.count("epoch", int64(min(t.Epoch, maxCount+1)))
	v.count("check_retries", int64(t.CheckRetries))
	v.count("review_cycles", int64(t.ReviewCycles))
	v.text("failure_reason", t.FailureReason, maxReason)
	v.line("claimed_by", t.ClaimedBy)
	v.form("session", t.Session, sessionID)
	v.pauses(t.Paused)

	v.form("check.id", t.Check.ID, number)
	v.known("check.status", t.Check.Status == "" || slices.Contains(checkStatuses, t.Check.Status))
	v.form("check.tree", t.Check.Tree, objectID)
	v.form("check.gate", t.Check.Gate, digest)
	v.form("check.log", t.Check.Log, logPath)
	v.count("check.errors", int64(t.Check.Errors))
	v.count("check.same", int64(t.Check.Same))
	v.form("check.sum", t.Check.Sum, label)
	v.count("check.moved", int64(t.Check.Moved))
	v.text("check.written", t.Check.Written, MaxWritten*maxPath)
	v.text("check.tracked", t.Check.Tracked, MaxWritten*maxPath)
	v.form("submission.id", t.Submission.ID, number)
	v.form("submission.tree", t.Submission.Tree, objectID)
	v.form("submission.base", t.Submission.Base, objectID)
	v.form("submission.patch", t.Submission.Patch, patchPath)
	v.form("submission.session", t.Submission.Session, sessionID)
	v.form("consultation.id", t.Consultation.ID, number)
	v.count("issued.questions", int64(t.Issued.Questions))
	v.count("issued.consultations", int64(t.Issued.Consultations))
	v.count("issued.checks", int64(t.Issued.Checks))
	v.count("issued.submissions", int64(t.Issued.Submissions))
	v.count("issued.messages", int64(t.Issued.Messages))
	v.count("issued.delegates", int64(t.Issued.Delegates))
	v.form("asked.executor", t.Asked.Executor, number)
	v.form("asked.supervisor", t.Asked.Supervisor, number)
	v.form("asked.budget", t.Asked.Budget, number)
	v.count("budget_from", t.BudgetFrom)

	v.form("score.tree", t.Score.Tree, objectID)
	v.form("score.gate", t.Score.Gate, digest)
	v.form("score.log", t.Score.Log, logPath)
	v.form("variant.agent", t.Variant.Agent, label)
	v.line("variant.model", t.Variant.Model)

	v.form("base_tree", t.BaseTree, objectID)
	v.form("base_commit", t.BaseCommit, objectID)
	v.form("head", t.Head, objectID)
	v.text("head_branch", t.HeadBranch, maxPath)
	v.form("set_up_tree", t.SetUpTree, objectID)
	for _, id := range t.Marks {
		v.form("conflict_marks", id, objectID)
	}
	if len(t.Marks) > 2 {
		v.fail("conflict_marks", "has %d ids; a conflict has two sides", len(t.Marks))
	}
	v.line("unpublished", t.Unpublished)
	v.text("worktree", t.Worktree, maxPath)
	v.ref("pin", Ref(t.Pin))
	v.line("assigned.agent", t.Assigned.Agent)
	v.line("assigned.model", t.Assigned.Model)
	v.count("assigned.off", t.Assigned.Off)
	v.form("assigned.was", t.Assigned.Was, sessionID)
	v.standIns(t.StandIns)
	for doc, ref := range t.Docs {
		if !ValidDoc(doc) {
			v.fail("docs", "names %.80q, which is not a document", string(doc))
		}
		v.ref("docs."+string(doc), ref)
	}
	v.records("decisions", t.Decisions)
	v.records("progress", t.Progress)
	v.records("consultations", t.Consulted)
	v.messages(t.Messages)
	v.records("unattended", t.Unattended)
	v.count("violations", int64(t.Violations))
	v.delegates("delegates", t.Delegates)
	v.branch("parent.branch", t.Parent.Branch)
	v.count("parent.seq", int64(min(t.Parent.Seq, maxCount+1)))
	v.form("parent.id", t.Parent.ID, number)
	for _, b := range t.BeganWith {
		v.branch("began_with.branch", b.Branch)
		v.form("began_with.task", b.TaskID, taskID)
	}
	if len(t.BeganWith) > MaxBeginnings {
		v.fail("began_with", "has %d entries and may have %d", len(t.BeganWith), MaxBeginnings)
	}
	v.form("issue", t.Issue, issueURL)
	v.branch("branch", t.Branch)
	v.form("merged", t.Merged, objectID)
	v.count("returning.to", int64(min(t.Returning.To, maxCount+1)))
	v.branch("returning.from", t.Returning.From)
	v.form("returning.of", t.Returning.Of, number)
	v.form("returning.was", t.Returning.Was, objectID)
	v.form("returning.tree", t.Returning.Tree, objectID)
	return v.err
}

// Offsets calls yield with each offset into the journal that the task has, and the name of its
// field.
func (t *Task) Offsets(yield func(field string, off int64)) {
	yield("pin.off", t.Pin.Off)
	yield("assigned.off", t.Assigned.Off)
	yield("budget_from", t.BudgetFrom)
	for doc, ref := range t.Docs {
		yield("docs."+string(doc)+".off", ref.Off)
	}
	for field, list := range map[string][]Record{"decisions": t.Decisions, "progress": t.Progress, "consultations": t.Consulted,
		"unattended": t.Unattended} {
		for _, r := range list {
			yield(field+".off", r.Off)
		}
	}
	for _, m := range t.Messages {
		yield("messages.off", m.Off)
	}
	for _, d := range t.Delegates {
		yield("delegates.off", d.Off)
		if d.Decided != (Verdict{}) {
			yield("delegates.decided.off", d.Decided.Off)
		}
	}
}

// ValidIssue reports whether url can be that of an issue of a forge.
func ValidIssue(url string) bool { return issueURL.MatchString(url) }

// ValidTaskID reports whether id can be a task id. It becomes part of file names, so it contains no
// character with a meaning in paths or patterns.
func ValidTaskID(id string) bool { return taskID.MatchString(id) }

// ValidDoc reports whether doc can be the name of a document: a file name.
func ValidDoc(doc Doc) bool { return docName.MatchString(string(doc)) }

// ValidSession reports whether id can be a session id.
func ValidSession(id string) bool { return sessionID.MatchString(id) }

var checkStatuses = []CheckStatus{CheckRunning, CheckGreen, CheckRed, CheckGateError, CheckMoved, CheckAbandoned}

var (
	rulings      = []Ruling{RuledApprove, RuledReject, RuledAnswer}
	delegateEnds = []DelegateEnd{DelegateComplete, DelegateFailed, DelegateLost, DelegateCancelled}
)

// A validator has the first invalid field as its error.
type validator struct{ err error }

func (v *validator) fail(field, format string, args ...any) {
	if v.err == nil {
		v.err = &FieldError{Field: field, Why: fmt.Sprintf(format, args...)}
	}
}

// form requires a value to match an expression. An empty value is always valid.
func (v *validator) form(field, value string, form interface{ MatchString(string) bool }) {
	if value != "" && !form.MatchString(value) {
		v.fail(field, "is %.80q, which ferrus does not write", value)
	}
}

func (v *validator) known(field string, ok bool) {
	if !ok {
		v.fail(field, "is unknown")
	}
}

// state requires a state of the table: nothing leads out of another one.
func (v *validator) state(field string, s State) {
	if !s.Known() {
		v.fail(field, "is %.80q, which is not a state", string(s))
	}
}

func (v *validator) count(field string, n int64) {
	if n < 0 || n > maxCount {
		v.fail(field, "is out of range")
	}
}

func (v *validator) text(field, value string, limit int) {
	if len(value) > limit {
		v.fail(field, "has %d bytes and may have %d", len(value), limit)
	}
}

// line requires a value to be one line without control characters. ferrus checked such names before
// it wrote them.
func (v *validator) line(field, value string) {
	v.text(field, value, maxLine)
	if strings.ContainsFunc(value, unicode.IsControl) {
		v.fail(field, "contains a control character")
	}
}

func (v *validator) branch(field, name string) {
	if name != "" && CheckBranch(name) != nil {
		v.fail(field, "is %.80q, which is not the name of a branch", name)
	}
}

func (v *validator) ref(field string, r Ref) {
	v.count(field+".off", r.Off)
	v.form(field+".sha256", r.SHA256, digest)
}

func (v *validator) records(field string, list []Record) {
	if len(list) > MaxRecords {
		v.fail(field, "has %d entries and may have %d", len(list), MaxRecords)
		return
	}
	for _, r := range list {
		v.form(field+".id", r.ID, label)
		v.count(field+".off", r.Off)
	}
}

func (v *validator) messages(list []Message) {
	if len(list) > MaxRecords {
		v.fail("messages", "has %d entries and may have %d", len(list), MaxRecords)
		return
	}
	for _, m := range list {
		v.form("messages.id", m.ID, number)
		if m.To != string(Executor) && m.To != string(Supervisor) {
			v.form("messages.to", m.To, number)
			v.known("messages.to", m.To != "")
		}
		v.count("messages.off", m.Off)
	}
}

func (v *validator) standIns(list []StandIn) {
	if len(list) > MaxRecords {
		v.fail("stand_ins", "has %d entries and may have %d", len(list), MaxRecords)
		return
	}
	for _, s := range list {
		v.known("stand_ins.duty", s.Duty != "")
		v.form("stand_ins.duty", s.Duty, label)
		v.form("stand_ins.agent", s.Agent, label)
		v.line("stand_ins.model", s.Model)
		v.line("stand_ins.for", s.For)
		v.line("stand_ins.why", s.Why)
	}
}

func (v *validator) delegates(field string, list []Delegate) {
	if len(list) > MaxDelegates {
		v.fail(field, "has %d entries and may have %d", len(list), MaxDelegates)
		return
	}
	for _, d := range list {
		v.known(field+".id", d.ID != "")
		v.form(field+".id", d.ID, number)
		v.known(field+".branch", d.Branch != "")
		v.branch(field+".branch", d.Branch)
		v.form(field+".base", d.Base, objectID)
		v.form(field+".variant.agent", d.Variant.Agent, label)
		v.line(field+".variant.model", d.Variant.Model)
		v.count(field+".off", d.Off)
		v.count(field+".seq", int64(min(d.Seq, maxCount+1)))
		v.form(field+".decided.on", d.Decided.On, number)
		v.known(field+".decided.what", d.Decided.What == "" || slices.Contains(rulings, d.Decided.What))
		v.count(field+".decided.off", d.Decided.Off)
		v.form(field+".merged", d.Merged, objectID)
		v.known(field+".ended", d.Open() || slices.Contains(delegateEnds, d.Ended))
	}
}

func (v *validator) pauses(list []Pause) {
	if len(list) > maxPauses {
		v.fail("paused", "has %d entries and may have %d", len(list), maxPauses)
		return
	}
	for _, p := range list {
		v.form("paused.id", p.ID, number)
		v.form("paused.kind", string(p.Kind), label)
		v.line("paused.by", p.By)
		v.state("paused.state", p.State)
	}
}
