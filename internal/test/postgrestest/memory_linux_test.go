package postgrestest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAKilledServerLeavesNoMemoryBehind: the kernel keeps shared memory that nobody removes, and has few.
func TestAKilledServerLeavesNoMemoryBehind(t *testing.T) {
	s := NewServer(t, Options{})
	text, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	id := strings.Fields(strings.Split(string(text), "\n")[6])[1]
	if !listed(t, id) {
		t.Fatalf("the memory %s of a running server is not listed", id)
	}
	s.Kill(t)
	if listed(t, id) {
		t.Errorf("the memory %s of a killed server is left", id)
	}
}

// listed is whether the kernel has shared memory of this id.
func listed(t testing.TB, id string) bool {
	t.Helper()
	table, err := os.ReadFile("/proc/sysvipc/shm")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(table)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[1] == id {
			return true
		}
	}
	return false
}
