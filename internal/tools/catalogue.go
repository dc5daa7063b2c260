package tools

import (
	"math"

	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/tools/gate"
)

var (
	executor   = []state.Role{state.Executor}
	supervisor = []state.Role{state.Supervisor}
	agents     = []state.Role{state.Supervisor, state.Executor}
	everyone   = []state.Role{state.Supervisor, state.Executor, None}
)

func on(events ...state.Event) []state.Event { return events }

// delegateTool exists only where limits.max_delegates is not 0.
const delegateTool = "delegate"

// Catalogue returns all tools, in the order of the documentation. Actions of a person alone
// (answer, reset, reopen, release, rollback, accepting a configuration) are never tools.
func Catalogue() []Tool {
	return []Tool{
		{
			Name: "create_task", Title: "Create the task", Roles: supervisor, Events: on(state.CreateTask), run: createTask,
			Doc: "Create a task for the executor. Say what must be true in the end and how it is checked. Then wait_for_review.",
			Args: []Arg{{Name: "description", Doc: "the whole task, Markdown; the executor sees nothing else"},
				{Name: "title", Doc: "one line; default: the description's first", Line: handover.MaxLine, Optional: true}},
		},
		{
			Name: "wait_for_review", Title: "Wait until you are needed", Roles: supervisor, ReadOnly: true, run: waitForReview,
			Doc: "Wait for a submission, a consultation or the end of the task. On status timeout call it again.",
		},
		{
			Name: "review_pending", Title: "Read the submission", Roles: supervisor, ReadOnly: true, run: reviewPending,
			Events: on(state.Approve),
			Doc:    "The submission with task, diffstat, path of the patch, and check. Read the patch, then approve or reject.",
		},
		{
			Name: "approve", Title: "Approve the submission", Roles: supervisor, Events: on(state.Approve), run: approve, open: submissionShown,
			Doc: "Accept the submission that review_pending showed you; the task is Complete. Refused if the work tree changed since.",
			Args: []Arg{{Name: "note", Doc: "for the log", Optional: true},
				{Name: "submission", Doc: "its id, such as s1", Line: handover.MaxLine, Optional: true}},
		},
		{
			Name: "reject", Title: "Reject the submission", Roles: supervisor, Events: on(state.Reject), run: reject, open: submissionShown,
			Doc: "Send the work back. Say what is wrong and how you will check it next time: the executor reads only this.",
			Args: []Arg{{Name: "notes", Doc: "Markdown: what must change, lines as PATH:LINE: why"},
				{Name: "submission", Doc: "its id, such as s1", Line: handover.MaxLine, Optional: true}},
		},
		{
			Name: "respond_consult", Title: "Answer the consultation", Roles: supervisor, Events: on(state.RespondConsult),
			run: respondConsult, open: consultationShown,
			Doc: "Answer the executor's question from wait_for_review. Decide; the executor waits.",
			Args: []Arg{{Name: "response", Doc: "your answer, Markdown"},
				{Name: "consultation", Doc: "its id, such as c1", Line: handover.MaxLine, Optional: true}},
		},
		{
			Name: "history", Title: "Show what happened", Roles: supervisor, ReadOnly: true, run: showHistory, aside: true,
			Doc: "The task's log, newest last. ┆ marks entries that a rollback undid.",
			Args: []Arg{{Name: "limit", Doc: "default 20, at most 100", Number: mostEntries, Optional: true},
				{Name: "before", Doc: "only entries before this number", Number: math.MaxInt32, Optional: true}},
		},
		{
			Name: "queue_task", Title: "Queue a task", Roles: supervisor, run: queueTask, aside: true,
			Doc: "Queue another task. A person starts it (ferrus run --parallel).",
			Args: []Arg{{Name: "text", Doc: "the whole task, Markdown"},
				{Name: "name", Doc: "of its branch", Line: handover.MaxLine, Optional: true},
				{Name: "needs", Doc: "tasks done first", List: true, Optional: true},
				{Name: "pipeline", Doc: "run it on text", Line: handover.MaxLine, Optional: true},
				{Name: "to", Doc: "executor: send text as message", Line: handover.MaxLine, Optional: true}},
		},
		{
			Name: "select", Title: "Choose among attempts", Roles: supervisor, run: selectAttempt, aside: true,
			Doc: "Compare attempts at one task; with branch, select that approved one.",
			Args: []Arg{{Name: "branch", Line: handover.MaxLine, Optional: true},
				{Name: "reason", Optional: true}},
		},
		{
			Name: "wait_for_task", Title: "Wait for work and claim it", Roles: executor, run: waitForTask,
			Doc:  "Wait for work, claim it, and get all you need: task, review, last check, decisions, notes of earlier executors. Call it first.",
			Args: []Arg{namedClaim},
		},
		{
			Name: "check", Title: "Run the checks", Roles: executor, Events: on(state.CheckStarted), run: check,
			Doc:  "Run the project's checks on the work tree as it is. On status running call it again: it joins the run.",
			Args: []Arg{claim},
		},
		{
			Name: "submit", Title: "Submit the work", Roles: executor, Events: on(state.Submit, state.CheckStarted), run: submit,
			Doc: "Submit the work for review. If this tree has not passed the checks, they run first. On status running call it again.",
			Args: []Arg{{Name: "summary", Doc: "what you changed and why"}, {Name: "verification", Doc: "how you know that it works"},
				{Name: "limitations", Doc: "what is not done", Optional: true},
				{Name: "no_change", Doc: "only if no file is changed: why", Line: handover.MaxLine, Optional: true}, claim},
		},
		{
			Name: "consult", Title: "Ask the supervisor", Roles: executor, Events: on(state.Consult), run: consult, open: noCheckRuns,
			Doc: "Ask the supervisor about the code or the task when you cannot decide. Then wait_for_consult.",
			Args: []Arg{{Name: "problem", Doc: "what blocks you"}, {Name: "tried", Doc: "what you tried"},
				{Name: "question", Doc: "what you want to know"}, {Name: "options", Doc: "possible answers, one line each", List: true, Optional: true}, claim},
		},
		{
			Name: "wait_for_consult", Title: "Wait for the supervisor's answer", Roles: executor, run: waitForConsult,
			Events: on(state.TakeResponse),
			Doc:    "Wait for the answer to your consultation, then continue. On status timeout call it again.",
			Args:   []Arg{claim},
		},
		{
			Name: "progress", Title: "Note your progress", Roles: executor, Events: on(state.Progress, state.Tell), run: progress,
			Doc:  "Save a note for the next executor, in case you stop: what is done, what is next, what to avoid.",
			Args: []Arg{{Name: "note", Doc: "at most 4 KiB"}, {Name: "to", Doc: "supervisor or a delegate's id: send it as a message", Line: handover.MaxLine, Optional: true}, claim},
		},
		{
			Name: delegateTool, Title: "Delegate", Roles: executor, run: delegateWork, open: delegating,
			Events: on(state.DelegateStarted, state.DelegateDecided, state.DelegateMerged),
			Doc:    "Give a part (task) to another agent. Or wait until one submits or asks; then decide: id with approve, reject or answer.",
			Args: []Arg{{Name: "task", Doc: "the whole part, Markdown", Optional: true}, {Name: "agent", Line: handover.MaxLine, Optional: true},
				{Name: "id", Doc: "such as d1", Line: handover.MaxLine, Optional: true},
				{Name: "approve", Doc: "merge its change", Flag: true, Optional: true}, {Name: "reject", Doc: "what is wrong", Optional: true},
				{Name: "answer", Optional: true}, {Name: "submission", Doc: "its id: s1, c1", Line: handover.MaxLine, Optional: true}, claim},
		},
		{
			Name: "heartbeat", Title: "Renew the lease", Roles: executor, run: heartbeat, aside: true,
			Doc:  "Renew your lease. ferrus does this for you while you call tools; needed only in long silence.",
			Args: []Arg{claim},
		},
		defined(gate.AskHuman(claim), Tool{Roles: agents, Events: on(state.AskHuman), run: askHuman, open: noCheckRuns}),
		defined(gate.WaitForAnswer(claim), Tool{Roles: agents, run: waitForAnswer}),
		{
			Name: "status", Title: "Show the task's status", Roles: everyone, ReadOnly: true, run: showStatus, aside: true,
			Doc: "State, counters, who waits for whom since when, and what you may do now.",
		},
	}
}

// defined returns a tool with a definition that the tools of workers share.
func defined(as gate.Tool, t Tool) Tool {
	t.Name, t.Title, t.Doc, t.ReadOnly, t.Args = as.Name, as.Title, as.Doc, as.ReadOnly, as.Args
	return t
}
