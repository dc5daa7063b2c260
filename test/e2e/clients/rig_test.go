//go:build unix

package clients

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/model"
)

// Names of agents, as in ferrus.toml.
const (
	claude   = "claude-code"
	codex    = "codex"
	gemini   = "gemini"
	qwen     = "qwen-code"
	opencode = "opencode"
)

// task is what is to be done in every test: until it is, the check is red.
const task = "Write the colour of the sky into colour.txt, as a word of its own."

const checkScript = "grep -qw blue colour.txt\n"

// A rig is a project of its own with ferrus in it, and clients that know nothing but it and the scripted model.
type rig struct {
	t     testing.TB
	base  string // everything of the rig, and named in the environment of all its processes
	dir   string // the project
	env   []string
	model *model.Server

	branch string // whose machine is looked at; "" for the project's own
}

// on is the rig with an eye on a branch.
func (r *rig) on(branch string) *rig {
	other := *r
	other.branch = branch
	return &other
}

func (r *rig) place() project.Place { return project.At(r.dir, r.branch) }

// machine is the path of a file of the machine's.
func (r *rig) machine(name string) string { return filepath.Join(r.place().Dir(), name) }

// newRig makes the project, with these agents for its slots.
func newRig(t testing.TB, supervisor, executor string, policy model.Policy) *rig {
	t.Helper()
	bins := installed(t, supervisor, executor)
	r := bareRig(t, policy, append(bins, os.Getenv("PATH")))
	r.env = append(r.env, modelEnv(executor, r.model.URL(executor))...)
	r.write("check.sh", checkScript)
	r.write("ferrus.toml", config(supervisor, executor))
	r.must("git", "init", "-q", "-b", "main", "--template=")
	r.must(ferrus, "init")
	r.agree()
	r.commit()
	return r
}

// bareRig makes an empty folder, and a person with the programs of these folders whose clients know the model.
func bareRig(t testing.TB, policy model.Policy, path []string) *rig {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, base: base, dir: filepath.Join(base, "project"), model: model.Start(t, policy)}
	t.Cleanup(r.quiet) // before the model goes: a client without its model would try again and again
	t.Cleanup(func() {
		if t.Failed() {
			for _, seen := range r.model.Seen() {
				t.Log(seen)
			}
		}
	})
	home := filepath.Join(base, "home")
	// The home folder is not below TMPDIR: Codex makes no helper programs there, and needs one to run bubblewrap before 0.9.
	r.env = []string{
		"PATH=" + strings.Join(path, string(os.PathListSeparator)), "TERM=dumb", "LANG=C.UTF-8",
		"HOME=" + home, "TMPDIR=" + filepath.Join(base, "tmp"), "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"CLAUDE_CONFIG_DIR=" + filepath.Join(home, ".claude"),
		"CODEX_HOME=" + filepath.Join(home, ".codex"), "MODEL_KEY=none",
	}
	r.env = append(r.env, model.ClaudeEnv(r.model.URL("claude"))...)
	r.write(filepath.Join(home, ".codex", "config.toml"), model.CodexConfig(r.model.URL("codex")))
	for _, dir := range []string{r.dir, filepath.Join(home, ".claude"), filepath.Join(base, "tmp")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// configure writes ferrus.toml and agrees to what it makes run, as its author does.
func (r *rig) configure(toml string) {
	r.t.Helper()
	r.write("ferrus.toml", toml)
	r.agree()
}

// agree agrees to what the project's files make run now.
func (r *rig) agree() {
	r.t.Helper()
	var shown struct{ Digest string }
	if err := json.Unmarshal([]byte(r.must(ferrus, "trust", "--show", "--json")), &shown); err != nil {
		r.t.Fatal(err)
	}
	r.must(ferrus, "trust", "--digest", shown.Digest)
}

// signed is how git is called where it wants to know by whom.
var signed = []string{"-c", "user.name=u", "-c", "user.email=u@example.com", "-c", "commit.gpgsign=false"}

func (r *rig) commit() {
	r.t.Helper()
	r.must("git", "add", ".")
	r.must("git", append(slices.Clone(signed), "commit", "-q", "-m", "begin")...)
}

func config(supervisor, executor string) string {
	return fmt.Sprintf("[checks]\ncommands = [\"sh check.sh\"]\n\n[hq.supervisor]\nagent = %q\n\n[hq.executor]\nagent = %q\n", supervisor, executor)
}

// modelEnv is what leads Gemini CLI and Qwen Code to their model.
func modelEnv(agent, url string) []string {
	switch agent {
	case gemini:
		return []string{"GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_API_KEY=none", "GEMINI_MODEL=gemini-2.5-pro"}
	case qwen:
		return []string{"OPENAI_BASE_URL=" + url + "/v1", "OPENAI_API_KEY=none"}
	}
	return nil
}

func opencodeConfig(url string) string {
	return `{
	"model": "scripted/scripted",
	"small_model": "scripted/scripted",
	"autoupdate": false,
	"provider": {"scripted": {
		"npm": "@ai-sdk/openai-compatible",
		"options": {"baseURL": "` + url + `/v1", "apiKey": "none"},
		"models": {"scripted": {"tool_call": true}}
	}}
}
`
}

func (r *rig) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(r.dir, name)
}

func (r *rig) write(name, text string) {
	r.t.Helper()
	path := r.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// text is what a file holds, "" when there is none.
func (r *rig) text(name string) string {
	data, _ := os.ReadFile(r.path(name))
	return string(data)
}

// command is a program in the project, in the environment of the rig.
func (r *rig) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = r.dir, r.env
	cmd.WaitDelay = time.Second
	return cmd
}

// run runs a program to its end and returns its exit code and all that it said.
func (r *rig) run(name string, args ...string) (int, string) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := r.command(ctx, name, args...)
	cmd.WaitDelay = kit.Patience // what it started may hold its output a moment longer
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && ctx.Err() == nil {
		return exit.ExitCode(), string(out)
	}
	if err != nil {
		r.t.Fatalf("%s %v: %v\n%s", filepath.Base(name), args, err, out)
	}
	return 0, string(out)
}

func (r *rig) must(name string, args ...string) string {
	r.t.Helper()
	code, out := r.run(name, args...)
	if code != 0 {
		r.t.Fatalf("%s %v: exit code %d\n%s", filepath.Base(name), args, code, out)
	}
	return out
}

// history is the whole journal, which must be sound.
func (r *rig) history() []*store.Line {
	r.t.Helper()
	e, err := engine.Open(r.place(), engine.Options{})
	if err != nil {
		r.t.Fatal(err)
	}
	defer e.Close()
	var lines []*store.Line
	for l, err := range e.Store().History() {
		if err != nil {
			r.t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines
}

func (r *rig) events() []state.Event {
	r.t.Helper()
	var events []state.Event
	for _, l := range r.history() {
		events = append(events, l.Event)
	}
	return events
}

// now is the task as it stands.
func (r *rig) now() state.Task {
	r.t.Helper()
	e, err := engine.Open(r.place(), engine.Options{})
	if err != nil {
		r.t.Fatal(err)
	}
	defer e.Close()
	st, err := e.Status()
	if err != nil {
		r.t.Fatal(err)
	}
	return st.Task
}
