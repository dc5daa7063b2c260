package attack

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Flags of files: one that only says what a backup leaves out, in its two forms.
const (
	noDump  = 0x40 // FS_NODUMP_FL
	xNoDump = 0x80 // FS_XFLAG_NODUMP
)

// flagByFile sets a flag of a file that is opened for reading alone.
func flagByFile(t target) error {
	f, err := os.Open(t.base + "/" + readable)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, noDump)
}

// flagByPath sets a flag of a file that is not opened at all.
func flagByPath(t target) error {
	path, err := unix.BytePtrFromString(t.home + "/.bashrc")
	if err != nil {
		return err
	}
	attributes := struct {
		flags uint64
		_     [4]uint32
	}{flags: xNoDump}
	_, _, errno := unix.Syscall6(unix.SYS_FILE_SETATTR, uintptr(unix.AT_FDCWD&(1<<64-1)), uintptr(unsafe.Pointer(path)), uintptr(unsafe.Pointer(&attributes)), unsafe.Sizeof(attributes), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// lockReadable locks a file that every command in a sandbox reads: its own program.
func lockReadable(t target) error {
	f, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	fmt.Print(t.secret)
	return nil
}

// askName is what an attack prints for a name to appear in the home folder of the person. Its input ends when that has been.
const askName = "a name, please\n"

// watch prints the names that appear in a folder that it cannot list.
func watch(t target) error {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return err
	}
	if _, err := unix.InotifyAddWatch(fd, t.home, unix.IN_CREATE); err != nil {
		return err
	}
	fmt.Print(askName)
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	events := make([]byte, 4096)
	n, err := unix.Read(fd, events)
	if err != nil {
		return err
	}
	fmt.Print(strings.Trim(string(events[unix.SizeofInotifyEvent:n]), "\x00"))
	return nil
}

// traits are what others can change of a file beside its mode and content.
func traits(path string, info os.FileInfo) (string, error) {
	names := make([]byte, 1024)
	n, err := unix.Llistxattr(path, names)
	if err != nil && err != unix.ENOTSUP {
		return "", err
	}
	flags := uint32(0)
	if info.Mode().IsRegular() || info.IsDir() {
		f, err := os.Open(path)
		if err != nil {
			return "", err
		}
		defer f.Close()
		flags, _ = unix.IoctlGetUint32(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	}
	owner := info.Sys().(*syscall.Stat_t)
	return fmt.Sprint(info.ModTime().UnixNano(), owner.Uid, owner.Gid, string(names[:max(n, 0)]), flags), nil
}
