package status

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project/records"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/golden"
)

// longTask is a task of an hour: an executor whose check fails, who dies, and whose work another one takes over; a rejection, a void check, and a
// reviewer's approval.
func longTask() (lines []*store.Line, runs []records.Run) {
	at := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	add := func(minute int, ev state.Event, from, to state.State, check, holder string) {
		t := state.Task{TaskID: "t-20260102-030000-00000001", State: to, ClaimedBy: holder}
		t.Check.ID = check
		lines = append(lines, &store.Line{Seq: uint64(len(lines) + 1), At: at.Add(time.Duration(minute) * time.Minute), Event: ev, From: from, To: to, State: t})
	}
	run := func(minute, minutes int, name, role, agent string, u agents.Usage) {
		runs = append(runs, records.Run{Task: "t-20260102-030000-00000001", Name: name, Role: role, Agent: agent, Started: at.Add(time.Duration(minute) * time.Minute),
			Time: time.Duration(minutes) * time.Minute, Usage: u})
	}
	add(0, state.CreateTask, state.Idle, state.Executing, "", "")
	add(1, state.Claim, state.Executing, state.Executing, "", "executor:codex:1")
	add(5, state.CheckStarted, state.Executing, state.Checking, "k1", "executor:codex:1")
	add(7, state.CheckFailed, state.Checking, state.Addressing, "k1", "executor:codex:1")
	add(20, state.Claim, state.Addressing, state.Addressing, "", "executor:claude-code:1")
	add(30, state.CheckStarted, state.Addressing, state.Checking, "k2", "executor:claude-code:1")
	add(31, state.CheckVoid, state.Checking, state.Addressing, "k2", "executor:claude-code:1")
	add(32, state.CheckStarted, state.Addressing, state.Checking, "k3", "executor:claude-code:1")
	add(34, state.CheckPassed, state.Checking, state.Executing, "k3", "executor:claude-code:1")
	add(35, state.Submit, state.Executing, state.Reviewing, "", "")
	add(40, state.Reject, state.Reviewing, state.Addressing, "", "")
	add(50, state.Submit, state.Addressing, state.Reviewing, "", "")
	add(60, state.Approve, state.Reviewing, state.Complete, "", "")
	run(1, 9, "executor-1", "executor", "codex", agents.Usage{Input: 1000, Cached: 400, Output: 50})
	run(19, 32, "executor-2", "executor", "claude-code", agents.Usage{Input: 5000, Output: 70, Dollars: 0.25})
	run(36, 26, "reviewer-1", "reviewer", "command", agents.Usage{})
	return lines, runs
}

// TestATaskIsATrace: its runs are below it, and each check below the run that was at work. A check that nobody's run has asked for is the task's.
func TestATaskIsATrace(t *testing.T) {
	lines, runs := longTask()
	id := lines[0].State.TaskID
	trace := traceOf(id, lines, runs)
	var b strings.Builder
	for _, row := range trace.Rows() {
		fmt.Fprintf(&b, "%s\n", strings.TrimRight(fmt.Sprintf("%-32s %-12s %-8s %s", row[0], row[1], row[2], row[3]), " "))
	}
	text, err := json.MarshalIndent(trace.OTLP("v1.2.3"), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/trace.golden", b.String()+"\n"+string(text)+"\n")
	of := map[string]Span{}
	for _, s := range trace.Spans {
		if of[s.ID].ID != "" || len(s.ID) != 16 || s.End.Before(s.Start) {
			t.Errorf("%s %s ends %v after it began", s.Name, s.ID, s.End.Sub(s.Start))
		}
		of[s.ID] = s
	}
	if parent := agents.TraceParent(id, "executor-2"); parent != "00-"+trace.ID+"-"+agents.SpanID(id, "executor-2")+"-01" || of[strings.Split(parent, "-")[2]].Name != "invoke_agent claude-code" {
		t.Errorf("the agent is told %s", parent)
	}
	for _, alone := range traceOf(id, lines, nil).Spans[1:] {
		if alone.Parent != trace.Spans[0].ID {
			t.Errorf("without runs %s is below %s", alone.Name, alone.Parent)
		}
	}
	running := traceOf(id, lines[:3], nil).Spans
	if len(running) != 2 || running[1].End != running[1].Start || running[1].Failed {
		t.Errorf("a check that runs: %+v", running)
	}
	lines[12].To = state.Failed
	if failed := traceOf(id, lines, runs).Spans[0]; !failed.Failed || trace.Spans[0].Failed {
		t.Error("a task that has failed is not said to have")
	}
}

// TestATaskIsCounted: a claim of what somebody held is a takeover, and a check takes from its start to its result. The counts go through the index
// unchanged.
func TestATaskIsCounted(t *testing.T) {
	lines, runs := longTask()
	one, all := newTally(), newTally()
	for _, l := range lines {
		one.add(l)
	}
	text, err := json.Marshal(counted{one, "approved"})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var read counted
		if err := json.Unmarshal(text, &read); err != nil || read.Outcome != "approved" {
			t.Fatalf("%s: %v", text, err)
		}
		all.join(read.tally)
	}
	v := &Overview{Machines: []Machine{{TaskID: "t-1", State: state.Executing}, {TaskID: "t-2", State: state.Executing}, {TaskID: "t-3", State: state.Reviewing},
		{TaskID: "t-4", State: state.Executing, Error: "it cannot be read"}, {}}, Queue: make([]QueuedTask, 3), Needs: []Need{{Kind: NeedAnswer}, {Kind: NeedReview}, {Kind: NeedAnswer}}}
	var b strings.Builder
	if err := format.WriteMetrics(&b, append(append(v.metrics(), all.metrics(map[string]int{"approved": 2})...), runMetrics(append(runs, runs[0]))...)); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/metrics.golden", b.String())
}
