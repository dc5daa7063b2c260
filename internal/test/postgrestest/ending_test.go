//go:build unix

package postgrestest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
)

// endingVar makes this program one that starts servers, prints a line about them and ends in the way that the variable names.
const endingVar = "FERRUS_TEST_ENDING"

// TestServersEndWithTheProgram, and their folder too, however the program ends: with them running, and with one frozen.
func TestServersEndWithTheProgram(t *testing.T) {
	need(t)
	for _, way := range []string{"return", "panic", "killed"} {
		t.Run(way, func(t *testing.T) {
			cmd := again(t, "TestAProgramThatEnds", endingVar+"="+way)
			stdout, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			var folder string
			var pids []int
			for lines := bufio.NewScanner(stdout); lines.Scan(); {
				words := strings.Fields(lines.Text())
				if len(words) < 2 || words[0] != "STARTED" {
					continue
				}
				folder = words[1]
				for _, word := range words[2:] {
					pid, _ := strconv.Atoi(word)
					pids = append(pids, pid)
				}
				if way == "killed" {
					if running := slices.DeleteFunc(slices.Clone(pids), func(pid int) bool { return !proc.Alive(pid) }); len(running) < 6 {
						t.Errorf("only %v of %v run", running, pids)
					}
					_ = cmd.Process.Kill()
				}
			}
			_ = cmd.Wait()
			if len(pids) < 6 {
				t.Fatalf("the program has started %v in %q", pids, folder)
			}
			for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
				left := []any{}
				for _, pid := range pids {
					if proc.Alive(pid) {
						left = append(left, pid)
					}
				}
				if _, err := os.Stat(folder); err == nil {
					left = append(left, folder)
				}
				if len(left) == 0 {
					return
				}
				if time.Now().After(end) {
					t.Fatalf("left behind: %v", left)
				}
			}
		})
	}
}

// TestAProgramThatEnds is the program that TestServersEndWithTheProgram starts.
func TestAProgramThatEnds(t *testing.T) {
	way := os.Getenv(endingVar)
	if way == "" {
		t.Skip("a part of TestServersEndWithTheProgram")
	}
	Connect(t, Database(t))
	frozen := NewServer(t, Options{})
	Connect(t, frozen.Database(t))
	frozen.Stop(t)
	words := []any{"STARTED", program.folder.path}
	for _, s := range []*Server{frozen, sharedServer(t, false)} {
		found, err := family(s.run.pid)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range found {
			words = append(words, p.pid)
		}
	}
	fmt.Println(words...)
	switch way {
	case "panic":
		panic("as tests do")
	case "killed":
		select {}
	}
}

// TestWithoutPostgreSQL: a test is skipped, and a line says why, or it fails.
func TestWithoutPostgreSQL(t *testing.T) {
	empty := t.TempDir()
	for _, c := range []struct {
		require string
		says    map[string]int // how often
		code    int
	}{
		{"", map[string]int{"SKIPPED: the tests with PostgreSQL: " + binVar + "=" + empty: 1, "--- SKIP: ": 3}, 0},
		{"require", map[string]int{"SKIPPED": 0, "--- FAIL: ": 3, requireVar + "=require: " + binVar + "=" + empty: 3}, 1},
	} {
		cmd := again(t, "TestThreeThatNeedIt", "FERRUS_TEST_NEEDS=1", binVar+"="+empty, requireVar+"="+c.require)
		out, _ := cmd.CombinedOutput()
		for text, times := range c.says {
			if strings.Count(string(out), text) != times {
				t.Errorf("%q not %d times in\n%s", text, times, out)
			}
		}
		if code := cmd.ProcessState.ExitCode(); code != c.code {
			t.Errorf("%s=%s: exit code %d", requireVar, c.require, code)
		}
	}
}

// TestThreeThatNeedIt is what TestWithoutPostgreSQL starts.
func TestThreeThatNeedIt(t *testing.T) {
	if os.Getenv("FERRUS_TEST_NEEDS") == "" {
		t.Skip("a part of TestWithoutPostgreSQL")
	}
	t.Run("one", func(t *testing.T) { Database(t) })
	t.Run("another", func(t *testing.T) { NewPair(t, Options{}) })
	NewServer(t, Options{})
}

// again is a command that runs one test in this program again. It ends with the test.
func again(t *testing.T, test string, environ ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^"+test+"$", "-test.v")
	cmd.Env = append(os.Environ(), environ...)
	return cmd
}

// TestTheProgramsAreFound: a folder that is given is the only one; else the PATH comes first, and of the hidden ones the newest.
func TestTheProgramsAreFound(t *testing.T) {
	dir := t.TempDir()
	with := func(name string, programs ...string) string {
		at := filepath.Join(dir, name)
		for _, p := range programs {
			if err := os.MkdirAll(at, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(at, p), []byte("#!/bin/sh\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		return at
	}
	old, newest := with("lib/9/bin", programs...), with("lib/17/bin", programs...)
	partial := with("partial", "psql", "initdb")
	all := with("all", programs...)
	config := with("config", "psql")
	if err := os.WriteFile(filepath.Join(config, "pg_config"), []byte("#!/bin/sh\necho "+old+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	linked := filepath.Join(dir, "linked")
	if err := os.MkdirAll(linked, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(old, "initdb"), filepath.Join(linked, "initdb")); err != nil {
		t.Fatal(err)
	}
	hidden := []string{filepath.Join(dir, "nothing/*"), filepath.Join(dir, "lib/*/bin")}
	list := func(dirs ...string) string { return strings.Join(dirs, string(filepath.ListSeparator)) }
	for _, c := range []struct {
		what, only, path, want string
		hidden                 []string
	}{
		{"a folder that is given", old, all, old, hidden},
		{"one without the programs", partial, all, "", hidden},
		{"the PATH", "", list(partial, all), all, hidden},
		{"a link on the PATH", "", linked, old, hidden},
		{"pg_config on the PATH", "", list(partial, config), old, hidden},
		{"the newest of those that are hidden", "", partial, newest, hidden},
		{"nothing", "", partial, "", nil},
	} {
		if got, err := find(c.only, c.path, c.hidden); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v; want %q", c.what, got, err, c.want)
		}
	}
}
