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

// leadFile is held by who conducts the run, and says which process that is. Nothing that is decided depends on it.
const leadFile = ".conductor.lock"

// A LedError says that another process conducts the run.
type LedError struct{ Pid int }

func (e *LedError) Error() string {
	return fmt.Sprintf("the run is conducted already (process %d)", e.Pid)
}

// dying is how long the lock of a conductor that was killed is waited for: a child that it had just forked may have it a
// moment longer.
const dying = 2 * time.Second

// Lead lets everybody see that this process conducts the run, until leave is called or it ends. The error is *LedError
// when another does, which may tick as well all the same, and ErrGone when there is no run.
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

// Leader returns the process that conducts the run, 0 when none does.
func (f *Folder) Leader() int {
	if f.held(workersDir, leadFile) {
		if pid := f.leader(); proc.Alive(pid) {
			return pid
		}
	}
	return 0
}

// leader is who has written down that it conducts the run. One that has only just come is waited for.
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

// lead writes down that this process conducts the run. The lock file is never replaced.
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

// orGone is ErrGone for an error of a folder that is not there.
func orGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrGone
	}
	return err
}
