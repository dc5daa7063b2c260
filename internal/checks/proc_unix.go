//go:build unix

package checks

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	noFollow      = unix.O_NOFOLLOW
	notFound      = 127
	notExecutable = 126
)

// helperAttr makes the helper the leader of a session, and so of a process group, without a terminal: a check that
// opens /dev/tty to ask for a password gets an error and does not hang.
func helperAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func shell(line string) *exec.Cmd {
	cmd := exec.Command("/bin/sh", "-c", line)
	cmd.SysProcAttr = commandAttr()
	return cmd
}

// tree is a command with all its processes, named by its shell's process id. Each command leads a group of its own, so
// that a script's "kill 0" does not take the helper along.
type tree int

func treeOf(p *os.Process) tree { return tree(p.Pid) }

func (t tree) String() string { return strconv.Itoa(int(t)) }

// kill kills the command's process group, if there is any left.
func (t tree) kill() {
	if t > 1 { // 0 would be our own group, and 1 every process there is
		_ = unix.Kill(-int(t), unix.SIGKILL)
	}
}

// status returns the exit status, or -1 and the name of the signal that ended the process.
func status(p *os.ProcessState) (int, string) {
	if ws, ok := p.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return -1, unix.SignalName(ws.Signal())
	}
	return p.ExitCode(), ""
}

// fold returns the form in which names of variables are compared.
func fold(name string) string { return name }
