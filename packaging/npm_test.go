//go:build unix

package packaging_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// standIn is a program that says what it got, and ends as it was told.
const standIn = `#!/bin/sh
case $1 in
signal) sleep 60 & trap 'kill $!; echo got TERM; exit 9' TERM; echo ready; wait ;;
killed) kill -KILL $$ ;;
*) printf '%s\n' "$@"; cat; exit 7 ;;
esac
`

// installed lays out the npm packages as npm does, with a program for this platform, and returns the folder of ferrus.
func installed(t *testing.T, program string) string {
	t.Helper()
	node, err := exec.Command("node", "-p", "process.platform + '-' + process.arch").Output()
	if err != nil {
		t.Skip("there is no node: ", err)
	}
	modules := filepath.Join(t.TempDir(), "node_modules")
	if err := os.CopyFS(filepath.Join(modules, "ferrus"), os.DirFS("npm")); err != nil {
		t.Fatal(err)
	}
	if program != "" {
		dir := filepath.Join(modules, "@ferrus-go", strings.TrimSpace(string(node)), "bin")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(program)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "ferrus"), text, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(modules, "ferrus")
}

// TestTheLauncherOfNpmStandsForTheProgram: it passes on arguments, standard input, exit codes and signals, under both names.
func TestTheLauncherOfNpmStandsForTheProgram(t *testing.T) {
	script := filepath.Join(t.TempDir(), "stand-in")
	if err := os.WriteFile(script, []byte(standIn), 0o755); err != nil {
		t.Fatal(err)
	}
	dir := installed(t, script)
	for name, want := range map[string]string{"ferrus.js": "a b\n--c\nstdin", "ferrusd.js": "serve\na b\n--c\nstdin"} {
		cmd := exec.Command(filepath.Join(dir, "bin", name), "a b", "--c")
		cmd.Stdin = strings.NewReader("stdin")
		out, err := cmd.Output()
		if string(out) != want || exitCode(err) != 7 {
			t.Errorf("%s: %v, %q", name, err, out)
		}
	}
	cmd := exec.Command(filepath.Join(dir, "bin", "ferrus.js"), "signal")
	pipe, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(pipe)
	if line, err := out.ReadString('\n'); line != "ready\n" {
		t.Fatal(line, err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(out)
	if err := cmd.Wait(); string(rest) != "got TERM\n" || exitCode(err) != 9 {
		t.Errorf("%v, %q", err, rest)
	}
	err := exec.Command(filepath.Join(dir, "bin", "ferrus.js"), "killed").Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("the program was killed, the launcher %v", err)
	}
}

// TestTheLauncherOfNpmStartsFerrus, and says what to do where the package of the platform is not installed.
func TestTheLauncherOfNpmStartsFerrus(t *testing.T) {
	dir := installed(t, program("ferrus"))
	for name, want := range map[string]string{"ferrus.js": "ferrus ", "ferrusd.js": "ferrus serve "} {
		out, err := exec.Command(filepath.Join(dir, "bin", name), "--version").Output()
		if err != nil || !strings.HasPrefix(string(out), want) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	var said bytes.Buffer
	cmd := exec.Command(filepath.Join(installed(t, ""), "bin", "ferrus.js"), "--version")
	cmd.Stderr = &said
	if err := cmd.Run(); exitCode(err) != 1 || !strings.Contains(said.String(), "\n  install again without --omit=optional") {
		t.Errorf("%v\n%s", err, &said)
	}
}

func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return 0
}

// TestTheReleaseHasTheSystemsThatCiReads: goreleaser, the packages of npm, and those whose types .ci/run reads.
func TestTheReleaseHasTheSystemsThatCiReads(t *testing.T) {
	config := file(t, "../.goreleaser.yaml")
	systems, processors := list(t, config, "goos"), list(t, config, "goarch")
	ci, _, ok := strings.Cut(file(t, "../.ci/run"), "\n\nstep \"staticcheck\"")
	if _, after, found := strings.Cut(ci, "go run ./test/systems "); !ok || !found || !slices.Equal(sorted(append(strings.Fields(after), "linux")), sorted(systems)) {
		t.Errorf("released: %q; .ci/run reads the types of others", systems)
	}
	if !slices.Contains(systems, runtime.GOOS) {
		t.Errorf("no release for %s", runtime.GOOS)
	}
	var npm struct {
		Optional map[string]string `json:"optionalDependencies"`
	}
	if err := json.Unmarshal([]byte(file(t, "npm/package.json")), &npm); err != nil {
		t.Fatal(err)
	}
	names := strings.NewReplacer("windows", "win32", "amd64", "x64")
	var want []string
	for _, system := range systems {
		for _, processor := range processors {
			want = append(want, "@ferrus-go/"+names.Replace(system+"-"+processor))
		}
	}
	if got := slices.Sorted(maps.Keys(npm.Optional)); !slices.Equal(got, sorted(want)) {
		t.Errorf("npm has %q, the release %q", got, want)
	}
}

// list returns the values of a key of the configuration, which stand in a line.
func list(t *testing.T, config, key string) []string {
	t.Helper()
	_, rest, _ := strings.Cut(config, "\n    "+key+": [")
	values, _, ok := strings.Cut(rest, "]\n")
	if !ok {
		t.Fatalf(".goreleaser.yaml has no list %s in one line", key)
	}
	return strings.Split(values, ", ")
}

func sorted(list []string) []string { slices.Sort(list); return list }

func file(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
