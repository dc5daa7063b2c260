package queue

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ferrus-go/ferrus/internal/platform/atomicfile/atomicfiletest"
)

// TestAPowerCutLosesNoTask: a task that was accepted waits, whole, until it was taken, and waits no more afterwards.
func TestAPowerCutLosesNoTask(t *testing.T) {
	home, done := t.TempDir(), ""
	long := strings.Repeat("Do it well.\n", 100)
	disk := atomicfiletest.Record(t, home, func() string { return done }, func() {
		it := put(t, home, "a", long)
		done = "put"
		if err := takes(it); err != nil {
			t.Fatal(err)
		}
		done = "taken"
		put(t, home, "a", "Another.")
		done = "again"
	})
	cases, err := disk.Cut(t, true, func(home, done string) error {
		list, err := List(home)
		if err != nil {
			return err
		}
		waits := map[string]string{}
		for _, it := range list {
			waits[it.Name] = it.Text
		}
		_, err = os.Lstat(filepath.Join(home, takenDir, "a.md"))
		taken := err == nil
		switch {
		case waits["a"] != "" && waits["a"] != long, waits["a-2"] != "" && waits["a-2"] != "Another.":
			return fmt.Errorf("torn: %.40q", waits)
		case done == "put" && waits["a"] == "" && !taken:
			return errors.New("the task is lost")
		case (done == "taken" || done == "again") && (waits["a"] != "" || !taken):
			return fmt.Errorf("the task was taken, and waits %v, is among the taken %v", waits["a"] != "", taken)
		case done == "again" && waits["a-2"] == "":
			return errors.New("the second task is lost")
		}
		for _, it := range list { // what was cut off is finished
			if err := takes(it); err != nil {
				return err
			}
		}
		if list, err = List(home); len(list) > 0 || err != nil {
			return fmt.Errorf("%v wait still, %v", list, err)
		}
		left, err := filepath.Glob(filepath.Join(home, takenDir, "*.md"))
		if len(left) > 2 || err != nil {
			return fmt.Errorf("two tasks were taken as %q, %v", left, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	t.Logf("rig: cases=%d bad=0; power cuts of a simulated disk while tasks are put and taken", cases)
}

// TestAFailingDiskLosesNoTask: what could not be put is said to be so, and nothing of it waits but a whole task.
func TestAFailingDiskLosesNoTask(t *testing.T) {
	for n := 1; ; n++ {
		home := t.TempDir()
		var err error
		if !atomicfiletest.Fail(t, home, n, false, syscall.ENOSPC, func() { _, err = Put(home, "a", "Do it.") }) {
			break
		}
		list, unread := List(home)
		if err == nil || unread != nil || len(list) > 1 || len(list) == 1 && list[0].Text != "Do it." {
			t.Errorf("operation %d failed: %v; %v wait, %v", n, err, list, unread)
		}
		if _, err := Put(home, "b", "Do it."); err != nil {
			t.Errorf("after operation %d failed: %v", n, err)
		}
	}
}
