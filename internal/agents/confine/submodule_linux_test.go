package confine_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/conductor/plan"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
)

// within makes a repository whose git runs a program of the executor's, and has the submodule not be left out of a look.
const within = `
printf '#!/bin/sh\necho "ran in $PWD" >>"%s"\ncat\n' "$CANARY" >canary.sh && chmod +x canary.sh
git init -q evil && git -C evil -c user.name=u -c user.email=u@example.com commit -q --allow-empty -m sub
for key in filter.evil.clean core.fsmonitor diff.external; do git -C evil config $key "'$PWD/canary.sh'"; done
printf '* filter=evil diff=evil\n' >evil/.gitattributes
printf '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n' >.gitmodules
echo two >code.txt
`

// places are where the executor puts it.
var places = map[string]string{
	"a repository": `rm -rf sub/.git; mv evil/.git sub/.git`,
	"a file":       `rm -f sub/.git; echo "gitdir: ../evil/.git" >sub/.git`,
	"a link":       `rm -rf sub; ln -s evil sub`,
	"a moved one":  `mv sub away; mv evil sub`,
}

// TestNoSubmoduleOfAnExecutorRunsOutside: git looks into a submodule, and obeys the configuration that it finds there. Neither the
// server nor the client of the reviewer does, nor after the run a person's own git in the work tree.
func TestNoSubmoduleOfAnExecutorRunsOutside(t *testing.T) {
	for i, in := range append([]setting{unconfined}, settings...) {
		for j, name := range slices.Sorted(maps.Keys(places)) {
			for k, made := range []string{"nothing", "file", "folder"} {
				if in == unconfined && (made != "nothing" || name == "a link") { // which newer versions of git refuse
					continue
				}
				if !kit.Sampled(6, i, j+1, k) { // each setting with something
					continue
				}
				if in == landlocked && made == "folder" {
					continue // see TestAGitFolderInASubmoduleNeedsBubblewrap
				}
				t.Run(fmt.Sprintf("%s, %s, there before: %s", in.name, name, made), func(t *testing.T) {
					t.Parallel()
					submoduleFrom(t, in, places[name], made)
				})
			}
		}
	}
}

func submoduleFrom(t *testing.T, in setting, place, made string) {
	canary := filepath.Join(t.TempDir(), "canary")
	s := newSite(t, in, "wait_for_task sh:escape.sh check submit hang",
		map[string]string{"escape.sh": "exit 0\n", "look.sh": look, ".gitmodules": "[submodule \"sub\"]\n\tpath = sub\n\turl = ./sub\n"}, "")
	const pointer = "gitdir: ../.git/modules/sub\n"
	switch made {
	case "file":
		s.at.Write("sub/.git", pointer)
	case "folder":
		s.at.Git("init", "-q", "sub")
	}
	s.at.Write("escape.sh", fmt.Sprintf("CANARY='%s'\n", canary)+within+place+"\nrm -f \"$CANARY\"\necho escaped\n")
	out, err := s.conduct(t)
	_, log := s.executor(t)
	if err != nil || out.Task.State != state.Complete || !strings.Contains(log, "escaped") {
		t.Fatalf("%s, %v\n%s", out.Task.State, err, log)
	}
	looked, _ := os.ReadFile(s.runOf(t, "reviewer").Log)
	if !strings.Contains(string(looked), "more\n") {
		t.Errorf("the reviewer has not looked:\n%s", looked)
	}
	for _, call := range []string{"status", "diff"} {
		cmd := exec.Command("git", call)
		cmd.Dir = s.at.Dir
		_ = cmd.Run()
	}
	text, err := os.ReadFile(canary)
	if ran := err == nil; ran == (in != unconfined) {
		t.Errorf("its program ran outside: %v\n%s\n%s\n%s", ran, text, log, looked)
	}
	if in == unconfined {
		return
	}
	switch {
	case made == "file":
		if text, err := os.ReadFile(s.at.Path("sub/.git")); err == nil && string(text) != pointer {
			t.Errorf("the submodule has %q", text)
		}
	case made == "folder":
		if text := s.at.Read("sub/.git/config"); strings.Contains(text, "evil") || s.at.Exists("away") {
			t.Errorf("the submodule has %q", text)
		}
	case s.at.Exists("sub/.git"):
		t.Error("the submodule has a .git")
	}
}

// TestAGitFolderInASubmoduleNeedsBubblewrap: under Landlock nothing keeps an executor from it, so that none starts.
func TestAGitFolderInASubmoduleNeedsBubblewrap(t *testing.T) {
	t.Parallel()
	s := newSite(t, landlocked, "wait_for_task submit", map[string]string{".gitmodules": "[submodule \"sub\"]\n\tpath = sub\n\turl = ./sub\n"}, "")
	s.at.Git("init", "-q", "sub")
	turn, err := conductor.Look(s.at.Human().Engine(), s.options())
	must(t, err)
	defer turn.Close()
	_ = turn.Take(t.Context())
	if run, _ := s.executor(t); !strings.Contains(run.Error, "run git submodule absorbgitdirs there") || s.at.Exists("sub/evil") {
		t.Errorf("%+v", run)
	}
}

// TestTheProjectIsNotMovedAway: where the project is a folder of the work tree, its executor moves neither that nor .ferrus in it.
func TestTheProjectIsNotMovedAway(t *testing.T) {
	self, err := os.Executable()
	must(t, err)
	held(t, sandbox.Bwrap, self)
	top := enginetest.Repository(t, "")
	app := &enginetest.Machine{T: t, Dir: top.Path("apps/web"), Side: top.Side, Opts: top.Opts}
	app.Write("ferrus.toml", "")
	app.Init()
	c := config.Default()
	c.Checks.Sandbox, c.HQ.Sandbox.Mode = config.AnySandbox, config.AnySandbox
	p, err := plan.Of(t.Context(), plan.Executor{Gate: c.Gate(), Place: project.Place{Root: app.Dir, Work: app.Dir}, Work: app.Dir, Ferrus: self, Environ: os.Environ()})
	must(t, err)
	inside, err := p.Order.Enter(t.Context())
	must(t, err)
	const script = `cd ../..; mv apps gone; mv apps/web apps/gone; mv apps/web gone; rm -rf apps/web; mkdir -p apps/web; echo x >apps/web/ferrus.toml
echo works >apps/web/file && ls -A apps/web/.ferrus`
	argv := append(inside.Prefix, "/bin/sh", "-c", script)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = p.Environ
	said, err := cmd.CombinedOutput()
	if _, left := inside.Leave(); left != nil {
		t.Error(left)
	}
	if err != nil || app.Read("ferrus.toml") != "" || !app.Exists(".ferrus/journal.jsonl") || app.Read("file") != "works\n" || strings.Contains(string(said), "journal") {
		t.Errorf("%v: %s", err, said)
	}
}
