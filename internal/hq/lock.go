package hq

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/ferrus-go/ferrus/internal/proc"
)

// lockFile is the lock of the one conductor, in the live folder. Its holder writes down who it is.
const lockFile = "hq.lock"

// A Holder is the conductor that runs.
type Holder struct {
	Pid   int       `json:"pid"`
	Since time.Time `json:"since"`
}

// BusyError says that another conductor works on the task.
type BusyError struct{ Holder }

func (e *BusyError) Error() string {
	return fmt.Sprintf("a conductor is at work already (process %d, since %s)", e.Pid, e.Since.Local().Format(time.TimeOnly))
}

// Conductor returns the conductor that runs in a machine's folder, and whether one does. One that has been killed may hold
// its lock for some milliseconds more: a child that it had just forked has its descriptors until it becomes another
// program.
func Conductor(dir string) (Holder, bool) {
	if h, held := locked(filepath.Join(dir, liveDir, lockFile)); held && proc.Alive(h.Pid) {
		return h, true
	}
	return Holder{}, false
}

// locked returns who holds, or last held, the lock at path, and whether it is held.
func locked(path string) (Holder, bool) {
	lock := flock.New(path, flock.SetFlag(os.O_RDWR|noFollow))
	free, err := lock.TryRLock()
	if free {
		_ = lock.Close()
	}
	return holder(path), err == nil && !free
}

func holder(path string) (h Holder) {
	for range 100 {
		if text, err := os.ReadFile(path); err == nil && json.Unmarshal(text, &h) == nil && h.Pid > 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return h
}

// dying is how long the lock of a conductor that was killed is waited for.
const dying = 2 * time.Second

// hold takes the conductor's lock. Those who only look hold it for a moment, shared: they are waited for.
func hold(live string) (*flock.Flock, error) {
	if err := os.MkdirAll(live, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(live, lockFile)
	for until := time.Now().Add(dying); ; time.Sleep(time.Millisecond) {
		lock := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR|noFollow), flock.SetPermissions(0o600))
		got, err := lock.TryLock()
		if err != nil {
			return nil, fmt.Errorf("take %s: %v", path, err)
		}
		if got {
			text, err := json.Marshal(Holder{os.Getpid(), time.Now().UTC().Truncate(time.Second)})
			if err == nil {
				err = os.WriteFile(path, append(text, '\n'), 0o600)
			}
			return lock, err
		}
		_ = lock.Close()
		if h, held := locked(path); held && proc.Alive(h.Pid) || time.Now().After(until) {
			return nil, &BusyError{h}
		}
	}
}
