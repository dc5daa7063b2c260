package root

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/test/projecttest"
)

// screen is the App of a screen or a page.
func screen() *cli.App {
	return &cli.App{In: strings.NewReader(""), Out: &bytes.Buffer{}, Err: &bytes.Buffer{}, Run: Run}
}

// detail is what is shown of a task: that of the branch, or of the project for "".
func detail(t *testing.T, dir, branch string) *status.Detail {
	t.Helper()
	e, err := engine.Open(project.At(dir, branch), engine.Options{Look: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	d, err := status.ReadDetail(t.Context(), e, 0)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func find(t *testing.T, acts []status.Act, name string) status.Act {
	t.Helper()
	for _, a := range acts {
		if a.Name == name {
			return a
		}
	}
	t.Fatalf("no %s among %v", name, acts)
	return status.Act{}
}

// TestAnActIsTheCommandThatWasShown: it is carried out once, in the name of a person by the page, without another look at the report, and
// one whose question is answered, or whose task is another, is refused with what to do.
func TestAnActIsTheCommandThatWasShown(t *testing.T) {
	dir := projecttest.New(t)
	projecttest.Task(t, project.At(dir, ""), "paint it")
	e, err := engine.Open(project.At(dir, ""), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	agent := e.Session(engine.Caller{Role: state.Executor, Agent: "executor:codex:1"})
	if _, _, err := agent.AwaitTask(t.Context(), 0, true); err != nil {
		t.Fatal(err)
	}
	if _, err := agent.AskHuman(t.Context(), "Which colour?", []string{"blue", "red"}); err != nil {
		t.Fatal(err)
	}
	shown := detail(t, dir, "")
	if len(shown.Needs) == 0 || shown.Needs[0].Kind != status.NeedAnswer || len(shown.Needs[0].Options) != 2 {
		t.Fatalf("%+v", shown.Needs)
	}
	answer := find(t, shown.Acts, "answer")
	do := func(a status.Act, values map[string]string) status.Outcome {
		t.Helper()
		got, err := screen().Do(context.Background(), dir, "web", a, values)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	// A report cannot be read while a folder is where the agents are listed: the act needs no other than that by which it was found.
	alone := func(shown *status.Detail, a status.Act, values map[string]string, want string) {
		t.Helper()
		unread := filepath.Join(dir, ".ferrus", "runs", shown.TaskID+".jsonl")
		if err := os.MkdirAll(unread, 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := status.Read(e); err == nil {
			t.Error("the report is read all the same")
		}
		if got := do(a, values); got.Failed() || !strings.HasPrefix(got.Text, want) {
			t.Errorf("%s: %+v", a.Name, got)
		}
		if err := os.Remove(unread); err != nil {
			t.Fatal(err)
		}
	}
	answer.Args = slices.Insert(answer.Args, 1, status.Continues)
	alone(shown, answer, map[string]string{"answer": "2"}, "q1 answered: 2. red")
	d := detail(t, dir, "")
	last := d.Timeline[len(d.Timeline)-1]
	if last.Event != state.Answer || !strings.Contains(last.Text, "(via web)") || strings.Contains(last.Text, "without a terminal") {
		t.Errorf("%+v", last)
	}
	if doc := d.Documents[len(d.Documents)-1]; d.State != state.Executing || doc.Text == "" {
		t.Errorf("%s, %+v", d.State, doc)
	}
	if got := do(answer, map[string]string{"answer": "1"}); got.Exit == 0 || !strings.Contains(got.Message, "not open") {
		t.Errorf("the same again: %+v", got)
	}
	if _, err := status.FindAct(d.Acts, answer); err == nil {
		t.Error("an answer is offered yet")
	}
	reset := find(t, d.Acts, "reset")
	projecttest.Task(t, project.At(dir, ""), "another task")
	if got := do(reset, nil); got.Exit == 0 || !strings.Contains(got.Message, "is not the present one") {
		t.Errorf("of another task: %+v", got)
	}
	if now := detail(t, dir, ""); now.Title != "another task" || now.State != state.Executing {
		t.Errorf("%s is %s", now.Title, now.State)
	}
	if _, _, err := agent.AwaitTask(t.Context(), 0, true); err != nil {
		t.Fatal(err)
	}
	conf := []byte("[checks]\ncommands = []\n")
	if err := os.WriteFile(filepath.Join(dir, "ferrus.toml"), conf, 0o600); err != nil {
		t.Fatal(err)
	}
	if warning := cli.TrustOwnFile(dir, conf); warning != "" {
		t.Fatal(warning)
	}
	hand := func() {
		if got, _, err := agent.AwaitTask(t.Context(), 0, true); err != nil || got == nil {
			t.Fatal(got, err)
		}
		if got, err := agent.Check(t.Context(), time.Minute); err != nil || got.Status != state.CheckGreen {
			t.Fatalf("%+v, %v", got, err)
		}
		if _, err := agent.Submit(t.Context(), engine.Submitting{Summary: "painted", Verification: "none", NoChange: "it is there"}, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, field, text, want string
		before                  func()
	}{
		{"send", "message", "thinner", "executor:codex:1 reads it", nil},
		{"accept", "", "", "accepted for t-", nil},
		{"reject", "message", "thicker", "s1 rejected", hand},
		{"approve", "note", "well", "s2 approved", hand},
		{"reopen", "message", "once more", "t-", nil},
	} {
		if c.before != nil {
			c.before()
		}
		now := detail(t, dir, "")
		alone(now, find(t, now.Acts, c.name), map[string]string{c.field: c.text}, c.want)
	}
	stop := status.Act{Name: "stop", Args: []string{"stop"}, Report: reset.Report, On: reset.On}
	if got := do(stop, nil); got.Exit == 0 || !strings.Contains(got.Message, "is not the present one") {
		t.Errorf("the run of another task is stopped: %+v", got)
	}
	now := detail(t, dir, "")
	stop.Report, stop.On = now.Report, engine.Subject{Task: now.TaskID}
	if got := do(stop, nil); got.Failed() || got.Text != "nothing to do: no run is active, and no agent of one" {
		t.Errorf("%+v", got)
	}
}

// TestNewWorkIsARequest: branches, attempts, a variant and a task of the queue are made without a command line, and what is wrong is refused.
func TestNewWorkIsARequest(t *testing.T) {
	p := enginetest.Repository(t, enginetest.Gate("true")).Recorded().Agreed()
	do := func(a status.Act, pairs ...string) status.Outcome {
		t.Helper()
		values := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			values[pairs[i]] = pairs[i+1]
		}
		got, err := (&cli.App{In: strings.NewReader("")}).Do(context.Background(), p.Dir, "web", a, values)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	offered := func(name string) status.Act {
		return find(t, enginetest.Must(status.ProjectActs(p.Human().Engine()))(t), name)
	}
	for _, c := range []struct {
		act    status.Act
		values []string
		want   string // in what it says
		exit   int
	}{
		{offered("task-branch"), []string{"name", "docs", "task", "Update the docs."}, "docs           writes", 0},
		{offered("task-branch"), []string{"name", "docs", "task", "Update the docs."}, "cannot make the branch: there is a branch docs already", 2},
		{offered("attempts"), []string{"name", "try", "number", "2", "task", "Try it."}, "try.2          writes", 0},
		{offered("attempts"), []string{"name", "many", "number", "21", "task", "Try it."}, "cannot make the branch: 21 is not a number of branches", 2},
		{offered("variant"), []string{"name", "fast", "agent", "codex:o3", "task", "Be fast."}, "codex:o3", 0},
		{offered("variant"), []string{"name", "slow", "agent", "nobody", "task", "Be slow."}, "--variant nobody names no agent", 2},
		{offered("queue"), []string{"task", "Later."}, "later waits; 1 task is in the queue", 0},
		{offered("queue"), []string{"task", "\x00"}, "cannot queue the task: ", 2},
		{status.QueuedTask{Name: "later"}.Acts()[0], []string{"task", "Much later."}, "later has its new text", 0},
		{status.QueuedTask{Name: "later"}.Acts()[1], nil, "removed later from the queue", 0},
		{status.QueuedTask{Name: "later"}.Acts()[1], nil, `cannot remove the task from the queue: no task waits as "later"`, 2},
	} {
		if got := do(c.act, c.values...); got.Exit != c.exit || !strings.Contains(got.Why(), c.want) {
			t.Errorf("%s %q: exit %d, want %d with %q\n%s", c.act.Name, c.values, got.Exit, c.exit, c.want, got.Why())
		}
	}
	names := enginetest.Must(project.Branches(p.Dir))(t)
	if !slices.Equal(names, []string{"docs", "fast", "try.1", "try.2"}) {
		t.Errorf("%v", names)
	}
	shown := detail(t, p.Dir, "try.1")
	got := do(find(t, shown.Acts, "branch"), "name", "again", "seq", fmt.Sprint(shown.Seq))
	if d := detail(t, p.Dir, "again"); got.Failed() || d.TaskID != shown.TaskID {
		t.Errorf("%+v: %s", got, d.TaskID)
	}
}

// TestWhatWasCutOffIsFinished: a rollback or a merge is, by the act that is then the only one.
func TestWhatWasCutOffIsFinished(t *testing.T) {
	cut := func() error { return context.Canceled }
	for name, c := range map[string]struct {
		begin func(p *enginetest.Machine) error
		want  string
	}{
		"rollback": {func(p *enginetest.Machine) error {
			sup, ex := p.Begun()
			enginetest.AllKept(sup, ex)
			_, err := p.Human().RollbackFiles(t.Context(), 1, "no", cut)
			return err
		}, "as it was at 1"},
		"merge": {func(p *enginetest.Machine) error {
			enginetest.Branched(t, p.Human(), branch.Fork{Names: []string{"docs"}, Own: true})
			on := p.On("docs")
			enginetest.Must(on.Human().CreateTask(t.Context(), "Do it.", ""))(t)
			ex := on.Executor("codex")
			enginetest.Claim(t, ex)
			on.Write("code.txt", "better\n")
			enginetest.Submitted(t, ex)
			enginetest.Must(on.Human().Approve(t.Context(), "", ""))(t)
			_, err := branch.Merge(t.Context(), p.Human(), on.Human(), cut)
			return err
		}, "merged docs: 1 file written"},
	} {
		p := enginetest.Repository(t, enginetest.Gate("true")).Recorded().Agreed()
		if err := c.begin(p); !errors.Is(err, context.Canceled) {
			t.Fatal(name, err)
		}
		d := detail(t, p.Dir, "")
		if len(d.Acts) != 1 || d.Acts[0].Name != "finish" || d.Acts[0].Runs {
			t.Fatalf("%s: %+v", name, d.Acts)
		}
		alone := &cli.App{In: strings.NewReader("")}
		if got, err := alone.Do(context.Background(), p.Dir, "web", d.Acts[0], nil); err != nil || got.Failed() || !strings.Contains(got.Text, c.want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if now := enginetest.View(t, p.Human()).Task; now.Returning != (state.FileMove{}) {
			t.Errorf("%s: %+v", name, now.Returning)
		}
		if got, err := alone.Do(context.Background(), p.Dir, "web", d.Acts[0], nil); err != nil || !strings.Contains(got.Message, "cannot finish moving the files: no files are being moved") {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// TestEveryActIsACommand: its arguments are those of a command, with flags that the command has. One that starts no process is a request.
func TestEveryActIsACommand(t *testing.T) {
	dir := projecttest.New(t, "alt")
	projecttest.Task(t, project.At(dir, "alt"), "on a branch")
	projecttest.Task(t, project.At(dir, ""), "paint it")
	v, err := status.ReadOverview(t.Context(), dir, status.Options{Newest: 3, Open: func(p project.Place) (*engine.Engine, error) {
		return engine.Open(p, engine.Options{Look: true})
	}})
	if err != nil {
		t.Fatal(err)
	}
	acts := append(append(v.Acts, detail(t, dir, "").Acts...), status.QueuedTask{Name: "later"}.Acts()...)
	if len(acts) < 8 {
		t.Fatalf("%v", acts)
	}
	for _, a := range acts {
		if kind := status.ActNamed(cmp.Or(a.As, a.Name)); a.Runs == (kind.Name != "") {
			t.Errorf("%s: a run of its own: %v, and its kind is %q", a.Name, a.Runs, kind.Name)
		}
		values := map[string]string{}
		for _, f := range a.Fields {
			values[f.Name] = "1"
		}
		args, err := a.Fill(values)
		if err != nil {
			t.Fatal(err)
		}
		cmd, rest, err := Tree(screen()).Find(args)
		if err != nil || !cmd.Runnable() {
			t.Errorf("%q: %v", args, err)
			continue
		}
		if err := cmd.ParseFlags(rest); err != nil {
			t.Errorf("%q: %v", args, err)
		}
	}
}
