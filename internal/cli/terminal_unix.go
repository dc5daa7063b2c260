//go:build unix

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// terminal reports whether f is a terminal. Being a character device does not make it one: /dev/null is, too.
func terminal(f *os.File) bool {
	_, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	return err == nil
}

// windowSize is how wide and high the terminal f is, 0 when that is not known.
func windowSize(f *os.File) (columns, rows int) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0
	}
	return int(size.Col), int(size.Row)
}

// colourful reports whether the terminal f understands colours.
func colourful(*os.File) bool { return true }
