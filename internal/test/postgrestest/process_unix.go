//go:build unix

package postgrestest

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
)

// supported returns why servers cannot run on this system.
func supported() error { return nil }

// credential is the user of the servers.
func (o *owning) credential() *syscall.Credential {
	if o == nil {
		return nil
	}
	return &syscall.Credential{Uid: uint32(o.uid), Gid: uint32(o.gid)}
}

// immediately asks a server to end at once, as after a crash.
func immediately(pid int) { _ = syscall.Kill(pid, syscall.SIGQUIT) }

func thaw(pids []int) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
}

// freeze stops a process and its children, and returns their ids. A stopped server starts no more children.
func freeze(server int) ([]int, error) {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		found, err := family(server)
		if err != nil {
			return nil, err
		}
		var pids []int
		stopped := true
		for _, p := range found {
			pids = append(pids, p.pid)
			if !strings.ContainsAny(p.state[:1], "TZ") {
				stopped = false
				_ = syscall.Kill(p.pid, syscall.SIGSTOP)
			}
		}
		if stopped {
			return pids, nil
		}
	}
	return nil, errors.New("the server cannot be stopped")
}

// kill kills processes and returns when they are gone. Their parent has to collect the first.
func kill(pids []int) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	for _, pid := range pids[1:] {
		for proc.Alive(pid) {
			time.Sleep(time.Millisecond)
		}
	}
}

type process struct {
	pid   int
	state string
}

// family returns a process, if it runs, and then its children.
func family(of int) (found []process, err error) {
	out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=,stat=").Output()
	if err != nil {
		return nil, fmt.Errorf("ps: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		var p process
		var parent int
		if _, err := fmt.Sscan(line, &p.pid, &parent, &p.state); err != nil {
			return nil, fmt.Errorf("ps: %v in %q", err, line)
		}
		switch of {
		case p.pid:
			found = append([]process{p}, found...)
		case parent:
			found = append(found, p)
		}
	}
	return found, nil
}
