package web_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/cli/root"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/agreement"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
)

// TestTheFourViewsAgree: the command line, its JSON, the screen and the page show the same needs, tasks and acts, for they read
// one model. The project has a question, a task that nobody works on, one that has failed, and one to be merged.
func TestTheFourViewsAgree(t *testing.T) {
	m := enginetest.Repository(t, gate+"[limits]\nmax_review_cycles = 1\n")
	if err := agreement.Agree(m.Dir); err != nil {
		t.Fatal(err)
	}
	_, ex := m.Begun()
	if _, err := ex.AskHuman(t.Context(), "Which blue is it to be?", []string{"navy", "azure"}); err != nil {
		t.Fatal(err)
	}
	run := func(in string, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		a := &cli.App{In: strings.NewReader(in), Out: &out, Err: &errs}
		if code := root.Run(a, t.Context(), append([]string{"-C", m.Dir}, args...)); code != 0 {
			t.Fatalf("%q: exit code %d\n%s%s", args, code, out.String(), errs.String())
		}
		return out.String()
	}
	for _, name := range []string{"idle", "bad", "good"} {
		run("", "branch", name, "--task", "Paint the "+name+" wall.")
	}
	for _, name := range []string{"bad", "good"} {
		on := m.On(name)
		ex := on.Executor("codex")
		enginetest.Claim(t, ex)
		on.Write("wall.txt", name+"\n")
		enginetest.Check(t, ex, state.CheckGreen)
		enginetest.Submitted(t, ex)
		enginetest.Dies(t, ex)
	}
	run("", "reject", "--branch", "bad", "-m", "It is red.")
	run("", "approve", "--branch", "good")

	b := browse(t, m)
	v, err := status.ReadOverview(t.Context(), m.Dir, status.Options{Newest: 10, Sizes: true, Open: func(p project.Place) (*engine.Engine, error) { return b.opens(p) }})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[status.NeedKind]bool{}
	for _, n := range v.Needs {
		kinds[n.Kind] = true
	}
	for _, k := range []status.NeedKind{status.NeedAnswer, status.NeedStopped, status.NeedFailed, status.NeedMerge} {
		if !kinds[k] {
			t.Errorf("no %s among %+v", k, v.Needs)
		}
	}

	var printed status.Overview
	if err := json.Unmarshal([]byte(run("", "status", "--all", "--json")), &printed); err != nil {
		t.Fatal(err)
	}
	for i := range v.Needs {
		v.Needs[i].By = "" // it is for people
	}
	if diff := cmp.Diff(v.Needs, printed.Needs); diff != "" {
		t.Errorf("--json has other needs\n%s", diff)
	}
	lines := "list\n"
	for i := range v.Machines {
		lines += fmt.Sprintf("%d\nacts\n", i+1)
	}
	views := map[string]string{
		"the command line": oneLine(run("", "status", "--all")),
		"the screen":       oneLine(run(lines, "ui", "--plain")),
		"the page":         oneLine(html.UnescapeString(b.get("/"))),
	}
	for name, text := range views {
		for _, n := range v.Needs {
			for _, want := range []string{n.Text, n.Command} {
				if !strings.Contains(text, oneLine(want)) {
					t.Errorf("%s does not have %q\n%s", name, want, text)
				}
			}
		}
		for _, task := range v.Machines {
			word := status.StateWords(task.State)
			if name != "the command line" && task.Group == status.NeedsYou { // it has the need of a task, or its state
				word = ""
			}
			if !strings.Contains(text, task.Title) || !strings.Contains(text, word) {
				t.Errorf("%s does not have %s, %q", name, task.Title, word)
			}
		}
	}
	for _, task := range v.Machines {
		place := project.At(m.Dir, task.Branch)
		e, err := b.opens(place)
		if err != nil {
			t.Fatal(err)
		}
		d, err := status.ReadDetail(t.Context(), e, 0)
		if err = errors.Join(err, e.Close()); err != nil {
			t.Fatal(err)
		}
		at := "/task"
		if task.Branch != "" {
			at = "/branch/" + task.Branch
		}
		page := html.UnescapeString(b.get(at) + b.get(at+"?view=log"))
		for _, a := range d.Acts {
			if !strings.Contains(page, a.Label) || !strings.Contains(views["the screen"], a.Label) {
				t.Errorf("%s: the page or the screen does not offer %s", task.Branch, a.Label)
			}
		}
	}
}

// oneLine is a text with single spaces, for lines are wrapped differently.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
