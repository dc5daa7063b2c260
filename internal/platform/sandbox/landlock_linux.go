package sandbox

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// LandlockVersion is the version of Landlock that the kernel has, 0 for none.
func LandlockVersion() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// Held is the version of Landlock on a kernel that has no later one than that; 0 stands for the kernel as it is, and [NoLandlock] for one
// without Landlock.
func Held(most int) int {
	if most == 0 {
		return LandlockVersion()
	}
	return min(LandlockVersion(), max(most, 0))
}

// rights are what Landlock allows at a path, bits of LANDLOCK_ACCESS_FS.
type rights uint64

// Rights that the versions of Landlock brought. Only what the version has is asked for: the kernel refuses all of a ruleset for one right
// that it does not know.
var (
	since = map[int]rights{
		1: unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR |
			unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
			unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
			unix.LANDLOCK_ACCESS_FS_MAKE_SYM,
		2: unix.LANDLOCK_ACCESS_FS_REFER,
		3: unix.LANDLOCK_ACCESS_FS_TRUNCATE,
		5: unix.LANDLOCK_ACCESS_FS_IOCTL_DEV,
		9: unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX,
	}
	readRights   rights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	deviceRights rights = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	// fileRights are those that a rule about a single file can have.
	fileRights rights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	// neverRights are given to no command. A socket by path that a command has made itself needs no right.
	neverRights rights = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
)

// handledRights are those that a version of Landlock restricts.
func handledRights(abi int) (handled rights) {
	for v, brought := range since {
		if v <= abi {
			handled |= brought
		}
	}
	return handled
}

// restrictFiles restricts this thread, and what it becomes and starts, to the files of a policy, and to signals and abstract sockets of its
// own, with a version of Landlock. In bubblewrap nothing else is in sight, so that it does what the version can. The thread has set
// no_new_privs.
func restrictFiles(p Policy, abi int, inBwrap bool) error {
	switch {
	case inBwrap && abi < 1:
		return nil
	case !inBwrap && abi < LeastLandlock:
		return fmt.Errorf("the kernel has version %d of Landlock, and version %d is needed", abi, LeastLandlock)
	}
	handled := handledRights(abi)
	r, err := newRuleset(handled, abi)
	if err != nil {
		return err
	}
	defer unix.Close(r.fd)
	for _, path := range p.Read {
		if err := r.allow(readRights, path); err != nil && !os.IsNotExist(err) && !os.IsPermission(err) {
			return err
		}
	}
	for _, path := range p.Devices {
		if err := r.allow(deviceRights, path); err != nil && !os.IsNotExist(err) && !os.IsPermission(err) {
			return err
		}
	}
	for _, path := range p.Write {
		if err := r.allow(handled&^neverRights, path); err != nil {
			return err
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.fd), 0, 0); errno != 0 {
		return os.NewSyscallError("landlock_restrict_self", errno)
	}
	return nil
}

// A ruleset is what Landlock refuses, but where a rule of it allows it.
type ruleset struct {
	fd      int
	handled rights
}

// newRuleset makes a ruleset without rules, which refuses the rights, and from version 6 on signals to others and their abstract sockets.
func newRuleset(handled rights, abi int) (ruleset, error) {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: uint64(handled)}
	if abi >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_SIGNAL | unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	}
	// A kernel that knows fewer fields takes them where they are zero.
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return ruleset{}, os.NewSyscallError("landlock_create_ruleset", errno)
	}
	return ruleset{int(fd), handled}, nil
}

// allow adds a rule: the rights at a path, and below it.
func (r ruleset) allow(at rights, path string) error {
	f, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(f)
	var is unix.Stat_t
	if err := unix.Fstat(f, &is); err != nil {
		return &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if is.Mode&unix.S_IFMT != unix.S_IFDIR {
		at &= fileRights
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: uint64(at & r.handled), Parent_fd: int32(f)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return &os.PathError{Op: "landlock_add_rule", Path: path, Err: errno}
	}
	return nil
}
