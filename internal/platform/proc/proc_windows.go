package proc

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Executable is the path of the running program.
func Executable() (string, error) { return os.Executable() }

// Leader makes a child the leader of a process group without a window.
func Leader() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

// Bound is nothing here: children end with the job of their parent.
func Bound(bool) *syscall.SysProcAttr { return nil }

// Stop is a signal that nobody can send here: RequestStop ends the program itself.
const Stop = syscall.SIGABRT

// RequestStop ends a program of ours: it cannot be asked.
func RequestStop(pid int) error {
	process, err := windows.OpenProcess(windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return err
	}
	defer windows.CloseHandle(process)
	return windows.TerminateProcess(process, StoppedExit)
}

func exitOf(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return 1
}

// Shell is a shell that runs a line and is killed when ctx ends.
func Shell(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "cmd")
	// cmd does not read its arguments as Go quotes them: with /S the outer quotes go and the rest is the line.
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd /D /S /C "` + line + `"`}
	return cmd
}

// Alive reports whether there is a process of that number.
func Alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err == nil {
		_ = p.Release()
	}
	return err == nil
}

// Contain puts this process into a job that the kernel kills as a whole when the last handle to it, which is ours, is
// closed: with the helper goes everything it started.
func Contain() error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return err
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
			LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
		},
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		return err
	}
	return windows.AssignProcessToJobObject(job, windows.CurrentProcess())
}

// A Tree is a process with all that it started: a job inside of the parent's.
type Tree struct {
	pid int
	job windows.Handle
}

// Of returns the tree of a process. Where there can be no job, only the process itself is killed before the parent's end.
func Of(p *os.Process) Tree {
	t := Tree{pid: p.Pid}
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(p.Pid))
	if err != nil {
		return t
	}
	defer windows.CloseHandle(process)
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return t
	}
	if err := windows.AssignProcessToJobObject(job, process); err != nil {
		_ = windows.CloseHandle(job)
		return t
	}
	t.job = job
	return t
}

func (t Tree) String() string { return strconv.Itoa(t.pid) }

// Kill kills the tree.
func (t Tree) Kill() {
	if t.job != 0 {
		_ = windows.TerminateJobObject(t.job, 1)
		return
	}
	if p, err := os.FindProcess(t.pid); err == nil {
		_ = p.Kill()
	}
}

// Sweep kills what is left of the tree.
func (t Tree) Sweep() error {
	t.Kill()
	if t.job != 0 {
		_ = windows.CloseHandle(t.job)
	}
	return nil
}

// Terminate kills the tree: there is no gentler way that everybody understands.
func (t Tree) Terminate() { t.Kill() }

// KillMarked has nothing to do: the kernel has killed the job with its root.
func KillMarked(int, string) {}

// RunsSince is true: nobody can tell.
func RunsSince(string, time.Time) bool { return true }

// Status returns the exit status, or -1 and the NTSTATUS, such as an access violation, that ended the process.
func Status(p *os.ProcessState) (int, string) {
	if code := uint32(p.ExitCode()); code >= 0xc0000000 {
		return -1, fmt.Sprintf("%#x", code)
	}
	return p.ExitCode(), ""
}

// interruptedChild is false: a console sends each process its own event.
func interruptedChild(error) bool { return false }
