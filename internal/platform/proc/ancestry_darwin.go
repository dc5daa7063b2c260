package proc

import (
	"bytes"
	"encoding/binary"
	"os"

	"golang.org/x/sys/unix"
)

// here is this machine. The kernel shows arguments and environment of processes of the same user.
type here struct{}

func (here) look(pid int) (entry, bool) {
	if pid <= 0 {
		return entry{}, false
	}
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid {
		return entry{}, false
	}
	p := entry{pid: pid, parent: int(info.Eproc.Ppid), name: unix.ByteSliceToString(info.Proc.P_comm[:])}
	if sid, err := unix.Getsid(pid); err == nil {
		p.session = sid
	}
	p.args, _ = begun(pid)
	return p, true
}

func (here) environ(pid int) []string {
	_, env := begun(pid)
	return env
}

// begun returns the arguments and the environment that a process began with: a count, the path of the program, NULs, and
// then the strings.
func begun(pid int) (args, env []string) {
	raw, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(raw) < 4 {
		return nil, nil
	}
	count := int(binary.LittleEndian.Uint32(raw))
	end := bytes.IndexByte(raw[4:], 0)
	if end < 0 {
		return nil, nil
	}
	rest := bytes.TrimLeft(raw[4+end:], "\x00")
	for len(rest) > 0 {
		text, after, _ := bytes.Cut(rest, []byte{0})
		if len(args) < count {
			args = append(args, string(text))
		} else if len(text) > 0 {
			env = append(env, string(text))
		} else {
			break
		}
		rest = after
	}
	return args, env
}

// folder is unknown: servers that ferrus starts or registers name their root.
func (here) folder(int) string { return "" }

func (here) all() (pids []int) {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.uid", os.Getuid())
	if err != nil {
		return nil
	}
	for _, info := range list {
		pids = append(pids, int(info.Proc.P_pid))
	}
	return pids
}

func (here) replaced(int) bool { return false } // the system does not show which file a process runs
