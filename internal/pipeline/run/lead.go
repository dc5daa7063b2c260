package run

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/filelock"
	"github.com/ferrus-go/ferrus/internal/proc"
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
	path := f.Path(workersDir, leadFile)
	for until := time.Now().Add(dying); ; time.Sleep(time.Millisecond) {
		lock, err := filelock.Take(path)
		switch {
		case err == nil:
			err := os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600)
			return func() { _ = lock.Close() }, err
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
	if held, _ := filelock.Held(f.Path(workersDir, leadFile)); held {
		if pid := f.leader(); proc.Alive(pid) {
			return pid
		}
	}
	return 0
}

// leader is who has written down that it conducts the run. One that has only just come is waited for.
func (f *Folder) leader() (pid int) {
	for range 100 {
		text, err := os.ReadFile(f.Path(workersDir, leadFile))
		if pid, _ = strconv.Atoi(strings.TrimSpace(string(text))); err != nil || pid > 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return pid
}
