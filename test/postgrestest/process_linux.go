package postgrestest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
)

// supported returns why servers cannot run on this system.
func supported() error { return nil }

// bound are the attributes of a server. The kernel ends it, cleanly, with the thread that has started it.
func bound(as *owning) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGQUIT}
	if as != nil {
		attr.Credential = &syscall.Credential{Uid: uint32(as.uid), Gid: uint32(as.gid)}
	}
	return attr
}

// immediately asks a server to end at once, as after a crash.
func immediately(pid int) { _ = syscall.Kill(pid, syscall.SIGQUIT) }

// freeze stops a server and its children, and returns their ids. A stopped server starts no more children.
func freeze(server int) ([]int, error) {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		pids, stopped := family(server), true
		for _, pid := range pids {
			if !halted(pid) {
				stopped = false
				_ = syscall.Kill(pid, syscall.SIGSTOP)
			}
		}
		if stopped {
			return pids, nil
		}
	}
	return nil, errors.New("the server cannot be stopped")
}

// family returns the ids of a process and of its children.
func family(of int) []int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", of))
	all := []int{of}
	for word := range strings.FieldsSeq(string(text)) {
		pid, _ := strconv.Atoi(word)
		all = append(all, pid)
	}
	return all
}

// halted reports whether a process is stopped or has ended.
func halted(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	state := stat[bytes.LastIndexByte(stat, ')')+1:] // a blank, and a letter
	return err != nil || len(state) > 1 && bytes.IndexByte([]byte("TZX"), state[1]) >= 0
}

func thaw(pids []int) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
}

// kill kills the frozen processes of a server, and returns when its children are gone. It removes the shared memory of the server, which the
// kernel would keep: the file names it.
func kill(pids []int, pidFile string) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	for _, pid := range pids[1:] {
		for proc.Alive(pid) {
			time.Sleep(time.Millisecond)
		}
	}
	text, _ := os.ReadFile(pidFile)
	if lines := bytes.Split(text, []byte("\n")); len(lines) > 6 {
		if fields := bytes.Fields(lines[6]); len(fields) == 2 {
			if id, err := strconv.Atoi(string(fields[1])); err == nil {
				_, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil)
			}
		}
	}
}
