package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/ancestry"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/rootfs"
)

// shimArg is the first argument of a program that is to be a shim. Those after it are for whoever looks at the process.
const shimArg = ancestry.Shim

// markName names the variable by which the processes of a killed shim are found.
const markName = "FERRUS_RUN"

// shimCalled changes once, in Shim. A program without that call would answer shimArg by running itself as usual.
var shimCalled bool

// A Holder keeps an agent from starting until its time has come, and gives back what it has taken when the agent has
// ended. It says to the run's log what it waits for, and ends with ctx. An error is why the agent is not started at all.
type Holder func(ctx context.Context, order string, log io.Writer) (release func(), err error)

// Shim runs the shim if the program was started as one, and then never returns. Every main that may call Start, and the
// TestMain of every test that may, calls it before anything else. hold is asked for those whose orders are held; nil
// refuses them.
func Shim(hold Holder) {
	shimCalled = true
	if len(os.Args) < 2 || os.Args[1] != shimArg {
		return
	}
	// The kernel ties the death signal of a child to the thread that started it.
	runtime.LockOSThread()
	if err := shim(os.Stdin, os.Stdout, hold); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// shim is the life of a shim. What it has to say goes to whoever started it, if they still listen.
func shim(stdin io.Reader, stdout io.WriteCloser, hold Holder) error {
	// Handled, not ignored, which the agent would inherit.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	answer := func(m message) {
		_ = json.NewEncoder(stdout).Encode(m)
		_ = stdout.Close()
	}
	var o sealed
	if err := json.NewDecoder(stdin).Decode(&o); err != nil {
		answer(message{Error: fmt.Sprintf("read the order on stdin: %v: this command is for ferrus itself", err)})
		return err
	}
	if err := proc.Contain(); err != nil {
		answer(message{Error: fmt.Sprintf("keep hold of the agent's processes: %v", err)})
		return err
	}
	lock, err := o.Slot.take()
	if err != nil {
		answer(message{Taken: errors.Is(err, ErrTaken), Error: err.Error()})
		return err
	}
	defer lock.Close()
	err = o.play(hold, asked, answer)
	// Nothing of this run is left to be cleared.
	_ = o.Slot.write(Occupant{})
	farewell()
	return err
}

// play starts the agent, waits for its end and leaves nothing of it behind but its record.
func (o sealed) play(hold Holder, asked <-chan os.Signal, answer func(message)) error {
	r := o.Run
	r.Started = stamp()
	if err := o.name(&r); err != nil {
		answer(message{Error: err.Error()})
		return err
	}
	fail := func(err error) error {
		r.Ended, r.Error = stamp(), err.Error()
		if unwritten := note(o.Runs, r); unwritten != nil {
			err = errors.Join(err, unwritten)
		}
		answer(message{Error: err.Error()})
		return err
	}
	if err := o.Slot.write(Occupant{os.Getpid(), r.Name, o.Mark, r.Started}); err != nil {
		return fail(err)
	}
	// Before the agent starts, so that an agent is never counted too little.
	if err := note(o.Runs, r); err != nil {
		return fail(err)
	}
	log, err := createLog(r.Log)
	if err != nil {
		return fail(err)
	}
	defer log.Close()
	if o.Hold != "" {
		answer(message{Run: &r})
		release, err := o.held(hold, log, asked, &r)
		if err != nil {
			return fail(err)
		}
		defer release()
		r.Launched = stamp()
		if err := note(o.Runs, r); err != nil {
			return fail(err)
		}
	}
	cmd, err := o.command(log)
	if err != nil {
		return fail(err)
	}
	if err := cmd.Start(); err != nil {
		return fail(fmt.Errorf("start %s: %v", cmd.Path, rootfs.Cause(err)))
	}
	answer(message{Run: &r})

	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait() // ProcessState says it
		close(exited)
	}()
	select {
	case <-exited:
	case why := <-asked:
		r.Cut, r.Stopped = why != stopped, why == stopped
		end(cmd.Process, exited)
	}
	if cmd.ProcessState != nil {
		r.Exit, r.Signal = proc.Status(cmd.ProcessState)
	}
	if err := sweep(); err != nil {
		r.Error = err.Error()
	}
	r.Ended = stamp()
	r.read()
	return note(o.Runs, r)
}

// held waits until the holder lets the agent start. Whoever is asked to end meanwhile ends.
func (o sealed) held(hold Holder, log io.Writer, asked <-chan os.Signal, r *Run) (release func(), err error) {
	if hold == nil {
		return nil, errors.New("this program holds no agents")
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		release, err = hold(ctx, o.Hold, log)
	}()
	select {
	case <-done:
	case why := <-asked:
		r.Cut, r.Stopped = why != stopped, why == stopped
		cancel()
		<-done
		if err == nil {
			release()
		}
		return nil, errors.New("it was ended while it waited")
	}
	r.GaveUp = errors.Is(err, ErrGaveUp)
	return release, err
}

// ErrGaveUp is what a Holder returns, wrapped, for an agent that has waited in vain.
var ErrGaveUp = errors.New("waited in vain")

// name gives the run its name and its log, which nobody else can be doing: names are per duty, and the slot is ours. A
// log without a run is that of one whose line was torn.
func (o sealed) name(r *Run) error {
	list, err := Runs(o.Runs)
	if err != nil {
		return err
	}
	for n := max(1, o.Number); ; n++ {
		r.Name = fmt.Sprintf("%s-%d", r.Duty, n)
		r.Log = filepath.Join(o.Logs, strings.Replace("agent-"+o.Tag+"-"+r.Name, "--", "-", 1)+".log")
		_, err := os.Lstat(r.Log) // a link there has the name taken too
		if err != nil && !slices.ContainsFunc(list, func(was Run) bool { return was.Name == r.Name }) {
			return nil
		}
	}
}

// command is the agent's process, not started yet. Its output goes straight to the file: nothing of it is lost whatever
// becomes of the shim.
func (o sealed) command(log *os.File) (*exec.Cmd, error) {
	l := o.Launch
	if err := o.lay(l.Files); err != nil {
		return nil, err
	}
	path, err := agents.LookPath(l.Argv[0], l.Env)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, l.Argv[1:]...)
	cmd.Args[0] = l.Argv[0]
	cmd.Dir, cmd.Env = l.Dir, append(l.Env, markName+"="+o.Mark, "PWD="+l.Dir)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = proc.Bound(false) // in the shim's own group
	if l.Stdin != "" {
		cmd.Stdin = strings.NewReader(l.Stdin)
		// What the agent has left behind may hold the pipe open and read nothing.
		cmd.WaitDelay = leaving
	}
	return cmd, nil
}

// end asks the agent to end, and kills it when it does not.
func end(p *os.Process, exited <-chan struct{}) {
	terminate(p)
	select {
	case <-exited:
		return
	case <-time.After(politely):
	}
	_ = p.Kill()
	select {
	case <-exited:
	case <-time.After(sweeping):
	}
}

func stamp() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
