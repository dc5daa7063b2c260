package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// enter restricts this process and becomes the command. It returns only with an error.
func enter(o order, argv []string) error {
	runtime.LockOSThread() // capabilities and the filter are those of the thread that becomes the command
	// The home folder was that of the person when the command was made; now it is that of the sandbox.
	if err := o.Policy.check(o.Mechanism, ""); err != nil && !o.Inside {
		return err
	}
	if o.Mechanism == Bwrap && !o.Inside {
		return becomeBwrap(o, argv)
	}
	if err := os.Chdir(o.Policy.Dir); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	if err := dropCapabilities(); err != nil {
		return err
	}
	p := o.Policy
	if o.Inside { // everything there is throw-away but what the policy names
		p.Write = append(p.Write[:len(p.Write):len(p.Write)], "/tmp", "/dev/shm")
		p.Devices = append(p.Devices[:len(p.Devices):len(p.Devices)], "/dev/ptmx", "/dev/pts") // terminals of its own
		for _, m := range p.Mounts {
			if m.Write {
				p.Write = append(p.Write, m.To)
			} else {
				p.Read = append(p.Read, m.To)
			}
		}
	}
	abi := Held(o.ABI)
	if err := restrictFiles(p, abi, o.Inside); err != nil {
		return err
	}
	if err := theFilter(o.Inside, abi).install(); err != nil {
		return err
	}
	if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("close_range: %w", err)
	}
	if err := o.prove(); err != nil {
		return err
	}
	path, err := exec.LookPath(argv[0])
	if err == nil {
		err = syscall.Exec(path, argv, os.Environ())
	}
	return fmt.Errorf("%w: %w", errNotStarted, err)
}

// prove tries to open what must not open.
func (o order) prove() error {
	for _, path := range o.Policy.Deny {
		switch open, err := o.opens(path); {
		case err != nil:
			return fmt.Errorf("whether it holds is not known: %w", err)
		case open:
			return fmt.Errorf("it does not hold: %s can be opened from inside", path)
		}
	}
	return nil
}

// opens reports whether a path that must not open does. In bubblewrap an empty folder may be there, which is none of those outside.
func (o order) opens(path string) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrPermission) || errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	return err == nil && (!o.Inside || slices.Contains(o.Denied, fileOf(info))), err
}

func fileOf(info os.FileInfo) file {
	s := info.Sys().(*syscall.Stat_t)
	return file{uint64(s.Dev), s.Ino}
}

// dropCapabilities takes away for good what root can do beyond its files; for other users it changes nothing.
func dropCapabilities() error {
	const noRoot, locked = 1 << 0, 1 << 1
	if os.Geteuid() == 0 {
		for c := 0; unix.Prctl(unix.PR_CAPBSET_READ, uintptr(c), 0, 0, 0) == nil; c++ {
			if err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0); err != nil && !errors.Is(err, unix.EPERM) {
				return fmt.Errorf("capabilities: %w", err)
			}
		}
		if err := unix.Prctl(unix.PR_SET_SECUREBITS, noRoot|locked, 0, 0, 0); err != nil && !errors.Is(err, unix.EPERM) {
			return fmt.Errorf("securebits: %w", err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("capabilities: %w", err)
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&head, &none[0]); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	return nil
}
