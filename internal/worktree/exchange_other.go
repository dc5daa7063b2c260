//go:build !linux && !darwin

package worktree

import (
	"errors"
	"os"
	"runtime"
	"syscall"
)

var errCrossDevice = map[bool]error{true: syscall.Errno(17), false: syscall.EXDEV}[runtime.GOOS == "windows"] // ERROR_NOT_SAME_DEVICE

// exchange does not exist here; what is there is renamed aside first.
func exchange(place, place) error { return errors.ErrUnsupported }

// moveNew renames a to b and refuses, with fs.ErrExist, to replace anything.
func moveNew(a, b place) error { return linkNew(a, b) }

// writers cannot be known here. On Windows a file that is open for writing cannot be renamed, unless its program allows it.
func writers(*os.File) (busy, known bool) { return false, false }

func unwritten(*os.File) bool { return true }
