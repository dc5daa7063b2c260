//go:build unix

package conductor

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// holdOn is a process that takes the conductor's lock, says so, and holds it until it is killed.
func holdOn(dir string) int {
	lock, err := Hold(dir)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("held")
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = lock.Close()
	return 0
}

// holding is such a process, which holds.
func holding(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, dir)
	cmd.Env = append(os.Environ(), part+"=hold")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("%q, %v", line, err)
	}
	return cmd
}

// TestThereIsOneConductor of a task at a time. S2-06.
func TestThereIsOneConductor(t *testing.T) {
	dir := t.TempDir()
	if h, busy := Conductor(dir); busy || h.Pid != 0 {
		t.Errorf("before there was one: %+v", h)
	}
	if _, err := os.Stat(filepath.Join(dir, liveDir)); err == nil {
		t.Error("who only looks has made the folder")
	}
	first := holding(t, dir)
	_, err := Hold(dir)
	var busy *BusyError
	if !errors.As(err, &busy) || busy.Pid != first.Process.Pid || busy.Since.IsZero() || !strings.Contains(err.Error(), fmt.Sprintf("process %d", busy.Pid)) {
		t.Fatalf("the second one: %v", err)
	}
	if h, ok := Conductor(dir); !ok || h != busy.Holder {
		t.Errorf("the conductor is %+v", h)
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait()
	if h, ok := Conductor(dir); ok || h.Pid != 0 {
		t.Errorf("after its death the conductor is %+v", h)
	}
	lock, err := Hold(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if h, ok := Conductor(dir); !ok || h.Pid != os.Getpid() {
		t.Errorf("now the conductor is %+v", h)
	}
}

// TestWhoOnlyLooksKeepsNoConductorOut: and always sees who it is, though that is written after the lock is taken.
func TestWhoOnlyLooksKeepsNoConductorOut(t *testing.T) {
	dir := t.TempDir()
	over := make(chan struct{})
	var looking sync.WaitGroup
	for range 8 {
		looking.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				if h, busy := Conductor(dir); busy && h.Pid != os.Getpid() {
					// It may have been let go meanwhile.
					if again, busy := Conductor(dir); busy && again.Pid == 0 {
						t.Errorf("the conductor is %+v", again)
						return
					}
				}
			}
		})
	}
	for n := range 200 {
		lock, err := Hold(dir)
		if err != nil {
			t.Fatalf("take %d: %v", n, err)
		}
		_ = lock.Close()
	}
	close(over)
	looking.Wait()
}

// TestAConductorThatHasOnlyJustComeIsWaitedFor: a reader without the number might signal a process group of its own.
func TestAConductorThatHasOnlyJustComeIsWaitedFor(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, liveDir, lockFile)
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	lock := flock.New(path)
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	time.AfterFunc(20*time.Millisecond, func() {
		if err := os.WriteFile(path, fmt.Appendf(nil, `{"pid":%d}`, os.Getpid()), 0o600); err != nil {
			t.Error(err)
		}
	})
	if h, busy := Conductor(dir); !busy || h.Pid != os.Getpid() {
		t.Errorf("%+v, %v", h, busy)
	}
}

func TestTheLockIsNoLink(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, liveDir), 0o700); err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(dir, "elsewhere")
	if err := os.Symlink(elsewhere, filepath.Join(dir, liveDir, lockFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := Hold(dir); err == nil {
		t.Error("a link was taken for the lock")
	}
	if _, err := os.Lstat(elsewhere); err == nil {
		t.Error("a link was followed")
	}
}
