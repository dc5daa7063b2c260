package run

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
)

// leadFile is locked by the process that conducts the run, and names it. No decision depends on the
// name.
const leadFile = ".conductor.lock"

// A LedError says that another process conducts the run.
type LedError struct{ Pid int }

func (e *LedError) Error() string {
	return fmt.Sprintf("the run already has a conductor (process %d)", e.Pid)
}

// dying is how long to wait for the lock of a conductor that was killed: a child that it had just
// forked may have it a moment longer.
const dying = 2 * time.Second

// Lead marks this process as the conductor of the run, until leave is called or the process ends.
// The error is *LedError when another process conducts the run; this one may tick all the same. It
// is ErrGone when the run does not exist.
func (f *Folder) Lead() (leave func(), err error) {
	path, err := f.checked(workersDir, leadFile)
	if err != nil {
		return nil, orGone(err)
	}
	for until := time.Now().Add(dying); ; time.Sleep(time.Millisecond) {
		lock, err := filelock.Take(path)
		switch {
		case err == nil:
			return func() { _ = lock.Close() }, f.lead()
		case errors.Is(err, os.ErrNotExist):
			return nil, ErrGone
		case !errors.Is(err, filelock.ErrHeld):
			return nil, err
		}
		if pid := f.leader(); proc.Alive(pid) || time.Now().After(until) {
			return nil, &LedError{pid}
		}
	}
}

// Leader returns the process that conducts the run, 0 when there is none.
func (f *Folder) Leader() int {
	if f.held(workersDir, leadFile) {
		if pid := f.leader(); proc.Alive(pid) {
			return pid
		}
	}
	return 0
}

// leader returns the process that is recorded as conductor. It waits for the record of a new one.
func (f *Folder) leader() (pid int) {
	for range 100 {
		text, err := f.slurp(workersDir, leadFile)
		if pid, _ = strconv.Atoi(strings.TrimSpace(string(text))); err != nil || text == nil || pid > math.MaxInt32 {
			return 0
		}
		if pid > 0 {
			return pid
		}
		time.Sleep(time.Millisecond)
	}
	return 0
}

// lead records that this process conducts the run. The lock file is never replaced.
func (f *Folder) lead() error {
	root, name, err := f.in(workersDir, leadFile)
	if err != nil {
		return err
	}
	defer root.Close()
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(strconv.Itoa(os.Getpid()) + "\n")
	return errors.Join(err, file.Close())
}

// orGone returns ErrGone for an error of a missing folder.
func orGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrGone
	}
	return err
}
