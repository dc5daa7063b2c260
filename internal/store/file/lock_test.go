package file

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// busy has a caller hold the lock of s until free is called, and waits until it does.
func busy(t *testing.T, s *Store) (free func()) {
	t.Helper()
	holds, release, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- second(apply(func(store.Snapshot) (*store.Change, error) {
			close(holds)
			<-release
			return nil, nil
		})(s))
	}()
	<-holds
	return func() {
		close(release)
		if err := <-done; err != nil {
			t.Errorf("the first caller: %v", err)
		}
	}
}

// TestTheLockIsReplacedWhileCallersWait: they must not write beside the processes that use the new one.
func TestTheLockIsReplacedWhileCallersWait(t *testing.T) {
	t.Parallel()
	s := fresh(t, still())
	do(t, s, create)
	free := busy(t, s)
	waits := make(chan error, 2)
	for n := range 2 {
		go func() { waits <- second(apply(claim)(s)) }()
		for s.queue.Waiting() != n+1 {
			time.Sleep(50 * time.Microsecond)
		}
	}
	live := s.Path("live/session.lock")
	must(0, errors.Join(os.MkdirAll(filepath.Dir(live), 0o700), os.WriteFile(live, nil, 0o600)))
	session := must(filelock.Take(live))
	if state := s.Locks(); !strings.Contains(state, "; live/session.lock: held by") {
		t.Errorf("locks: %s", state)
	}
	session.Close()
	if state := s.Locks(); !strings.HasPrefix(state, lockFile+": held by this process for ") || !strings.Contains(state, ", 2 of its callers wait, the first for ") {
		t.Errorf("locks: %s", state)
	}
	must(0, errors.Join(os.Rename(s.Path(lockFile), filepath.Join(t.TempDir(), "old")), os.WriteFile(s.Path(lockFile), nil, 0o600)))
	free()
	for range 2 {
		wantCode(t, <-waits, refusal.StoreGone, "ferrus doctor")
	}
	if got := len(events(t, s)); got != 1 {
		t.Errorf("%d lines", got)
	}
}
