package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// indented returns the code of the first indented block after a line of a document.
func indented(t *testing.T, name, after string) string {
	t.Helper()
	_, rest, ok := strings.Cut(read(t, name), "\n"+after+"\n\n")
	if !ok {
		t.Fatalf("%s has no line %q", name, after)
	}
	var code strings.Builder
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "    ") {
			break
		}
		code.WriteString(line)
	}
	return code.String()
}

// TestTheReadmeUninstalls: after its commands nothing of ferrus is left in a project, neither files nor refs.
func TestTheReadmeUninstalls(t *testing.T) {
	t.Parallel()
	_, out := play(t, project+`
git commit -q --allow-empty -m start
echo 'echo done >result.txt' >work.sh
echo true >review.sh
ferrus run --headless 'write it'
ferrus register --supervisor claude-code --executor codex
find . -ipath '*ferrus*' ! -type d; git for-each-ref
`+strings.Replace(indented(t, "../README.md", "In each project:"), "ferrus uninstall ", "ferrus uninstall --yes ", 1)+`
echo AFTER; find . -ipath '*ferrus*' ! -type d; git for-each-ref refs/ferrus; LC_ALL=C ls -A
`)
	before, after, _ := strings.Cut(out, "\nAFTER\n")
	if !strings.Contains(before, "refs/ferrus/") || !strings.Contains(before, "./.git/ferrus/") {
		t.Errorf("there was nothing to remove:\n%s", before)
	}
	if after != ".git\nresult.txt\nreview.sh\nwork.sh\n" {
		t.Errorf("what is left:\n%s\nof\n%s", after, before)
	}
}

// TestTheReadmeBeginsWithWhatWorks: the two commands that need no agent stand at the top as they are typed.
func TestTheReadmeBeginsWithWhatWorks(t *testing.T) {
	head, _, _ := strings.Cut(read(t, "../README.md"), "\n## ")
	for _, command := range []string{"\n    go run ./cmd/ferrus demo", "\n    go test ./..."} {
		if !strings.Contains(head, command) {
			t.Errorf("the head of the README has no %q", command)
		}
	}
}

// standIn is a client named claude that says of itself what Claude Code says, and has a script play each role.
const standIn = `
mkdir bin your-repository
cat >bin/claude <<'END'
#!/bin/sh
case $* in
--version) echo '2.1.329 (Claude Code)'; exit ;;
'auth status') echo '{"loggedIn": true}'; exit ;;
esac
for arg; do
	case $arg in
	--mcp-config=*) conf=${arg#*=} ;;
	--add-dir=*) export FERRUS_WORK="${arg#*=}" ;;
	esac
done
FERRUS_SERVER=$(sed -n 's/.*"command": "\(.*\)",*$/\1/p' "$conf"; sed -n '/"args"/,/]/s/^ *\("[^"]*"\),*$/\1/p' "$conf")
export FERRUS_SERVER="$(echo $FERRUS_SERVER)"
case $FERRUS_AGENT in
executor:*) FERRUS_DUTY=executor exec scripted sh "$AGENTS/work.sh" ;;
*) FERRUS_DUTY=reviewer exec scripted sh "$AGENTS/review.sh" ;;
esac
END
chmod +x bin/claude
export AGENTS="$PWD/bin" PATH="$PWD/bin:$PATH" ANTHROPIC_API_KEY=
cd your-repository && git init -q && go mod init -C . example.com/hello 2>/dev/null
printf 'package hello\n\nfunc Hello() string { return "" }\n' >hello.go
printf 'package hello\n\nimport "testing"\n\nfunc TestHello(t *testing.T) {\n\tif Hello() == "" {\n\t\tt.Error("no greeting")\n\t}\n}\n' >hello_test.go
git add . && git commit -qm begin && cd ..
echo true >bin/review.sh
`

// TestTheFiveMinutesOfTheReadme: its commands, as they stand, at a terminal in a repository with a failing test. The rehearsal shows the
// failure, and the person starts the agents all the same, because it is the task.
func TestTheFiveMinutesOfTheReadme(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("script"); err != nil || runtime.GOOS != "linux" {
		t.Skip("a terminal is that of script of Linux")
	}
	dir, out := play(t, standIn+`
printf 'printf "package hello\\n\\nfunc Hello() string { return \\"Hello\\" }\\n" >hello.go\n' >bin/work.sh
ferrus() {
	code=0
	case $1 in
	init) printf '\n' | script -qec 'ferrus init' /dev/null || code=$? ;;
	*) printf 'y\n' | script -qec "ferrus $1 '$2'" /dev/null || code=$? ;;
	esac
	echo "$1 ends with $code"
}
`+indented(t, "../README.md", "## Five minutes")+`
cat hello.go
`)
	for _, want := range []string{"init ends with 1\n", "no greeting", "run ends with 0\n", `return "Hello"`, "approved"} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "your-repository", "ferrus.toml")); err != nil {
		t.Error(err)
	}
}

// TestTheExitCodesOfTheReadme: a failed task is 1 and a question is 6, in a project that ferrus init has set up.
func TestTheExitCodesOfTheReadme(t *testing.T) {
	t.Parallel()
	if text := strings.Join(strings.Fields(read(t, "../README.md")), " "); !strings.Contains(text, "exit code 0 for a reviewed result, 1 for a failed task and 6 for a question") {
		t.Error("the README says something else")
	}
	for code, agents := range map[string]string{
		"6": "echo 'echo may I; exit 1' >bin/work.sh",
		"1": "echo 'date +%N >>hello.txt' >bin/work.sh; echo 'echo no; exit 1' >bin/review.sh",
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			play(t, standIn+agents+`
cd your-repository
ferrus init --yes --rehearse --check 'test -e hello.go'
code=0; ferrus run 'make it' </dev/null || code=$?
test $code = `+code)
		})
	}
}
