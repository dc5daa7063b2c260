package filelock

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/ferrus-go/ferrus/test/kit"
)

// part is the environment variable that makes this binary the holder of the lock it names.
const part = "FERRUS_TEST_HOLD"

func TestMain(m *testing.M) {
	if path := os.Getenv(part); path != "" {
		hold(path)
		return
	}
	os.Exit(m.Run())
}

// hold holds the lock until stdin ends, or the process.
func hold(path string) {
	if lock, err := Take(path); err == nil {
		defer lock.Close()
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
}

// holder is another process that has the lock until it is killed.
func holder(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), part+"="+path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	kit.Eventually(t, "another process has the lock", func() bool { held, _ := Held(path); return held })
	return cmd
}

// held checks what Held says of the lock.
func held(t *testing.T, path string, want bool) {
	t.Helper()
	if got, err := Held(path); got != want || err != nil {
		t.Errorf("held: %v, %v", got, err)
	}
}

func TestALockIsHeldUntilItsHolderEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	p := holder(t, path)
	held(t, path, true)
	if _, err := Take(path); err != ErrHeld {
		t.Errorf("taken twice: %v", err)
	}
	freed := make(chan error, 1)
	go func() { freed <- Wait(path) }()
	select {
	case err := <-freed:
		t.Fatalf("waited for nothing: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := <-freed; err != nil {
		t.Error(err)
	}
	held(t, path, false)
	lock, err := Take(path)
	if err != nil {
		t.Fatal(err)
	}
	held(t, path, true)
	for range 2 {
		if err := lock.Close(); err != nil {
			t.Error(err)
		}
		held(t, path, false)
	}
}

// TestALockHasOneHolder, however many others want it or look.
func TestALockHasOneHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var holders atomic.Int32
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for taken := 0; taken < 50; {
				lock, err := Take(path)
				if err == ErrHeld {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if n := holders.Add(1); n != 1 {
					t.Errorf("%d holders", n)
				}
				held(t, path, true)
				taken++
				holders.Add(-1)
				_ = lock.Close()
			}
		})
	}
	group.Wait()
}

// TestWhoOnlyLooksIsNoHolder: they are not seen by each other, and waited for.
func TestWhoOnlyLooksIsNoHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	looking := flock.New(path)
	if ok, err := looking.TryRLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	held(t, path, false)
	if err := Wait(path); err != nil {
		t.Error(err)
	}
	time.AfterFunc(20*time.Millisecond, func() { _ = looking.Close() })
	lock, err := Take(path)
	if err != nil {
		t.Fatal(err)
	}
	_ = lock.Close()
}

func TestNobodyHoldsALockThatIsNotThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if got, err := Held(path); got || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("held: %v, %v", got, err)
	}
	if err := Wait(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("wait: %v", err)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("who only looks has made the file")
	}
	if _, err := Take(filepath.Join(path, "lock")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("take without a folder: %v", err)
	}
}
