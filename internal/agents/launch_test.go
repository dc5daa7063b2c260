package agents

import (
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/test/golden"
)

// specFor is a launch with all that it can have.
func specFor(t *testing.T, duty Duty, headless bool) LaunchSpec {
	if runtime.GOOS == "windows" {
		t.Skip("the paths are those of a Unix")
	}
	s := LaunchSpec{
		Duty: duty, Index: 2, Model: "big", Args: []string{"--extra", "an argument"}, Command: "run {prompt} in {work}",
		Prompt: "-go, do\n'it'", Headless: headless, Ferrus: "/opt/fer rus/ferrus", Root: "/home/me/p", Branch: "b1", Work: "/trees/b1",
		Scratch: "/home/me/p/.ferrus/live/s",
		Environ: []string{"PATH=/bin", "HOME=/nobody", "GEMINI_API_KEY=sesame", "OPENAI_API_KEY=sesame", "SSH_AUTH_SOCK=/s", "CLAUDECODE=1", "FERRUS_ROOT=/x"},
	}
	if duty == Worker {
		s.Run, s.Name, s.Output, s.Branch = run, "researcher-a", run+"/researcher-a.md", ""
	}
	return s
}

// run is the folder of a run of a pipeline.
const run = "/home/me/p/.ferrus/pipeline-tmp/research-180141"

// render is a launch as a person reads it, without what the environment has anyway.
func render(l Launch) string {
	var b strings.Builder
	for _, arg := range l.Argv {
		fmt.Fprintf(&b, "  %q\n", arg)
	}
	for _, entry := range l.Env {
		if !slices.Contains([]string{"PATH", "HOME", "GEMINI_API_KEY", "OPENAI_API_KEY", "SSH_AUTH_SOCK"}, entry[:strings.Index(entry, "=")]) {
			fmt.Fprintf(&b, "env %s\n", entry)
		}
	}
	fmt.Fprintf(&b, "dir %s\n", l.Dir)
	if l.Stdin != "" {
		fmt.Fprintf(&b, "stdin %q\n", l.Stdin)
	}
	for _, name := range slices.Sorted(maps.Keys(l.Files)) {
		fmt.Fprintf(&b, "file %s\n%s", name, l.Files[name])
	}
	return b.String()
}

func TestLaunches(t *testing.T) {
	for _, a := range All() {
		t.Run(a.Name, func(t *testing.T) {
			var b strings.Builder
			for _, duty := range []Duty{Executor, Reviewer, Worker} {
				for _, headless := range []bool{true, false} {
					l, err := a.Launch(specFor(t, duty, headless))
					if err != nil {
						t.Fatal(err)
					}
					fmt.Fprintf(&b, "## %s, headless %v\n%s\n", duty, headless, render(l))
				}
			}
			s := specFor(t, Executor, true)
			s.Ticket, s.Home, s.Scratch = "/home/me/p/.ferrus/executor/in/relay.json", "/home/me/p/.ferrus/executor/home", "/home/me/p/.ferrus/executor/in"
			inside, err := a.Launch(s)
			if err != nil {
				t.Fatal(err)
			}
			if said := render(inside); strings.Contains(said, "--role") || !strings.Contains(said, s.Ticket) {
				t.Errorf("in a sandbox it does not connect to the server outside: %s", said)
			}
			fmt.Fprintf(&b, "## executor in a sandbox\n%s\n", render(inside))
			s = specFor(t, Supervisor, false)
			s.Prompt, s.Model, s.Args, s.Branch, s.Work = "", "", nil, "", s.Root
			l, err := a.Launch(s)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "## supervisor in the project, told nothing\n%s", render(l))
			golden.Check(t, filepath.Join("testdata", "launch", a.Name+".golden"), b.String())
		})
	}
}

// TestEveryLaunch: what holds for each adapter, duty and way.
func TestEveryLaunch(t *testing.T) {
	for _, a := range All() {
		for _, duty := range append(Duties(), Worker) {
			for _, headless := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/%s/%v", a.Name, duty, headless), func(t *testing.T) {
					s := specFor(t, duty, headless)
					l, err := a.Launch(s)
					if err != nil {
						t.Fatal(err)
					}
					env := map[string]string{}
					for _, entry := range l.Env {
						name, value, _ := strings.Cut(entry, "=")
						env[name] = value
					}
					role := string(duty.Role())
					if duty == Worker {
						role = "researcher-a"
					}
					if got, want := env["FERRUS_AGENT"], role+":"+a.Name+":2"; got != want {
						t.Errorf("FERRUS_AGENT is %q, want %q", got, want)
					}
					if _, ok := env["CLAUDECODE"]; ok || env["PATH"] != "/bin" || a.Name != "command" && env["FERRUS_ROOT"] != "" {
						t.Errorf("environment %v", l.Env)
					}
					if i := slices.Index(l.Argv, s.Prompt); i >= 0 && l.Argv[i-1] != "--" {
						t.Errorf("the prompt could be an option: %q", l.Argv)
					}
					given := strings.Join(l.Argv, "\n") + l.Stdin
					if !strings.Contains(given, "do\n") {
						t.Errorf("the agent is not told its prompt: %q", l.Argv)
					}
					for _, text := range l.Files {
						given += text
					}
					if strings.Contains(given, "sesame") {
						t.Errorf("a secret of the environment is on the command line or in a file")
					}
					if a.Name != "command" {
						given += env["OPENCODE_CONFIG_CONTENT"]
					}
					if !strings.Contains(given, string(duty.Role())) || !strings.Contains(given, "/home/me/p") {
						t.Errorf("our server is not in the role %s at the root:\n%s", duty.Role(), given)
					}
				})
			}
		}
	}
}

func TestWhatCannotBeLaunched(t *testing.T) {
	for _, a := range All() {
		s := specFor(t, Executor, true)
		s.Prompt = ""
		if _, err := a.Launch(s); err == nil {
			t.Errorf("%s: launched headless, though told nothing", a.Name)
		}
	}
	for _, forget := range []func(*LaunchSpec){func(s *LaunchSpec) { s.Run = "" }, func(s *LaunchSpec) { s.Name = "" }, func(s *LaunchSpec) { s.Output = "" }} {
		s := specFor(t, Worker, true)
		forget(&s)
		if _, err := claude.Launch(s); err == nil || !strings.Contains(err.Error(), `("")`) {
			t.Errorf("a worker without one of run, name and output: %v", err)
		}
	}
	s := specFor(t, Executor, true)
	s.Command = " "
	if _, err := command.Launch(s); err == nil || !strings.Contains(err.Error(), "ferrus.toml") {
		t.Errorf("command without a command: %v", err)
	}
	if _, err := Find("clod"); err == nil || !strings.Contains(err.Error(), "claude-code, codex") {
		t.Errorf("Find of what there is not: %v", err)
	}
}

// TestWaitsFit: a client must give a call more time than our server takes for it.
func TestWaitsFit(t *testing.T) {
	for _, a := range All() {
		if a.Wait <= 0 || a.limit() <= a.Wait {
			t.Errorf("%s waits %d s of %d s", a.Name, a.Wait, a.limit())
		}
		if a.Title == "" || a.Executes == "" || a.Reviews == "" || a.Works == "" || a.Name != "command" && (a.Program == "" || a.Install == "") {
			t.Errorf("the row of %s is not whole", a.Name)
		}
	}
}

func TestMarkdownNamesAll(t *testing.T) {
	text := string(Markdown())
	var want []string
	for _, a := range All() {
		want = append(want, "| `"+a.Name+"` |", "### "+a.Title+"\n", "| "+a.Executes+" | "+a.Works+" | "+a.Reviews+" |")
		want = append(want, a.Lacks...)
	}
	for _, p := range placeholders {
		want = append(want, "`{"+p.name+"}`")
	}
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("the page does not have %q", w)
		}
	}
}

// TestASessionIsContinuedWhereTheAgentCan: by its name, which is never an option, and where the agent cannot it is an
// error.
func TestASessionIsContinuedWhereTheAgentCan(t *testing.T) {
	const name = "0f5d2a3e-aaaa-4bbb-8ccc-1234567890ab"
	for _, a := range All() {
		for _, fork := range []bool{false, true} {
			s := specFor(t, Executor, true)
			s.Session, s.Fork = name, fork
			l, err := a.Launch(s)
			if can := a.Resumes && (!fork || a.Forks); can != (err == nil) || can != strings.Contains(strings.Join(l.Argv, " "), name) {
				t.Errorf("%s, fork %v: %q, %v", a.Name, fork, l.Argv, err)
			}
			if given := slices.Contains(l.Argv, "--fork-session"); given != (fork && a.Forks) {
				t.Errorf("%s, fork %v: %q", a.Name, fork, l.Argv)
			}
		}
		for _, bad := range []string{"--last", "-c", "a b", "../../x", "short", strings.Repeat("a", 65)} {
			s := specFor(t, Executor, true)
			s.Session = bad
			if l, err := a.Launch(s); err == nil {
				t.Errorf("%s continues %q: %q", a.Name, bad, l.Argv)
			}
		}
	}
}
