package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// callsVariable makes this binary a program that makes the calls of the tables below and prints what each says.
const callsVariable = "FERRUS_TEST_CALLS"

// nobody is a process and a user that does not exist.
const nobody = 1<<22 + 4242

// A call is tried inside. Without a filter it changes nothing outside.
type call struct {
	name string
	try  func() error
}

func raw(nr uintptr, args ...uintptr) func() error {
	var a [6]uintptr
	copy(a[:], args)
	return func() error {
		if _, _, errno := unix.Syscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5]); errno != 0 {
			return errno
		}
		return nil
	}
}

func pair(kind int) func() error {
	return func() error { _, err := unix.Socketpair(unix.AF_UNIX, kind, 0); return err }
}

func onFile(f func(file *os.File) error) func() error {
	return func() error {
		file, err := os.Create("file")
		if err != nil {
			return err
		}
		defer file.Close()
		return f(file)
	}
}

func request(number uintptr) func() error {
	return onFile(func(file *os.File) error { return raw(unix.SYS_IOCTL, file.Fd(), number, 0)() })
}

var highHalf = uintptr(1) << 32 // a pointer whose lower half is 0

// stays works in each sandbox: tests, build tools and agents need it.
var stays = []call{
	{"limits of its own", func() error {
		var now unix.Rlimit
		if err := unix.Prlimit(0, unix.RLIMIT_NOFILE, nil, &now); err != nil {
			return err
		}
		return unix.Prlimit(0, unix.RLIMIT_NOFILE, &now, nil)
	}},
	{"reading limits by an id", func() error { var now unix.Rlimit; return unix.Prlimit(os.Getpid(), unix.RLIMIT_CPU, nil, &now) }},
	{"a lower priority of its own", func() error { return unix.Setpriority(unix.PRIO_PROCESS, 0, 19) }},
	{"a lower priority for the disk", raw(unix.SYS_IOPRIO_SET, 1, 0, 3<<13)},
	{"processors of its own", func() error {
		var now unix.CPUSet
		if err := unix.SchedGetaffinity(0, &now); err != nil {
			return err
		}
		return unix.SchedSetaffinity(0, &now)
	}},
	{"a policy of its own", func() error {
		return unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_BATCH, Nice: 19}, 0)
	}},
	{"a pair of streams", pair(unix.SOCK_STREAM | unix.SOCK_CLOEXEC)},
	{"a pair of packets", pair(unix.SOCK_SEQPACKET | unix.SOCK_NONBLOCK)},
	{"a socket of datagrams", func() error { _, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0); return err }},
	{"a watch", func() error {
		fd, err := unix.InotifyInit1(0)
		if err == nil {
			_, err = unix.InotifyAddWatch(fd, ".", unix.IN_CREATE)
		}
		return err
	}},
	{"mode, owner and times of its file", onFile(func(file *os.File) error {
		if err := file.Chmod(0o600); err != nil {
			return err
		}
		if err := file.Chown(os.Getuid(), os.Getgid()); err != nil {
			return err
		}
		return unix.Utimes("file", []unix.Timeval{{Sec: 1}, {Sec: 1}})
	})},
	{"reading flags", onFile(func(file *os.File) error {
		if _, err := unix.IoctlGetUint32(int(file.Fd()), unix.FS_IOC_GETFLAGS); err != unix.ENOTTY {
			return err
		}
		return nil
	})},
	{"a signal to itself", func() error { return unix.Kill(os.Getpid(), unix.SIGURG) }},
}

// outsideRefused are refused with an error where the outside is in sight. What they name does not exist, or is their own.
var outsideRefused = []struct {
	call
	errno unix.Errno
}{
	{call{"prlimit of another", raw(unix.SYS_PRLIMIT64, nobody, unix.RLIMIT_CPU, 1)}, unix.EPERM},
	{call{"prlimit of another, half a pointer", raw(unix.SYS_PRLIMIT64, nobody, unix.RLIMIT_CPU, highHalf)}, unix.EPERM},
	{call{"setpriority of another", raw(unix.SYS_SETPRIORITY, unix.PRIO_PROCESS, nobody, 1)}, unix.EPERM},
	{call{"setpriority of a group", raw(unix.SYS_SETPRIORITY, unix.PRIO_PGRP, nobody, 1)}, unix.EPERM},
	{call{"setpriority of its group", raw(unix.SYS_SETPRIORITY, unix.PRIO_PGRP, 0, 0)}, unix.EPERM},
	{call{"setpriority of a user", raw(unix.SYS_SETPRIORITY, unix.PRIO_USER, nobody, 1)}, unix.EPERM},
	{call{"ioprio_set of another", raw(unix.SYS_IOPRIO_SET, 1, nobody, 3<<13)}, unix.EPERM},
	{call{"ioprio_set of its group", raw(unix.SYS_IOPRIO_SET, 2, 0, 3<<13)}, unix.EPERM},
	{call{"sched_setaffinity", raw(unix.SYS_SCHED_SETAFFINITY, nobody, 0, 0)}, unix.EPERM},
	{call{"sched_setscheduler", raw(unix.SYS_SCHED_SETSCHEDULER, nobody, 0, 0)}, unix.EPERM},
	{call{"sched_setparam", raw(unix.SYS_SCHED_SETPARAM, nobody, 0, 0)}, unix.EPERM},
	{call{"sched_setattr", raw(unix.SYS_SCHED_SETATTR, nobody, 0, 0)}, unix.EPERM},
	{call{"FS_IOC_SETFLAGS", request(unix.FS_IOC_SETFLAGS)}, unix.EOPNOTSUPP},
	{call{"FS_IOC_FSSETXATTR", request(fsSetXattr)}, unix.EOPNOTSUPP},
	{call{"FS_IOC_SETVERSION", request(fsSetVersion)}, unix.EOPNOTSUPP},
	{call{"FS_IOC_ENABLE_VERITY", request(unix.FS_IOC_ENABLE_VERITY)}, unix.EPERM},
	{call{"FS_IOC_SET_ENCRYPTION_POLICY", request(unix.FS_IOC_SET_ENCRYPTION_POLICY)}, unix.EPERM},
	{call{"setxattr", raw(unix.SYS_SETXATTR)}, unix.EOPNOTSUPP},
	{call{"lsetxattr", raw(unix.SYS_LSETXATTR)}, unix.EOPNOTSUPP},
	{call{"fsetxattr", raw(unix.SYS_FSETXATTR)}, unix.EOPNOTSUPP},
	{call{"setxattrat", raw(unix.SYS_SETXATTRAT)}, unix.EOPNOTSUPP},
	{call{"removexattr", raw(unix.SYS_REMOVEXATTR)}, unix.EOPNOTSUPP},
	{call{"lremovexattr", raw(unix.SYS_LREMOVEXATTR)}, unix.EOPNOTSUPP},
	{call{"fremovexattr", raw(unix.SYS_FREMOVEXATTR)}, unix.EOPNOTSUPP},
	{call{"removexattrat", raw(unix.SYS_REMOVEXATTRAT)}, unix.EOPNOTSUPP},
	{call{"file_setattr", raw(unix.SYS_FILE_SETATTR)}, unix.EOPNOTSUPP},
	{call{"mq_unlink", raw(unix.SYS_MQ_UNLINK)}, unix.EPERM},
	{call{"a socket by a path", func() error { _, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err }}, unix.EPERM},
	{call{"a pair of datagrams", pair(unix.SOCK_DGRAM)}, unix.EPERM},
	{call{"a pair of datagrams with flags", pair(unix.SOCK_DGRAM | unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK)}, unix.EPERM},
	{call{"a raw pair", pair(unix.SOCK_RAW)}, unix.EPERM},
}

// alwaysRefused are refused in each sandbox.
var alwaysRefused = []call{
	{"io_uring_setup", raw(unix.SYS_IO_URING_SETUP)}, {"io_uring_enter", raw(unix.SYS_IO_URING_ENTER, 99)}, {"io_uring_register", raw(unix.SYS_IO_URING_REGISTER, 99)},
	{"keyctl", raw(unix.SYS_KEYCTL, 99)}, {"add_key", raw(unix.SYS_ADD_KEY)}, {"request_key", raw(unix.SYS_REQUEST_KEY)}, {"bpf", raw(unix.SYS_BPF, 99)},
	{"perf_event_open", raw(unix.SYS_PERF_EVENT_OPEN)}, {"userfaultfd", raw(unix.SYS_USERFAULTFD, 1<<20)}, {"fanotify_init", raw(unix.SYS_FANOTIFY_INIT, 1<<30)},
	{"TIOCSTI", request(unix.TIOCSTI)}, {"TIOCLINUX", request(unix.TIOCLINUX)},
}

// makeCalls is what the program does.
func makeCalls() {
	say := func(c call) {
		err := c.try()
		fmt.Printf("%s: %v\n", c.name, err)
	}
	for _, c := range outsideRefused {
		say(c.call)
	}
	for _, c := range append(alwaysRefused, stays...) {
		say(c)
	}
}

// TestTheFilterRefusesWhatReachesOutsideAndNothingElse.
func TestTheFilterRefusesWhatReachesOutsideAndNothingElse(t *testing.T) {
	inEach(t, callsVariable, func(t *testing.T, m Mechanism, cmd *exec.Cmd) {
		out, err := cmd.Output()
		must(t, err)
		said := map[string]string{}
		for line := range strings.Lines(string(out)) {
			name, what, _ := strings.Cut(strings.TrimSpace(line), ": ")
			said[name] = what
		}
		for _, c := range stays {
			if said[c.name] != "<nil>" {
				t.Errorf("%s says %q", c.name, said[c.name])
			}
		}
		for _, c := range alwaysRefused {
			if m != None && said[c.name] != unix.EPERM.Error() {
				t.Errorf("%s says %q", c.name, said[c.name])
			}
		}
		for _, c := range outsideRefused {
			if refused := said[c.name] == c.errno.Error(); refused != (m == Landlock) {
				t.Errorf("%s says %q", c.name, said[c.name])
			}
		}
	})
}

// TestSocketsByPathAreStoppedByOneOrTheOther: the filter leaves them to the versions of Landlock that know them.
func TestSocketsByPathAreStoppedByOneOrTheOther(t *testing.T) {
	for abi, filtered := range map[int]bool{LeastLandlock: true, 8: true, 9: false, 10: false} {
		if got := len(theFilter(false, abi).rules) == len(always)+len(outside)+len(sockets); got != filtered {
			t.Errorf("version %d: the filter stops them: %v", abi, got)
		}
		if got := handledRights(abi)&(1<<16) == 0; got != filtered {
			t.Errorf("version %d: Landlock stops them: %v", abi, !got)
		}
	}
	if neverRights&(1<<16) == 0 {
		t.Error("a folder that can be written gives them away")
	}
}
