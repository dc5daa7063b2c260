package attack

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// beVictim is the process of a victim. It ends with the process that started it, and has no more rights than one of an ordinary user: the
// kernel protects a process with more rights than those of the attack, whatever the sandbox does.
func beVictim() {
	const noRoot, dropped = 1 << 0, "ATTACK_DROPPED"
	if os.Getenv(dropped) == "" {
		runtime.LockOSThread()
		_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
		if os.Geteuid() == 0 {
			_ = unix.Prctl(unix.PR_SET_SECUREBITS, noRoot, 0, 0, 0)
		}
		if self, err := os.Executable(); err == nil {
			_ = unix.Exec(self, os.Args, append(os.Environ(), dropped+"=1"))
		}
		os.Exit(1)
	}
	fmt.Print(".")
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// Of ioprio_set, which x/sys does not name.
const (
	ioprioProcess = 1
	ioprioIdle    = 3 << 13
)

// lowerPriority takes the processors from a process in each way that there is. The person sees none of them before the process is slow,
// and only root can undo most of them.
func lowerPriority(t target) error {
	_, _, disk := unix.Syscall(unix.SYS_IOPRIO_SET, ioprioProcess, uintptr(t.pid), ioprioIdle)
	failed := []error{
		unix.Setpriority(unix.PRIO_PROCESS, t.pid, 7),
		unix.SchedSetaffinity(t.pid, &unix.CPUSet{1}),
		unix.SchedSetAttr(t.pid, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_BATCH, Nice: 7}, 0),
	}
	if disk != 0 {
		failed = append(failed, disk)
	}
	return errors.Join(failed...)
}

// condition is what others can change of a process without ending it.
func condition(pid int) (string, error) {
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
	if err != nil {
		return "", err
	}
	nice, err := unix.Getpriority(unix.PRIO_PROCESS, pid)
	if err != nil {
		return "", err
	}
	var processors unix.CPUSet
	if err := unix.SchedGetaffinity(pid, &processors); err != nil {
		return "", err
	}
	policy, err := unix.SchedGetAttr(pid, 0)
	if err != nil {
		return "", err
	}
	disk, _, _ := unix.Syscall(unix.SYS_IOPRIO_GET, ioprioProcess, uintptr(pid), 0)
	return fmt.Sprint(string(limits), nice, processors, policy.Policy, disk), nil
}

// readMemory reads where the program of this process begins, which is that of the victim too.
func readMemory(t target) error {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(string(maps), "-")
	at, err := strconv.ParseUint(first, 16, 64)
	if err != nil {
		return err
	}
	head := make([]byte, 4)
	local := []unix.Iovec{{Base: &head[0], Len: uint64(len(head))}}
	_, err = unix.ProcessVMReadv(t.pid, local, []unix.RemoteIovec{{Base: uintptr(at), Len: len(head)}}, 0)
	if err == nil && string(head) == "\x7fELF" {
		fmt.Print(t.secret)
	}
	return err
}

// queueAttributes are those of a message queue for the kernel.
type queueAttributes struct {
	_           int
	messages    int
	messageSize int
	_           [5]int
}

// postMessage makes a POSIX message queue with a text in it. Its name is no path, and has no slash for the kernel.
func postMessage(name, text string) (remove func(), err error) {
	at, err := unix.BytePtrFromString(name)
	if err != nil {
		return nil, err
	}
	attributes := queueAttributes{messages: 1, messageSize: 64}
	fd, _, errno := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(at)), unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o600, uintptr(unsafe.Pointer(&attributes)), 0, 0)
	if errno != 0 {
		return nil, fmt.Errorf("mq_open: %w", errno)
	}
	defer unix.Close(int(fd))
	remove = func() { _, _, _ = unix.Syscall(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(at)), 0, 0) }
	message := []byte(text)
	if _, _, errno := unix.Syscall6(unix.SYS_MQ_TIMEDSEND, fd, uintptr(unsafe.Pointer(&message[0])), uintptr(len(message)), 0, 0, 0); errno != 0 {
		remove()
		return nil, fmt.Errorf("mq_send: %w", errno)
	}
	return remove, nil
}

// takeQueue prints what is in the queue of the victim, and removes it.
func takeQueue(t target) error {
	if t.queue == "" {
		return errors.New("message queues are not supported here")
	}
	text, err := receive(t.queue)
	fmt.Print(text)
	at, _ := unix.BytePtrFromString(t.queue)
	if _, _, errno := unix.Syscall(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(at)), 0, 0); errno != 0 {
		err = errors.Join(err, fmt.Errorf("mq_unlink: %w", errno))
	}
	return err
}

// receive takes a message out of a queue.
func receive(queue string) (string, error) {
	at, err := unix.BytePtrFromString(queue)
	if err != nil {
		return "", err
	}
	fd, _, errno := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(at)), unix.O_RDONLY|unix.O_NONBLOCK, 0, 0, 0, 0)
	if errno != 0 {
		return "", fmt.Errorf("mq_open: %w", errno)
	}
	defer unix.Close(int(fd))
	message := make([]byte, 64)
	n, _, errno := unix.Syscall6(unix.SYS_MQ_TIMEDRECEIVE, fd, uintptr(unsafe.Pointer(&message[0])), uintptr(len(message)), 0, 0, 0)
	if errno != 0 {
		return "", fmt.Errorf("mq_receive: %w", errno)
	}
	return string(message[:n]), nil
}
