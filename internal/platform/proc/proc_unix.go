//go:build unix

package proc

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Leader makes a child the leader of a session, and so of a process group, without a terminal. A
// program below it that opens /dev/tty for a password gets an error and does not hang.
func Leader() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// Bound lets a child end with its parent, where the system can do that; group makes it the leader of a process group.
// The caller has locked its thread.
func Bound(group bool) *syscall.SysProcAttr { return bound(group) }

// Stop is the signal by which RequestStop asks a program of ours to end: not SIGTERM, so that the program can tell by
// its exit code that it was stopped on purpose.
const Stop = unix.SIGUSR1

// RequestStop asks a ferrus program to end. Stop must be among its signals of Interruptible.
func RequestStop(pid int) error { return unix.Kill(pid, Stop) }

func exitOf(s os.Signal) int {
	n, ok := s.(syscall.Signal)
	if !ok || n == Stop {
		return StoppedExit
	}
	return 128 + int(n)
}

// Shell returns a shell that runs a line and is killed when ctx ends.
func Shell(ctx context.Context, line string) *exec.Cmd {
	return exec.CommandContext(ctx, "/bin/sh", "-c", line)
}

// Alive reports whether a process of that number runs. On Linux a zombie does not; elsewhere it counts until its parent
// has collected it.
func Alive(pid int) bool {
	return pid > 0 && unix.Kill(pid, 0) != unix.ESRCH && !zombie(pid)
}

// A Tree is a process with all that it started, named by the id of its process group.
type Tree int

// Of returns the tree of a process that was started as the leader of a group.
func Of(p *os.Process) Tree { return Tree(p.Pid) }

func (t Tree) String() string { return strconv.Itoa(int(t)) }

// Kill kills the process group, if there is any left.
func (t Tree) Kill() {
	if t > 1 { // 0 would be our own group, and 1 every process there is
		_ = unix.Kill(-int(t), unix.SIGKILL)
	}
}

// Terminate asks the process group to end.
func (t Tree) Terminate() {
	if t > 1 {
		_ = unix.Kill(-int(t), unix.SIGTERM)
	}
}

// Status returns the exit status, or -1 and the name of the signal that ended the process.
func Status(p *os.ProcessState) (int, string) {
	if ws, ok := p.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return -1, unix.SignalName(ws.Signal())
	}
	return p.ExitCode(), ""
}

// interruptedChild reports whether an error is that of a child that ctrl-C ended.
func interruptedChild(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGINT
}
