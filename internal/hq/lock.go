package hq

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ferrus-go/ferrus/internal/filelock"
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
	path := filepath.Join(dir, liveDir, lockFile)
	if held, _ := filelock.Held(path); held {
		if h := holder(path); proc.Alive(h.Pid) {
			return h, true
		}
	}
	return Holder{}, false
}

// holder is who has written down that it holds the lock at path. One that has only just taken it is waited for.
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

// Hold makes this process the conductor in a folder, until the lock is closed. The error is a *BusyError where another is.
func Hold(dir string) (*filelock.Lock, error) {
	live := filepath.Join(dir, liveDir)
	if err := os.MkdirAll(live, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(live, lockFile)
	for until := time.Now().Add(dying); ; time.Sleep(time.Millisecond) {
		lock, err := filelock.Take(path)
		if err == nil {
			text, err := json.Marshal(Holder{os.Getpid(), time.Now().UTC().Truncate(time.Second)})
			if err == nil {
				err = os.WriteFile(path, append(text, '\n'), 0o600)
			}
			return lock, err
		}
		if !errors.Is(err, filelock.ErrHeld) {
			return nil, fmt.Errorf("take %s: %v", path, err)
		}
		if h := holder(path); proc.Alive(h.Pid) || time.Now().After(until) {
			return nil, &BusyError{h}
		}
	}
}
