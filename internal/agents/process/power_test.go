package process

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/platform/atomicfile/atomicfiletest"
)

// TestAPowerCutForgetsNoRun: an agent whose start was recorded is counted, and its end is known once it was recorded.
func TestAPowerCutForgetsNoRun(t *testing.T) {
	root := t.TempDir()
	home := filepath.Join(root, ".ferrus")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	at, done := func(home string) string { return filepath.Join(home, "runs", "list.jsonl") }, 0
	begun := Run{Name: "executor-1", Duty: "executor", Agent: "command", Log: "agent-1.log", Started: stamp()}
	ended := begun
	ended.Ended, ended.Said = stamp(), strings.Repeat("done ", 100)
	second := begun
	second.Name = "executor-2"
	steps := []Run{begun, ended, second}
	disk := atomicfiletest.Record(t, root, func() string { return fmt.Sprint(done) }, func() {
		for _, r := range steps {
			if err := note(at(home), r); err != nil {
				t.Fatal(err)
			}
			done++
		}
	})
	cases, err := disk.Cut(t, true, func(dir, was string) error {
		done, err := strconv.Atoi(was)
		if err != nil {
			return err
		}
		path := at(filepath.Join(dir, ".ferrus"))
		list, err := Runs(path)
		if err != nil {
			return err
		}
		has := func(r Run) bool {
			return slices.ContainsFunc(list, func(l Run) bool { return l.Name == r.Name && (!r.Over() || l.Said == r.Said) })
		}
		for _, r := range steps[:done] {
			if !has(r) {
				return fmt.Errorf("after %d lines %s is not there: %+v", done, r.Name, list)
			}
		}
		next := begun
		next.Name = "executor-3"
		if err := note(path, next); err != nil {
			return err
		}
		if list, err = Runs(path); err != nil || !has(next) {
			return fmt.Errorf("the next line is not read: %+v, %v", list, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	t.Logf("rig: cases=%d bad=0; power cuts of a simulated disk while runs are recorded", cases)
}
