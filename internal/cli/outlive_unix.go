//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// IgnoreHangup lets this process go on when its terminal is closed, or when the reader of its output is gone: a run is left
// alone overnight. Handled, not ignored, which its agents would inherit.
func IgnoreHangup() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGPIPE)
}
