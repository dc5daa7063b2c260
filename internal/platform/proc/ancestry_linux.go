package proc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// here is this machine. If /proc hides the processes of others, the chain of ancestors ends there.
type here struct{}

func (here) look(pid int) (entry, bool) {
	if pid <= 0 {
		return entry{}, false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return entry{}, false
	}
	// pid (name) state parent group session ...; the name may contain anything.
	from, to := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if from < 0 || to < from {
		return entry{}, false
	}
	fields := strings.Fields(string(stat[to+1:]))
	if len(fields) < 4 {
		return entry{}, false
	}
	p := entry{pid: pid, name: string(stat[from+1 : to])}
	p.parent, _ = strconv.Atoi(fields[1])
	p.session, _ = strconv.Atoi(fields[3])
	if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && len(line) > 0 {
		p.args = strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
	}
	return p, true
}

func (here) environ(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return nil
	}
	return strings.Split(string(text), "\x00")
}

func (here) folder(pid int) string {
	dir, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	return dir
}

func (here) all() (pids []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// replaced compares the file that a process runs with the one that has its name now.
func (here) replaced(pid int) bool {
	link := fmt.Sprintf("/proc/%d/exe", pid)
	path, err := os.Readlink(link)
	if err != nil || !strings.Contains(filepath.Base(path), "ferrus") {
		return false
	}
	runs, err := os.Stat(link)
	if err != nil {
		return false
	}
	now, err := os.Stat(strings.TrimSuffix(path, " (deleted)"))
	return err == nil && !os.SameFile(runs, now)
}
