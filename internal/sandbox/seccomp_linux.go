package sandbox

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A filter refuses system calls with EPERM that no rule about files covers, and always that a program types into a terminal.
type filter struct {
	arch  uint32
	calls []uint32 // refused whatever their arguments
	unix  bool     // refuse sockets of the family AF_UNIX; pairs stay
}

const (
	retAllow = 0x7fff0000
	retErrno = 0x00050000
	x32Bit   = 0x40000000
)

// offsets in struct seccomp_data. Of an argument the kernel uses the lower half, which comes first on all processors here.
const (
	offNumber = 0
	offArch   = 4
	offArg0   = 16
	offArg1   = 24
)

// typing are requests of ioctl that put characters into a terminal as if the person had typed them: a client for which a person logs
// in has the terminal of the person's shell.
var typing = []uint32{unix.TIOCSTI, unix.TIOCLINUX}

// program is the filter for the kernel: an unknown architecture, and the second numbering that one has, are refused whole.
func (f filter) program() []unix.SockFilter {
	refused := uint32(retErrno | uint32(unix.EPERM))
	load := func(off uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: off}
	}
	give := func(v uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: v} }
	// unless skips the next instruction when the comparison does not hold.
	unless := func(op uint16, k uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | op | unix.BPF_K, Jf: 1, K: k}
	}
	prog := []unix.SockFilter{
		load(offArch),
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 1, K: f.arch},
		give(refused),
		load(offNumber),
		unless(unix.BPF_JGE, x32Bit),
		give(refused),
	}
	for _, nr := range f.calls {
		prog = append(prog, unless(unix.BPF_JEQ, nr), give(refused))
	}
	prog = append(prog, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: uint8(2*len(typing) + 2), K: unix.SYS_IOCTL}, load(offArg1))
	for _, request := range typing {
		prog = append(prog, unless(unix.BPF_JEQ, request), give(refused))
	}
	prog = append(prog, give(retAllow))
	if f.unix {
		prog = append(prog,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 3, K: unix.SYS_SOCKET},
			load(offArg0),
			unless(unix.BPF_JEQ, unix.AF_UNIX),
			give(refused))
	}
	return append(prog, give(retAllow))
}

// install puts the filter on this thread, for all that it becomes and starts.
func (f filter) install() error {
	if f.arch == 0 {
		return fmt.Errorf("no seccomp filter is known for this architecture")
	}
	prog := f.program()
	fprog := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	_, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&fprog)))
	if errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	return nil
}

// theFilter is the filter of a mechanism: keyrings and io_uring are reached by no file, and path sockets are under Landlock before
// version 9. Inside bubblewrap no socket of the outside is in sight. System V shared memory stays, though Landlock does not cover it: a
// database that a test starts needs it.
func theFilter(inBwrap bool, abi int) filter {
	return filter{arch: auditArch, unix: !inBwrap && abi < 9, calls: []uint32{
		unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_KEXEC_LOAD, unix.SYS_INIT_MODULE,
		unix.SYS_FINIT_MODULE}}
}
