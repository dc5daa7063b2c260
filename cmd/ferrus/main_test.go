package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/cli/root"
	"github.com/ferrus-go/ferrus/internal/cli/setup"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox/attack"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/postgrestest"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

func TestMain(m *testing.M) {
	sandbox.Stage()
	attack.Main()
	checks.Helper()
	process.Shim(run.Hold)
	if len(os.Args) > 1 && os.Args[1] == "serve" { // a command that a test runs in this process has started this program
		root.Main()
	}
	testscript.Main(isolated{m}, map[string]func(){"ferrus": func() { agreeFirst(); shareAfter(); hookLonger(); root.Main() }})
}

// hookLonger gives hooks more time in a script that says so.
func hookLonger() {
	if limit := os.Getenv("HOOK_LIMIT"); limit != "" {
		setup.HookLimit = limit
	}
}

// isolated is the test program with records of projects of its own.
type isolated struct{ *testing.M }

func (i isolated) Run() int {
	return kit.Main(func() int {
		if err := os.Setenv(agreesTo, "1"); err != nil {
			panic(err)
		}
		return kit.Scratch(&enginetest.Scratch, func() int { return postgrestest.Main(i.M.Run) })
	})
}

// TestTheCommandLine runs the scripts: the real binary, real git, real servers.
func TestTheCommandLine(t *testing.T) { runScripts(t, "script") }

// TestAFirstRun meets machines with one client, with none, and with broken ones.
func TestAFirstRun(t *testing.T) { runScripts(t, "firstrun") }

// TestAHookSpeaksInItsSession, which has the task, and nowhere else.
func TestAHookSpeaksInItsSession(t *testing.T) { runScripts(t, "hook") }

// TestTheCommandLineWithADatabase runs scripts that have a PostgreSQL database each, $DATABASE.
func TestTheCommandLineWithADatabase(t *testing.T) {
	runScripts(t, "database", "DATABASE")
}

// runScripts runs the scripts of a folder of testdata. Each has a PostgreSQL database in these variables.
func runScripts(t *testing.T, dir string, databases ...string) {
	if dir == "script" && sharedtest.On() {
		databases = append(databases, sharesIn)
	}
	bin, err := exec.LookPath("ferrus")
	if err != nil {
		t.Fatal(err)
	}
	research, err := filepath.Abs("../../internal/pipeline/testdata/workflows.json")
	if err != nil {
		t.Fatal(err)
	}
	installed, tools := installs(t), toolsOnly(t)
	testscript.Run(t, testscript.Params{
		Dir:                filepath.Join("testdata", dir),
		RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, ".home")
			env.Setenv("HOME", home)
			env.Setenv("BIN", filepath.Dir(bin))
			env.Setenv("PATH", installed+string(filepath.ListSeparator)+env.Getenv("PATH"))
			env.Setenv("TOOLS", tools)
			env.Setenv("AGENTS", installed)
			env.Setenv("RESEARCH", research)
			env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			env.Setenv("GIT_CEILING_DIRECTORIES", env.WorkDir)
			env.Setenv("NO_COLOR", "")
			env.Setenv("PAGER", "cat")
			env.Setenv(agreesTo, "1")
			for _, name := range databases {
				env.Setenv(name, postgrestest.DurableDatabase(env.T().(testing.TB)))
			}
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(os.Getenv("XDG_CONFIG_HOME"), filepath.Base(env.WorkDir)))
			env.Setenv("FERRUS_STATE_DIR", filepath.Join(os.Getenv("FERRUS_STATE_DIR"), filepath.Base(env.WorkDir)))
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else the race detector holds each process for a second
			env.Values[castKey{}], env.Values[standInKey{}] = cast{}, &standIn{}
			env.Defer(func() { env.Values[castKey{}].(cast).leave() })
			if err := os.Mkdir(home, 0o700); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(gitConfig), 0o600)
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "files":
				return !sharedtest.On(), nil
			case "full":
				return kit.Full(), nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"agent": agentCommand, "forge": forgeCommand, "rc": rcCommand, "write": writeCommand, "edit": editCommand, "fill": fillCommand,
			"lock": lockCommand, "tree": treeCommand, "tty": ttyCommand, "moment": momentCommand, "page": pageCommand, "age": ageCommand, "entry": entryCommand, "service": serviceCommand, "nobody": nobodyCommand,
		},
	})
}

// installs is a folder with a Claude Code and a Codex that say their version and that they are logged in, and do nothing: what
// is installed on the state of branch who runs the tests makes no difference.
func installs(t *testing.T) string {
	dir := t.TempDir()
	for _, name := range []string{"claude", "codex"} {
		text := "#!/bin/sh\necho \"" + name + " 1.0 $*\"\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// toolsOnly is a folder with the programs that ferrus and its scripts need, and no agent.
func toolsOnly(t *testing.T) string {
	dir := t.TempDir()
	for _, name := range []string{"git", "sh", "env", "cat", "sleep", "ferrus"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue // a script that needs it says so
		}
		if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const gitConfig = `[user]
	name = test
	email = test@example.com
[init]
	defaultBranch = main
[advice]
	detachedHead = false
`
