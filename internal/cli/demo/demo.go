// Package demo has ferrus demo: a whole task with real servers, in a repository made for it.
package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/server/mcpclient"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/tools"
)

// Command is ferrus demo.
func Command() *cobra.Command {
	var keep, asJSON, working bool
	var at string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Play a whole task in a temporary repository",
		Long: `Plays a task in a temporary git repository, with real servers and scripted
agents that edit files. No model is used. Every scene verifies its result. The
exit code is 0 only if all scenes succeed. With --night DIR it makes a project
in which agents have worked for a night, and each kind of need waits for you:
look at it with "ferrus -C DIR ui", or web, or status --all.`,
		Example: `  ferrus demo
  ferrus demo --keep=false
  ferrus demo --json
  ferrus demo --night shop`,
		Annotations: cli.Reference(`The servers are "ferrus serve" of the same binary, and the agents are MCP
clients. The scenes are: a failed check, a consultation, a question to a person,
a check that passes, and a rejection. Then an executor is killed and replaced,
another one hangs, comes back and is refused, and the work is approved. At last
another task is done on a branch and merged.

The project of --night is an ordinary one, made by ordinary commands in some 10
seconds. It is yours: answer, approve and merge, and let the scripted agents go
on with "ferrus run". In it wait:

- a question with options, and one because a limit is reached
- a review that no run starts, and a task that no run works on
- a failed task, and a task that was created with another ferrus.toml
- a merge conflict, and a choice between two attempts with scores
- a pipeline whose delivery is uncertain

Two tasks are queued, and others are done. Nothing runs any more, except with
--at-work a run on the branch labels: "ferrus stop --branch labels" ends it.`,
			"one object a scene: scene title ms, and without --night proof; then the journal."),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if working && at == "" {
				return cli.UsageError("ferrus demo --night DIR --at-work", "--at-work is for --night")
			}
			if at != "" {
				if err := needs("git"); err != nil {
					return err
				}
				return runNight(cmd.Context(), cmd.OutOrStdout(), at, working, asJSON)
			}
			if err := needs("git", "go"); err != nil {
				return err
			}
			return runDemo(cmd.Context(), cmd.OutOrStdout(), keep, asJSON)
		},
	}
	cmd.Flags().BoolVar(&keep, "keep", true, "keep the repository; --keep=false deletes it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object for each scene, then the journal")
	cmd.Flags().StringVar(&at, "night", "", "make a project in the new folder `DIR` in which each kind of need waits for you")
	cmd.Flags().BoolVar(&working, "at-work", false, "with --night: leave a run whose agent works for ten minutes")
	cmd.MarkFlagsMutuallyExclusive("night", "keep")
	cmd.AddCommand(actorCommand())
	return cmd
}

// install says where a program that a demonstration needs comes from.
var install = map[string]refusal.Own{
	"git": "install git, which ferrus always needs",
	"go":  "install Go, https://go.dev/dl; or: ferrus demo --night DIR needs git alone",
}

// needs refuses a demonstration if one of the programs is not on PATH.
func needs(programs ...string) error {
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			return cli.Refuse(refusal.StoreError, "the demonstration needs the program "+name+", which is not on PATH", install[name])
		}
	}
	return nil
}

// A stage is where the demonstration is played.
type stage struct {
	ctx     context.Context
	exe     string // this binary
	dir     string // the repository
	out     io.Writer
	json    bool
	cast    map[string]*mcpclient.Client // by the names of the story
	killed  time.Time                    // when an executor was killed or stopped last
	waiting chan waiting                 // of the second executor, while the first one dies
}

// A scene is one step of the story. play returns the proof that it happened.
type scene struct {
	title string
	play  func(*stage) (proof string, err error)
}

// demoLimit bounds the whole: a demonstration that hangs has failed.
const demoLimit = 10 * time.Minute

func runDemo(ctx context.Context, out io.Writer, keep, asJSON bool) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "ferrus-demo-")
	if err != nil {
		return err
	}
	if !keep {
		defer os.RemoveAll(dir)
		defer os.RemoveAll(recordsOf(dir))
	}
	ctx, cancel := context.WithTimeout(ctx, demoLimit)
	defer cancel()
	s := &stage{ctx: ctx, exe: exe, dir: dir, out: out, json: asJSON, cast: map[string]*mcpclient.Client{}}
	defer s.leave()
	began := time.Now()
	s.say("ferrus demo: a supervisor, four executors and a person, in %s\n\n", dir)
	for i, sc := range story {
		if err := s.play(i+1, sc); err != nil {
			proc.AwaitSignal(ctx) // ctrl-C ends the servers and commands of a scene, too; the caller asks for the signal
			return fmt.Errorf("scene %d, %s: %w (the repository is %s)", i+1, sc.title, err, dir)
		}
	}
	return s.epilogue(keep, time.Since(began))
}

// play plays one scene and shows it with its proof.
func (s *stage) play(n int, sc scene) error {
	began := time.Now()
	proof, err := sc.play(s)
	if err != nil {
		return err
	}
	took := time.Since(began)
	if s.json {
		return json.NewEncoder(s.out).Encode(map[string]any{"scene": n, "title": sc.title, "proof": proof, "ms": took.Milliseconds()})
	}
	s.say("%3d  %-62s %6d ms\n     %s\n", n, sc.title, took.Milliseconds(), proof)
	return nil
}

// epilogue shows the journal and where to look on.
func (s *stage) epilogue(keep bool, took time.Duration) error {
	args := []string{"log"}
	if s.json {
		args = append(args, "--json")
	}
	journal, err := s.person(args...)
	if err != nil {
		return err
	}
	s.say("\nThe journal, every event of it (ferrus log):\n\n")
	fmt.Fprint(s.out, journal)
	s.say("\nAll %d scenes happened, in %.1f s.\n", len(story), took.Seconds())
	if keep {
		s.say("The repository is still there:  %s -C %s status\n", called(), s.dir)
	}
	return nil
}

// called is how a person can call ferrus: by its name where it is installed.
func called() string {
	if _, err := exec.LookPath("ferrus"); err != nil {
		return "go run ./cmd/ferrus"
	}
	return "ferrus"
}

// say prints for a person; with --json it is silent.
func (s *stage) say(format string, args ...any) {
	if !s.json {
		fmt.Fprintf(s.out, format, args...)
	}
}

// enter starts a server of this very binary and connects an agent to it.
func (s *stage) enter(name, role string, index int, more ...string) error {
	args := []string{"serve", "--role", role, "--agent-name", "scripted", "--agent-index", fmt.Sprint(index), "--root", s.dir}
	cmd := exec.Command(s.exe, append(args, more...)...)
	cmd.Stderr, cmd.Env = io.Discard, s.env()
	client, err := mcpclient.Start(s.ctx, "scripted", cmd)
	if err != nil {
		return err
	}
	s.cast[name] = client
	return nil
}

// call has an agent call a tool and checks how that ends: a status, a code, or "" for either being absent.
func (s *stage) call(name, tool string, args map[string]any, want string) (tools.Result, error) {
	r, err := s.cast[name].Call(s.ctx, tool, args)
	if err != nil {
		return r, err
	}
	got := r.Status
	if r.Code != "" {
		got = string(r.Code)
	}
	if got != want {
		return r, fmt.Errorf("%s of %s ended with %q, not %q: %s", tool, name, got, want, r.Message)
	}
	return r, nil
}

// person runs a command of this binary as the person would.
func (s *stage) person(args ...string) (string, error) {
	cmd := exec.CommandContext(s.ctx, s.exe, append([]string{"-C", s.dir}, args...)...)
	cmd.Env = s.env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("ferrus %v: %v: %s", args, err, out)
	}
	return string(out), nil
}

// env is the environment of the play: nothing of the one that started it points elsewhere.
func (s *stage) env() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "FERRUS_") })
	return append(env, "NO_COLOR=1", trust.EnvStateDir+"="+recordsOf(s.dir))
}

// recordsOf is the state folder of a demonstration: beside its repository, and not among the person's own records.
func recordsOf(dir string) string { return dir + "-state" }

// edit is what an agent does to a file of the work tree.
func (s *stage) edit(name, text string) error {
	return os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644)
}

// leave ends what is still running, also after a scene has failed.
func (s *stage) leave() {
	for _, c := range s.cast {
		proceed(c.Process())
		c.Kill()
	}
}

// short is the first line of a text, at most n characters of it.
func short(text string, n int) string {
	for i, r := range []rune(text) {
		if r == '\n' || i == n {
			return string([]rune(text)[:i]) + " …"
		}
	}
	return text
}
