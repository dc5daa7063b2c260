package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Executable returns a path of the running program itself, even if a newer one was installed in its
// place: programs of different versions may not understand each other.
func Executable() (string, error) {
	const self = "/proc/self/exe"
	if _, err := os.Stat(self); err != nil {
		return os.Executable()
	}
	return self, nil
}

// bound makes the kernel kill a child when its parent dies. The kernel ties that to the thread that
// starts the child, so the caller must have locked it.
func bound(group bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: group, Pdeathsig: syscall.SIGKILL}
}

// Contain makes this process the parent of every descendant whose own parent dies, so that none escapes by forking
// twice or by a new session. It also closes this process's /proc directory to them, who could reach its pipes and
// memory through it.
func Contain() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become a subreaper: %v", err)
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("become undumpable: %v", err)
	}
	return nil
}

// Sweep kills every descendant of this process and returns when none is left. It kills only
// children, each with its group, because their ids cannot be reused before they are reaped here.
// The children of dead processes become ours, hence the rounds.
func (t Tree) Sweep() error {
	for wait := 100 * time.Microsecond; wait < time.Second; wait *= 2 {
		if !reap() {
			return nil
		}
		for _, c := range children() {
			if c.group != os.Getpid() {
				Tree(c.group).Kill()
			}
			_ = unix.Kill(c.pid, unix.SIGKILL)
		}
		time.Sleep(wait)
	}
	return errors.New("left processes behind that could not be killed: end them by hand, then try again")
}

// Children reports whether this process has live children, and reaps dead ones. No other code may
// wait for a child.
func Children() bool { return reap() }

// reap reaps dead children and reports whether live ones remain. A process without children has no
// descendants, so a command that left nothing behind costs one system call.
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

// A process is a line of the kernel's process table.
type process struct {
	pid, parent, group, session int
	name                        string
	began                       time.Duration // after the start of the system; 0 where that is not known
	dead                        bool          // a zombie: its parent has not reaped it yet
}

// processes reads the process table.
func processes() []process {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	var found []process
	for _, stat := range stats {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
		if p, ok := look(pid); ok && pid > 0 {
			found = append(found, p)
		}
	}
	return found
}

// look reads one line of the process table; ok is false when the process no longer exists.
func look(pid int) (p process, ok bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	// pid (name) state parent group session ...; the name may contain anything.
	open, end := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	fields := strings.Fields(string(data[end+1:]))
	if err != nil || open < 0 || end < open || len(fields) < 4 {
		return p, false
	}
	p = process{pid: pid, name: string(data[open+1 : end]), dead: fields[0] == "Z" || fields[0] == "X"}
	p.parent, _ = strconv.Atoi(fields[1])
	p.group, _ = strconv.Atoi(fields[2])
	p.session, _ = strconv.Atoi(fields[3])
	const began, ticks = 19, 100 // the field, and how many of its units a second has for all programs
	if len(fields) > began {
		at, _ := strconv.ParseInt(fields[began], 10, 64)
		p.began = time.Duration(at) * time.Second / ticks
	}
	return p, true
}

// RunsSince reports whether a process runs whose program has a name and that began before a moment, or at most a second later. It is true
// where that cannot be known.
func RunsSince(name string, t time.Time) bool {
	since, err := sinceBoot(t)
	if err != nil {
		return true
	}
	return slices.ContainsFunc(processes(), func(p process) bool { return p.name == name && !p.dead && p.began <= since+time.Second })
}

// sinceBoot is how long after the start of the system a moment was.
func sinceBoot(t time.Time) (time.Duration, error) {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return 0, err
	}
	return time.Duration(now.Nano()) - time.Since(t), nil
}

func children() []process {
	self := os.Getpid()
	return slices.DeleteFunc(processes(), func(p process) bool { return p.parent != self })
}

// zombie reports whether a process has ended but was not reaped. If process 1 does not reap
// orphans, as in plain containers, it stays so.
func zombie(pid int) bool {
	p, ok := look(pid)
	return ok && p.dead
}

// Alive reports whether a process of the group runs.
func (t Tree) Alive() bool {
	return t > 1 && slices.ContainsFunc(processes(), func(p process) bool { return p.group == int(t) && !p.dead })
}

// KillMarked kills the rest of a tree whose root was killed: the session of the root, which the root led as Leader makes
// it, and every process with the mark, NAME=value, in its environment. With 0 for the root only the mark counts. The mark
// must match a whole variable, because a mark from a file may be a prefix of another one.
func KillMarked(root int, mark string) {
	whole := []byte("\x00" + mark + "\x00")
	// A process that executes another program has no environment for a moment: hence the second
	// pass.
	for clean, wait := 0, 100*time.Microsecond; clean < 2 && wait < time.Second; wait *= 2 {
		found := killSession(root)
		environs, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, environ := range environs {
			data, err := os.ReadFile(environ)
			if err != nil || !bytes.Contains(append([]byte{0}, data...), whole) {
				continue
			}
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(environ)))
			found = unix.Kill(pid, unix.SIGKILL) == nil || found
		}
		if clean++; found {
			clean = 0
		}
		time.Sleep(wait)
	}
}

// killSession kills a session group by group, because a process of a group that is killed as a whole
// cannot fork its way out. It reports whether there was one that ran.
func killSession(leader int) (found bool) {
	if leader <= 1 {
		return false
	}
	for _, p := range processes() {
		if p.session == leader && !p.dead {
			found = true
			Tree(p.group).Kill()
		}
	}
	return found
}
