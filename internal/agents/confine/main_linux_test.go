package confine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/confine"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox/attack"
	"github.com/ferrus-go/ferrus/internal/server"
	"github.com/ferrus-go/ferrus/internal/server/mcpclient"
	"github.com/ferrus-go/ferrus/internal/tools"
	"github.com/ferrus-go/ferrus/test/kit"
)

// part is the environment variable that makes this binary another program.
const part = "FERRUS_TEST_PART"

// become makes the process another program, if it was started as one of those that the tests of the sandbox need.
func become() {
	sandbox.Stage()
	attack.Main()
	process.Shim(nil)
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		os.Exit(server.Main("ferrus serve", os.Args[2:], nil))
	}
	if len(os.Args) > 2 && os.Args[1] == "connect" {
		t, err := confine.ReadTicket(os.Args[2])
		if err == nil {
			err = confine.Connect(context.Background(), t, os.Stdin, os.Stdout)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if os.Getenv(part) == "agent" {
		os.Unsetenv(part) // its server, and the checks of that, are no agents
		os.Exit(play(strings.Fields(os.Args[1])))
	}
}

// play is an agent: each word is a tool to call, sh:FILE to run a script of the work tree, truncate, hang, or leave: wait for
// the request to end.
func play(words []string) int {
	ctx, cancel := context.WithTimeout(context.Background(), kit.Patience)
	defer cancel()
	line := os.Getenv("FERRUS_SERVER")
	client, err := mcpclient.Start(ctx, "actor", exec.Command("/bin/sh", "-c", "exec "+line))
	if err != nil {
		fmt.Println(err)
		return 4
	}
	defer client.Close()
	with := map[string]map[string]any{
		"submit":   {"summary": "Done.", "verification": "Looked.", "no_change": "None is needed."},
		"reject":   {"notes": "Again."},
		"delegate": {"task": "Do a part."},
	}
	for _, word := range words {
		switch name, arg, _ := strings.Cut(word, ":"); name {
		case "sh":
			cmd := exec.Command("/bin/sh", arg)
			cmd.Dir, cmd.Stdout, cmd.Stderr = os.Getenv("FERRUS_WORK"), os.Stdout, os.Stdout
			if err := cmd.Run(); err != nil {
				fmt.Println(arg, err)
			}
		case "truncate": // its own output, by the open file
			fmt.Println("truncated:", os.Stdout.Truncate(0))
		case "leave":
			asked := make(chan os.Signal, 1)
			signal.Notify(asked, syscall.SIGTERM)
			fmt.Println("waits")
			<-asked
			fmt.Println("leaves")
			return 0
		case "hang":
			fmt.Println("hangs with", client.Process().Pid)
			select {}
		default:
			var res tools.Result
			for res.Status = "timeout"; res.Status == "timeout" || res.Status == "running"; {
				if res, err = client.Call(ctx, name, with[name]); err != nil {
					fmt.Println(name, err)
					return 3
				}
			}
			text, _ := json.Marshal(res)
			fmt.Printf("%s: %s\n", name, text)
			if res.Log != "" {
				text, err := os.ReadFile(res.Log)
				fmt.Printf("its log: %q %v\n", text, err)
			}
		}
	}
	return 0
}

// A setting is where an executor works, and what keeps it in.
type setting struct {
	name      string
	mechanism sandbox.Mechanism
	own       bool // in the project's own work tree, not on a branch
}

var (
	unconfined = setting{"no sandbox", sandbox.None, false}
	landlocked = setting{"landlock", sandbox.Landlock, false}
	settings   = []setting{landlocked, {"bwrap", sandbox.Bwrap, false}, {"bwrap in the project's own work tree", sandbox.Bwrap, true}}
)

// inEach runs a test in each setting.
func inEach(t *testing.T, test func(t *testing.T, in setting)) {
	for _, in := range settings {
		t.Run(in.name, func(t *testing.T) {
			t.Parallel()
			test(t, in)
		})
	}
}

// A site is a project with an executor in a sandbox, or in none.
type site struct {
	*enginetest.Machine // of the project
	at                  *enginetest.Machine
	self                string
	said                []conductor.Event // by conduct
}

// newSite makes one. plan is what its executor does; the reviewer runs look.sh, if that is among the files, and approves.
func newSite(t *testing.T, in setting, plan string, files map[string]string, more string) *site {
	t.Helper()
	review := "review_pending approve"
	if files["look.sh"] != "" {
		review = "review_pending sh:look.sh approve"
	}
	self, err := os.Executable()
	must(t, err)
	mode := "off"
	if in.mechanism != sandbox.None {
		held(t, in.mechanism, self)
		mode = string(in.mechanism)
	}
	agent := func(plan string) string {
		return fmt.Sprintf("agent = \"command\"\ncommand = \"%s=agent exec '%s' '%s'\"\n", part, self, plan)
	}
	if !strings.Contains(more, "commands") {
		more += "commands = [\"echo checked\"]\n"
	}
	toml := "[checks]\n" + more
	if mode != "off" && !strings.Contains(more, "sandbox") {
		toml += "sandbox = \"" + mode + "\"\nnetwork = true\n"
	}
	toml += "[hq.executor]\n" + agent(plan) + "sandbox = \"" + mode + "\"\n[hq.supervisor]\n" + agent(review)
	s := &site{Machine: enginetest.Repository(t, toml), self: self}
	s.Recorded().Agreed()
	for name, text := range files {
		s.Write(name, text)
	}
	s.Git("add", "-A")
	s.Git("commit", "-qm", "more")
	if files[".gitmodules"] != "" {
		s.Git("update-index", "--add", "--cacheinfo", "160000,"+strings.TrimSpace(s.Git("rev-parse", "HEAD"))+",sub")
		s.Git("commit", "-qm", "more")
	}
	s.at = s.Machine
	if !in.own {
		enginetest.Branched(t, s.Human(), branch.Fork{Names: []string{"alt"}, Own: true})
		s.at = s.On("alt")
	}
	if _, err := s.at.Human().CreateTask(t.Context(), "Build it.", ""); err != nil {
		t.Fatal(err)
	}
	e := s.at.Human().Engine()
	t.Cleanup(func() {
		if err := conductor.EndAll(context.Background(), e); err != nil {
			t.Error(err)
		}
	})
	return s
}

// held skips a test where a mechanism does not hold.
func held(t *testing.T, m sandbox.Mechanism, self string) {
	t.Helper()
	if err := sandbox.Probe(t.Context(), m, self); err != nil {
		t.Skip(err)
	}
}

func (s *site) options() conductor.Options {
	return conductor.Options{Headless: true, Ferrus: s.self, Environ: os.Environ(), BackOff: func(int) time.Duration { return 0 }, Log: enginetest.Quiet,
		Patience: conductor.Patience{Leaving: 500 * time.Millisecond}}
}

// conduct runs the task to its end.
func (s *site) conduct(t *testing.T) (conductor.Outcome, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), kit.Patience)
	defer cancel()
	e := s.at.Human().Engine()
	conf, err := e.Config()
	must(t, err)
	opts := s.options()
	opts.Lease, opts.Tell = conf.Lease, func(e conductor.Event) { s.said = append(s.said, e) }
	return conductor.Run(ctx, e, opts)
}

// start starts the executor, or does what else is due.
func (s *site) start(t *testing.T) {
	t.Helper()
	turn, err := conductor.Look(s.at.Human().Engine(), s.options())
	must(t, err)
	defer turn.Close()
	must(t, turn.Take(t.Context()))
}

// runOf is the newest run of a duty.
func (s *site) runOf(t *testing.T, duty agents.Duty) process.Run {
	t.Helper()
	e := s.at.Human().Engine()
	now, err := e.View()
	must(t, err)
	list, err := process.Runs(conductor.Runs(e, now.Task.TaskID))
	must(t, err)
	var last process.Run
	for _, r := range list {
		if r.Duty == duty {
			last = r
		}
	}
	return last
}

// executor is the newest run of the executor, with its output.
func (s *site) executor(t *testing.T) (process.Run, string) {
	t.Helper()
	last := s.runOf(t, agents.Executor)
	text, _ := os.ReadFile(last.Log)
	return last, string(text)
}

func (s *site) folder() confine.Folder {
	return confine.Of(s.at.Human().Engine().Place().Path())
}

// dotGit is the file .git of the work tree, or the configuration of the git directory in its place.
func (s *site) dotGit() string {
	text, err := os.ReadFile(filepath.Join(s.at.Dir, ".git"))
	if err != nil {
		text, _ = os.ReadFile(filepath.Join(s.at.Dir, ".git", "config"))
	}
	return string(text)
}
