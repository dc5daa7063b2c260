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
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
	"github.com/ferrus-go/ferrus/internal/store/live"
)

// shimArg is the first argument of a program that becomes a shim. Later arguments are for people
// who list processes.
const shimArg = proc.Shim

// markName is the variable by which the processes of a killed shim are found.
const markName = "FERRUS_RUN"

// shimCalled is set once, by Shim. A program without that call would answer shimArg by running as
// usual.
var shimCalled bool

// A Holder delays the start of an agent until its time has come, and returns a function that
// releases what it took. It logs what it waits for, and ends with ctx. Its error is the reason why
// the agent is not started.
type Holder func(ctx context.Context, order string, log io.Writer) (release func(), err error)

// Shim runs the shim if the program was started as one, and then never returns. Call it first in
// every main that may call Start, and in the TestMain of every test that may. hold handles orders
// with Hold; nil refuses them.
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

// shim is the life of a shim. It reports to the process that started it, if that one still reads.
func shim(stdin io.Reader, stdout io.WriteCloser, hold Holder) error {
	// SIGPIPE is handled, not ignored: the agent would inherit an ignored signal.
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
		answer(message{Error: fmt.Sprintf("track the agent's processes: %v", err)})
		return err
	}
	lock, err := o.Slot.take()
	if err != nil {
		answer(message{Taken: errors.Is(err, ErrTaken), Error: err.Error()})
		return err
	}
	defer lock.Close()
	if o.Session != "" {
		known, err := live.In(o.Slot.machine()).Take(o.Session)
		if err != nil {
			answer(message{Error: fmt.Sprintf("take the lock of the session: %v", err)})
			return err
		}
		defer known.Close()
	}
	err = o.play(hold, asked, answer)
	// No process of this run is left to clear.
	_ = o.Slot.write(Occupant{})
	farewell()
	return err
}

// play starts the agent, waits for its end, and leaves only its record behind.
func (o sealed) play(hold Holder, asked <-chan os.Signal, answer func(message)) error {
	r := o.Run
	r.Started = stamp()
	if err := o.name(&r); err != nil {
		answer(message{Taken: errors.Is(err, ErrTaken), Error: err.Error()})
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
	// This comes before the agent starts, so that no start is uncounted.
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
	cmd, err := o.command()
	if err != nil {
		r.Unable = true
		return fail(err)
	}
	inside, err := o.enter(cmd)
	if err != nil {
		return fail(err)
	}
	leave := func() error { return nil }
	if inside != nil {
		leave = func() (err error) { r.Replaced, err = inside.Leave(); return err }
	}
	drained, err := output(cmd, log, inside != nil)
	if err == nil {
		if err = cmd.Start(); err != nil {
			_, gone := os.Stat(cmd.Dir)
			r.Unable, err = gone == nil, fmt.Errorf("start %s: %v", cmd.Path, rootfs.Cause(err))
		}
		drained.began()
	}
	if err != nil {
		return fail(errors.Join(err, leave()))
	}
	answer(message{Run: &r})

	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait() // ProcessState has the result
		close(exited)
	}()
	watch, unwatch := context.WithCancel(context.Background())
	defer unwatch()
	why := "" // the fence ended it
	select {
	case <-exited:
	case sig := <-asked:
		r.Cut, r.Stopped = sig != stopped, sig == stopped
		o.end(cmd.Process, exited)
	case <-o.Slot.removed(watch, lookAtSlot):
		r.Stopped = true
		o.end(cmd.Process, exited)
	case breach := <-o.Fence.broken(watch, lookAtFence):
		r.Stopped, why = true, breach.why
		if breach.kill {
			_ = cmd.Process.Kill()
		}
		o.end(cmd.Process, exited)
	}
	if cmd.ProcessState != nil {
		r.Exit, r.Signal = proc.Status(cmd.ProcessState)
	}
	if inside != nil {
		inside.Close()
	}
	if err := errors.Join(sweep(), leave()); err != nil {
		r.Error = err.Error()
	}
	drained.wait()
	r.read()
	if r.Error == "" {
		r.Error = why
	}
	if r.Error == "" && inside != nil && r.Exit == sandbox.ExitRefused {
		r.Error = lastLines(tailOf(r.Log))
	}
	if o.Output != nil {
		o.Output.finish(&r)
	}
	r.Ended = stamp()
	return note(o.Runs, r)
}

// held waits until the holder lets the agent start. A request to end ends the wait.
func (o sealed) held(hold Holder, log io.Writer, asked <-chan os.Signal, r *Run) (release func(), err error) {
	if hold == nil {
		return nil, errors.New("this program cannot delay agents")
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
		return nil, errors.New("it was stopped while it waited")
	case <-o.Slot.removed(ctx, lookAtSlot):
		r.Stopped = true
		cancel()
		<-done
		if err == nil {
			release()
		}
		return nil, errors.New("its slot was removed while it waited")
	}
	r.GaveUp = errors.Is(err, ErrGaveUp)
	return release, err
}

// ErrGaveUp is what a Holder returns, wrapped, for an agent whose wait was in vain.
var ErrGaveUp = errors.New("waited in vain")

// name gives the run its name and its log. There is no race: names are per duty, and this shim has
// the slot. A log without a run belongs to a run whose line was torn.
func (o sealed) name(r *Run) error {
	list, err := Runs(o.Runs)
	if err != nil {
		return err
	}
	if o.Number > 0 && slices.ContainsFunc(list, func(was Run) bool { return was.Duty == r.Duty && was.number() >= o.Number }) {
		return ErrTaken
	}
	for n := max(1, o.Number); ; n++ {
		r.Name = Name(r.Duty, n)
		r.Log = filepath.Join(o.Logs, strings.Replace("agent-"+o.Tag+"-"+r.Name, "--", "-", 1)+".log")
		_, err := os.Lstat(r.Log) // a link in its place counts, too
		if err != nil && !slices.ContainsFunc(list, func(was Run) bool { return was.Name == r.Name }) {
			return nil
		}
	}
}

// command returns the agent's process, not started yet.
func (o sealed) command() (*exec.Cmd, error) {
	l := o.Launch
	path, err := agents.LookPath(l.Argv[0], l.Env)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, l.Argv[1:]...)
	cmd.Args[0] = l.Argv[0]
	cmd.Dir, cmd.Env = l.Dir, append(l.Env, markName+"="+o.Mark, "PWD="+l.Dir)
	cmd.SysProcAttr = proc.Bound(false) // in the shim's own group
	if l.Stdin != "" {
		cmd.Stdin = strings.NewReader(l.Stdin)
		// A process that the agent left behind may keep the pipe open and read nothing.
		cmd.WaitDelay = leaving
	}
	return cmd, nil
}

// end asks the agent to end, and kills it when it does not.
func (o sealed) end(p *os.Process, exited <-chan struct{}) {
	terminate(o.leader(p))
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
