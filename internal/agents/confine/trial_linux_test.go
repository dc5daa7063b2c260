package confine_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/confine"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/conductor/plan"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// TestChecksThatNeedANetworkAreOneQuestion: where they fail in their sandbox alone, a person is asked before an agent starts, and
// the question names the key. Nothing is spent, and with that key the task goes on.
func TestChecksThatNeedANetworkAreOneQuestion(t *testing.T) {
	t.Parallel()
	service, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { service.Close() })
	go func() {
		for {
			c, err := service.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	_, port, err := net.SplitHostPort(service.Addr().String())
	must(t, err)
	more := fmt.Sprintf("commands = [\"bash -c '</dev/tcp/127.0.0.1/%s'\"]\nsandbox = \"bwrap\"\nnetwork = false\n", port)
	s := newSite(t, settings[1], "wait_for_task check submit", nil, more)
	out, err := s.conduct(t)
	if err != nil || out.Task.State != state.AwaitingHuman || len(out.Runs) > 0 {
		t.Fatalf("%s, %v, %+v", out.Task.State, err, out.Runs)
	}
	question, err := store.Text(s.at.Human().Engine().Store(), out.Snapshot, state.QuestionDoc)
	must(t, err)
	for _, want := range []string{"fail in their sandbox (bwrap, without a network) and pass without it", port, "network = true", "ferrus config accept"} {
		if !strings.Contains(question, want) {
			t.Errorf("no %q in\n%s", want, question)
		}
	}
	s.Write("ferrus.toml", strings.Replace(s.Read("ferrus.toml"), "network = false", "network = true", 1))
	s.Agreed()
	human := s.at.Human()
	enginetest.Must2(human.AcceptConfig(t.Context()))(t)
	enginetest.Must(human.Answer(t.Context(), "", "It needs the network."))(t)
	out, err = s.conduct(t)
	executors := 0
	for _, r := range out.Runs {
		if r.Duty == agents.Executor {
			executors++
		}
	}
	if err != nil || out.Task.State != state.Complete || executors != 1 || out.Task.CheckRetries != 0 {
		_, log := s.executor(t)
		t.Errorf("%s, %v, %d executors, %d retries\n%s", out.Task.State, err, executors, out.Task.CheckRetries, log)
	}
}

// TestChecksFollowTheirExecutor: with auto they run in a sandbox from the first executor on that does, and a person's own before that
// do not.
func TestChecksFollowTheirExecutor(t *testing.T) {
	inEach(t, func(t *testing.T, in setting) {
		const tell = `cat /etc/shadow >/dev/null 2>&1 && echo outside || echo inside`
		if f, err := os.Open("/etc/shadow"); err != nil {
			t.Skip("this user reads no file that a sandbox would keep from it: ", err)
		} else {
			f.Close()
		}
		s := newSite(t, in, "wait_for_task check submit", nil, "commands = ["+fmt.Sprintf("%q", tell)+"]\nsandbox = \"auto\"\n")
		byHand := func() string {
			res, _, err := s.at.Human().Engine().Trial(t.Context())
			must(t, err)
			text, err := os.ReadFile(s.at.Human().Engine().Place().Path("logs/check-by-hand.log"))
			must(t, err)
			return fmt.Sprint(res.Status, string(text))
		}
		if said := byHand(); !strings.Contains(said, "\noutside") {
			t.Errorf("before: %s", said)
		}
		out, err := s.conduct(t)
		_, log := s.executor(t)
		if err != nil || out.Task.State != state.Complete || !strings.Contains(log, `\ninside\n`) || strings.Contains(log, `\noutside\n`) {
			t.Errorf("%s, %v\n%s", out.Task.State, err, log)
		}
		if said := byHand(); !strings.Contains(said, "\ninside") {
			t.Errorf("afterwards: %s", said)
		}
	})
}

// TestAnExecutorWithoutASandboxSaysSo: its record and the start name the reason.
func TestAnExecutorWithoutASandboxSaysSo(t *testing.T) {
	t.Parallel()
	s := newSite(t, unconfined, "wait_for_task", nil, "sandbox = \"auto\"\n")
	s.Write("ferrus.toml", strings.Replace(s.Read("ferrus.toml"), "sandbox = \"off\"", "sandbox = \"auto\"", 1))
	s.Agreed()
	enginetest.Must2(s.at.Human().AcceptConfig(t.Context()))(t)
	out, err := s.conduct(t)
	var run process.Run
	for _, r := range out.Runs {
		if r.Duty == agents.Executor {
			run = r
		}
	}
	if err != nil || run.Sandbox != "" || !strings.HasPrefix(run.Outside, "not in a sandbox: ") {
		_, log := s.executor(t)
		t.Fatalf("%s, %v, %+v\n%s", out.Task.State, err, run, log)
	}
	if s.folder().Used() {
		t.Error("a sandbox was made")
	}
	for _, e := range s.said {
		if e.Kind == conductor.Started && e.Duty == agents.Executor && e.Outside != run.Outside {
			t.Errorf("the start says %q", e.Outside)
		}
	}
}

// TestALoginIsKeptOverARenewal: a client in a sandbox that replaces the file of its login, as clients do, has the new one the next
// time, and on another branch.
func TestALoginIsKeptOverARenewal(t *testing.T) {
	inEach(t, func(t *testing.T, in setting) {
		s := newSite(t, in, "wait_for_task", nil, "")
		claude, err := agents.Find("claude-code")
		must(t, err)
		file := filepath.Join(confine.Login(s.Dir, claude.Name), ".claude", ".credentials.json")
		must(t, os.MkdirAll(filepath.Dir(file), 0o700))
		must(t, os.WriteFile(file, []byte("token 1\n"), 0o600))
		e := s.at.Human().Engine()
		now, err := e.View()
		must(t, err)
		gate, err := e.Gate(now)
		must(t, err)
		for n := 1; n <= 2; n++ {
			p, err := plan.Of(t.Context(), plan.Executor{Gate: gate, Place: e.Place(), Work: s.at.Dir, Ferrus: s.self, Environ: os.Environ(), Agent: claude})
			must(t, err)
			inside, err := p.Order.Enter(t.Context())
			must(t, err)
			script := fmt.Sprintf(`cd ~/.claude && grep -q "token %d" .credentials.json && echo "token %d" >new && mv new .credentials.json`, n, n+1)
			argv := append(inside.Prefix, "/bin/sh", "-c", script)
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Env = p.Environ
			said, err := cmd.CombinedOutput()
			if _, left := inside.Leave(); left != nil {
				t.Error(left)
			}
			if err != nil {
				t.Fatalf("run %d: %v: %s", n, err, said)
			}
		}
		if text, err := os.ReadFile(file); string(text) != "token 3\n" {
			t.Errorf("%q, %v", text, err)
		}
	})
}
