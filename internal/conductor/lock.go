package conductor

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	slashpath "path"
	"path/filepath"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/platform/jsonx"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// lockFile is the lock of the one conductor, in the live folder. Its holder records itself in the
// file.
const lockFile = "hq.lock"

// A Holder is the running conductor.
type Holder struct {
	Pid   int       `json:"pid"`
	Since time.Time `json:"since"`
	Host  string    `json:"host,omitempty"` // the other computer on which it runs; Pid is 0 then
}

// BusyError means that another conductor works on the task.
type BusyError struct{ Holder }

func (e *BusyError) Error() string {
	if e.Host != "" {
		return fmt.Sprintf("a conductor is already running on %s (since %s)", e.Host, e.Since.Local().Format(time.DateTime))
	}
	return fmt.Sprintf("a conductor is already running (process %d, since %s)", e.Pid, e.Since.Local().Format(time.TimeOnly))
}

// Refusal returns the refusal to start a second conductor, without its message.
func (e *BusyError) Refusal() *refusal.RefusedError {
	if e.Host != "" {
		return &refusal.RefusedError{Code: refusal.LockBusy, Remedy: "it continues there; ferrus status{branch} --watch shows its progress, ferrus store the computers"}
	}
	return &refusal.RefusedError{Code: refusal.LockBusy, Remedy: "ferrus status{branch} --watch shows its progress; ferrus stop{branch} ends it and its agents"}
}

// Conductor returns the conductor that runs in a machine's folder, and whether one does. A killed
// one may hold its lock for some milliseconds more: a child that it had just forked has its
// descriptors until it executes another program.
func Conductor(dir string) (Holder, bool) {
	root, name, err := rootfs.For(filepath.Join(dir, liveDir, lockFile))
	if err != nil {
		return Holder{}, false
	}
	defer root.Close()
	path, err := root.Path(name)
	if err != nil { // a link or a FIFO, which no conductor has locked
		return Holder{}, false
	}
	if held, _ := filelock.Held(path); held {
		if h := holder(root, name); proc.Alive(h.Pid) {
			return h, true
		}
	}
	return Holder{}, false
}

// maxHolder bounds the record in the lock file, in bytes.
const maxHolder = 4 << 10

// holder returns the recorded holder of the lock. It waits for the record of a new holder. A record
// that cannot be a process is ignored.
func holder(root *rootfs.Root, name string) (h Holder) {
	for range 100 {
		if text, err := root.ReadFile(name, maxHolder); err == nil && json.Unmarshal(text, &h) == nil && h.Pid > 0 && h.Pid <= math.MaxInt32 {
			return h
		}
		time.Sleep(time.Millisecond)
	}
	return Holder{}
}

// dying is how long to wait for the lock of a conductor that was killed.
const dying = 2 * time.Second

// Hold makes this process the conductor in a folder, until the lock is closed. The error is a
// *BusyError if there is another one.
func Hold(dir string) (*filelock.Lock, error) {
	root, name, err := rootfs.For(filepath.Join(dir, liveDir, lockFile))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := root.MkdirAll(slashpath.Dir(name), 0o700); err != nil {
		return nil, err
	}
	path, err := root.Path(name)
	if err != nil {
		return nil, err
	}
	for until := time.Now().Add(dying); ; time.Sleep(time.Millisecond) {
		lock, err := filelock.Take(path)
		if err == nil {
			text, err := jsonx.Marshal(Holder{Pid: os.Getpid(), Since: time.Now().UTC().Truncate(time.Second)})
			if err == nil {
				err = record(root, name, append(text, '\n'))
			}
			if err != nil {
				_ = lock.Close()
				return nil, err
			}
			return lock, nil
		}
		if !errors.Is(err, filelock.ErrHeld) {
			return nil, err
		}
		if h := holder(root, name); proc.Alive(h.Pid) || time.Now().After(until) {
			return nil, &BusyError{h}
		}
	}
}

// record writes into the lock file, which is never replaced: a second process could lock the old
// inode.
func record(root *rootfs.Root, name string, text []byte) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

const liveDir = "live"
