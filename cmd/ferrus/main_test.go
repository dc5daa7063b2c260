package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ferrus-go/ferrus/internal/checks"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/slot"
	"github.com/ferrus-go/ferrus/internal/trust/trusttest"
)

var (
	update = flag.Bool("update", false, "write the generated files")
	full   = flag.Bool("full", false, "run every reading command from every folder")
)

func TestMain(m *testing.M) {
	checks.Helper()
	slot.Shim(run.Hold)
	if len(os.Args) > 1 && os.Args[1] == "serve" { // a command that a test runs in this process has started this program
		main()
	}
	testscript.Main(isolated{m}, map[string]func(){"ferrus": func() { agreeFirst(); main() }})
}

// isolated is the test program with records of projects of its own.
type isolated struct{ *testing.M }

func (i isolated) Run() int {
	return trusttest.Main(func() int {
		if err := os.Setenv(agreesTo, "1"); err != nil {
			panic(err)
		}
		return i.M.Run()
	})
}

// TestTheCommandLine runs the scripts: the real binary, real git, real servers.
func TestTheCommandLine(t *testing.T) {
	bin, err := exec.LookPath("ferrus")
	if err != nil {
		t.Fatal(err)
	}
	research, err := filepath.Abs("../../internal/pipeline/testdata/workflows.json")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                filepath.Join("testdata", "script"),
		RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, ".home")
			env.Setenv("HOME", home)
			env.Setenv("BIN", filepath.Dir(bin))
			env.Setenv("RESEARCH", research)
			env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			env.Setenv("GIT_CEILING_DIRECTORIES", env.WorkDir)
			env.Setenv("NO_COLOR", "")
			env.Setenv(agreesTo, "1")
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(os.Getenv("XDG_CONFIG_HOME"), filepath.Base(env.WorkDir)))
			env.Setenv("FERRUS_STATE_DIR", filepath.Join(os.Getenv("FERRUS_STATE_DIR"), filepath.Base(env.WorkDir)))
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else the race detector holds each process for a second
			env.Values[castKey{}] = cast{}
			env.Defer(func() { env.Values[castKey{}].(cast).leave() })
			if err := os.Mkdir(home, 0o700); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(gitConfig), 0o600)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"agent": agentCommand, "rc": rcCommand, "write": writeCommand, "edit": editCommand, "fill": fillCommand,
			"lock": lockCommand, "tree": treeCommand, "tty": ttyCommand, "age": ageCommand, "nobody": nobodyCommand,
		},
	})
}

const gitConfig = `[user]
	name = test
	email = test@example.com
[init]
	defaultBranch = main
[advice]
	detachedHead = false
`
