//go:build linux

package postgrestest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/test/kit"
)

func TestMain(m *testing.M) {
	os.Exit(kit.Main(func() int { return Main(m.Run) }))
}

// partVar makes a test of this program the part of another one.
const partVar = "FERRUS_TEST_PART"

// again is a command that runs one test in this program again. It ends with the test.
func again(t *testing.T, test string, environ ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^"+test+"$", "-test.v")
	cmd.Env = append(append(os.Environ(), partVar+"=yes"), environ...)
	return cmd
}

// isPart skips the test unless another one has started it.
func isPart(t *testing.T) {
	t.Helper()
	if os.Getenv(partVar) == "" {
		t.Skip("a part of another test")
	}
}

// TestServersEndWithTheProgram that is killed, and their folder too: one runs, and one is frozen.
func TestServersEndWithTheProgram(t *testing.T) {
	need(t)
	cmd := again(t, "TestAProgramWithServers")
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
		if text, ok := strings.CutPrefix(lines.Text(), "STARTED "); ok {
			folder, text, _ = strings.Cut(text, " ")
			for i, word := range strings.Fields(text) {
				var pid int
				_, err := fmt.Sscan(word, &pid)
				switch {
				case err == nil && proc.Alive(pid):
					pids = append(pids, pid)
				case err != nil || i < 2: // the servers; a process of theirs may have ended by itself, such as that of a connection
					t.Errorf("process %s: %v", word, err)
				}
			}
			_ = cmd.Process.Kill()
		}
	}
	_ = cmd.Wait()
	if len(pids) < 6 {
		t.Fatalf("the program has started %v in %q", pids, folder)
	}
	left := func() (all []any) {
		for _, pid := range pids {
			if proc.Alive(pid) {
				all = append(all, pid)
			}
		}
		if _, err := os.Stat(folder); err == nil {
			all = append(all, folder)
		}
		return all
	}
	for end := time.Now().Add(patience); len(left()) > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("left behind: %v", left())
		}
	}
}

// TestAProgramWithServers is the program that TestServersEndWithTheProgram starts.
func TestAProgramWithServers(t *testing.T) {
	isPart(t)
	Database(t)
	frozen := NewServer(t, Options{})
	frozen.Stop(t)
	servers := []int{sharedServer(t, false).run.pid, frozen.run.pid}
	words := []any{"STARTED", program.folder.path, servers[0], servers[1]}
	for _, server := range servers {
		for _, pid := range family(server) {
			if pid != server {
				words = append(words, pid)
			}
		}
	}
	fmt.Println(words...)
	select {}
}

// TestWithoutPostgreSQL: a test is skipped, and a line says why, or it fails.
func TestWithoutPostgreSQL(t *testing.T) {
	empty := t.TempDir()
	for require, says := range map[string]map[string]int{ // how often
		"":        {"SKIPPED: the tests with PostgreSQL: " + binVar + "=" + empty: 1, "--- SKIP: ": 3, "--- FAIL: ": 0},
		"require": {"SKIPPED": 0, "--- FAIL: ": 3, requireVar + "=require: " + binVar + "=" + empty: 3},
	} {
		out, err := again(t, "TestThreeThatNeedIt", binVar+"="+empty, requireVar+"="+require).CombinedOutput()
		for text, times := range says {
			if strings.Count(string(out), text) != times {
				t.Errorf("%q not %d times in\n%s", text, times, out)
			}
		}
		if (err != nil) != (require != "") {
			t.Errorf("%s=%s: %v", requireVar, require, err)
		}
	}
}

// TestThreeThatNeedIt is what TestWithoutPostgreSQL starts.
func TestThreeThatNeedIt(t *testing.T) {
	isPart(t)
	t.Run("one", func(t *testing.T) { Database(t) })
	t.Run("another", func(t *testing.T) { NewPair(t, Options{}) })
	NewServer(t, Options{})
}

// TestAKilledServerLeavesNoMemoryBehind: the kernel keeps shared memory that nobody removes, and has few.
func TestAKilledServerLeavesNoMemoryBehind(t *testing.T) {
	s := NewServer(t, Options{})
	text, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	id := " " + strings.Fields(strings.Split(string(text), "\n")[6])[1] + " "
	listed := func() bool {
		table, _ := os.ReadFile("/proc/sysvipc/shm")
		return strings.Contains(string(table), id)
	}
	if !listed() {
		t.Fatalf("the memory%sof a running server is not listed", id)
	}
	s.Kill(t)
	if listed() {
		t.Errorf("the memory%sof a killed server is left", id)
	}
}
