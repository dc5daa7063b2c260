//go:build unix

package trust

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"golang.org/x/sys/unix"
)

const readFlags = os.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK

// private says what is wrong with a file or folder that must be the user's alone to write, "" for nothing.
func private(path string, info fs.FileInfo) (problem string, remedy refusal.Own) {
	sys, ok := info.Sys().(*syscall.Stat_t)
	if ok && int(sys.Uid) != os.Geteuid() {
		return fmt.Sprintf("belongs to another user (uid %d, you are %d)", sys.Uid, os.Geteuid()),
			refusal.Say("run ferrus as that user, or name another folder in %s", EnvStateDir)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Sprintf("can be written by others (mode %04o)", info.Mode().Perm()), refusal.Say("run chmod go-w %s", path)
	}
	return "", ""
}

// replaceable reports whether other users can rename what is in a folder.
func replaceable(info fs.FileInfo) bool {
	return info.Mode().Perm()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0
}
