package postgrestest

import (
	"bytes"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// bound are the attributes of a server. The kernel ends it, cleanly, with the thread that has started it.
func bound(as *owning) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGQUIT, Credential: as.credential()}
}

// unshare removes the shared memory of a server that was killed, which the kernel would keep: the file names it.
func unshare(pidFile string) {
	text, _ := os.ReadFile(pidFile)
	if lines := bytes.Split(text, []byte("\n")); len(lines) > 6 {
		if fields := bytes.Fields(lines[6]); len(fields) == 2 {
			if id, err := strconv.Atoi(string(fields[1])); err == nil {
				_, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil)
			}
		}
	}
}
