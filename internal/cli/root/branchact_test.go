package root

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
)

// attempts is a project that is trusted, with branches on which the executor has submitted a line of its own in code.txt.
func attempts(t *testing.T, names ...string) *enginetest.Machine {
	t.Helper()
	p := enginetest.Repository(t, enginetest.Gate("true")).Recorded().Agreed()
	enginetest.Branched(t, p.Human(), branch.Fork{Names: names, Own: true})
	for _, name := range names {
		on := p.On(name)
		enginetest.Must(on.Human().CreateTask(t.Context(), "Do it.", ""))(t)
		ex := on.Executor("codex")
		enginetest.Claim(t, ex)
		on.Write("code.txt", name+"\n")
		enginetest.Submitted(t, ex)
	}
	return p
}

// TestAnActOnABranchIsADecisionOfTheProject: it is carried out with what was shown of the branch, and says what became of it.
func TestAnActOnABranchIsADecisionOfTheProject(t *testing.T) {
	p := attempts(t, "a.1", "a.2", "b.1", "b.2")
	shown := func(name string) *status.Detail { return detail(t, p.Dir, name) }
	do := func(a status.Act, values map[string]string) status.Outcome {
		t.Helper()
		alone := &cli.App{In: strings.NewReader("")} // without a command line
		got, err := alone.Do(context.Background(), p.Dir, "web", a, values)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	said := func(what string, got status.Outcome, failed bool, want ...string) {
		t.Helper()
		for _, w := range want {
			if text := got.Why(); got.Failed() != failed || !strings.Contains(text, w) {
				t.Errorf("%s: exit %d, without %q:\n%s", what, got.Exit, w, text)
			}
		}
	}

	before := find(t, shown("a.1").Acts, "select")
	rejected := enginetest.Must(p.On("a.1").Human().Reject(t.Context(), "once more", ""))(t)
	if rejected.Task.State != state.Addressing {
		t.Fatal(rejected.Task.State)
	}
	ex := p.On("a.1").Executor("codex")
	enginetest.Claim(t, ex)
	p.On("a.1").Write("code.txt", "better\n")
	enginetest.Submitted(t, ex)
	said("what was shown has changed", do(before, nil), true, "cannot take a.1: submission s1 is not the present one, which is s2")

	said("selected", do(find(t, shown("a.1").Acts, "select"), map[string]string{"note": "it is better"}), false,
		"merged a.1: 1 file written", "removed a.2; its log and files are saved")
	if got := p.Read("code.txt"); got != "better\n" {
		t.Errorf("the file is %q", got)
	}
	names, err := project.Branches(p.Dir)
	if err != nil || !slices.Equal(names, []string{"a.1", "b.1", "b.2"}) {
		t.Errorf("%v, %v", names, err)
	}

	remove := find(t, shown("a.1").Acts, "remove")
	stale := remove
	stale.On = engine.Subject{Task: "t-another"}
	said("of another task", do(stale, nil), true, "cannot remove a.1: task t-another is not the present one")
	said("removed", do(remove, nil), false, "removed a.1; its log is in .ferrus/archive/branches/a.1@")

	said("one that does not fit is selected", do(find(t, shown("b.1").Acts, "select"), nil), true, "cannot take b.1: ", "code.txt")
	said("it is merged", do(find(t, shown("b.1").Acts, "merge"), nil), true, "cannot merge b.1: ", "code.txt")
	if shown("b.2").State != state.Reviewing {
		t.Error("the other attempt is gone")
	}
	resolve := find(t, shown("b.1").Acts, "merge")
	resolve.Name = "resolve"
	said("given back", do(resolve, nil), false, "b.1 is Addressing again, with the project's changes in its files")
	if got := shown("b.1"); got.State != state.Addressing {
		t.Errorf("b.1 is %s", got.State)
	}
	if got := p.Read("code.txt"); got != "better\n" {
		t.Errorf("the project's file is %q", got)
	}
}
