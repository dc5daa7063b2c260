//go:build unix

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/rules"
	"github.com/ferrus-go/ferrus/internal/server/mcpclient"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// ruled are the entries of the journal that a rule made, with the rule.
func (w *world) ruled() (list []string) {
	w.t.Helper()
	for l, err := range w.engine().Store().History() {
		if err != nil {
			w.t.Fatal(err)
		}
		if l.Rule != "" {
			list = append(list, string(l.Event)+": "+l.Rule)
		}
	}
	return list
}

// executors are the models with which executors were started.
func (w *world) executors() (models []string) {
	for _, r := range w.runs() {
		if r.Duty == agents.Executor {
			models = append(models, r.Model)
		}
	}
	return models
}

// TestARuleStartsAnotherExecutor: the one that failed is ended, though it hangs, and the named one has the work, also when the
// conductor is killed as soon as the rule was followed. S2-11.
func TestARuleStartsAnotherExecutor(t *testing.T) {
	t.Parallel()
	for _, killed := range []bool{false, true} {
		t.Run(fmt.Sprint("killed ", killed), func(t *testing.T) {
			t.Parallel()
			w := newProject(t, strings.Replace(conducted, "commands = []", `commands = ["test -e SIDE/ok"]`, 1)+
				"[limits]\nmax_executor_dispatches = 1\n[[rules]]\non = \"check_failed\"\nwhen = { same = 2 }\nthen = \"executor command:big\"\n",
				plans{"executor": "wait_for_task check check hang\nmark:ok wait_for_task submit", "reviewer": approves})
			c := w.conductor()
			if killed {
				kit.Eventually(t, "the rule is followed", func() bool { return strings.Contains(sharedtest.Journal(t, w.dir, ""), `"event":"reassign"`) })
				if err := c.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				<-c.done
				c = w.conductor()
			}
			if code := c.over(t); code != 0 || w.state() != state.Complete {
				t.Errorf("exit code %d in %s:\n%s", code, w.state(), c.out)
			}
			if got := w.executors(); !slices.Equal(got, []string{"", "big"}) || !w.runs()[0].Stopped {
				t.Errorf("the executors were %q: %+v", got, w.runs()[0])
			}
			if got, want := w.ruled(), []string{"reassign: on check_failed when same = 2 then executor command:big"}; !slices.Equal(got, want) {
				t.Errorf("by rules: %q", got)
			}
			w.deserted()
		})
	}
}

// TestARuleAsksASupervisorThatIsStartedForIt, and the executor goes on with the answer.
func TestARuleAsksASupervisorThatIsStartedForIt(t *testing.T) {
	t.Parallel()
	w := newProject(t, strings.Replace(conducted, "commands = []", `commands = ["test -e SIDE/ok"]`, 1)+
		"[[rules]]\non = \"check_failed\"\nthen = \"consult\"\n",
		plans{"executor": "wait_for_task check wait_for_consult submit", "consultant": "wait_for_review mark:ok respond_consult", "reviewer": approves})
	if out := w.run(); out.Exit != 0 || w.started() != "consultant 1, executor 1, reviewer 1" {
		t.Errorf("exit code %d after %s", out.Exit, w.started())
	}
	if got := w.ruled(); !slices.Equal(got, []string{"consult: on check_failed then consult"}) {
		t.Errorf("by rules: %q", got)
	}
	w.deserted()
}

// TestAServerKilledBetweenASubmissionAndItsRule: the submission stands, and the next caller follows the rule, once.
func TestAServerKilledBetweenASubmissionAndItsRule(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]func(w *world){
		"the conductor": func(w *world) {
			if code := w.conductor().over(w.t); code != 0 || w.started() != "" {
				w.t.Errorf("exit code %d after %q", code, w.started())
			}
		},
		"a supervisor": func(w *world) {
			if res := w.start(state.Supervisor, "claude-code").call("wait_for_review", nil); res.Status != "complete" {
				w.t.Errorf("%+v", res)
			}
		},
		"a person": func(w *world) {
			if _, err := w.human().Approve(context.Background(), "Fine.", ""); err == nil {
				w.t.Error("approved, though a rule had approved it")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := projectIn(t, repository, conducted+"[[rules]]\non = \"submit\"\nwhen = { paths = [\"docs/**\"] }\nthen = \"approve\"\n", plans{})
			w.killedBeforeRule()
			if w.state() != state.Reviewing || len(w.ruled()) > 0 {
				t.Fatalf("%s, by rules %q", w.state(), w.ruled())
			}
			next(w)
			if got := w.ruled(); w.state() != state.Complete || !slices.Equal(got, []string{`approve: on submit when paths = ["docs/**"] then approve`}) {
				t.Errorf("%s, by rules %q", w.state(), got)
			}
		})
	}
}

// killedBeforeRule has an executor's server that is killed after it has written a submission, while it asks git which files
// that changes: the next git after the submission never answers.
func (w *world) killedBeforeRule() {
	w.t.Helper()
	bin := filepath.Join(w.side, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		w.t.Fatal(err)
	}
	script := `#!/bin/sh
if grep -q '"submit"' JOURNAL; then
	echo $$ > SIDE/between.new && mv SIDE/between.new SIDE/between
	exec sleep 600
fi
PATH=${PATH#*:} exec git "$@"
`
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(strings.NewReplacer("SIDE", w.side, "JOURNAL", w.path(".ferrus/journal.jsonl")).Replace(script)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	cmd := program(w.t, "serve", "--role", "executor", "--agent-name", "codex", "--root", w.dir, "--wait", "30")
	cmd.Env = append(cmd.Env, "PATH="+bin+":"+os.Getenv("PATH"))
	server, err := mcpclient.Start(context.Background(), "codex", cmd)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(server.Kill)
	c := &client{server, w.t}
	c.call("wait_for_task", nil)
	if err := os.Mkdir(w.path("docs"), 0o755); err != nil {
		w.t.Fatal(err)
	}
	w.write("docs/a.md", "a\n")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = server.Call(context.Background(), "submit", submission)
	}()
	kit.Eventually(w.t, "the server asks git after its submission", func() bool { return w.text(w.side+"/between") != "" })
	server.Kill()
	<-ended
	if git, err := strconv.Atoi(strings.TrimSpace(w.text(w.side + "/between"))); err == nil {
		_ = syscall.Kill(git, syscall.SIGKILL)
	}
}

// followed is that after every event the first rule that matches was followed, once, before anything else happened, and no other
// rule. Only the newest event may still wait for its rule. The rules are those of ferrus.toml, which nobody has changed.
func (w *world) followed(lines []*store.Line) (wrong []string) {
	conf, err := config.Load(w.path(config.FileName))
	if err != nil {
		w.t.Fatal(err)
	}
	for i, l := range lines {
		if l.Event == state.Violation || l.Event == state.Repair || i > 0 && lines[i-1].Event == state.Violation {
			continue
		}
		next := i + 1
		for next < len(lines) && (lines[next].Event == state.Violation || lines[next].Event == state.Repair) {
			next++
		}
		if next == len(lines) {
			break
		}
		gate := conf.Gate().As(l.State.Assigned.Agent, l.State.Assigned.Model)
		facts, who, want := rules.Of(l.Event, l.State), gate.HQ.Executor, ""
		facts.Executor = strings.TrimSuffix(who.Agent+":"+who.Model, ":")
		if r, ok := rules.First(gate.AllRules(), facts); ok {
			if _, err := state.Step(l.State, r.Event(), state.Engine, state.Limits{}); err == nil {
				want = r.String()
			}
		}
		if got := lines[next].Rule; got != want {
			wrong = append(wrong, fmt.Sprintf("after entry %d, %s, the rule of the next one is %q, not %q", l.Seq, l.Event, got, want))
		}
	}
	return wrong
}
