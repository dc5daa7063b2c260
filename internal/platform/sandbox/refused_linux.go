package sandbox

import (
	"slices"

	"golang.org/x/sys/unix"
)

// theFilter is the filter of a mechanism with a version of Landlock. Inside bubblewrap nothing of the outside is in sight, so that
// little is refused there.
func theFilter(inBwrap bool, abi int) filter {
	f := filter{arch: auditArch, rules: slices.Clone(always)}
	if inBwrap {
		return f
	}
	f.rules = append(f.rules, outside...)
	if handledRights(abi)&unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX == 0 {
		f.rules = append(f.rules, sockets...)
	}
	return f
}

// always is refused under each mechanism: what is reached by no file, and what types into a terminal as if the person had. A client for
// which a person logs in has the terminal of the person's shell. System V shared memory stays, though Landlock does not cover it: a
// database that a test starts needs it.
var always = slices.Concat(
	refused(unix.EPERM, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT, unix.SYS_KEXEC_LOAD, unix.SYS_INIT_MODULE,
		unix.SYS_FINIT_MODULE),
	[]rule{
		{unix.SYS_IOCTL, unix.EPERM, []test{is(1, unix.TIOCSTI)}},
		{unix.SYS_IOCTL, unix.EPERM, []test{is(1, unix.TIOCLINUX)}},
	})

// Values that x/sys does not name.
const (
	typeMask      = 0xf        // the type of a socket: the lower bits of an argument that has flags above them
	ioprioProcess = 1          // IOPRIO_WHO_PROCESS
	fsSetXattr    = 0x401c5820 // FS_IOC_FSSETXATTR
	fsSetVersion  = 0x40087602 // FS_IOC_SETVERSION
)

// outside is refused where processes and files of the outside are in sight. A thread changes limits, priority and processors of itself
// alone, which is 0. Extended attributes and flags belong to files that need not be opened for writing; programs that copy them get the
// error of a file system without them, and go on.
var outside = slices.Concat(
	[]rule{
		{unix.SYS_PRLIMIT64, unix.EPERM, []test{isNot(0, 0), isNot(2, 0)}}, // it may read limits: without new ones
		{unix.SYS_PRLIMIT64, unix.EPERM, []test{isNot(0, 0), {higher(2), ^uint32(0), 0, true}}},
		{unix.SYS_SETPRIORITY, unix.EPERM, []test{isNot(0, unix.PRIO_PROCESS)}},
		{unix.SYS_SETPRIORITY, unix.EPERM, []test{isNot(1, 0)}},
		{unix.SYS_IOPRIO_SET, unix.EPERM, []test{isNot(0, ioprioProcess)}},
		{unix.SYS_IOPRIO_SET, unix.EPERM, []test{isNot(1, 0)}},
		{unix.SYS_SCHED_SETAFFINITY, unix.EPERM, []test{isNot(0, 0)}},
		{unix.SYS_SCHED_SETSCHEDULER, unix.EPERM, []test{isNot(0, 0)}},
		{unix.SYS_SCHED_SETPARAM, unix.EPERM, []test{isNot(0, 0)}},
		{unix.SYS_SCHED_SETATTR, unix.EPERM, []test{isNot(0, 0)}},
		{unix.SYS_IOCTL, unix.EOPNOTSUPP, []test{is(1, unix.FS_IOC_SETFLAGS)}},
		{unix.SYS_IOCTL, unix.EOPNOTSUPP, []test{is(1, fsSetXattr)}},
		{unix.SYS_IOCTL, unix.EOPNOTSUPP, []test{is(1, fsSetVersion)}},
		{unix.SYS_IOCTL, unix.EPERM, []test{is(1, unix.FS_IOC_ENABLE_VERITY)}},
		{unix.SYS_IOCTL, unix.EPERM, []test{is(1, unix.FS_IOC_SET_ENCRYPTION_POLICY)}},
	},
	refused(unix.EOPNOTSUPP, unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR,
		unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT, unix.SYS_FILE_SETATTR),
	refused(unix.EPERM, unix.SYS_MQ_UNLINK)) // Landlock stops mq_open

// sockets is refused where Landlock does not know sockets by their path. Pairs stay, but for those of datagrams: each end of such a pair
// sends to any other socket whose path it names, and the filter does not see the path. The kernel makes datagrams of SOCK_RAW.
var sockets = []rule{
	{unix.SYS_SOCKET, unix.EPERM, []test{is(0, unix.AF_UNIX)}},
	{unix.SYS_SOCKETPAIR, unix.EPERM, []test{is(0, unix.AF_UNIX), {lower(1), typeMask, unix.SOCK_STREAM, true}, {lower(1), typeMask, unix.SOCK_SEQPACKET, true}}},
}

// refused are rules about calls whatever their arguments.
func refused(errno unix.Errno, calls ...uint32) []rule {
	var rules []rule
	for _, call := range calls {
		rules = append(rules, rule{call: call, errno: errno})
	}
	return rules
}
