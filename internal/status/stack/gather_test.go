//go:build unix

package stack

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/tools/gate"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Main(m.Run)) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// list writes values as the lines of a file.
func list[T any](t *testing.T, path string, values ...T) {
	t.Helper()
	var text []byte
	for _, v := range values {
		line, err := json.Marshal(v)
		must(t, err)
		text = append(append(text, line...), '\n')
	}
	must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, text, 0o600)))
}

// ran is a run that has ended.
func ran(duty agents.Duty, number int, agent string, began, ended time.Time, exit int) process.Run {
	name := fmt.Sprintf("%s-%d", duty, number)
	return process.Run{Name: name, Duty: duty, Agent: agent, Log: "agent-" + name + ".log", Started: began, Ended: ended, Exit: exit}
}

// summary says of each record what it is, and how many calls and entries of the journal it has.
func summary(all Records) (list []string) {
	for i, s := range all.Summaries() {
		list = append(list, fmt.Sprintf("%s %s over=%v calls=%d events=%d heard=%d", s.Name, s.Agent, s.Over, s.Calls, len(all[i].Events), len(all[i].Heard)))
	}
	return list
}

// TestTheRecordsOfAMachineAreFound: runs, calls and entries of the journal, each with the agent that made them, in the order of time.
func TestTheRecordsOfAMachineAreFound(t *testing.T) {
	m := enginetest.Repository(t, enginetest.Gate("true"))
	empty, err := Gather(m.Engine())
	if must(t, err); len(empty) != 0 || len(empty.Summaries()) != 0 {
		t.Errorf("of a new project: %q", summary(empty))
	}
	_, ex := m.Begun()
	now, task := time.Now().UTC(), enginetest.View(t, ex).Task.TaskID
	enginetest.Must(m.Human().Steer(t.Context(), "Hurry\x1b."))(t)
	runs := m.Path(".ferrus/runs/" + task + ".jsonl")
	list(t, runs, ran("executor", 1, "command", now.Add(-time.Hour), now.Add(-time.Minute), 3), ran("executor", 2, "codex", now.Add(-30*time.Second), time.Time{}, 0))
	m.Write(".ferrus/runs/notes.txt", "not a list of runs")
	m.Write(".ferrus/logs/agent-executor-1.log", "hello\n")
	calls := m.Path(".ferrus/logs/serve-executor.log")
	list(t, calls, gate.LoggedCall{Message: gate.LogMessage, Began: now.Add(-time.Second), End: now.Add(time.Hour), Tool: "wait_for_task", Agent: "executor:codex:1", Run: "executor-2", Task: task},
		gate.LoggedCall{Message: gate.LogMessage, Began: now.Add(-2 * time.Hour), End: now.Add(-2 * time.Hour), Tool: "status", Agent: "supervisor:codex:2"})
	all, err := Gather(ex.Engine())
	must(t, err)
	want := []string{"supervisor:codex:2 supervisor:codex:2 over=false calls=1 events=0 heard=0", task + "/executor-1 executor:command:1 over=true calls=0 events=0 heard=0",
		task + "/executor-2 executor:codex:1 over=false calls=1 events=1 heard=1", "supervisor:claude:1 supervisor:claude:1 over=false calls=0 events=1 heard=0"}
	if got := summary(all); !slices.Equal(got, want) {
		t.Fatalf("%q, not %q", got, want)
	}
	if told := all[1].Told; told != "executor for the task: Build it." || all[0].Told != "" {
		t.Errorf("it was started with %q, the other with %q", told, all[0].Told)
	}
	entries, err := all.Find("executor-1").Stack()
	must(t, err)
	if len(entries) != 3 || entries[1].Text != "hello" || entries[2].Text != "exit status 3" {
		t.Errorf("%+v", entries)
	}
	heard := all[2].Heard[0]
	if heard.Kind != UserMessage || heard.Text != "Hurry<U+001B>." || heard.Agent != "executor:codex:1" || heard.Run != "executor-2" || heard.Task != task {
		t.Errorf("%+v", heard)
	}

	enginetest.Branched(t, m.Human(), branch.Fork{Names: []string{"alt"}})
	enginetest.Claim(t, m.On("alt").Executor("gemini"))
	of, err := Gather(m.On("alt").Engine())
	if must(t, err); len(of) != 1 || of[0].Agent != "executor:gemini:1" || len(of[0].Events) != 1 {
		t.Errorf("a branch has entries of the machine that it was made of: %q", summary(of))
	}

	log := m.Path(".ferrus/logs/agent-executor-1.log")
	must(t, errors.Join(os.Remove(log), os.Symlink(runs, log)))
	if entries, err := all.Find("executor-1").Stack(); err == nil || len(entries) != 0 {
		t.Errorf("output that cannot be read: %+v, %v", entries, err)
	}
	for _, path := range []string{runs, filepath.Dir(runs), filepath.Dir(calls)} { // a folder for the file, and a file for the folders
		must(t, os.RemoveAll(path))
		if strings.HasSuffix(path, ".jsonl") {
			must(t, os.Mkdir(path, 0o700))
		} else {
			must(t, os.WriteFile(path, nil, 0o600))
		}
		if got, err := Gather(ex.Engine()); err == nil || got != nil {
			t.Errorf("%s cannot be read: %q, %v", filepath.Base(path), summary(got), err)
		}
		must(t, os.RemoveAll(path))
	}
}

// TestADamagedJournalIsReadAsFarAsItIsValid.
func TestADamagedJournalIsReadAsFarAsItIsValid(t *testing.T) {
	enginetest.InFiles(t, "it damages the journal")
	m := enginetest.Plain(t, enginetest.Gate("true"))
	_, ex := m.Begun()
	e := ex.Engine()
	lines := strings.SplitAfter(string(m.Journal()), "\n")
	damaged := lines[0] + strings.Replace(lines[1], "codex", "other", 1) + strings.Join(lines[2:], "")
	must(t, os.WriteFile(m.Path(".ferrus/journal.jsonl"), []byte(damaged), 0o600))
	all, err := Gather(e)
	if err == nil || len(all) != 1 || all[0].Agent != "supervisor:claude:1" {
		t.Errorf("%q, %v", summary(all), err)
	}
}

// TestTheWorkersOfAPipelineHaveStacks: each attempt with its own calls, of active and archived runs.
func TestTheWorkersOfAPipelineHaveStacks(t *testing.T) {
	m := enginetest.Plain(t, "")
	flows, err := workflow.Parse([]byte(`{"p": {"phases": [{"id": "a", "workers": [{"role": "lint", "run": "make lint"}, {"role": "two", "agent": "codex", "task": "Write it."}]},
		{"id": "b", "workers": [{"role": "end", "final": true, "reads": ["lint.md", "two.md"], "run": "true"}]}]}}`))
	must(t, err)
	at, now := run.At(m.Dir, config.Default().Pipelines), time.Now().UTC()
	f, err := at.Launch(flows[0], "topic", at.Settings(config.Default()), now)
	must(t, err)
	list(t, f.Path("workers", "lint.jsonl"), ran("lint", 1, agents.CommandWorker, now, now.Add(time.Second), 0))
	list(t, f.Path("workers", "two.jsonl"), ran("two", 1, "codex", now.Add(2*time.Second), now.Add(3*time.Second), 1), ran("two", 2, "codex", now.Add(4*time.Second), time.Time{}, 0))
	must(t, os.MkdirAll(f.Path("prompts"), 0o700))
	must(t, os.WriteFile(f.Path("prompts", "two.txt"), []byte("Write two.md\x1b."), 0o600))
	call := func(worker string, attempt int) gate.LoggedCall {
		return gate.LoggedCall{Message: gate.LogMessage, Began: now.Add(5 * time.Second), End: now.Add(6 * time.Second), Tool: "write_output", Worker: worker, Attempt: attempt}
	}
	list(t, f.Path("logs", "serve-two.log"), call("two", 2), call("two", 3), call("lint", 2), call("two", 2))
	all, err := Gather(m.Engine())
	must(t, err)
	name := f.Name() + "/"
	want := []string{name + "lint-1 lint:run:1 over=true calls=0 events=0 heard=0", name + "two-1 two:codex:1 over=true calls=0 events=0 heard=0",
		name + "two-2 two:codex:2 over=false calls=2 events=0 heard=0"}
	if got := summary(all); !slices.Equal(got, want) {
		t.Fatalf("%q, not %q", got, want)
	}
	lint, first := all[0], all[1]
	if lint.Command != "make lint" || lint.Told != "lint" || !lint.Done || first.Command != "" || first.Told != "Write two.md<U+001B>." || first.Done || all[2].Done {
		t.Errorf("%+v, %+v, %+v", lint, first, all[2])
	}
	if entries, err := all.Find(name + "lint-1").Stack(); err != nil || len(entries) != 4 || entries[2].Text != "make lint" {
		t.Errorf("%+v, %v", entries, err)
	}
	broken := at.Tmp + "/broken"
	must(t, os.Mkdir(broken, 0o700))
	if folders, err := Folders(m.Engine()); err != nil || len(folders) != 1 {
		t.Errorf("%d runs can be opened, %v", len(folders), err)
	}
	must(t, os.MkdirAll(at.Archive, 0o700))
	must(t, os.Rename(f.Dir, filepath.Join(at.Archive, f.Name())))
	if again, err := Gather(m.Engine()); err != nil || !slices.Equal(summary(again), want) {
		t.Errorf("archived: %q, %v", summary(again), err)
	}
	e := m.Engine()
	must(t, os.RemoveAll(at.Tmp))
	must(t, os.WriteFile(at.Tmp, nil, 0o600))
	if all, err := Gather(e); err == nil || len(all) != 0 {
		t.Errorf("the runs cannot be listed: %q, %v", summary(all), err)
	}
}

// TestANameMeansWhatHasIt: a run with its task, the newest run of a name, all that an agent or a duty did, or nothing.
func TestANameMeansWhatHasIt(t *testing.T) {
	all := Records{
		{Name: "t-1/executor-1", Run: "executor-1", Agent: "executor:codex:1", Duty: "executor"},
		{Name: "t-1/reviewer-1", Run: "reviewer-1", Agent: "supervisor:codex:1", Duty: "reviewer"},
		{Name: "t-2/executor-1", Run: "executor-1", Agent: "executor:claude:1", Duty: "executor"},
		{Agent: "executor:codex:1", Duty: "executor"},
	}
	for name, want := range map[string][]int{
		"t-1/executor-1": {0}, "executor-1": {2}, "reviewer-1": {1}, "executor:codex:1": {0, 3}, "executor": {0, 2, 3}, "reviewer": {1}, "t-1": nil, "nobody": nil,
	} {
		var got []int
		for _, f := range all.Find(name) {
			got = append(got, slices.Index(all, f))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, not %v", name, got, want)
		}
	}
	if got := all.Summaries(); got[0].Name != "t-1/executor-1" || got[3].Name != "executor:codex:1" {
		t.Errorf("%+v", got)
	}
}

// TestWhoeverSpeaksToAnAgentIsHeard: a person and other agents, and nobody else.
func TestWhoeverSpeaksToAnAgentIsHeard(t *testing.T) {
	for event, want := range map[state.Event]string{
		state.Answer: "UserResponse the answer", state.RespondConsult: "AgentResult the response", state.Steer: "UserMessage a note",
		state.Tell: "UserMessage d1: a note", state.Submit: "", state.AskHuman: "",
	} {
		l := &store.Line{Seq: 7, At: at(1), Event: event, From: state.Executing, To: state.Executing, Note: "a note", Actor: store.Actor{Agent: "d1"},
			Docs: map[state.Doc]string{state.AnswerDoc: "the answer", state.ConsultResponseDoc: "the response"}}
		e, ok := heard(l)
		if got := string(e.Kind) + " " + e.Text; ok != (want != "") || ok && (got != want || !e.At.Equal(at(1)) || len(e.Events) != 1 || e.Events[0].Seq != 7) {
			t.Errorf("%s: %+v, %v", event, e, ok)
		}
	}
}

// TestARecordSaysWhenItBeganAndWhatCameLast, also one without a run.
func TestARecordSaysWhenItBeganAndWhatCameLast(t *testing.T) {
	calls := []gate.LoggedCall{called(5, 9, "check", `{}`, "", 1), called(6, 7, "check", `{}`, "", 1)}
	events := []Event{{at: at(3)}, {at: at(8)}}
	for _, c := range []struct {
		f           Facts
		first, last int
	}{
		{Facts{Run: "executor-1", Began: at(4), Ended: at(20), Calls: calls, Events: events}, 4, 20},
		{Facts{Run: "executor-1", Began: at(4), Calls: calls, Events: events}, 4, 9},
		{Facts{Calls: calls, Events: events}, 3, 9},
		{Facts{Calls: calls}, 5, 9},
		{Facts{Events: events}, 3, 8},
		{Facts{Calls: calls, Events: []Event{{at: at(7)}, {at: at(11)}}}, 5, 11},
	} {
		if first, last := c.f.first(), c.f.last(); !first.Equal(at(c.first)) || !last.Equal(at(c.last)) {
			t.Errorf("%+v: from %v to %v", c.f, first, last)
		}
	}
	if f := (&Facts{}); !f.first().IsZero() || !f.last().IsZero() {
		t.Errorf("nothing is from %v to %v", f.first(), f.last())
	}
	for want, r := range map[string]process.Run{"exit status 3": {Exit: 3}, "ended by SIGKILL": {Exit: -1, Signal: "SIGKILL"}, "no such program<U+0007>": {Error: "no such\nprogram\a", Signal: "SIGKILL"}} {
		if f := factsOf(r, "t-1", "a"); f.End != want {
			t.Errorf("%q, not %q", f.End, want)
		}
	}
}

// TestAStackEndsWhereItsEntriesAreRefused: those before it are shown.
func TestAStackEndsWhereItsEntriesAreRefused(t *testing.T) {
	command := Facts{Name: "r/lint-1", Agent: "lint:run:1", Run: "lint-1", Began: at(0), Ended: at(1), Told: "lint", Command: "make lint",
		read: func() ([]agents.Note, error) { return nil, errors.New("the output of a command is not read") }}
	again := command
	again.Calls = []gate.LoggedCall{called(2, 3, "submit", `{}`, "", 1)}
	entries, err := Records{&command, &again}.Stack()
	if !errors.Is(err, ErrCalls) || len(entries) != 4 {
		t.Errorf("%+v, %v", entries, err)
	}
}
