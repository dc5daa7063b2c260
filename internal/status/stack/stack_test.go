package stack

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/platform/jsonx"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/tools/gate"
)

// TestNoWalkLeavesTheOrderOfKinds: random pushes accept exactly the pairs of the table, a refused one
// changes nothing, every kind is reached, and from everywhere an agent can finish. S2-01, S2-04, S2-05.
func TestNoWalkLeavesTheOrderOfKinds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	seen := map[Kind]bool{}
	for range 200 {
		var s Stack
		for range 50 {
			next, before, top := Kinds()[random.IntN(len(Kinds()))], len(s.Entries), s.Top()
			err := s.Push(Entry{Kind: next})
			var wrong *OrderError
			switch {
			case Legal(top, next) && (err != nil || s.Top() != next):
				t.Fatalf("%s after %s: %v", next, top, err)
			case !Legal(top, next) && (!errors.As(err, &wrong) || len(s.Entries) != before || wrong.Next != next || wrong.Top != top):
				t.Fatalf("%s after %q is pushed: %v", next, top, err)
			}
			seen[s.Top()] = true
		}
		for i, e := range s.Entries {
			if e.N != i+1 || i == 0 && e.Kind != UserMessage || i > 0 && !Legal(s.Entries[i-1].Kind, e.Kind) {
				t.Fatalf("%+v", s.Entries)
			}
		}
	}
	for _, k := range Kinds() {
		if !seen[k] {
			t.Errorf("%s was never reached", k)
		}
		reached := []Kind{k}
		for i := 0; i < len(reached); i++ {
			for _, next := range successors[reached[i]] {
				if !slices.Contains(reached, next) {
					reached = append(reached, next)
				}
			}
		}
		if !slices.Contains(reached, Finished) {
			t.Errorf("an agent at %s never finishes", k)
		}
	}
}

// TestPairsThatTheTableRefuses are made by hand. S2-02, S2-03, S2-05.
func TestPairsThatTheTableRefuses(t *testing.T) {
	for _, pair := range [][2]Kind{{"", AssistantMessage}, {"", ToolCall}, {UserMessage, ToolCall}, {UserMessage, Finished},
		{AssistantMessage, UserRequest}, {AssistantMessage, Finished}, {ToolCall, ToolCall}, {ToolCall, AgentResult}, {ToolResult, Finished},
		{AgentCall, ToolResult}, {AgentCall, UserMessage}, {UserRequest, AssistantMessage}, {Finished, AssistantMessage}, {Finished, Finished}} {
		if Legal(pair[0], pair[1]) {
			t.Errorf("%s may follow %q", pair[1], pair[0])
		}
	}
}

var eight = time.Date(2026, 1, 2, 8, 0, 0, 0, time.UTC)

func at(seconds int) time.Time { return eight.Add(time.Duration(seconds) * time.Second) }

// A recording is what Claude Code printed in one run: it reports no times.
const recording = `{"type":"system","subtype":"init","model":"m","session_id":"s"}
{"type":"assistant","message":{"id":"1","content":[{"type":"tool_use","name":"mcp__ferrus__wait_for_task","input":{}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","content":"{\"status\":\"claimed\",\"message\":\"yours\"}"}]}}
{"type":"assistant","message":{"id":"2","content":[{"type":"text","text":"I look \u001b[31mat both"}]}}
{"type":"assistant","message":{"id":"2","content":[{"type":"tool_use","name":"Read","input":{"file_path":"a.go"}}]}}
{"type":"assistant","message":{"id":"2","content":[{"type":"tool_use","name":"Read","input":{"file_path":"b.go"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","content":"package a"}]}}
{"type":"user","message":{"content":[{"type":"tool_result","content":"package b"}]}}
{"type":"assistant","message":{"id":"3","content":[{"type":"tool_use","name":"mcp__ferrus__progress","input":{"note":"second"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","content":"saved"}]}}
{"type":"assistant","message":{"id":"4","content":[{"type":"tool_use","name":"mcp__ferrus__submit","input":{"summary":"x","verification":"y"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","content":"{\"status\":\"submitted\",\"message\":\"s1\"}"}]}}
{"type":"assistant","message":{"id":"5","content":[{"type":"text","text":"done"}]}}
{"type":"result","subtype":"success","result":"done"}
`

func called(from, to int, tool, args, status string, seq uint64) gate.LoggedCall {
	return gate.LoggedCall{Began: at(from), End: at(to), Took: at(to).Sub(at(from)), Tool: tool, Status: status, Task: "t-1", Seq: seq, Run: "executor-1",
		Agent: "executor:claude-code:1", Args: jsonx.Digest(json.RawMessage(args))}
}

// recorded is the run of the recording.
func recorded() Facts {
	r := agents.ReaderOf("claude-code")
	f := Facts{Name: "t-1/executor-1", Agent: "executor:claude-code:1", Duty: "executor", Run: "executor-1", Task: "t-1", Began: at(0), Ended: at(100),
		Told: "the task", End: "exit status 0", Notes: r.Feed([]byte(recording))}
	f.Calls = []gate.LoggedCall{
		called(1, 2, "wait_for_task", `{}`, "claimed", 2),
		called(20, 21, "progress", `{"note":"first"}`, "", 3), // its output is lost
		called(30, 31, "progress", `{"note":"second"}`, "", 4),
		called(40, 50, "submit", `{"verification":"y","summary":"x"}`, "submitted", 6),
	}
	for i, e := range []struct {
		event string
		at    int
	}{{"claim", 2}, {"progress", 20}, {"progress", 30}, {"check_started", 41}, {"submit", 50}} {
		f.Events = append(f.Events, Event{Seq: uint64(i + 2), Event: e.event, at: at(e.at), task: "t-1"})
	}
	return f
}

// lines shows entries, one a line, without those that are implied.
func lines(list []Entry) string {
	var b strings.Builder
	for _, e := range list {
		if e.Implied {
			continue
		}
		about := ""
		if e.Approx {
			about = "~"
		}
		fmt.Fprintf(&b, "%s%d %s %s", about, int(e.At.Sub(eight).Seconds()), e.Kind, strings.TrimSpace(e.Tool+" "+e.Status))
		for _, ev := range e.Events {
			fmt.Fprintf(&b, " [%d]", ev.Seq)
		}
		if e.Illegal != "" {
			b.WriteString(" !")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// TestFourRecordsBecomeOneStack: what the client printed has the order, the log of our server the
// times and answers, the journal the entries. Two calls at once are marked, and so is nothing else. S2-01, S2-03.
func TestFourRecordsBecomeOneStack(t *testing.T) {
	var s Stack
	if err := s.Join(recorded()); err != nil {
		t.Fatal(err)
	}
	want := `0 UserMessage 
1 ToolCall wait_for_task
2 ToolResult wait_for_task claimed [2]
~2 AssistantMessage 
~2 ToolCall Read
~2 ToolCall Read !
~2 ToolResult Read
~2 ToolResult Read !
20 ToolCall progress
21 ToolResult progress [3]
30 ToolCall progress
31 ToolResult progress [4]
40 ToolCall submit
50 ToolResult submit submitted [5] [6]
~50 AssistantMessage 
100 Finished 
`
	if got := lines(s.Entries); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for i, e := range s.Entries {
		if strings.Contains(e.Text, "\x1b") {
			t.Errorf("%q", e.Text)
		}
		if e.Kind == ToolCall && e.Tool == "progress" && strings.Contains(e.Text, "second") != (e.At.Equal(at(30))) {
			t.Errorf("the client has called %q at %v", e.Text, e.At)
		}
		if i > 0 && e.Illegal == "" && !Legal(s.Entries[i-1].Kind, e.Kind) && e.Kind != Finished {
			t.Errorf("%s after %s is not marked", e.Kind, s.Entries[i-1].Kind)
		}
	}
}

// TestAnAgentThatEndsWithoutHandingInIsMarked, and the next message starts it again.
func TestAnAgentThatEndsWithoutHandingInIsMarked(t *testing.T) {
	f := recorded()
	f.Calls, f.Events, f.Notes = f.Calls[:1], f.Events[:1], nil
	var s Stack
	if err := s.Join(f); err != nil {
		t.Fatal(err)
	}
	if e := s.Entries[len(s.Entries)-1]; e.Kind != Finished || e.Illegal != "Finished after ToolResult" {
		t.Errorf("%+v", e)
	}
	again := recorded()
	again.Began, again.Ended = at(200), at(300)
	n := len(s.Entries)
	if err := s.Join(again); err != nil || s.Entries[n].Kind != UserMessage || s.Entries[n].Illegal != "" || s.Entries[n].N != n+1 {
		t.Errorf("%+v, %v", s.Entries[n], err)
	}
}

// TestACallThatWaitsIsNoStep: the request stays on top until somebody answers, and what answers
// another request is not for this one.
func TestACallThatWaitsIsNoStep(t *testing.T) {
	f := Facts{Agent: "executor:codex:1", Run: "executor-1", Began: at(0), Ended: at(99)}
	f.Calls = []gate.LoggedCall{
		called(1, 2, "consult", `{}`, "", 1), called(3, 9, "wait_for_consult", `{}`, "waiting", 1), called(10, 20, "wait_for_consult", `{}`, "answered", 2),
		called(21, 22, "ask_human", `{}`, "", 3), called(23, 30, "wait_for_answer", `{}`, "answered", 4), called(40, 41, "submit", `{}`, "", 5),
	}
	f.Heard = []Entry{{Kind: UserResponse, At: at(5)}, {Kind: AgentResult, At: at(15)}, {Kind: UserResponse, At: at(25)}, {Kind: UserMessage, At: at(35)}}
	var s Stack
	if err := s.Join(f); err != nil {
		t.Fatal(err)
	}
	want := `0 UserMessage 
1 ToolCall consult
2 AgentCall consult
15 AgentResult 
21 ToolCall ask_human
22 UserRequest ask_human
25 UserResponse 
35 UserMessage 
40 ToolCall submit
41 ToolResult submit
99 Finished 
`
	if got := lines(s.Entries); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	f.Calls[0].Code = "check_running" // refused: it waits for nobody
	var refused Stack
	if err := refused.Join(f); err != nil || strings.Contains(lines(refused.Entries), "Agent") {
		t.Errorf("%v\n%s", err, lines(refused.Entries))
	}
}

// TestAQuickAnswerFollowsItsRequest: it is recorded while the call that asks is still returning.
func TestAQuickAnswerFollowsItsRequest(t *testing.T) {
	f := Facts{Agent: "executor:codex:1", Run: "executor-1", Began: at(0), Ended: at(99)}
	f.Calls = []gate.LoggedCall{called(1, 9, "consult", `{}`, "", 1), called(10, 20, "wait_for_consult", `{}`, "answered", 2), called(40, 41, "submit", `{}`, "", 5)}
	f.Heard = []Entry{{Kind: AgentResult, At: at(5)}}
	var s Stack
	if err := s.Join(f); err != nil {
		t.Fatal(err)
	}
	want := `0 UserMessage 
1 ToolCall consult
9 AgentCall consult
9 AgentResult 
40 ToolCall submit
41 ToolResult submit
99 Finished 
`
	if got := lines(s.Entries); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestStepsOfACommandAreOursToRefuse: a rule decides them, and what cannot be is an error. S2-03, S2-11.
func TestStepsOfACommandAreOursToRefuse(t *testing.T) {
	f := Facts{Name: "r/lint-1", Agent: "lint:run:1", Run: "lint-1", Began: at(0), Ended: at(1), Told: "lint", Command: "make lint"}
	var s Stack
	if err := s.Join(f); err != nil {
		t.Fatal(err)
	}
	var kinds []Kind
	for i, e := range s.Entries {
		kinds = append(kinds, e.Kind)
		if e.Implied || e.Illegal != "" || i > 0 && !Legal(s.Entries[i-1].Kind, e.Kind) {
			t.Errorf("%+v", e)
		}
	}
	if !slices.Equal(kinds, []Kind{UserMessage, AssistantMessage, ToolCall, Finished}) || s.Entries[1].Via != "rule" || s.Entries[2].Text != "make lint" {
		t.Errorf("%+v", s.Entries)
	}
	running := f
	running.Ended = time.Time{}
	var open Stack
	if err := open.Join(running); err != nil {
		t.Fatal(err)
	}
	var wrong *OrderError
	if err := open.Join(f); !errors.As(err, &wrong) || len(open.Entries) != 3 { // two attempts at a time
		t.Errorf("%v, %+v", err, open.Entries)
	}
	f.Calls = []gate.LoggedCall{called(0, 1, "write_output", `{}`, "", 1)}
	if err := s.Join(f); !errors.Is(err, ErrCalls) || len(s.Entries) != 4 {
		t.Errorf("%v, %+v", err, s.Entries)
	}
}

// TestCallsFindTheirRun: by its name, and on lines of an older server by agent and time.
func TestCallsFindTheirRun(t *testing.T) {
	one, two := &Facts{Agent: "executor:codex:1", Run: "executor-1", Began: at(0), Ended: at(10)}, &Facts{Agent: "executor:codex:1", Run: "executor-2", Began: at(9), Ended: at(20)}
	call := func(start int, agent, run string) gate.LoggedCall {
		return gate.LoggedCall{Began: at(start), End: at(start), Agent: agent, Run: run, Tool: "check"}
	}
	list := assignCalls(Records{one, two}, []gate.LoggedCall{
		call(5, "executor:codex:1", ""), call(9, "executor:codex:1", "executor-2"), call(15, "executor:codex:1", ""), call(15, "executor:codex:1", "executor-1"),
		call(15, "executor:other:1", ""), call(90, "executor:codex:1", ""), call(15, "", "writer-1"),
	})
	var got []string
	for _, f := range list {
		got = append(got, fmt.Sprintf("%s %s %d", f.Agent, f.Run, len(f.Calls)))
	}
	if want := []string{"executor:codex:1 executor-1 1", "executor:codex:1 executor-2 2", "executor:codex:1  2", "executor:other:1  1"}; !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}

// TestAMessageIsForTheRunThatWorks, also while an older run has no end because its record was lost.
func TestAMessageIsForTheRunThatWorks(t *testing.T) {
	lost, works := &Facts{Agent: "executor:codex:1", Run: "executor-1", Began: at(0)}, &Facts{Agent: "executor:codex:1", Run: "executor-2", Began: at(10)}
	reviews, over := &Facts{Agent: "supervisor:codex:1", Run: "reviewer-1", Began: at(5)}, &Facts{Agent: "executor:codex:1", Run: "executor-3", Began: at(11), Ended: at(12)}
	list := Records{works, lost, reviews, over}
	l := &store.Line{At: at(20), Actor: store.Actor{Role: state.Human, Agent: "human"}, State: state.Task{ClaimedBy: "executor:codex:1"}}
	if got := list.listeners(l, UserMessage); len(got) != 1 || got[0] != works {
		t.Errorf("%+v", got)
	}
	if got := list.listeners(l, UserResponse); len(got) != 3 {
		t.Errorf("%+v", got)
	}
	l.Actor.Agent = "supervisor:codex:1"
	if got := list.listeners(l, AgentResult); len(got) != 2 || slices.Contains(got, reviews) {
		t.Errorf("%+v", got)
	}
}

// TestTheOutputOfAClientMayBeGone: then it says nothing.
func TestTheOutputOfAClientMayBeGone(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "out.log")
	if err := os.WriteFile(log, []byte("hello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := notes("command", log)
	if err != nil || len(said) != 1 || said[0].Text != "hello" {
		t.Errorf("%+v, %v", said, err)
	}
	if said, err := notes("command", filepath.Join(dir, "gone")); err != nil || said != nil {
		t.Errorf("%+v, %v", said, err)
	}
}

// TestThePageHasTheTable: docs/stack.md says which kind may follow which.
func TestThePageHasTheTable(t *testing.T) {
	page, err := os.ReadFile("../../../docs/stack.md")
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, k := range append([]Kind{""}, Kinds()...) {
		name := string(k)
		if k == "" {
			name = "(empty)"
		}
		var next []string
		for _, n := range successors[k] {
			next = append(next, string(n))
		}
		fmt.Fprintf(&want, "| %s | %s |\n", name, strings.Join(next, ", "))
	}
	if !strings.Contains(strings.ReplaceAll(string(page), "\r\n", "\n"), want.String()) {
		t.Errorf("docs/stack.md has not\n%s", &want)
	}
}

// TestManyLinesAreOneSpeech: a program prints a line for each note, and a stack would keep all of them.
func TestManyLinesAreOneSpeech(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	text := strings.Repeat("a line\n", 50_000) + "error 429\n" + strings.Repeat("y\n", 10)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := notes("command", path)
	if err != nil || len(said) != 3 || len(said[0].Text) > maxText+10 {
		t.Fatalf("%v: %d notes", err, len(said))
	}
	all := agents.ReaderOf("command").Feed([]byte(text))
	if got, want := (&Facts{Notes: said}).fromNotes(), (&Facts{Notes: all}).fromNotes(); len(got) != len(want) || got[0].Text != want[0].Text || got[2].Text != want[2].Text {
		t.Errorf("%d steps, and %d of all notes", len(got), len(want))
	}
}
