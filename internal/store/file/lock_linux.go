package file

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// lockHolder returns the process that has a flock on the file, with its state, or "" if the kernel
// does not tell.
func lockHolder(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	locks, err := os.ReadFile("/proc/locks")
	if !ok || err != nil {
		return ""
	}
	for line := range strings.Lines(string(locks)) {
		// 1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF
		f := strings.Fields(line)
		if len(f) < 6 || f[1] != "FLOCK" || !strings.HasSuffix(f[5], fmt.Sprintf(":%d", st.Ino)) {
			continue
		}
		return fmt.Sprintf("process %s (%s)", f[4], processState(f[4]))
	}
	return ""
}

// processState returns the state of a process in words, from field 3 of /proc/PID/stat.
func processState(pid string) string {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return "ended"
	}
	_, rest, _ := bytes.Cut(stat, []byte(") "))
	words := map[byte]string{'R': "running", 'S': "sleeping", 'D': "waiting for the disk", 'T': "stopped", 't': "traced", 'Z': "dead"}
	if len(rest) > 0 && words[rest[0]] != "" {
		return words[rest[0]]
	}
	return "in an unknown state"
}
