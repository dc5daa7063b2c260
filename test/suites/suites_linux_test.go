package suites

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
	"github.com/ferrus-go/ferrus/test/golden"
)

// A suite is a project with tests, and what they print.
type suite struct {
	name    string
	command string
	verdict *regexp.Regexp // a test of the output: its name, and whether it passed
	good    string         // what the verdict is then
	tests   []cell
}

// A cell is a test of a suite. It passes in each sandbox, but for what Landlock refuses.
type cell struct {
	name     string // as the suite prints it
	what     string // as the documentation has it
	landlock refusals
}

// refusals is what Landlock refuses of a test.
type refusals int

const (
	nothing refusals = iota
	files            // outside of the folders of a check
	sockets          // by their paths, below version 9
)

var goSuite = suite{name: "go", command: "go test -count=1 -v ./...", verdict: regexp.MustCompile(`(?m)^--- (?P<verdict>\w+): (?P<name>\w+)`), good: "PASS", tests: []cell{
	{"TestLoopbackHTTP", "HTTP on the loopback", nothing},
	{"TestUnixSocket", "a unix socket by its path", sockets},
	{"TestHome", "a file in HOME", nothing},
	{"TestGit", "git init and commit in a temporary folder", nothing},
	{"TestTMPDIR", "a file in TMPDIR", nothing},
	{"TestTmp", "a file in /tmp, whatever TMPDIR is", files},
	{"TestShm", "a file in /dev/shm", files},
	{"TestProc", "files of /proc", nothing},
	{"TestModule", "a module of the module cache", nothing},
}}

var npmSuite = suite{name: "npm", command: "npm test", verdict: regexp.MustCompile(`(?m)^(?P<verdict>(?:not )?ok) \d+ - (?P<name>.+)$`), good: "ok", tests: []cell{
	{"loopback HTTP", "HTTP on the loopback", nothing},
	{"worker", "a worker", nothing},
	{"child process", "a child process", nothing},
	{"unix socket", "a unix socket by its path", sockets},
}}

var cargoSuite = suite{name: "cargo", command: "cargo test --offline", verdict: regexp.MustCompile(`(?m)^test tests::(?P<name>\w+) \.\.\. (?P<verdict>\w+)`), good: "ok", tests: []cell{
	{"loopback_tcp", "TCP on the loopback", nothing},
	{"temporary_file", "a temporary file", nothing},
	{"crate_of_a_registry", "a crate of the registry", nothing},
}}

// passes reports whether a test passes in a sandbox.
func (c cell) passes(m mode) bool {
	return m.mechanism != sandbox.Landlock || c.landlock == nothing || c.landlock == sockets && sandbox.LandlockVersion() >= 9
}

// try runs the suite in each sandbox, in one project.
func (s suite) try(t *testing.T, files map[string]string) {
	project := map[string]string{}
	maps.Copy(project, files)
	err := fs.WalkDir(os.DirFS("testdata/"+s.name), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join("testdata", s.name, name))
		project[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	k := begin(t, project)
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			output, passed := k.check(t, m, s.command)
			got := map[string]string{}
			for _, found := range s.verdict.FindAllStringSubmatch(output, -1) {
				got[found[s.verdict.SubexpIndex("name")]] = found[s.verdict.SubexpIndex("verdict")]
			}
			green := true
			for _, c := range s.tests {
				want := c.passes(m)
				green = green && want
				if verdict := got[c.name]; verdict == "" || (verdict == s.good) != want {
					t.Errorf("%s: the verdict is %q, and the documentation says that it passes: %v", c.name, verdict, want)
				}
			}
			if len(got) != len(s.tests) {
				t.Errorf("%d tests ran, not %d", len(got), len(s.tests))
			}
			if passed != green {
				t.Errorf("the check passed: %v", passed)
			}
			if t.Failed() {
				t.Log(output)
			}
		})
	}
}

// TestTheTableOfSuitesIsFresh: docs/sandbox.md lists the tests, and where they pass.
func TestTheTableOfSuitesIsFresh(t *testing.T) {
	const file = "../../docs/sandbox.md"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	for _, s := range []suite{goSuite, npmSuite, cargoSuite} {
		for _, c := range s.tests {
			landlock := map[refusals]string{nothing: "passes", files: "fails", sockets: "fails below version 9"}[c.landlock]
			fmt.Fprintf(&table, "| %s | %s | %s | passes |\n", s.name, c.what, landlock)
		}
	}
	const head = "| suite | test | landlock | bwrap |\n|---|---|---|---|\n"
	before, rest, found := strings.Cut(string(data), head)
	_, after, ends := strings.Cut(rest, "\n\n")
	if !found || !ends {
		t.Fatalf("%s has no table of suites", file)
	}
	golden.Check(t, file, before+head+table.String()+"\n"+after)
}

// TestGoInASandbox compiles the standard library once, for the cache of the checks.
func TestGoInASandbox(t *testing.T) {
	if !*all {
		t.Skip("it compiles the standard library: use -suites")
	}
	missing(t, "go", "git")
	const module = "github.com/google/go-cmp"
	version, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", module).Output()
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile("../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	goSuite.try(t, map[string]string{"go.sum": string(sums), "go.mod": "module example.com/suite\n\ngo 1.24\n\nrequire " + module + " " + string(version)})
}

// TestNpmInASandbox uses the test runner of node.
func TestNpmInASandbox(t *testing.T) {
	if !*all {
		t.Skip("node takes seconds: use -suites")
	}
	missing(t, "node", "npm")
	npmSuite.try(t, nil)
}

// TestCargoInASandbox has a crate from a registry, which cargo has downloaded for the person.
func TestCargoInASandbox(t *testing.T) {
	missing(t, "cargo", "git")
	if said, err := exec.Command("cargo", "--version").CombinedOutput(); err != nil {
		t.Skipf("cargo does not work here: %s", said) // rustup has no tool chain for this user
	}
	base := t.TempDir()
	t.Setenv("CARGO_HOME", filepath.Join(base, "cargo"))
	index := registry(t, base)
	files := map[string]string{".gitignore": "/target/\n", "Cargo.toml": manifest("suite") + "[dependencies]\ngreeting = { version = \"1\", registry-index = \"file://" + index + "\" }\n"}
	person := filepath.Join(base, "person")
	write(t, person, files)
	write(t, person, map[string]string{"src/lib.rs": ""})
	run(t, person, "cargo", "fetch")
	lock, err := os.ReadFile(filepath.Join(person, "Cargo.lock"))
	if err != nil {
		t.Fatal(err)
	}
	files["Cargo.lock"] = string(lock)
	cargoSuite.try(t, files)
}

// manifest is the head of a Cargo.toml.
func manifest(name string) string {
	return fmt.Sprintf("[package]\nname = %q\nversion = \"1.0.0\"\nedition = \"2021\"\n\n", name)
}

// registry makes a registry of crates with one crate, and returns its index.
func registry(t *testing.T, base string) (index string) {
	t.Helper()
	crate, index := filepath.Join(base, "greeting"), filepath.Join(base, "index")
	write(t, crate, map[string]string{"Cargo.toml": manifest("greeting"), "src/lib.rs": "pub fn hello() -> &'static str {\n    \"hello\"\n}\n"})
	run(t, crate, "cargo", "package", "--offline", "--no-verify")
	data, err := os.ReadFile(filepath.Join(crate, "target/package/greeting-1.0.0.crate"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, base, map[string]string{"crates/greeting": string(data)})
	write(t, index, map[string]string{
		"config.json":    fmt.Sprintf("{\"dl\": \"file://%s/crates/{crate}\"}\n", base),
		"gr/ee/greeting": fmt.Sprintf(`{"name":"greeting","vers":"1.0.0","deps":[],"cksum":"%x","features":{},"yanked":false}`+"\n", sha256.Sum256(data)),
	})
	run(t, index, "git", "init", "-q")
	run(t, index, "git", "add", "-A")
	run(t, index, "git", "-c", "user.name=u", "-c", "user.email=u@example.com", "commit", "-qm", "greeting")
	return index
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func run(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}
