package attack

import (
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// shareMemory makes a System V segment with a text and returns its id, as others read it in /proc/sysvipc/shm. The segment is marked
// as removed: it lives until close or until this process ends, and until then others can attach to it.
func shareMemory(text string) (id string, close func(), err error) {
	n, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600)
	if err != nil {
		return "", nil, fmt.Errorf("shmget: %w", err)
	}
	memory, err := unix.SysvShmAttach(n, 0, 0)
	_, removed := unix.SysvShmCtl(n, unix.IPC_RMID, nil)
	if err == nil {
		err = removed
	}
	if err != nil {
		return "", nil, fmt.Errorf("shmat: %w", err)
	}
	copy(memory, text)
	return strconv.Itoa(n), func() { _ = unix.SysvShmDetach(memory) }, nil
}

// attachMemory prints the segment of the victim.
func attachMemory(t target) error {
	n, err := strconv.Atoi(t.memory)
	if err != nil {
		return fmt.Errorf("shared memory is not supported here")
	}
	memory, err := unix.SysvShmAttach(n, 0, unix.SHM_RDONLY)
	if err != nil {
		return fmt.Errorf("shmat: %w", err)
	}
	fmt.Print(string(memory[:len(t.secret)]))
	return nil
}
