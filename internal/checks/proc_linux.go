package checks

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// executable is the running program itself, even when a newer one has been installed in its place: a server and a
// helper of different versions may not understand each other.
func executable() (string, error) {
	const self = "/proc/self/exe"
	if _, err := os.Stat(self); err != nil {
		return os.Executable()
	}
	return self, nil
}

// commandAttr lets the kernel kill a shell whose helper was killed, also when no server is left to do it.
func commandAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// contain makes this process the parent of every descendant whose own parent dies, so that none escapes by forking
// twice or by a new session. It also closes the helper's /proc directory to the commands, who could reach its
// pipes and memory through it.
func contain() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become a subreaper: %v", err)
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("become undumpable: %v", err)
	}
	return nil
}

// sweep kills every descendant of this process and returns when none is left. Only children are killed, each with its
// group, since their ids cannot be used again before they are reaped here; the children of the dead become ours, hence
// the rounds.
func (t tree) sweep() error {
	for wait := 100 * time.Microsecond; wait < time.Second; wait *= 2 {
		if !reap() {
			return nil
		}
		for _, c := range children() {
			if c.group != os.Getpid() {
				tree(c.group).kill()
			}
			_ = unix.Kill(c.pid, unix.SIGKILL)
		}
		time.Sleep(wait)
	}
	return errors.New("left processes behind that could not be killed: end them by hand, then run check again")
}

// reap collects the dead and reports whether living children remain. A process without children has no descendants,
// which is why a command that left nothing behind costs one system call.
func reap() bool {
	for {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG|unix.WALL, nil)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return false
		case pid == 0:
			return true
		}
	}
}

type child struct{ pid, group int }

func children() []child {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	self := os.Getpid()
	var found []child
	for _, stat := range stats {
		data, err := os.ReadFile(stat)
		if err != nil {
			continue // it is gone
		}
		// pid (name) state parent group ...; the name may contain anything.
		fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
		if len(fields) < 3 || fields[1] != strconv.Itoa(self) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
		group, _ := strconv.Atoi(fields[2])
		if pid > 0 {
			found = append(found, child{pid, group})
		}
	}
	return found
}

// killLost kills what is left of a helper that was killed: its last command's group, and whoever carries its mark in
// his environment.
func killLost(group int, mark string) {
	tree(group).kill()
	entry := []byte(markName + "=" + mark)
	for wait := 100 * time.Microsecond; wait < time.Second; wait *= 2 {
		environs, _ := filepath.Glob("/proc/[0-9]*/environ")
		found := false
		for _, environ := range environs {
			data, err := os.ReadFile(environ)
			if err != nil || !bytes.Contains(data, entry) {
				continue
			}
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(environ)))
			found = unix.Kill(pid, unix.SIGKILL) == nil || found
		}
		if !found {
			return
		}
		time.Sleep(wait)
	}
}
