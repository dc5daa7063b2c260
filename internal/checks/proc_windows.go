package checks

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

const (
	noFollow      = 0
	notFound      = 9009
	notExecutable = 126
)

func executable() (string, error) { return os.Executable() }

func helperAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

func shell(line string) *exec.Cmd {
	cmd := exec.Command("cmd")
	// cmd does not read its arguments as Go quotes them: with /S the outer quotes go and the rest is the line.
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd /D /S /C "` + line + `"`}
	return cmd
}

// contain puts this process into a job that the kernel kills as a whole when the last handle to it, which is ours, is
// closed: with the helper goes everything it started.
func contain() error {
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

// tree is a command with all its processes: a job inside the helper's.
type tree struct {
	pid int
	job windows.Handle
}

// treeOf leaves the job 0 when there can be none; then only the shell is killed before the helper's end.
func treeOf(p *os.Process) tree {
	t := tree{pid: p.Pid}
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

func (t tree) String() string { return strconv.Itoa(t.pid) }

func (t tree) kill() {
	if t.job != 0 {
		_ = windows.TerminateJobObject(t.job, 1)
		return
	}
	if p, err := os.FindProcess(t.pid); err == nil {
		_ = p.Kill()
	}
}

func (t tree) sweep() error {
	t.kill()
	if t.job != 0 {
		_ = windows.CloseHandle(t.job)
	}
	return nil
}

// killLost has nothing to do: the kernel has killed the helper's job with the helper.
func killLost(int, string) {}

func status(p *os.ProcessState) (int, string) {
	if code := uint32(p.ExitCode()); code >= 0xc0000000 { // an NTSTATUS, such as an access violation
		return -1, fmt.Sprintf("%#x", code)
	}
	return p.ExitCode(), ""
}

// fold returns the form in which names of variables are compared.
func fold(name string) string { return strings.ToUpper(name) }
