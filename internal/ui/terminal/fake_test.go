package terminal

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/project/records"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/worktree"
)

// today is when the tests look at the screen.
var today = time.Date(2026, 11, 23, 14, 0, 0, 0, time.Local)

func ago(minutes int) time.Time { return today.Add(-time.Duration(minutes) * time.Minute) }

// A fake is a source of what a test has put into it.
type fake struct {
	overview *status.Overview
	details  map[Key]*Detail
	diff     string
	outputs  []Output
	log      string

	done    []Act // the acts that were carried out
	values  []map[string]string
	outcome Outcome
	reads   int
	err     error
	judged  judged
}

func (f *fake) Overview(context.Context, bool) (*status.Overview, error) {
	f.reads++
	return f.overview, f.err
}
func (f *fake) Detail(_ context.Context, key Key) (*Detail, error) {
	if d := f.details[key]; d != nil {
		return d, f.err
	}
	return &Detail{Text: "nothing more is known"}, f.err
}
func (f *fake) Diff(context.Context, Key) (string, error)      { return f.diff, f.err }
func (f *fake) Outputs(context.Context, Key) ([]Output, error) { return f.outputs, f.err }
func (f *fake) CheckLog(context.Context, Key) (string, error)  { return f.log, f.err }
func (f *fake) Changed(context.Context) error                  { return context.Canceled }

// Do carries out what is still among the acts of the item, or of the project.
func (f *fake) Do(_ context.Context, key Key, a Act, values map[string]string) (Outcome, error) {
	list := f.overview.Acts
	if key != (Key{}) {
		list = f.details[key].Acts()
	}
	if _, err := status.FindAct(list, a); err != nil {
		return Outcome{}, err
	}
	f.done, f.values = append(f.done, a), append(f.values, values)
	out := f.outcome
	if r := f.details[key].report(); r != nil {
		out.Before = r.Seq
		r.Seq++
	}
	return out, f.err
}

// The acts of the fake's items.
var (
	answerAct = Act{Name: "answer", Label: "Answer", Args: []string{"answer", "q2", "--", "{answer}"},
		Fields: []Field{{Name: "answer", Label: "Answer", Kind: status.ChoiceField, Options: []string{"Keep the old name too", "Rename it everywhere", "Ask the users first"}, Required: true}}}
	stopAct     = Act{Name: "stop", Label: "Stop", Args: []string{"stop"}, Loses: "The run and its agents end. The task stays as it is, and a later run continues it."}
	rollbackAct = Act{Name: "rollback", Label: "Roll back", Args: []string{"rollback", "{seq}", "--reason={reason}"},
		Fields: []Field{{Name: "seq", Label: "Entry of the log", Kind: status.NumberField, Required: true}, {Name: "reason", Label: "Reason", Kind: status.LineField, Required: true}},
		Loses:  "The task returns to that entry. The later entries stay in the log."}
	approveAct = Act{Name: "approve", Label: "Approve", Args: []string{"--branch", "parser", "approve", "--submission", "s2", "--message={note}"},
		Fields: []Field{{Name: "note", Label: "Note (optional)", Kind: status.LineField}}}
	rejectAct = Act{Name: "reject", Label: "Reject", Args: []string{"--branch", "parser", "reject", "--submission", "s2", "--message={message}"},
		Fields: []Field{{Name: "message", Label: "What is wrong", Kind: status.TextField, Required: true}}}
	mergeAct = Act{Name: "merge", Label: "Merge", Args: []string{"merge", "docs", "--submission", "s1"}}
	runAct   = Act{Name: "run", Label: "New task, now", Args: []string{"run", "--headless", "--", "{task}"},
		Fields: []Field{{Name: "task", Label: "What is to be done", Kind: status.TextField, Required: true}}, Runs: true}
	branchAct = Act{Name: "task-branch", Label: "New task, on a branch", Args: []string{"branch", "{name}", "--task={task}"},
		Fields: []Field{{Name: "task", Label: "What is to be done", Kind: status.TextField, Required: true}, {Name: "name", Label: "Name of the branch", Kind: status.LineField, Required: true}}}
)

// night is a project in which each group has something.
func night(t testing.TB) *fake {
	t.Helper()
	own := &status.Report{}
	if err := json.Unmarshal([]byte(`{"holder": {"agent": "executor:codex:1", "alive": true}, "check": {"id": "k4", "status": "red", "retries_used": 2, "retries_max": 20,
		"commands": ["go vet ./...", "go test ./..."]}}`), own); err != nil {
		t.Fatal(err)
	}
	own.Root, own.TaskID, own.Title, own.State, own.Since, own.Seq = "/home/ada/adder", "t-20261123-120000-7f3a", "Rename the public function Sum to Add", state.AwaitingHuman, ago(12), 31
	own.Waiting = state.Waiting{For: "human", Since: ago(12)}
	own.Check.Failures = []checks.Command{{Line: "go test ./...", ExitCode: 1, Duration: 3 * time.Second, Tail: "--- FAIL: TestAdd (0.00s)\n\tadd_test.go:9: 3 is not 4\nFAIL\n"}}
	own.Reviews = status.Budget{Used: 1, Max: 3}
	own.Spent = records.Spend{Runs: 3, Time: 25 * time.Minute, Usage: agents.Usage{Input: 180_000, Output: 20_000, Dollars: 1.2}}
	own.Question = &status.Text{ID: "q2", By: "executor:codex:1", At: ago(12), Text: "Sum is used by two programs outside of this repository.\n\nMay the old name go at once?",
		Options: answerAct.Fields[0].Options}
	own.Next = []status.Step{{Command: "ferrus answer 1", Why: "or another number"}, {Command: "ferrus log"}, {Command: "ferrus diff"}}

	parser := &status.Report{Root: own.Root, Branch: "parser", TaskID: "t-20261123-121500-11aa", Title: "Parse hexadecimal numbers", State: state.Reviewing, Since: ago(4), Seq: 31,
		Waiting: state.Waiting{For: "supervisor", Since: ago(4)}, Submission: &status.Text{ID: "s2", By: "executor:claude-code:1", At: ago(4), Text: "Hexadecimal numbers are read.\nThe tests cover upper and lower case."}}
	docs := &status.Report{Root: own.Root, Branch: "docs", TaskID: "t-20261123-110000-beef", Title: "Describe the flags", State: state.Complete, Since: ago(55), Seq: 12}
	speed := &status.Report{Root: own.Root, Branch: "speed", TaskID: "t-20261123-133000-c0de", Title: "Halve the time of Add", State: state.Executing, Since: ago(9), Seq: 7,
		Waiting: state.Waiting{For: "executor", Since: ago(9)}, Agents: []status.AgentReport{{Run: process.Run{Name: "executor-1", Duty: agents.Executor, Agent: "codex", Started: ago(9)}, Doing: "edits add.go"}},
		Progress: &status.Text{By: "executor:codex:1", At: ago(2), Text: "The loop is unrolled; measuring."}}

	nightly := &status.RunStatus{Run: "nightly-7", Topic: "Which dependencies are out of date?", Status: pipeline.Status{State: pipeline.IsRunning, Phases: []pipeline.PhaseStatus{
		{ID: "collect", Status: pipeline.Running, Workers: []pipeline.WorkerStatus{{Role: "reader", Status: pipeline.Pending}, {Role: "checker", Status: pipeline.Pending}}}}},
		Next: []status.Step{{Command: "ferrus pipeline logs nightly-7 -f"}, {Command: "ferrus pipeline cancel nightly-7"}}}

	need := func(kind status.NeedKind, branch, command, text string, minutes int) status.Need {
		return status.Need{ID: branch + ":" + string(kind), Kind: kind, Branch: branch, Text: text, Since: ago(minutes), Command: command}
	}
	needs := []status.Need{need(status.NeedMerge, "docs", "ferrus merge docs", "Approved, ready to merge, +40 -0", 55),
		need(status.NeedAnswer, "", "ferrus answer q2 1", "Sum is used by two programs outside of this repository.", 12),
		need(status.NeedReview, "parser", "ferrus --branch parser approve", "Ready for your review: 3 files, round 2", 4)}
	needs[1].By, needs[1].Options = "Codex", own.Question.Options
	o := &status.Overview{Root: own.Root, Needs: needs, Acts: []Act{runAct, branchAct},
		Machines: []status.Machine{
			{TaskID: own.TaskID, Title: own.Title, State: own.State, Group: status.NeedsYou, Since: own.Since, Waits: "for you", Size: &worktree.Size{Files: 2, Added: 14, Deleted: 9}, Checks: status.Budget{Used: 2, Max: 20}, Spent: own.Spent},
			{Branch: "docs", TaskID: docs.TaskID, Title: docs.Title, State: docs.State, Group: status.NeedsYou, Since: docs.Since, Size: &worktree.Size{Files: 1, Added: 40}},
			{Branch: "parser", TaskID: parser.TaskID, Title: parser.Title, State: parser.State, Group: status.NeedsYou, Since: parser.Since, Size: &worktree.Size{Files: 3, Added: 120, Deleted: 8}},
			{Branch: "speed", TaskID: speed.TaskID, Title: speed.Title, State: speed.State, Group: status.AtWork, Since: speed.Since, Checks: status.Budget{Used: 1, Max: 4}, Waits: "for Codex", Agents: speed.Agents, Size: &worktree.Size{Files: 1, Added: 5, Deleted: 5}},
			{Branch: "speed-d1", Parent: &state.Parent{Branch: "speed", Seq: 5, ID: "d1"}, TaskID: "t-20261123-134000-0d01", Title: "Measure the old loop", State: state.Executing, Group: status.AtWork, Since: ago(3), Agents: []status.AgentReport{{Run: process.Run{Name: "executor-1", Duty: agents.Executor, Agent: "qwen-code"}}}},
		},
		Pipelines: []status.RunSummary{{Run: "nightly-7", Topic: nightly.Topic, State: pipeline.IsRunning, Waiting: "for reader, checker", Since: ago(1)}},
		Queue:     []status.QueuedTask{{Name: "zero", Title: "Add of no numbers is zero"}},
		Today:     records.Spend{Usage: agents.Usage{Dollars: 2.49}},
		Archived:  []status.ArchivedTask{{TaskID: "t-20261122-090000-aaaa", Title: "Make the tests run on Windows", State: state.Complete, At: ago(1500)}},
	}
	entry := func(seq uint64, minutes int, by string, event state.Event, to state.State, text string) status.Entry {
		return status.Entry{Seq: seq, At: ago(minutes), By: by, Event: event, To: to, Text: text}
	}
	undone := entry(22, 30, "executor:codex:1", state.Submit, state.Reviewing, "s1")
	undone.Undone = true
	back := entry(23, 28, "human", state.Rollback, state.Executing, "the old name must stay")
	back.Back = 20
	timeline := []status.Entry{entry(19, 61, "human", state.CreateTask, state.Executing, own.Title), entry(20, 60, "executor:codex:1", state.Claim, state.Executing, ""),
		entry(21, 40, "executor:codex:1", state.CheckStarted, state.Checking, "k3"), undone, back, entry(31, 12, "executor:codex:1", state.AskHuman, state.AwaitingHuman, "q2: May the old name go at once?")}
	diff, err := os.ReadFile("testdata/work.patch")
	if err != nil {
		t.Fatal(err)
	}
	task := func(r *status.Report, needs []status.Need, acts ...Act) *Detail {
		return &Detail{Task: &status.Detail{Report: r, Needs: needs, Acts: acts, Timeline: timeline}}
	}
	return &fake{overview: o, diff: string(diff), log: "== go vet ./...\n== go test ./...\n--- FAIL: TestAdd (0.00s)\nFAIL\n", outcome: Outcome{Text: "done"},
		outputs: []Output{{Name: "executor-1", About: "codex", Live: true, Lines: []string{"said     I look at the tests first.", "call     shell: go test ./...", "error    --- FAIL: TestAdd", "said     The old name has two users outside of the repository, so I ask."}},
			{Name: "reviewer-1", About: "claude-code", Lines: []string{"said     The patch lacks a doc comment."}}},
		details: map[Key]*Detail{{Task, ""}: task(own, needs[1:2], answerAct, stopAct, rollbackAct), {Task, "parser"}: task(parser, needs[2:], approveAct, rejectAct, rollbackAct),
			{Task, "docs"}: task(docs, needs[:1], mergeAct), {Task, "speed"}: task(speed, nil, stopAct), {Pipeline, "nightly-7"}: {Run: nightly},
			{Queued, "zero"}: {Text: "Add of no numbers is zero\n\nIt waits in the queue."}}}
}

// A stage is a screen in a test: its commands are carried out at once.
type stage struct {
	*Model
	t    testing.TB
	quit bool
}

func onStage(t testing.TB, src Source, width, height int) *stage {
	t.Helper()
	m := New(src, "adder")
	m.opened = ago(200)
	m.now, m.after = func() time.Time { return today }, func(time.Duration, tea.Msg) tea.Cmd { return nil }
	s := &stage{Model: m, t: t}
	s.send(tea.WindowSizeMsg{Width: width, Height: height})
	s.carry(m.Init())
	return s
}

func (s *stage) send(msg tea.Msg) {
	_, cmd := s.Update(msg)
	s.carry(cmd)
}

func (s *stage) carry(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			s.carry(c)
		}
	case tea.QuitMsg:
		s.quit = true
	default:
		s.send(msg)
	}
}

// special are the keys that are no characters.
var special = map[string]tea.KeyPressMsg{"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown},
	"space": {Code: tea.KeySpace, Text: " "}, "ctrl+s": {Code: 's', Mod: tea.ModCtrl}, "ctrl+e": {Code: 'e', Mod: tea.ModCtrl}, "ctrl+c": {Code: 'c', Mod: tea.ModCtrl}, "pgdown": {Code: tea.KeyPgDown},
	"ctrl+y": {Code: 'y', Mod: tea.ModCtrl}, "ctrl+u": {Code: 'u', Mod: tea.ModCtrl}, "ctrl+t": {Code: 't', Mod: tea.ModCtrl}, "ctrl+r": {Code: 'r', Mod: tea.ModCtrl}, "backspace": {Code: tea.KeyBackspace}}

// press presses keys.
func (s *stage) press(keys ...string) {
	for _, k := range keys {
		s.send(pressed(k))
	}
}

// pressed is the message of a key.
func pressed(key string) tea.KeyPressMsg {
	if msg, ok := special[key]; ok {
		return msg
	}
	return tea.KeyPressMsg{Code: []rune(key)[0], Text: key}
}

// write types a text.
func (s *stage) write(text string) {
	for _, r := range text {
		s.send(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

// busy is the project of a person who has been away: more than fits on a small screen.
func busy(t testing.TB) *fake {
	f := night(t)
	o := f.overview
	o.Machines, o.Needs = nil, nil
	machine := func(branch, title string, st state.State, group status.Group, minutes int) *status.Machine {
		o.Machines = append(o.Machines, status.Machine{Branch: branch, TaskID: "t-" + branch, Title: title, State: st, Group: group, Since: ago(minutes)})
		return &o.Machines[len(o.Machines)-1]
	}
	need := func(kind status.NeedKind, branch, title, text string, minutes int) *status.Need {
		machine(branch, title, state.Executing, status.NeedsYou, minutes)
		o.Needs = append(o.Needs, status.Need{ID: branch, Kind: kind, Branch: branch, Title: title, Text: text, Since: ago(minutes), Command: "ferrus status"})
		return &o.Needs[len(o.Needs)-1]
	}
	ask := need(status.NeedAnswer, "euro", "Show prices in euro", "How should a price look?", 121)
	ask.By, ask.Options = "Claude Code", []string{"1.234,50 € for everybody, as before", "€1,234.50 for everybody", "As the customer’s country writes it"}
	need(status.NeedBudget, "search", "Search articles by name", "The same check failed 3 times in a row", 120)
	need(status.NeedDelivery, "month", "The changes of this month", "It may have been sent, and may not", 180)
	need(status.NeedConflict, "discount", "Give a discount from 100 euro on", "total.go: shop has changed it, too", 180)
	need(status.NeedReview, "receipt", "Print a receipt", "Ready for your review: 4 files, round 2", 40)
	need(status.NeedChoice, "fast.2", "Make Find faster", "3 approved; fast.2 is best (655)", 180)
	need(status.NeedMerge, "tax", "Add the tax to the total", "Approved, ready to merge, +3 -3", 20)
	need(status.NeedFailed, "import", "Import the old orders", "4 of 4 checks failed: sh lint.sh", 180)
	need(status.NeedStopped, "stock", "Refuse what is not in stock", "No agent works on it", 60)
	o.Needs = append(o.Needs, status.Need{ID: "config", Kind: status.NeedAgreement, Branch: "stock", Text: "The settings have changed since it began: limits", Since: ago(60), Command: "ferrus config accept"})
	for _, w := range []struct {
		agent, branch, title string
		state                state.State
		failed, added, gone  int
		cost                 float64
		minutes              int
	}{{"claude-code", "round", "Round the tax to whole cents", state.Checking, 1, 34, 8, 0.42, 6}, {"codex", "count", "Count articles while importing", state.Executing, 0, 12, 0, 0.17, 18},
		{"gemini", "session", "Keep the cart when the session ends", state.Reviewing, 0, 120, 31, 1.9, 60}} {
		m := machine(w.branch, w.title, w.state, status.AtWork, w.minutes)
		m.Agents, m.Checks, m.Size = []status.AgentReport{{Run: process.Run{Duty: agents.Executor, Agent: w.agent}}}, status.Budget{Used: w.failed, Max: 4}, &worktree.Size{Added: w.added, Deleted: w.gone}
		m.Spent.Usage.Dollars = w.cost
	}
	machine("fast.1", "Make Find faster", state.Complete, status.NeedsYou, 180)
	machine("fast.3", "Make Find faster", state.Complete, status.NeedsYou, 180)
	for i, name := range []string{"cart", "names", "log", "docs"} {
		machine(name, "Task of "+name, state.Complete, status.Done, 300+i).Merged = true
	}
	o.Queue = append(o.Queue, status.QueuedTask{Name: "next", Title: "Another one"})
	o.Archived = append(o.Archived, status.ArchivedTask{TaskID: "t-a", Title: "Total the cart", State: state.Complete, At: ago(100)}, status.ArchivedTask{TaskID: "t-b", Title: "List the cart", State: state.Complete, At: ago(200)})
	report := *f.details[Key{Task, ""}].Task.Report
	report.Branch, report.TaskID, report.Title = "euro", "t-euro", "Show prices in euro"
	report.Question = &status.Text{ID: "q1", By: "executor:claude-code:1", At: ago(121), Options: ask.Options,
		Text: "How should a price look?\n\nThe old shop wrote 1.234,50 €; the new one has customers in other countries, too. cart.go and receipt.go would change; the price list from the supplier stays as it is."}
	act := answerAct
	act.Fields = []Field{{Name: "answer", Label: "Answer", Kind: status.ChoiceField, Options: ask.Options, Required: true}}
	f.details[Key{Task, "euro"}] = &Detail{Task: &status.Detail{Report: &report, Needs: o.Needs[:1], Acts: []Act{act, stopAct}, Timeline: f.details[Key{Task, ""}].Task.Timeline}}
	return f
}
