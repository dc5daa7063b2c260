package attack

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
)

// A target is what an attack knows, by names that stand in its environment.
type target struct {
	base    string // everything
	project string
	ferrus  string // .ferrus of the project
	work    string // the work tree of the command, below .ferrus
	other   string // the work tree of another
	home    string // of the person
	pid     int    // a process of the same user, whose environment and arguments have the secret
	tcp     string // an address on the loopback
	udp     string
	tty     string // a terminal; "" where the system has none
	memory  string // the id of a System V segment; "" where the system has none
	queue   string // the name of a POSIX message queue; "" where the system has none
	secret  string
}

var inLandlock = map[sandbox.Mechanism]bool{sandbox.Landlock: true}
var everywhere = map[sandbox.Mechanism]bool{sandbox.Landlock: true, sandbox.Bwrap: true}

func show(path string) error {
	data, err := os.ReadFile(path)
	fmt.Print(string(data))
	return err
}

func spoil(path string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString("spoiled\n")
	return err
}

// attacks are tried one by one, each in a process of its own on a victim of its own. Whether one went through is not asked of it: the
// files outside are compared, its output is searched for the secret, and the services and the process outside say whether they were
// reached.
var attacks = []Attack{
	{Name: "read the journal", try: func(t target) error { return show(t.ferrus + "/journal.jsonl") }},
	{Name: "append to the journal", try: func(t target) error { return spoil(t.ferrus + "/journal.jsonl") }},
	{Name: "truncate the journal by its path", try: func(t target) error { return os.Truncate(t.ferrus+"/journal.jsonl", 3) }},
	{Name: "rename STATE.json", try: func(t target) error { return os.Rename(t.ferrus+"/STATE.json", t.ferrus+"/S") }},
	{Name: "replace STATE.json from the work tree", try: func(t target) error {
		return errors.Join(os.WriteFile(t.work+"/S", nil, 0o644), os.Rename(t.work+"/S", t.ferrus+"/STATE.json"))
	}},
	{Name: "remove STATE.json", try: func(t target) error { return os.Remove(t.ferrus + "/STATE.json") }},
	{Name: "read tokens.json by a hard link", try: func(t target) error {
		return errors.Join(os.Link(t.ferrus+"/tokens.json", t.work+"/link"), show(t.work+"/link"))
	}},
	{Name: "read tokens.json by a symbolic link", try: func(t target) error {
		return errors.Join(os.Symlink(t.ferrus+"/tokens.json", t.work+"/soft"), show(t.work+"/soft"))
	}},
	{Name: "read tokens.json through /proc/self/cwd", try: func(t target) error { return show("/proc/self/cwd/../../tokens.json") }},
	{Name: "lock STATE.lock", try: func(t target) error {
		f, err := os.Open(t.ferrus + "/STATE.lock")
		if err != nil {
			return err
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			return err
		}
		fmt.Print(t.secret)
		return nil
	}},
	{Name: "list .ferrus", try: func(t target) error {
		list, err := os.ReadDir(t.ferrus)
		for _, e := range list {
			if e.Name() == "tokens.json" {
				fmt.Print(t.secret)
			}
		}
		return err
	}},
	{Name: "rename .ferrus", try: func(t target) error { return os.Rename(t.ferrus, t.project+"/gone") }},
	{Name: "learn the size of the journal", Through: inLandlock, try: func(t target) error {
		info, err := os.Stat(t.ferrus + "/journal.jsonl")
		if err == nil && info.Size() > 0 {
			fmt.Print(t.secret)
		}
		return err
	}},
	{Name: "chmod .ferrus", Through: inLandlock, try: func(t target) error { return os.Chmod(t.ferrus, 0o700) }},
	{Name: "chmod the home folder", Through: inLandlock, try: func(t target) error { return os.Chmod(t.home, 0o700) }},
	{Name: "change the times of the journal", Through: inLandlock, try: func(t target) error { return os.Chtimes(t.ferrus+"/journal.jsonl", time.Unix(1, 0), time.Unix(1, 0)) }},
	{Name: "chown a file of the home folder", Through: inLandlock, try: func(t target) error { return os.Chown(t.home+"/tool", os.Getuid(), os.Getgid()) }},
	{Name: "set an extended attribute of ~/.bashrc", try: func(t target) error { return unix.Setxattr(t.home+"/.bashrc", "user.attack", []byte("here"), 0) }},
	{Name: "set the flags of a file that it can read", try: flagByFile},
	{Name: "set the flags of a file by its path", try: flagByPath},
	{Name: "lock a file that it can read", Through: everywhere, try: lockReadable},
	{Name: "learn a name in the home folder by a watch", Through: inLandlock, try: watch},
	{Name: "write a file of the project", try: func(t target) error { return spoil(t.project + "/code.txt") }},
	{Name: "write ferrus.toml", try: func(t target) error { return spoil(t.project + "/ferrus.toml") }},
	{Name: "write .git/config of the project", try: func(t target) error { return spoil(t.project + "/.git/config") }},
	{Name: "add a hook to the project", try: func(t target) error { return spoil(t.project + "/.git/hooks/pre-commit") }},
	{Name: "write another work tree", try: func(t target) error { return spoil(t.other + "/code.txt") }},
	{Name: "read another work tree", try: func(t target) error { return show(t.other + "/secret") }},
	{Name: "write ~/.bashrc", try: func(t target) error { return spoil(t.home + "/.bashrc") }},
	{Name: "write ~/.claude/settings.json", try: func(t target) error {
		return errors.Join(os.MkdirAll(t.home+"/.claude", 0o755), spoil(t.home+"/.claude/settings.json"))
	}},
	{Name: "read an ssh key", try: func(t target) error { return show(t.home + "/.ssh/id") }},
	{Name: "signal a process outside", Since: 6, try: func(t target) error { return syscall.Kill(t.pid, syscall.SIGKILL) }},
	{Name: "limit the resources of a process outside", try: func(t target) error {
		return unix.Prlimit(t.pid, unix.RLIMIT_CPU, &unix.Rlimit{Cur: 1000, Max: 1000}, nil)
	}},
	{Name: "lower the priority of a process outside", try: lowerPriority},
	{Name: "trace a process outside", try: func(t target) error {
		err := syscall.PtraceAttach(t.pid)
		if err == nil {
			fmt.Print(t.secret)
		}
		return err
	}},
	{Name: "read the environment of a process outside", try: func(t target) error { return show("/proc/" + strconv.Itoa(t.pid) + "/environ") }},
	{Name: "read the memory of a process outside", try: readMemory},
	{Name: "read files by the root of a process outside", try: func(t target) error {
		return show("/proc/" + strconv.Itoa(t.pid) + "/root" + t.ferrus + "/tokens.json")
	}},
	{Name: "take a file of a process outside by its descriptor", try: func(t target) error {
		fd, err := unix.PidfdOpen(t.pid, 0)
		if err != nil {
			return err
		}
		got, err := unix.PidfdGetfd(fd, 0, 0)
		if err == nil {
			fmt.Print(t.secret)
			unix.Close(got)
		}
		return err
	}},
	{Name: "read the arguments of a process outside", Through: inLandlock, try: func(t target) error { return show("/proc/" + strconv.Itoa(t.pid) + "/cmdline") }},
	{Name: "read System V shared memory of a process outside", Through: inLandlock, try: attachMemory},
	{Name: "take a POSIX message queue of a process outside", try: takeQueue},
	{Name: "connect to an abstract socket", Beside: 6, Network: true, try: func(t target) error { return say("unix", "@"+filepath.Base(t.base)) }},
	{Name: "connect to a socket by its path", try: byPath},
	{Name: "send to an abstract socket by a pair of its own", Beside: 6, Network: true, try: func(t target) error { return fromPair("@" + filepath.Base(t.base) + datagramName) }},
	{Name: "send to a socket by its path by a pair of its own", try: func(t target) error {
		return through(t.base, func(dir string) error { return fromPair(dir + "/" + datagramName) })
	}},
	{Name: "connect to a service on the loopback", Through: everywhere, Network: true, try: func(t target) error { return say("tcp", t.tcp) }},
	{Name: "write to a terminal of the person", try: intrude},
	{Name: "send a datagram", Through: everywhere, Network: true, try: func(t target) error { return say("udp", t.udp) }},
	{Name: "read tokens.json in a user namespace of its own", try: func(t target) error {
		out, err := exec.Command("unshare", "--user", "--map-root-user", "--mount", "cat", t.ferrus+"/tokens.json").Output()
		fmt.Print(string(out))
		return err
	}},
	{Name: "open a file by its handle", try: byHandle},
	{Name: "use io_uring", try: func(t target) error {
		var params [120]byte
		_, _, errno := unix.RawSyscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)), 0)
		if errno != 0 {
			return errno
		}
		fmt.Print(t.secret)
		return nil
	}},
	{Name: "write below /tmp", try: func(t target) error { return spoil(t.base + "/tmp") }},
	{Name: "use a descriptor that was left open", try: func(target) error {
		for fd := 3; fd < 64; fd++ {
			f := os.NewFile(uintptr(fd), "left")
			if data, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<16)); err == nil {
				fmt.Print(string(data))
			}
		}
		return nil
	}},
}

// say connects and says a word.
func say(network, address string) error {
	c, err := net.DialTimeout(network, address, time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Write([]byte("hello\n"))
	return err
}

// byPath connects to a socket by its path.
func byPath(t target) error {
	return through(t.base, func(dir string) error { return say("unix", dir+"/s") })
}

// through calls f with a short path of a folder that need not be readable.
func through(folder string, f func(dir string) error) error {
	fd, err := unix.Open(folder, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	dir := os.NewFile(uintptr(fd), folder)
	defer dir.Close()
	return f(throughFolder(dir))
}

// fromPair sends to a socket from one of two that are joined to each other, which it makes without a call that a filter of sockets sees:
// by naming it with what is sent, and by joining it to the other anew.
func fromPair(address string) error {
	var failed []error
	for _, kind := range []int{unix.SOCK_DGRAM, unix.SOCK_RAW} {
		pair, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			failed = append(failed, fmt.Errorf("socketpair: %w", err))
			continue
		}
		to := &unix.SockaddrUnix{Name: address}
		failed = append(failed, unix.Sendmsg(pair[0], []byte("hello"), unix.UnixRights(1), to, 0), unix.Connect(pair[1], to))
		_, err = unix.Write(pair[1], []byte("hello"))
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// byHandle opens a file without naming a path, as one can who has all rights over files.
func byHandle(t target) error {
	data, err := os.ReadFile(filepath.Join(t.work, "handle"))
	if err != nil {
		return err
	}
	dir, err := os.Open(t.work) // on the same file system
	if err != nil {
		return err
	}
	defer dir.Close()
	fd, err := unix.OpenByHandleAt(int(dir.Fd()), unix.NewFileHandle(1, data), unix.O_RDONLY)
	if err != nil {
		return err
	}
	_, err = io.Copy(os.Stdout, os.NewFile(uintptr(fd), "by handle"))
	return err
}
