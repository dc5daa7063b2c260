//go:build unix

package clients

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/test/model"
)

// meddle has the executor's own shell read and write what is none of its business, before it does the task and commits it.
func meddle(r *rig, name string) func(model.Request, model.Told) []model.Call {
	return func(q model.Request, work model.Told) []model.Call {
		script := fmt.Sprintf("cat '%[1]s/.ferrus/journal.jsonl' '%[1]s/secret' '%[2]s/.ssh/id'; echo spoiled >>'%[1]s/ferrus.toml'; echo spoiled >>'%[2]s/.bashrc'; "+
			"echo spoiled >>'%[1]s/.git/config'; git status --short; echo tried", r.dir, filepath.Join(r.base, "home"))
		calls := append(q.Shell(script), paint(q, work)...)
		return append(calls, q.Shell("git add -A && git commit -qm mine && git log -1 --format=committed:%s")...)
	}
}

// TestARealClientInASandbox: each does the whole loop on a branch, and its shell reaches nothing that is not its own.
func TestARealClientInASandbox(t *testing.T) {
	t.Parallel()
	for _, p := range pairs {
		t.Run(p.executor, func(t *testing.T) {
			var r *rig
			r = newRig(t, p.supervisor, p.executor, model.Diligent(model.ReadPatch(), model.RejectFirst("Add that the review says so."),
				model.Work(func(q model.Request, work model.Told) []model.Call { return meddle(r, p.executor)(q, work) })))
			home := filepath.Join(r.base, "home")
			r.write("secret", "sesame\n")
			r.write(filepath.Join(home, ".ssh", "id"), "sesame\n")
			r.write(filepath.Join(home, ".bashrc"), "good\n")
			toml := strings.Replace(config(p.supervisor, p.executor), "[checks]\n", "[checks]\nsandbox = \"landlock\"\nnetwork = true\n", 1) + "sandbox = \"landlock\"\n"
			r.configure(toml)
			r.commit()
			r.must(ferrus, "task", "--branch", "sky", task)
			on := r.on("sky")
			on.write(on.machine("executor/home/.codex/config.toml"), codexConfig(r.model.URL("codex")))
			git := r.text(".git/config")
			began := time.Now()
			code, out := r.run(ferrus, "run", "--branch", "sky", "--headless")
			t.Logf("%.1f s, %d requests\n%s", time.Since(began).Seconds(), len(r.model.Seen()), out)
			if now := on.now(); code != 0 || now.State != state.Complete {
				t.Fatalf("exit code %d in %s\n%s\n%s", code, now.State, out, on.runs())
			}
			if !strings.Contains(out, "in a sandbox (landlock)") {
				t.Errorf("the run does not say so:\n%s", out)
			}
			runs, err := process.Runs(on.machine("runs/" + on.now().TaskID + ".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			for _, run := range runs {
				if want := map[bool]string{true: "landlock"}[run.Duty == agents.Executor]; run.Sandbox != want {
					t.Errorf("%s is in %q", run.Name, run.Sandbox)
				}
			}
			tried, committed := false, false
			for _, s := range r.model.Seen() {
				if strings.Contains(s.Body, "sesame") || strings.Contains(s.Body, `\"event\":`) {
					t.Errorf("its model has seen what it must not: %v", s)
				}
				tried = tried || strings.Contains(s.Body, "tried")
				committed = committed || strings.Contains(s.Body, "committed:mine")
			}
			if !tried || !committed {
				t.Errorf("its shell has run: %v; it has committed: %v", tried, committed)
			}
			if r.text("ferrus.toml") != toml || r.text(filepath.Join(home, ".bashrc")) != "good\n" || r.text(".git/config") != git {
				t.Error("it has written outside")
			}
			if got := r.text(filepath.Join(on.place().Work, "colour.txt")); got != painted {
				t.Errorf("colour.txt is %q", got)
			}
			on.gone()
		})
	}
}
