package checks

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

// Time limits of the helper. Stop may take the first two together.
const (
	stopGrace = 700 * time.Millisecond // from the closed pipe to the helper's own end
	killGrace = 300 * time.Millisecond // from its kill to the end of the processes that it left behind
	slack     = 30 * time.Second       // beyond the sum of all time limits
)

// A Job is one run of the commands of a Spec.
type Job struct {
	cmd      *exec.Cmd
	lifeline io.Closer // the helper lives while this is open
	mark     string    // in the environment of everything the helper starts
	locked   chan struct{}
	done     chan struct{}
	stopped  atomic.Bool
	result   Result // written before done closes
}

// order is what the server writes to the helper's stdin. Arguments and environment would be open to
// every process of the machine.
type order struct {
	Spec Spec
	Mark string
}

// message is what the helper writes to its stdout: any number of reports, then one result.
type message struct {
	Locked bool    `json:",omitempty"` // the lock is held
	Result *Result `json:",omitempty"`
}

// Start runs the commands of spec. It returns as soon as the helper holds spec.Lock, so that
// Running is true from then until shortly before Done. It waits a few seconds for a dying
// predecessor to release the lock. An error means that nothing was started; every later problem is
// part of the Result. The caller owns the job until Done and calls Stop to end it early.
func Start(spec Spec) (*Job, error) {
	j := &Job{mark: rand.Text(), locked: make(chan struct{}), done: make(chan struct{})}
	if spec.Commands == nil {
		j.result = gateError("no check commands are configured: add [checks] commands to ferrus.toml")
		close(j.done)
		return j, nil
	}
	if err := spec.validate(); err != nil {
		return nil, fmt.Errorf("start the checks: %w", err)
	}
	if !helperCalled {
		return nil, errors.New("start the checks: this program does not call checks.Helper first in main")
	}
	if err := j.launch(spec); err != nil {
		return nil, fmt.Errorf("start the check helper: %w", err)
	}
	<-j.locked
	return j, nil
}

func (j *Job) launch(spec Spec) error {
	self, err := proc.Executable()
	if err != nil {
		return err
	}
	stderr := &ring{size: 4 << 10}
	j.cmd = exec.Command(self, HelperArg)
	j.cmd.Dir = "/" // the helper must not keep a work tree busy; the commands get their own directory
	own := spec.Environ
	if own == nil {
		own = os.Environ()
	}
	j.cmd.Env = proc.Without(own, slices.Concat(spec.EnvDeny, proc.Withheld))
	j.cmd.Stderr = stderr
	j.cmd.WaitDelay = killGrace
	j.cmd.SysProcAttr = proc.Leader()
	stdin, err := j.cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := j.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := j.cmd.Start(); err != nil {
		return err
	}
	j.lifeline = stdin
	go j.follow(stdout, stderr, time.Now())
	if spec.Timeout > 0 {
		// The helper enforces the time limits. This one is for a helper that a check has suspended.
		limit := time.Duration(len(spec.Commands))*spec.Timeout + lockWait + slack
		timer := time.AfterFunc(limit, j.Stop)
		go func() {
			<-j.done
			timer.Stop()
		}()
	}
	// An error means that the helper is already dead. follow notices that too and reports more.
	_ = json.NewEncoder(stdin).Encode(order{spec, j.mark})
	return nil
}

// follow reads the helper's messages until the helper has exited. Then it ends the processes that
// the helper left behind and closes done.
func (j *Job) follow(stdout io.Reader, stderr *ring, begin time.Time) {
	defer close(j.done)
	waiting := true
	for dec := json.NewDecoder(stdout); ; {
		var m message
		if err := dec.Decode(&m); err != nil {
			break
		}
		if m.Locked && waiting {
			waiting = false
			close(j.locked)
		}
		if m.Result != nil {
			j.result = *m.Result
		}
	}
	end := j.cmd.Wait()
	if waiting {
		defer close(j.locked)
	}
	// The last result of a helper that exited normally is its own. Any other result may come from a
	// check that found the pipe.
	if j.result.Status != "" && end == nil {
		return
	}
	// The commands are in the helper's session. A report of each command's group would be too late: a command may have
	// killed the helper before.
	proc.KillMarked(j.cmd.Process.Pid, markName+"="+j.mark)
	j.result = gateError(fmt.Sprintf("the check helper vanished (%v): find out whether a check kills its parent or memory ran "+
		"out, then run check again", ended(end)))
	if j.stopped.Load() {
		j.result = gateError(stoppedErr)
	} else if said := safetext.Output(string(stderr.Bytes())); said != "" {
		j.result.Err += "\n" + said
	}
	j.result.Duration = time.Since(begin)
}

func ended(err error) string {
	if err == nil {
		return "exit status 0"
	}
	return err.Error()
}

const stoppedErr = "the checks were stopped before their end: run check again"

func gateError(why string) Result { return Result{Status: GateError, Err: why} }

// Done returns a channel that is closed when the run has ended, all its processes have ended and
// its lock is free.
func (j *Job) Done() <-chan struct{} { return j.done }

// Result returns the outcome of the run. It blocks until Done.
func (j *Job) Result() Result {
	<-j.done
	return j.result
}

// Stop kills every process of the run and waits, at most a second, until they have ended. A run
// that is stopped early has a gate error as its result. Stop is safe to call at any time, from any
// goroutine, more than once.
func (j *Job) Stop() {
	if j.ends(0) {
		return
	}
	j.stopped.Store(true)
	_ = j.lifeline.Close() // a second close is harmless
	if j.ends(stopGrace) {
		return
	}
	_ = j.cmd.Process.Kill() // fails only when the helper has exited
	j.ends(killGrace)
}

// ends reports whether the job ends within d.
func (j *Job) ends(d time.Duration) bool {
	select {
	case <-j.done:
		return true
	default:
	}
	select {
	case <-j.done:
		return true
	case <-time.After(d):
		return false
	}
}
