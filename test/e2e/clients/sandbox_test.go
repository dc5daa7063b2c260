//go:build unix

package clients

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/model"
)

// meddle has the executor's own shell read and write what is none of its business, before it does the task and commits it.
func meddle(r *rig, q model.Request, work model.Told) []model.Call {
	script := fmt.Sprintf("cat '%[1]s/.ferrus/journal.jsonl' '%[1]s/secret' '%[2]s/.ssh/id'; echo spoiled >>'%[1]s/ferrus.toml'; echo spoiled >>'%[2]s/.bashrc'; "+
		"echo spoiled >>'%[1]s/.git/config'; git status --short; echo tried >$HOME/tried", r.dir, filepath.Join(r.base, "home"))
	calls := append(q.Shell(script), paint(q, work)...)
	return append(calls, q.Shell("git add -A && git commit -qm mine")...)
}

// inSandbox are the executors that are tried in a sandbox.
var inSandbox = append(slices.Clone(pairs), pair{claude, gemini}, pair{codex, qwen}, pair{codex, opencode})

// TestARealClientInASandbox: each does the whole loop, and its shell reaches nothing that is not its own. Some are started again, in the
// home folder that they have left, and some work in the project's own work tree.
func TestARealClientInASandbox(t *testing.T) {
	t.Parallel()
	for _, p := range inSandbox {
		for _, m := range []sandbox.Mechanism{sandbox.Landlock, sandbox.Bwrap} {
			t.Run(fmt.Sprintf("%s in %s", p.executor, m), func(t *testing.T) {
				t.Parallel()
				var r *rig
				want, branch, mode := "blue\n", "sky", string(m)
				rules := []model.Rule{model.ReadPatch(),
					model.Work(func(q model.Request, work model.Told) []model.Call { return meddle(r, q, work) })}
				switch often := slices.Contains(pairs, p); {
				case often && m == sandbox.Landlock:
					want, rules = painted, append(rules, model.RejectFirst("Add that the review says so."))
				case often:
					branch = ""
				}
				if p.executor == claude && m == sandbox.Bwrap {
					mode = "auto" // its key is in the environment
				}
				r = newRig(t, p.supervisor, p.executor, model.Diligent(rules...))
				if err := sandbox.Probe(t.Context(), m, ferrus); err != nil {
					t.Skip(err)
				}
				home := filepath.Join(r.base, "home")
				var at []string
				if branch != "" {
					at = []string{"--branch", branch}
					r.write("secret", "sesame\n") // of another work tree
				}
				r.write(filepath.Join(home, ".ssh", "id"), "sesame\n")
				r.write(filepath.Join(home, ".bashrc"), "true\n")
				toml := strings.Replace(config(p.supervisor, p.executor), "[checks]\n", fmt.Sprintf("[checks]\nsandbox = %q\nnetwork = true\n", mode), 1) +
					fmt.Sprintf("sandbox = %q\n", mode)
				r.configure(toml)
				r.commit()
				r.must(ferrus, append([]string{"task", task}, at...)...)
				on := r.on(branch)
				on.write(on.machine("executor/home/.codex/config.toml"), model.CodexConfig(r.model.URL(codex)))
				on.write(on.machine("executor/home/.config/opencode/opencode.json"), opencodeConfig(r.model.URL(opencode)))
				git := r.text(".git/config")
				began := time.Now()
				code, out := r.run(ferrus, append([]string{"run", "--headless"}, at...)...)
				t.Logf("%.1f s, %d requests\n%s", time.Since(began).Seconds(), len(r.model.Seen()), out)
				if now := on.now(); code != 0 || now.State != state.Complete {
					t.Fatalf("exit code %d in %s\n%s\n%s", code, now.State, out, on.runs())
				}
				on.confined(m, out)
				if r.text("ferrus.toml") != toml || r.text(filepath.Join(home, ".bashrc")) != "true\n" || r.text(".git/config") != git {
					t.Error("it has written outside")
				}
				if got := r.text(filepath.Join(on.place().Work, "colour.txt")); got != want {
					t.Errorf("colour.txt is %q", got)
				}
				on.gone()
			})
		}
	}
}

// confined: only the executors were in a sandbox, which the run names; their shells have worked there, and have shown them nothing
// of what is not theirs.
func (r *rig) confined(m sandbox.Mechanism, out string) {
	r.t.Helper()
	if !strings.Contains(out, fmt.Sprintf("in a sandbox (%s)", m)) {
		r.t.Errorf("the run does not say so:\n%s", out)
	}
	runs, err := process.Runs(r.machine("runs/" + r.now().TaskID + ".jsonl"))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, run := range runs {
		if want := map[bool]string{true: string(m)}[run.Duty == agents.Executor]; run.Sandbox != want {
			r.t.Errorf("%s is in %q", run.Name, run.Sandbox)
		}
	}
	for _, s := range r.model.Seen() {
		if strings.Contains(s.Body, "sesame") || strings.Contains(s.Body, `\"event\":`) {
			r.t.Errorf("its model has seen what it must not: %v", s)
		}
	}
	// Files show it, for under load a client loses the output of its shell now and then.
	if r.text(r.machine("executor/home/tried")) != "tried\n" || !strings.Contains(r.text(r.machine("executor/git/logs/HEAD")), "commit: mine") {
		r.t.Error("its shell has not run, or has not committed")
	}
}
