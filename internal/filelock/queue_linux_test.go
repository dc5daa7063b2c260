package filelock

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// inKernel returns how many wait in the kernel for the lock at path.
func inKernel(t *testing.T, path string) (n int) {
	t.Helper()
	f, err := os.Open("/proc/locks")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	locks := make([]byte, 1<<16)
	size, err := f.Read(locks) // once: between two reads a line may move, and be read twice
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(locks[:size])) {
		if strings.Contains(line, "-> FLOCK") && strings.Contains(line, fmt.Sprintf(":%d 0 EOF", info.Sys().(*syscall.Stat_t).Ino)) {
			n++
		}
	}
	return n
}

// TestAProcessDoesNotOvertakeAnother: two queues stand for two processes.
func TestAProcessDoesNotOvertakeAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	lock, err := Acquire(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs, l := NewQueue(path), NewQueue(path), &line{t: t, turns: map[string]context.CancelFunc{}}
	for i, name := range strings.Fields("ours theirs") {
		l.join([]*Queue{ours, theirs}[i], name)
		until(t, name+" wait in the kernel", func() bool { return inKernel(t, path) == i+1 })
	}
	// Each that gets it says so first, and so waits here.
	l.mu.Lock()
	for _, name := range strings.Fields("ours2 ours3") {
		l.join(ours, name)
	}
	_ = lock.Close()
	until(t, "ours has it, and ours2 waits behind theirs", func() bool { return ours.Waiting() == 2 && inKernel(t, path) == 2 })
	l.mu.Unlock()
	l.end("ours", "theirs", "ours2", "ours3")
}

// TestALockFileThatIsRemovedMeanwhile: the first in line has the old one, which its File tells, and the others have none.
func TestALockFileThatIsRemovedMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	lock, err := Acquire(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	q, l := NewQueue(path), &line{t: t, turns: map[string]context.CancelFunc{}}
	l.join(q, "a")
	until(t, "a waits in the kernel", func() bool { return inKernel(t, path) == 1 })
	l.join(q, "b")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	_ = lock.Close()
	l.all.Wait()
	slices.Sort(l.got) // b hears of it while a has the lock
	l.end("a", "b: open "+path+": no such file or directory")
}
