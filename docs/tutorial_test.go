package docs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/test/kit"
)

// bin is the folder with ferrus and with the example agent.
var bin string

func TestMain(m *testing.M) {
	os.Exit(kit.Main(func() int {
		return kit.Scratch(&bin, func() int {
			if runtime.GOOS != "windows" {
				build := exec.Command("go", "build", "-o", bin, "../cmd/ferrus", "./examples/scripted")
				if out, err := build.CombinedOutput(); err != nil {
					fmt.Fprintf(os.Stderr, "%s%v\n", out, err)
					return 1
				}
			}
			return m.Run()
		})
	}))
}

// agree stands in for the person at the terminal, who answers what ferrus trust asks.
const agree = `
ferrus() {
	if [ "$*" = trust ]; then
		set -- trust --digest "$(command ferrus trust --show | sed -n 's/^digest //p')"
	fi
	command ferrus "$@"
}
`

// play runs a script of the shell in an empty folder and returns the folder and what the script has printed.
func play(t *testing.T, script string) (dir, out string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the commands are those of a POSIX shell")
	}
	dir = t.TempDir()
	sh := exec.Command("sh", "-e", "-c", agree+script)
	sh.Dir = dir
	sh.Env = append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "FERRUS_STATE_DIR="+t.TempDir(),
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com")
	text, err := sh.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return dir, string(text)
}

// commands are the blocks of a page that are marked as sh, one after the other.
func commands(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	for _, block := range strings.Split(string(text), "\n```sh\n")[1:] {
		code, _, ok := strings.Cut(block, "```\n")
		if !ok {
			t.Fatalf("%s: a block without an end: %.80s", page, block)
		}
		script.WriteString(code)
	}
	if script.Len() == 0 {
		t.Fatalf("%s has no block that is marked as sh", page)
	}
	return script.String()
}

// TestTheTutorialWorks: its commands, in their order, lead from an empty folder to a merged result that is committed.
func TestTheTutorialWorks(t *testing.T) {
	t.Parallel()
	dir, out := play(t, commands(t, "tutorial.md"))
	text, err := os.ReadFile(filepath.Join(dir, "hello", "hello.go"))
	if err != nil || !strings.Contains(string(text), "// Hello greets") || !strings.Contains(string(text), `"Hello, " + name`) {
		t.Errorf("hello.go: %v\n%s\n%s", err, text, out)
	}
	for _, event := range []string{"reject ", "approve ", "merge ", "Hello greets a person by name"} {
		if !strings.Contains(out, event) {
			t.Errorf("the output has no %q\n%s", event, out)
		}
	}
}

// project makes a project in which the example agent plays each role with a command of its own.
const project = `
git init -q
cat >ferrus.toml <<'END'
[checks]
commands = ["grep -q done result.txt"]
[hq.executor]
agent = "command"
command = "scripted sh work.sh"
[hq.supervisor]
agent = "command"
command = "scripted sh review.sh"
END
ferrus init
ferrus trust
`

// TestTheExampleAgentCompletesATask: the agent of the guide, through ferrus run to Complete.
func TestTheExampleAgentCompletesATask(t *testing.T) {
	t.Parallel()
	dir, out := play(t, project+`
echo 'grep -q "write it" && echo done >result.txt' >work.sh
echo 'grep -q "^+done"' >review.sh
ferrus run --headless 'write it'
ferrus status --json
`)
	if !strings.Contains(out, `"state": "Complete"`) {
		t.Errorf("not Complete:\n%s", out)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "result.txt")); err != nil || string(text) != "done\n" {
		t.Errorf("result.txt: %q, %v", text, err)
	}
}

// TestTheExampleAgentAsks: where its command fails a person is asked, and the answer leads on.
func TestTheExampleAgentAsks(t *testing.T) {
	t.Parallel()
	_, out := play(t, project+`
echo 'test -e allowed || { echo may I; exit 1; }; echo done >result.txt' >work.sh
echo true >review.sh
ferrus run --headless 'ask first' && exit 1
test $? = 6
touch allowed
ferrus answer 'go on'
ferrus resume --headless
ferrus status --json
`)
	if !strings.Contains(out, "may I") || !strings.Contains(out, `"state": "Complete"`) {
		t.Errorf("not asked, or not Complete:\n%s", out)
	}
}

// TestTheExampleAgentIsAWorker of a pipeline, in each of its phases.
func TestTheExampleAgentIsAWorker(t *testing.T) {
	t.Parallel()
	_, out := play(t, project+`
cat >workflows.json <<'END'
{"notes": {"phases": [
  {"id": "one", "workers": [{"role": "writer", "task": "Write the notes."}]},
  {"id": "two", "workers": [{"role": "editor", "task": "Edit the notes.", "reads": ["writer.md"], "final": true}]}
]}}
END
echo 'grep -o "\(Write\|Edit\) the notes"' >work.sh
ferrus trust
ferrus pipeline notes tea
`)
	if !strings.Contains(out, "\nEdit the notes\n") {
		t.Errorf("no result:\n%s", out)
	}
}
