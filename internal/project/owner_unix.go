//go:build unix

package project

import (
	"os"
	"strconv"
	"syscall"
)

// EffectiveUser is whose state is believed; a test looks as another.
var EffectiveUser = os.Geteuid

// OtherOwner returns the owner of a folder, and whether that is another user. As in git, the user who called sudo is none to root.
func OtherOwner(dir string) (owner int, other bool) {
	info, err := os.Lstat(dir)
	if err != nil {
		return 0, false // it is missing, which others report
	}
	sys, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	owner = int(sys.Uid)
	if owner == EffectiveUser() {
		return owner, false
	}
	if sudo, err := strconv.Atoi(os.Getenv("SUDO_UID")); err == nil && EffectiveUser() == 0 && sudo == owner {
		return owner, false
	}
	return owner, true
}
