package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ferrus-go/ferrus/test/kit"
)

// inKernel returns how many threads of this process wait in the kernel for a lock.
func inKernel(t *testing.T) (n int) {
	t.Helper()
	calls, err := filepath.Glob("/proc/self/task/*/syscall")
	if err != nil || len(calls) == 0 {
		t.Skip("the kernel does not tell what its callers wait for")
	}
	for _, path := range calls {
		call, _ := os.ReadFile(path) // a thread may have ended
		if strings.HasPrefix(string(call), fmt.Sprint(unix.SYS_FLOCK)+" ") {
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
		kit.Eventually(t, name+" wait in the kernel", func() bool { return inKernel(t) == i+1 })
	}
	// Each that gets it says so first, and so waits here.
	l.mu.Lock()
	for _, name := range strings.Fields("ours2 ours3") {
		l.join(ours, name)
	}
	_ = lock.Close()
	kit.Eventually(t, "ours has it, and ours2 waits behind theirs", func() bool { return ours.Waiting() == 2 && inKernel(t) == 2 })
	l.mu.Unlock()
	l.end("ours", "theirs", "ours2", "ours3")
}

// TestALockFileThatIsReplacedMeanwhile: who waited for the old one gets the new one, as those do who come now.
func TestALockFileThatIsReplacedMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	lock, err := Acquire(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan given, 1)
	go func() {
		lock, err := NewQueue(path).Acquire(t.Context())
		got <- given{lock, err}
	}()
	kit.Eventually(t, "it waits in the kernel", func() bool { return inKernel(t) == 1 })
	if err := errors.Join(os.WriteFile(path+".new", nil, 0o600), os.Rename(path+".new", path)); err != nil {
		t.Fatal(err)
	}
	_ = lock.Close()
	g := <-got
	if g.err != nil {
		t.Fatal(g.err)
	}
	defer g.lock.Close()
	if here, err := os.Stat(path); err != nil || !os.SameFile(here, g.lock.File()) {
		t.Errorf("it has the lock of the old file: %v", err)
	}
	held(t, path, true)
}
