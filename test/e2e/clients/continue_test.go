//go:build unix

package clients

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/model"
)

// native lets executors continue their client's own session.
func (r *rig) native(supervisor, executor string) {
	r.t.Helper()
	r.configure(config(supervisor, executor) + "continue = \"native\"\n")
	r.must("git", append(append([]string{}, signed...), "commit", "-qam", "native")...)
}

// TestAnExecutorContinuesItsConversation after a rejection: what the client sends to its model begins with what was said
// before.
func TestAnExecutorContinuesItsConversation(t *testing.T) {
	t.Parallel()
	for _, p := range pairs {
		t.Run(p.executor, func(t *testing.T) {
			r := newRig(t, p.supervisor, p.executor, eventful(model.Continued()))
			r.native(p.supervisor, p.executor)
			code, out := r.run(ferrus, "run", "--headless", task)
			if code != 0 {
				t.Fatalf("exit code %d\n%s", code, out)
			}
			if !strings.Contains(out, "continues the session of executor-1") {
				t.Errorf("it is not said:\n%s", out)
			}
			if n := r.claims(); n != 2 {
				t.Errorf("the longest conversation has %d claims, want 2", n)
			}
			r.finished()
		})
	}
}

// TestASessionThatIsGoneIsNoLoss: the client cannot continue it, so the next executor begins a new one.
func TestASessionThatIsGoneIsNoLoss(t *testing.T) {
	t.Parallel()
	for _, p := range pairs {
		t.Run(p.executor, func(t *testing.T) {
			r := newRig(t, p.supervisor, p.executor, model.Diligent(model.AskOnce("Which blue?"), model.ReadPatch(), model.Work(paint)))
			r.native(p.supervisor, p.executor)
			if code, out := r.run(ferrus, "run", "--headless", task); code != 6 {
				t.Fatalf("exit code %d\n%s", code, out)
			}
			r.gone()
			r.forget()
			r.must(ferrus, "answer", "The blue of noon.")
			code, out := r.run(ferrus, "resume", "--headless")
			if code != 0 {
				t.Fatalf("exit code %d\n%s", code, out)
			}
			if !strings.Contains(out, "a new session: executor-2 did not end well") || r.now().State != state.Complete {
				t.Errorf("%s\n%s", r.now().State, out)
			}
			r.gone()
		})
	}
}

// TestARollbackForksTheConversation where the client can: the session that knows the undone work stays as it is.
func TestARollbackForksTheConversation(t *testing.T) {
	t.Parallel()
	for _, p := range pairs {
		t.Run(p.executor, func(t *testing.T) {
			r := newRig(t, p.supervisor, p.executor, model.Diligent(model.Continued(), model.AskOnce("Which blue?"), model.ReadPatch(), model.Work(paint)))
			r.native(p.supervisor, p.executor)
			if code, out := r.run(ferrus, "run", "--headless", task); code != 6 {
				t.Fatalf("exit code %d\n%s", code, out)
			}
			r.gone()
			r.must(ferrus, "rollback", "1", "-m", "Do not ask.")
			code, out := r.run(ferrus, "resume", "--headless")
			if code != 0 {
				t.Fatalf("exit code %d\n%s", code, out)
			}
			want := map[string]string{claude: "continues the session of executor-1", codex: "a new session: executor-1 knows work that was rolled back"}
			if !strings.Contains(out, want[p.executor]) {
				t.Errorf("it is not said:\n%s", out)
			}
			runs, err := process.Runs(r.machine(filepath.Join("runs", r.now().TaskID+".jsonl")))
			if err != nil {
				t.Fatal(err)
			}
			sessions := map[string]bool{}
			for _, run := range runs {
				if run.Duty == agents.Executor && run.Client != "" {
					sessions[run.Client] = true
				}
			}
			if len(sessions) != 2 {
				t.Errorf("the executors had the sessions %v, want two", sessions)
			}
			r.gone()
		})
	}
}

// forget removes what the clients have remembered of their sessions.
func (r *rig) forget() {
	r.t.Helper()
	for _, dir := range []string{".claude/projects", ".codex/sessions"} {
		if err := os.RemoveAll(filepath.Join(r.base, "home", dir)); err != nil {
			r.t.Fatal(err)
		}
	}
}

// claims returns the greatest number of claims in one conversation of an executor.
func (r *rig) claims() (most int) {
	for _, s := range r.model.Seen() {
		n := 0
		for _, told := range s.Told() {
			if s.Executor() && told.Tool == "wait_for_task" && told.Status == "claimed" {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}
