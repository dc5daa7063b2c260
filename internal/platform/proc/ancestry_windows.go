package proc

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// here is this machine. Windows keeps the id of a parent after its end and may reuse it, so a
// parent counts only if it started first. The environment of other processes is not read.
type here struct{}

// each calls do with every process until it returns false.
func each(do func(windows.ProcessEntry32) bool) {
	snap, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return
	}
	defer windows.CloseHandle(snap)
	entry := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	for err := windows.Process32First(snap, &entry); err == nil; err = windows.Process32Next(snap, &entry) {
		if !do(entry) {
			return
		}
	}
}

func (here) look(pid int) (p entry, ok bool) {
	if pid <= 0 {
		return p, false
	}
	each(func(e windows.ProcessEntry32) bool {
		if int(e.ProcessID) != pid {
			return true
		}
		p, ok = entry{pid: pid, parent: int(e.ParentProcessID), name: windows.UTF16ToString(e.ExeFile[:])}, true
		return false
	})
	if !ok {
		return p, false
	}
	if began(p.parent) > began(pid) {
		p.parent = 0
	}
	p.args = arguments(pid)
	return p, true
}

// began returns when a process began, 0 if that cannot be read.
func began(pid int) int64 {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return 0
	}
	defer windows.CloseHandle(h)
	var from, to, kernel, user windows.Filetime
	if windows.GetProcessTimes(h, &from, &to, &kernel, &user) != nil {
		return 0
	}
	return from.Nanoseconds()
}

// arguments returns those of a process, nil if they cannot be read.
func arguments(pid int) []string {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return nil
	}
	defer windows.CloseHandle(h)
	buf := make([]byte, 64<<10)
	var n uint32
	if windows.NtQueryInformationProcess(h, windows.ProcessCommandLineInformation, unsafe.Pointer(&buf[0]), uint32(len(buf)), &n) != nil {
		return nil
	}
	args, err := windows.DecomposeCommandLine((*windows.NTUnicodeString)(unsafe.Pointer(&buf[0])).String())
	if err != nil {
		return nil
	}
	return args
}

func (here) environ(int) []string { return nil }

// folder is unknown: servers that ferrus starts or registers name their root.
func (here) folder(int) string { return "" }

func (here) all() (pids []int) {
	each(func(e windows.ProcessEntry32) bool {
		pids = append(pids, int(e.ProcessID))
		return true
	})
	return pids
}

func (here) replaced(int) bool { return false } // the system does not show which file a process runs
