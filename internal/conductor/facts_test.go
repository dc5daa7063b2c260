//go:build unix

package conductor

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/records"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// conducting is a conductor of a project of its own, at noon, which waits a second more after each failure.
func conducting(t *testing.T, toml string) *conductor {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ferrus.toml"), []byte(toml), 0o600); err != nil {
		t.Fatal(err)
	}
	sharedtest.Init(t, dir)
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	e, err := engine.Open(project.At(dir, ""), engine.Options{Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	conf, err := e.Config()
	if err != nil {
		t.Fatal(err)
	}
	return &conductor{e: e, tails: map[string]*process.Tail{}, freed: map[process.Slot]<-chan struct{}{}, reported: map[string]bool{}, began: noon,
		Options: Options{Now: func() time.Time { return noon }, BackOff: func(failed int) time.Duration { return time.Duration(failed) * time.Second },
			Log: quiet, Tell: func(Event) {}, Show: func(View) {}, Lease: conf.Lease, Patience: Patience{}.orUsual()}}
}

// ended is a run that ended at noon, and what is special about it.
func ended(change ...func(*process.Run)) process.Run {
	r := process.Run{Name: "executor-1", Duty: agents.Executor, Agent: "codex", At: 100, Started: ago(time.Minute), Ended: noon}
	for _, c := range change {
		c(&r)
	}
	return r
}

func limited(until time.Time) func(*process.Run) {
	return func(r *process.Run) { r.Exit, r.Trouble, r.Until = 1, agents.RateLimited, until }
}
func troubled(trouble agents.Trouble) func(*process.Run) {
	return func(r *process.Run) { r.Exit, r.Trouble = 1, trouble }
}
func unstarted(r *process.Run)            { r.Error = "not on the PATH" }
func brief(r *process.Run)                { r.Started, r.Exit = ago(10*time.Millisecond), 127 }
func says7(r *process.Run)                { r.Said = "12:00:07 not found" }
func says8(r *process.Run)                { r.Said = "12:00:08 not found" }
func exit2(r *process.Run)                { r.Exit = 2 }
func worked(r *process.Run)               { r.At = 90 }
func stopped(r *process.Run)              { r.Stopped, r.Signal, r.Exit = true, "SIGTERM", -1 }
func cut(r *process.Run)                  { r.Cut, r.Signal, r.Exit = true, "SIGTERM", -1 }
func shimKilled(r *process.Run)           { r.Exit, r.Error = -1, process.ShimKilled }
func bySIGKILL(r *process.Run)            { r.Exit, r.Signal = -1, "SIGKILL" }
func exit137(r *process.Run)              { r.Exit, r.Said = 137, "Killed" }
func reviewer(r *process.Run)             { r.Duty = agents.Reviewer }
func runs(r *process.Run)                 { r.Ended = time.Time{} }
func early(r *process.Run)                { r.At = 50 }
func yesterday(r *process.Run)            { r.Ended = ago(24 * time.Hour) }
func tomorrow(r *process.Run)             { r.Ended = noon.Add(24 * time.Hour) }
func sec(n int) time.Time                 { return noon.Add(time.Duration(n) * time.Second) }
func minute(n int) time.Time              { return noon.Add(time.Duration(n) * time.Minute) }
func list(r ...process.Run) []process.Run { return r }

// TestWhatRunsCountFor: each line is a list of runs of an executor that was given its work at byte 50.
func TestWhatRunsCountFor(t *testing.T) {
	c := conducting(t, "")
	for _, x := range []struct {
		name          string
		runs          []process.Run
		starts, stuck int
		alike         int
		limited       time.Time
		notBefore     time.Time
	}{
		{name: "none"},
		{name: "one that made no progress", runs: list(ended()), starts: 1, notBefore: sec(1)},
		{name: "three", runs: list(ended(), ended(), ended()), starts: 3, notBefore: sec(3)},
		{name: "the conductor cut it", runs: list(ended(cut)), starts: 1, notBefore: sec(1)},
		{name: "its shim was killed", runs: list(ended(shimKilled)), starts: 1, notBefore: sec(1)},
		{name: "a person stopped it", runs: list(ended(stopped))},
		{name: "it runs", runs: list(ended(runs))},
		{name: "another duty", runs: list(ended(reviewer))},
		{name: "before the work was given", runs: list(ended(early))},
		{name: "before and after", runs: list(ended(early), ended(early), ended()), starts: 1, notBefore: sec(1)},

		{name: "could not be started", runs: list(ended(unstarted)), stuck: 1, alike: 1, notBefore: sec(2)},
		{name: "three times", runs: list(ended(unstarted), ended(unstarted), ended(unstarted)), stuck: 3, alike: 3, notBefore: sec(4)},
		{name: "no login", runs: list(ended(troubled(agents.Unauthorised))), stuck: 1, notBefore: sec(2)},
		{name: "no server of ours", runs: list(ended(troubled(agents.NoServer))), stuck: 1, notBefore: sec(2)},
		{name: "could not be started, then could", runs: list(ended(unstarted), ended(unstarted), ended()), starts: 1, notBefore: sec(1)},
		{name: "could not be started, then was stopped", runs: list(ended(unstarted), ended(unstarted), ended(stopped)), notBefore: sec(3)},
		{name: "made no progress, then could not be started", runs: list(ended(), ended(unstarted)), starts: 1, stuck: 1, alike: 1, notBefore: sec(2)},

		{name: "ended at once", runs: list(ended(brief)), starts: 1, alike: 1, notBefore: noon},
		{name: "twice with the same error", runs: list(ended(brief, says7), ended(brief, says8)), starts: 2, alike: 2, notBefore: noon},
		{name: "its shim was killed at once, twice", runs: list(ended(brief, shimKilled), ended(brief, shimKilled)), starts: 2, notBefore: sec(2)},
		{name: "it was killed at once, twice", runs: list(ended(brief, bySIGKILL), ended(brief, bySIGKILL)), starts: 2, notBefore: sec(2)},
		{name: "its shell says that it was killed", runs: list(ended(brief, exit137), ended(brief, exit137)), starts: 2, notBefore: sec(2)},
		{name: "it was killed four times", runs: list(ended(bySIGKILL), ended(exit137), ended(shimKilled), ended(bySIGKILL)), starts: 4, notBefore: sec(3)},
		{name: "it was killed three times, and then failed", runs: list(ended(bySIGKILL), ended(bySIGKILL), ended(bySIGKILL), ended(exit2)), starts: 4, notBefore: sec(1)},
		{name: "it failed three times, and then was killed", runs: list(ended(exit2), ended(exit2), ended(exit2), ended(bySIGKILL)), starts: 4, notBefore: sec(1)},
		{name: "three times", runs: list(ended(brief), ended(brief), ended(brief)), starts: 3, alike: 3, notBefore: noon},
		{name: "with another exit status", runs: list(ended(brief), ended(brief, exit2)), starts: 2, alike: 1, notBefore: noon},
		{name: "with other words", runs: list(ended(brief, says7), ended(brief)), starts: 2, alike: 1, notBefore: noon},
		{name: "the first did something", runs: list(ended(brief, worked), ended(brief)), starts: 2, alike: 1, notBefore: noon},
		{name: "it did something", runs: list(ended(brief, worked), ended(brief, worked)), starts: 2, notBefore: sec(2)},
		{name: "after one that ran for long", runs: list(ended(brief), ended(), ended(brief)), starts: 3, alike: 1, notBefore: noon},
		{name: "then one that ran for long", runs: list(ended(brief), ended(brief), ended()), starts: 3, notBefore: sec(3)},
		{name: "a person stopped it at once", runs: list(ended(brief), ended(brief, stopped)), starts: 1, notBefore: noon},
		{name: "the conductor cut it at once", runs: list(ended(brief), ended(brief, cut)), starts: 2, notBefore: sec(2)},
		{name: "at once, but a rate limit", runs: list(ended(brief), ended(brief, limited(sec(7)))), starts: 1, limited: sec(7), notBefore: noon},
		{name: "at once, not logged in", runs: list(ended(brief, troubled(agents.Unauthorised)), ended(brief, troubled(agents.Unauthorised))), stuck: 2, alike: 2,
			notBefore: sec(3)},

		{name: "rate limit", runs: list(ended(limited(sec(77)))), limited: sec(77)},
		{name: "rate limit of unknown end", runs: list(ended(limited(time.Time{}))), limited: minute(1)},
		{name: "ever longer", runs: list(ended(limited(time.Time{})), ended(limited(time.Time{})), ended(limited(time.Time{}))), limited: minute(4)},
		{name: "limits spend nothing", runs: list(ended(), ended(limited(sec(7))), ended(limited(sec(9)))), starts: 1, limited: sec(9), notBefore: sec(1)},
		{name: "a limit that is over", runs: list(ended(limited(sec(7))), ended()), starts: 1, notBefore: sec(1)},
		{name: "limits in a row are counted anew", runs: list(ended(limited(time.Time{})), ended(), ended(limited(time.Time{}))),
			starts: 1, limited: minute(1), notBefore: sec(1)},
		{name: "the clock was put back since", runs: list(ended(tomorrow)), starts: 1},
		{name: "a limit is no cure", runs: list(ended(unstarted), ended(limited(sec(7))), ended(unstarted)), stuck: 2, alike: 1, notBefore: sec(3)},
	} {
		f := Facts{Runs: x.runs, Now: noon}
		f.Task.Docs = map[state.Doc]state.Ref{state.TaskDoc: {Off: 50}}
		f.Journal.Bytes = 100
		s := c.slotFacts(f, agents.Executor)
		if s.Starts != x.starts || s.Stuck != x.stuck || s.Alike != x.alike || !s.Limited.Equal(x.limited) || !s.NotBefore.Equal(x.notBefore) || s.Taken != (x.name == "it runs") {
			t.Errorf("%s: %d starts, %d stuck, %d alike, limited until %v, not before %v", x.name, s.Starts, s.Stuck, s.Alike, s.Limited, s.NotBefore)
		}
	}
	// It frees its slot after the runs were read: no other may start before its end counts.
	gone := Facts{Runs: list(ended(brief), process.Run{Duty: agents.Executor, At: 100, Started: noon}), Now: noon}
	if s := c.slotFacts(gone, agents.Executor); !s.Taken {
		t.Error("the slot of a run whose end is not known is free")
	}
	if s := c.slotFacts(gone, agents.Reviewer); s.Taken {
		t.Error("it takes the slot of another duty")
	}
	c.Hurry = true
	for _, x := range []struct {
		name string
		run  process.Run
		wait bool
	}{{"before this run of the conductor", ended(limited(sec(77)), yesterday), false}, {"since", ended(limited(sec(77))), true}} {
		s := c.slotFacts(Facts{Runs: list(x.run), Now: noon}, agents.Executor)
		if !s.Limited.IsZero() != x.wait {
			t.Errorf("in a hurry, what went wrong %s: limited until %v", x.name, s.Limited)
		}
	}
}

func TestWhenWorkIsGivenToADuty(t *testing.T) {
	all := map[state.Doc]state.Ref{state.TaskDoc: {Off: 10}, state.ConsultRequestDoc: {Off: 20}, state.ConsultResponseDoc: {Off: 30},
		state.SubmissionDoc: {Off: 40}, state.ReviewDoc: {Off: 50}, state.QuestionDoc: {Off: 60}, state.AnswerDoc: {Off: 70}}
	for _, c := range []struct {
		name      string
		docs      map[state.Doc]state.Ref
		decisions []state.Record
		want      map[agents.Duty]int64
	}{
		{"nothing yet", nil, nil, map[agents.Duty]int64{agents.Executor: 0, agents.Consultant: 0, agents.Reviewer: 0}},
		{"all documents", all, nil, map[agents.Duty]int64{agents.Executor: 50, agents.Consultant: 20, agents.Reviewer: 40}},
		{"a person decided before", all, []state.Record{{Off: 15}}, map[agents.Duty]int64{agents.Executor: 50, agents.Consultant: 20, agents.Reviewer: 40}},
		{"a person decided", all, []state.Record{{Off: 15}, {Off: 45}}, map[agents.Duty]int64{agents.Executor: 50, agents.Consultant: 45, agents.Reviewer: 45}},
		{"a person decided last", all, []state.Record{{Off: 15}, {Off: 70}}, map[agents.Duty]int64{agents.Executor: 70, agents.Consultant: 70, agents.Reviewer: 70}},
	} {
		for duty, want := range c.want {
			if got := given(state.Task{Docs: c.docs, Decisions: c.decisions}, duty); got != want {
				t.Errorf("%s: %s at %d, not %d", c.name, duty, got, want)
			}
		}
	}
	// A run is asked for after the line that gives the work: at the length of the journal with it.
	if got := after(list(process.Run{At: 49}, process.Run{At: 50}, process.Run{At: 51}), 50); len(got) != 1 || got[0].At != 51 {
		t.Errorf("after 50: %+v", got)
	}
	if spoken(state.Task{}) != 0 || spoken(state.Task{Decisions: []state.Record{{Off: 3}, {Off: 9}}}) != 9 {
		t.Error("when a person spoke")
	}
}

func TestTheBackOffGrowsToAMinute(t *testing.T) {
	var got []time.Duration
	for n := range 9 {
		got = append(got, backOff(n))
	}
	want := []time.Duration{0, 0, 2e9, 4e9, 8e9, 16e9, 32e9, 60e9, 60e9}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("after %d: %v, not %v", i, got[i], want[i])
		}
	}
	if backOff(1000) != time.Minute || limitBackOff(1) != time.Minute || limitBackOff(3) != 4*time.Minute || limitBackOff(1000) != 30*time.Minute {
		t.Error("the longest waits")
	}
}

func TestWhatATaskHasSpent(t *testing.T) {
	used := func(n int64) func(*process.Run) {
		return func(r *process.Run) { r.Usage = agents.Usage{Input: n, Output: 1, Dollars: 0.5} }
	}
	got := records.SpendOf(list(ended(used(10)), ended(used(20), stopped), ended(runs, used(5)), ended(unstarted)), minute(1))
	if got != (records.Spend{Runs: 3, Time: 4 * time.Minute, Usage: agents.Usage{Input: 35, Output: 3, Dollars: 1.5}}) {
		t.Errorf("%+v", got)
	}
}

// TestTheFactsOfARealMachine: a run whose shim was killed counts, and what a person decided begins a new account.
func TestTheFactsOfARealMachine(t *testing.T) {
	c := conducting(t, "[checks]\ncommands = []\n")
	c.Now = time.Now
	human := c.e.Session(engine.Caller{Role: state.Human, Agent: "human", TTY: true})
	done, err := human.CreateTask(t.Context(), "Build it.", "")
	if err != nil {
		t.Fatal(err)
	}
	order := process.Order{Slot: c.slot(agents.Executor), Runs: Runs(c.e, done.Task.TaskID), Logs: c.e.Place().Path("logs"),
		Run:    process.Run{Duty: agents.Executor, Agent: "codex", At: done.Journal.Bytes},
		Launch: agents.Launch{Argv: []string{"/bin/sh", "-c", `echo '{"type":"turn.completed","usage":{"input_tokens":9,"output_tokens":2}}'; exec sleep 1000`}, Env: os.Environ(), Dir: c.e.Place().Root}}
	if _, err := process.Start(order); err != nil {
		t.Fatal(err)
	}
	f, err := c.gather()
	if s := f.Slots[agents.Executor]; err != nil || !s.Taken || s.Occupant.Shim == 0 || s.Printed.IsZero() || s.Starts != 0 || f.Held || len(f.Runs) != 1 {
		t.Fatalf("%v: %+v", err, s)
	}
	if f.Now != f.Now.Round(0) {
		t.Error("by its clock the machine does not sleep")
	}
	for until := time.Now().Add(kit.Patience); f.Spent.Usage.Tokens() != 11 && time.Now().Before(until); time.Sleep(time.Millisecond) {
		if f, err = c.gather(); err != nil {
			t.Fatal(err)
		}
	}
	if f.Spent.Usage.Tokens() != 11 || f.Total.Usage.Tokens() != 11 {
		t.Errorf("an agent that lives has used %+v", f.Spent)
	}
	// What it prints is a sign of life.
	sign := f.Slots[agents.Executor].Occupant.Started.Add(asleep / 2)
	if err := os.Chtimes(f.Runs[0].Log, sign, sign); err != nil {
		t.Fatal(err)
	}
	if f, err = c.gather(); err != nil || !f.Slots[agents.Executor].Printed.Equal(sign) {
		t.Errorf("%v: it printed last at %v", err, f.Slots[agents.Executor].Printed)
	}
	shim, err := os.FindProcess(f.Slots[agents.Executor].Occupant.Shim)
	if err == nil {
		err = shim.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
	<-order.Slot.Freed()
	f, err = c.gather()
	s := f.Slots[agents.Executor]
	if err != nil || s.Taken || s.Starts != 1 || s.Last.Error == "" || s.NotBefore.IsZero() || f.Spent.Runs != 1 || f.Total.Runs != 1 {
		t.Fatalf("%v: %+v, spent %+v", err, s, f.Spent)
	}
	if _, err := c.e.Ask(t.Context(), f.Snapshot, "On?", nil); err != nil {
		t.Fatal(err)
	}
	// What has moved on meanwhile is looked at again, and no failure.
	if again, err := c.carryOut(t.Context(), f, Act{Do: ask, Duty: agents.Executor, Why: "On?"}); again || err != nil {
		t.Errorf("to ask too late: %v, %v", again, err)
	}
	if _, err := human.Answer(t.Context(), "", "Yes."); err != nil {
		t.Fatal(err)
	}
	f, err = c.gather()
	if s = f.Slots[agents.Executor]; err != nil || s.Starts != 0 || f.Spent.Runs != 1 || f.Total.Runs != 1 {
		t.Errorf("after an answer: %v: %+v, spent %+v of %+v", err, s, f.Spent, f.Total)
	}
	if err := EndAll(t.Context(), c.e); err != nil {
		t.Error(err)
	}
}

// TestOnlyItsOwnAnswerRenewsABudget: nothing else that a person or an agent says or decides does, while an agent works or later.
func TestOnlyItsOwnAnswerRenewsABudget(t *testing.T) {
	c := conducting(t, "[checks]\ncommands = []\n[limits]\nmax_task_tokens = 11\n")
	c.Now = time.Now
	ctx := t.Context()
	human := c.e.Session(engine.Caller{Role: state.Human, Agent: "human", TTY: true})
	done, err := human.CreateTask(ctx, "Build it.", "")
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(done, err)
	order := process.Order{Slot: c.slot(agents.Executor), Runs: Runs(c.e, done.Task.TaskID), Logs: c.e.Place().Path("logs"),
		Run:    process.Run{Duty: agents.Executor, Agent: "codex", At: done.Journal.Bytes},
		Launch: agents.Launch{Argv: []string{"/bin/sh", "-c", `echo '{"type":"turn.completed","usage":{"input_tokens":9,"output_tokens":2}}'; exec sleep 1000`}, Env: os.Environ(), Dir: c.e.Place().Root}}
	must(process.Start(order))
	facts := func() Facts {
		t.Helper()
		f, err := c.gather()
		must(f, err)
		return f
	}
	for facts().Spent.Usage.Tokens() != 11 {
		time.Sleep(time.Millisecond)
	}
	ex := c.e.Session(engine.Caller{Role: state.Executor, Agent: "executor:codex:1"})
	_, _, err = ex.AwaitTask(ctx, time.Minute, true)
	must(nil, err)
	for _, x := range []struct {
		what string
		do   func()
	}{
		{"a message of a person", func() { must(human.Steer(ctx, "Hurry.")) }},
		{"a message of an agent", func() { must(ex.Tell(ctx, "supervisor", "Soon.")) }},
		{"a note", func() { must(ex.Progress(ctx, "Half.")) }},
		{"the answer to a question of the agent", func() {
			must(ex.AskHuman(ctx, "May I?", nil))
			must(human.Answer(ctx, "", "Yes."))
		}},
		{"the answer to another question of ferrus", func() {
			must(c.e.Ask(ctx, facts().Snapshot, "On?", nil))
			must(human.Answer(ctx, "", "Yes."))
		}},
		{"an answer in place of a consultant", func() {
			must(ex.Consult(ctx, engine.Consulting{Problem: "p", Tried: "t", Question: "q"}))
			must(human.Answer(ctx, "", "So."))
			_, _, err := ex.AwaitResponse(ctx, time.Minute)
			must(nil, err)
		}},
		{"a message of a person after all that", func() { must(human.Steer(ctx, "Hurry more.")) }},
	} {
		x.do()
		f := facts()
		if act := decide(f); f.Spent.Usage.Tokens() != 11 || f.overBudget() == "" || act.Do != end || act.Duty != agents.Executor {
			t.Errorf("after %s: %+v, spent %+v", x.what, act, f.Spent)
		}
	}
	must(nil, EndAll(ctx, c.e))
	f := facts()
	act := decide(f)
	if act.Do != ask {
		t.Fatalf("when the agent has ended: %+v", act)
	}
	must(c.carryOut(ctx, f, act))
	if f = facts(); f.Task.State != state.AwaitingHuman || f.overBudget() == "" {
		t.Fatalf("asked: %s, spent %+v", f.Task.State, f.Spent)
	}
	must(human.Answer(ctx, "", "Yes."))
	if f = facts(); f.Spent.Runs != 0 || f.Total.Usage.Tokens() != 11 || f.overBudget() != "" {
		t.Errorf("after its own answer: spent %+v of %+v", f.Spent, f.Total)
	}
}

// TestAStartThatASignalCutsOffIsAStop: the agent that could not be started is no reason to end otherwise.
func TestAStartThatASignalCutsOffIsAStop(t *testing.T) {
	c := conducting(t, "[checks]\ncommands = []\n[hq.executor]\nagent = \"command\"\n") // it cannot be started
	c.Now = time.Now
	if _, err := c.e.Session(engine.Caller{Role: state.Human, Agent: "human", TTY: true}).CreateTask(t.Context(), "Build it.", ""); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	c.Show = func(View) { time.AfterFunc(10*time.Millisecond, cancel) }
	if _, err := c.run(ctx); !errors.Is(err, ErrStopped) {
		t.Errorf("it ended with %v", err)
	}
}

// TestFactsAreOfOneMoment: what happens while they are read is in them.
func TestFactsAreOfOneMoment(t *testing.T) {
	c := conducting(t, "")
	person := c.e.Session(engine.Caller{Role: state.Human, Agent: "human"})
	c.Now = func() time.Time { // is asked after the state was read
		c.Now = func() time.Time { return noon }
		if _, err := person.CreateTask(t.Context(), "Build it.", ""); err != nil {
			t.Error(err)
		}
		return noon
	}
	if f, err := c.gather(); err != nil || f.Task.State != state.Executing {
		t.Errorf("%s, %v", f.Task.State, err)
	}
}

// TestUnreadOutputCondemnsNobody: the trouble that was read last may be over in what an agent has printed since. The
// conductor does not wait for more before it reads on.
func TestUnreadOutputCondemnsNobody(t *testing.T) {
	c := conducting(t, "[checks]\ncommands = []\n")
	human := c.e.Session(engine.Caller{Role: state.Human, Agent: "human", TTY: true})
	done, err := human.CreateTask(t.Context(), "Build it.", "")
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "log")
	event := `{"type":"user","message":{"content":[{"type":"tool_result","content":"` + strings.Repeat("x", 1<<20) + `"}]}}` + "\n"
	text := "not logged in\n" + strings.Repeat(event, 6) + `{"type":"assistant","message":{"id":"1","content":[{"type":"text","text":"on"}]}}` + "\n"
	if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	order := process.Order{Slot: c.slot(agents.Executor), Runs: Runs(c.e, done.Task.TaskID), Logs: c.e.Place().Path("logs"),
		Run:    process.Run{Duty: agents.Executor, Agent: "claude-code", At: done.Journal.Bytes},
		Launch: agents.Launch{Argv: []string{"/bin/sh", "-c", "cat " + log + "; exec sleep 1000"}, Env: os.Environ(), Dir: c.e.Place().Root}}
	run, err := process.Start(order)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.slot(agents.Executor).Stop(context.Background()) })
	for info, err := run.LogInfo(); err != nil || info.Size() < int64(len(text)); info, err = run.LogInfo() {
		runtime.Gosched()
	}
	for turn := 1; ; turn++ {
		f, err := c.gather()
		if err != nil {
			t.Fatal(err)
		}
		if s := f.Slots[agents.Executor]; s.Reading.Trouble != "" {
			t.Fatalf("turn %d: %q", turn, s.Reading.Trouble)
		}
		tail := c.tails[run.Name]
		if !tail.Behind {
			if turn == 1 || tail.Said != "on" {
				t.Errorf("after %d turns it says %q", turn, tail.Said)
			}
			return
		}
		if tail.Trouble != agents.Unauthorised {
			t.Fatalf("turn %d: the trouble was not read", turn)
		}
		bell := c.e.Store().Watch()
		c.wait(t.Context(), bell, Facts{}, Act{})
		bell.Close()
	}
}
