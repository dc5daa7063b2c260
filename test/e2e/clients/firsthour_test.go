//go:build unix

package clients

import (
	"cmp"
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/model"
)

// A repository is one that a stranger has: what is in it, how its owner has set it up, and what ferrus finds there.
type repository struct {
	name, client string   // the client is the one that it has every day
	programs     []string // that are needed for it
	files        map[string]string
	setUp        string            // for the shell
	work         map[string]string // what the executor writes
}

const (
	greeting = "module.exports = (name) => 'Hello, ' + name;\n"
	nodeTest = "const {test} = require('node:test');\nconst assert = require('node:assert');\nconst greet = require('greeting');\n" +
		"test('greets', () => assert.equal(greet(process.env.PERSON), 'Hello, Ada'));\n"
	nodePackage = `{"name": "web", "version": "1.0.0", "scripts": {"test": "node --env-file=.env --test"}, "dependencies": {"greeting": "file:greeting"}}` + "\n"
	goTest      = "package hello\n\nimport \"testing\"\n\nfunc TestHello(t *testing.T) {\n\tif Hello() == \"\" {\n\t\tt.Error(\"no greeting\")\n\t}\n}\n"
	goHello     = "package hello\n\nfunc Hello() string { return \"Hello\" }\n"
	goWorld     = "package hello\n\nfunc Hello() string { return \"Hello, world\" }\n"
	pyTest      = "import unittest\n\nimport hello\n\n\nclass HelloTest(unittest.TestCase):\n    def test_hello(self):\n        self.assertTrue(hello.hello())\n"
)

// repositories are of those that clients meet most.
var repositories = []repository{
	{name: "go", client: codex, programs: []string{"go"},
		files: map[string]string{"go.mod": "module example.com/hello\n\ngo 1.26\n", "hello.go": goHello, "hello_test.go": goTest},
		work:  map[string]string{"hello.go": goWorld}},
	{name: "node", client: claude, programs: []string{"node", "npm"},
		files: map[string]string{"package.json": nodePackage, "greeting/package.json": `{"name": "greeting", "version": "1.0.0"}` + "\n", "greeting/index.js": greeting,
			"hello.test.js": nodeTest, ".env": "PERSON=Ada\n", ".gitignore": "node_modules\n.env\n"},
		setUp: "npm install --no-audit --no-fund",
		work:  map[string]string{"readme.txt": "It greets.\n"}},
	{name: "python", client: claude, programs: []string{"python3"},
		files: map[string]string{"hello.py": "def hello():\n    return 'Hello'\n", "test_hello.py": pyTest, "requirements.txt": "",
			".gitignore": "__pycache__/\n.venv/\n"},
		setUp: "python3 -m venv .venv",
		work:  map[string]string{"hello.py": "def hello():\n    return 'Hello, world'\n"}},
	{name: "mixed", client: codex, programs: []string{"go", "node", "npm"},
		files: map[string]string{"api/go.mod": "module example.com/hello\n\ngo 1.26\n", "api/hello.go": goHello, "api/hello_test.go": goTest,
			"web/package.json": nodePackage, "web/greeting/package.json": `{"name": "greeting", "version": "1.0.0"}` + "\n", "web/greeting/index.js": greeting,
			"web/hello.test.js": nodeTest, "web/.env": "PERSON=Ada\n", ".gitignore": "node_modules\n.env\n"},
		setUp: "cd web && npm install --no-audit --no-fund",
		work:  map[string]string{"api/hello.go": goWorld}},
}

// TestTheFirstHour: with one client on the machine, ferrus init and Enter, then ferrus run, lead to a reviewed result in a repository
// of a stranger; with none, both say what is missing, and a second init names the one that is installed then. Nobody writes a line of TOML. Each repository has one client where the test is
// not named.
func TestTheFirstHour(t *testing.T) {
	t.Parallel()
	for _, s := range repositories {
		for _, client := range []string{codex, claude, ""} {
			t.Run(s.name+" with "+cmp.Or(client, "none"), func(t *testing.T) {
				t.Parallel()
				if client != "" && client != s.client && !kit.Named() {
					t.Skip("only named: " + s.name + " has " + s.client + " else")
				}
				s.firstHour(t, client)
			})
		}
	}
}

// firstHour is that of a person who has the repository and one client, or none.
func (s repository) firstHour(t *testing.T, client string) {
	installed(t, s.client) // or the test is skipped
	path := s.path(t, client)
	r := bareRig(t, model.Diligent(model.ReadPatch(), model.Work(func(q model.Request, work model.Told) []model.Call {
		var calls []model.Call
		for name, text := range s.work {
			calls = append(calls, q.WriteFile(filepath.Join(work.Worktree, name), text)...)
		}
		return calls
	})), path)
	if cache, err := exec.Command("go", "env", "GOCACHE").Output(); err == nil { // an empty one takes minutes
		r.env = append(r.env, "GOCACHE="+strings.TrimSpace(string(cache)))
	}
	for name, text := range s.files {
		r.write(name, text)
	}
	r.must("git", "init", "-q", "-b", "main", "--template=")
	if s.setUp != "" {
		r.must("sh", "-ec", s.setUp)
	}
	r.commit()
	// script gives the person a terminal, who presses Enter.
	enter := func() string {
		init := r.command(context.Background(), "script", "-qec", "stty cols 160; exec "+ferrus+" init", os.DevNull)
		init.Stdin = strings.NewReader("\n")
		out, err := init.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return r.readable(string(out))
	}
	shown := enter()
	if !strings.Contains(shown, "rehearsal   passed") {
		t.Fatal(shown)
	}
	if client == "" {
		code, ran := r.run(ferrus, "run", greetTheWorld)
		if code != 1 || !strings.Contains(ran, "no agent is installed, and ferrus.toml names none") || len(r.started()) > 0 {
			t.Errorf("exit code %d, %v\n%s%s", code, r.started(), shown, ran)
		}
		if !kit.Named() {
			return
		}
		install(t, s.client, path[0])
		shown += enter()
	}
	code, ran := r.run(ferrus, "run", greetTheWorld)
	if code != 0 || r.now().State != state.Complete {
		t.Fatalf("exit code %d, %s\n%s%s", code, r.now().State, shown, ran)
	}
	if client == s.client {
		s.inTheTutorial(t, shown, r.readable(ran))
	}
	if n := r.started(); n[agents.Executor] != 1 || n[agents.Reviewer] != 1 {
		t.Errorf("%v\n%s", n, r.runs())
	}
	for name, text := range s.work {
		if r.text(name) != text {
			t.Errorf("%s is %q", name, r.text(name))
		}
	}
	r.gone()
}

const greetTheWorld = "Hello greets the world."

var (
	progress = regexp.MustCompile(`[^\n]*\n\x1b\[1A\x1b\[J`)
	slow     = regexp.MustCompile(`(?m)^  warning .* did not say in time .*\n`) // of a machine under load
	question = regexp.MustCompile(`(n asks for each\]) `)
	varies   = regexp.MustCompile(`\b(\d+m)?[\d.:]+( s| ?ms)?\b`)
)

// readable is what a terminal shows in the end, with a short name for the project.
func (r *rig) readable(out string) string {
	out = progress.ReplaceAllString(strings.ReplaceAll(strings.TrimLeft(out, "\r\n"), "\r", ""), "")
	out = question.ReplaceAllString(slow.ReplaceAllString(out, ""), "$1\n")
	return strings.TrimSpace(strings.ReplaceAll(out, r.dir, "~/hello"))
}

// inTheTutorial compares what init and run have shown with docs/tutorial.md: all of it for the first repository, for the others what
// is different. Times and numbers vary, and so does the order of lines, because a reviewer may start before the executor has ended.
func (s repository) inTheTutorial(t *testing.T, init, run string) {
	t.Helper()
	const page = "../../../docs/tutorial.md"
	text := "$ ferrus init\n" + init + "\n\n$ ferrus run \"" + greetTheWorld + "\"\n" + run + "\n"
	if s.name != repositories[0].name {
		text = ""
		for line := range strings.Lines(strings.SplitN(init, "Write this", 2)[0]) {
			if word := strings.Fields(line)[0]; word == "set-up" || word == "check" || word == "copy" {
				text += line
			}
		}
	}
	tutorial.Lock()
	defer tutorial.Unlock()
	all, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(all), "<!-- TestTheFirstHour: "+s.name+" -->\n```\n")
	is, after, ended := strings.Cut(rest, "```\n")
	if !found || !ended {
		t.Fatalf("%s has no block for %s", page, s.name)
	}
	lines := func(text string) []string {
		return slices.Sorted(strings.Lines(varies.ReplaceAllString(text, "0")))
	}
	if diff := gocmp.Diff(lines(is), lines(text)); diff != "" && !*update {
		t.Errorf("%s, -update writes it: %s", page, diff)
	}
	if *update {
		whole := strings.TrimSuffix(string(all), is+"```\n"+after) + text + "```\n" + after
		if err := os.WriteFile(page, []byte(whole), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// tutorial is locked by who reads or writes the page.
var tutorial sync.Mutex

var update = flag.Bool("update", false, "write the transcripts of docs/tutorial.md")

// path is a PATH with the programs that the repository needs, and one client, or none.
func (s repository) path(t *testing.T, client string) []string {
	t.Helper()
	path := []string{t.TempDir()}
	if client != "" {
		install(t, client, path[0])
	}
	for _, program := range append(s.programs, "git", "sh", "script") {
		at, err := exec.LookPath(program)
		if err != nil {
			t.Skip(err)
		}
		path = append(path, filepath.Dir(at))
	}
	return path
}

// install puts a client into a folder.
func install(t *testing.T, name, folder string) {
	t.Helper()
	client, err := agents.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, bin := range installed(t, name) {
		if err := os.Symlink(filepath.Join(bin, client.Program), filepath.Join(folder, client.Program)); err != nil {
			t.Fatal(err)
		}
	}
}
