package sandbox

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A filter refuses system calls that no rule about files covers.
type filter struct {
	arch  uint32
	rules []rule
}

// A rule refuses a system call when all its tests hold.
type rule struct {
	call  uint32
	errno unix.Errno
	when  []test
}

// A test compares half of an argument, the bits of mask, with a value. It holds when they are equal, or different with not.
type test struct {
	half  uint32 // its offset in struct seccomp_data
	mask  uint32
	value uint32
	not   bool
}

// is and isNot are tests of the lower half of an argument, which is all that the kernel uses of an int.
func is(argument, value uint32) test {
	return test{half: lower(argument), mask: ^uint32(0), value: value}
}
func isNot(argument, value uint32) test { return test{lower(argument), ^uint32(0), value, true} }

const (
	retAllow = 0x7fff0000
	retErrno = 0x00050000
	x32Bit   = 0x40000000
)

// Offsets in struct seccomp_data. The lower half of an argument comes first on all processors here.
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16
)

func lower(argument uint32) uint32  { return offArgs + 8*argument }
func higher(argument uint32) uint32 { return lower(argument) + 4 }

// program is the filter for the kernel: an unknown architecture, and the second numbering that one has, are refused whole.
func (f filter) program() []unix.SockFilter {
	load := func(off uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: off}
	}
	give := func(v uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: v} }
	refuse := func(errno unix.Errno) unix.SockFilter { return give(retErrno | uint32(errno)) }
	// compare jumps over some instructions, by whether the comparison holds.
	compare := func(op uint16, k uint32, holds, not uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | op | unix.BPF_K, Jt: holds, Jf: not, K: k}
	}
	prog := []unix.SockFilter{
		load(offArch),
		compare(unix.BPF_JEQ, f.arch, 1, 0),
		refuse(unix.EPERM),
		load(offNumber),
		compare(unix.BPF_JGE, x32Bit, 0, 1),
		refuse(unix.EPERM),
	}
	for _, r := range f.rules {
		left := uint8(3*len(r.when) + 1) // instructions from after a comparison to the next rule
		prog = append(prog, load(offNumber), compare(unix.BPF_JEQ, r.call, 0, left))
		for _, t := range r.when {
			left -= 3
			holds, not := uint8(0), left
			if t.not {
				holds, not = left, 0
			}
			prog = append(prog, load(t.half), unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: t.mask}, compare(unix.BPF_JEQ, t.value, holds, not))
		}
		prog = append(prog, refuse(r.errno))
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
